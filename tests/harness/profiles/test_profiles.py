"""Profiles of Python's profilers as rows, and results of torch.profiler as rows, traces and flame graphs."""

import gzip
import json
import marshal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Final
from xml.etree import ElementTree as ET

import pytest
import torch
from torch.profiler import ProfilerActivity, profile, record_function

from harness.errors import UsageError
from harness.profiles import flames, kineto, stats

SCRIPT = """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def twice(n):
    return fib(n) + max(n, 0)

print(twice(10) + fib(3), flush=True)
import os; os.write(1, b"\\xff")
"""


def named(functions: tuple[stats.ProfiledFunction, ...], name: str) -> stats.ProfiledFunction:
    return next(each for each in functions if each.name == name)


def test_recursive_calls_are_counted_apart_from_outer_calls() -> None:
    ran = stats.run_script(SCRIPT, "cProfile", "-o", "FILE")
    fib = named(ran.functions, "fib")
    assert (fib.calls, fib.outer_calls, fib.ncalls) == (177 + 5, 2, "182/2")
    assert {caller: calls for caller, (calls, _) in fib.callers.items()} == {"fib": 180, "twice": 1, "<module>": 1}
    assert named(ran.functions, "twice").ncalls == "1"
    assert ran.printed == "67\n\\xff"
    own_s = [each.own_s for each in ran.functions]
    assert own_s == sorted(own_s, reverse=True)


def test_a_profile_with_calls_of_another_thread_is_recognised() -> None:
    """Three profiles that Python 3.14 recorded: one alone, two while another thread was busy."""
    for recorded, alone in [
        ([("<module>", 1, 3e-05), ("main", 1, 6e-06)], True),
        ([("<module>", 2, 6e-04), ("main", 1, -1.28)], False),
        ([("main", 1, 6e-06)], False),
    ]:
        found = [stats.ProfiledFunction(name, "<string>", calls, 1, own_s, 0.02, {}) for name, calls, own_s in recorded]
        assert stats.of_one_thread(found) is alone


def test_the_error_for_a_script_that_fails_or_hangs_says_so() -> None:
    with pytest.raises(UsageError, match="ZeroDivisionError"):
        stats.run_script("1 / 0", "cProfile")
    assert stats.run_script("import sys; sys.stderr.write('Traceback of a caught error')", "cProfile").printed
    background = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(20)'])"
    assert "1 loop" in stats.run_module("timeit", "-n1", "-r1", background, timeout_s=15)
    with pytest.raises(UsageError, match="ran longer than"):
        stats.run_module("timeit", "while True: pass", timeout_s=0.5)


SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """Return the profile of a product of two matrices: rows, trace and stacks."""
    folder = tmp_path_factory.mktemp("profiled")
    network, x = torch.nn.Linear(32, 8), torch.rand(64, 32)
    with (
        profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_flops=True) as found,
        record_function("product"),
    ):
        network(x)
        x.t() @ x
    found.export_chrome_trace(str(folder / "trace.json"))
    stacks = []
    for config in (kineto.keep_stacks(), None):
        with profile(activities=[ProfilerActivity.CPU], with_stack=True, experimental_config=config) as stacked:
            network(x)
        stacked.export_stacks(str(folder / "stacks.txt"))
        stacks.append((folder / "stacks.txt").read_text(encoding="utf-8"))
    return SimpleNamespace(
        rows=kineto.operators(found.key_averages()),
        by_shape=kineto.operators(found.key_averages(group_by_input_shape=True)),
        trace=folder / "trace.json",
        stacks=stacks[0],
        unasked=stacks[1],
    )


def test_rows_have_calls_times_bytes_operations_and_shapes(run: SimpleNamespace) -> None:
    named = {each.name: each for each in run.rows}
    product = named["aten::mm"]
    assert (product.calls, product.flops, product.own_bytes) == (1, 2 * 32 * 64 * 32, 4 * 32 * 32)
    assert 0 < product.own_s <= product.total_s < named["product"].total_s
    assert [*run.rows] == sorted(run.rows, key=lambda row: -row.own_s)
    assert "[32, 64]×[64, 32]" in {each.shapes for each in run.by_shape if each.name == "aten::mm"}
    assert {each.shapes for each in run.rows} == {""}
    trace = kineto.read_trace(run.trace)
    calls = [each for each in trace.events if each.name == "aten::mm"]
    assert sum(each.duration_us for each in calls) / 1e6 == pytest.approx(product.total_s, rel=0.01, abs=1e-8)
    (label,) = (each for each in trace.events if each.name == "product")
    assert set(calls) < set(trace.within(label))


def event(name: str, start: float, length: float, tid: int | str = 1) -> dict[str, object]:
    return {"ph": "X", "name": name, "pid": 1, "tid": tid, "ts": start, "dur": length}


def test_a_trace_may_be_a_list_or_gzipped_and_other_phases_are_no_events(tmp_path: Path) -> None:
    found = [event("b", 2, 1), event("a", 0, 5), {"ph": "M", "name": "process_name"}]
    plain, packed = tmp_path / "plain.json", tmp_path / "packed.json.gz"
    plain.write_text(json.dumps(found), encoding="utf-8")
    packed.write_bytes(gzip.compress(json.dumps({"traceEvents": found}).encode()))
    for file in (plain, packed):
        assert [each.name for each in kineto.read_trace(file).events] == ["a", "b"]


TRACE: Final = json.dumps({"traceEvents": [event("ü", 1, 2), {"ph": "M"}]}, ensure_ascii=False).encode()
NO_TRACES: Final = (b"", b'{"traceEvents": 1}', gzip.compress(TRACE)[:-9], TRACE.replace(b'"dur": 2', b'"dur": NaN'))
NO_PROFILES: Final = (
    *(b"", marshal.dumps([1]), marshal.dumps({1: 2}), marshal.dumps({("a.py", 1, "f"): (1, 2)})),
    b"{[\xff\xff\xff\x7f",  # a list of 2 ** 31 - 1 objects
)


@pytest.mark.parametrize(("read", "cases"), [(kineto.read_trace, NO_TRACES), (stats.rows, NO_PROFILES)])
def test_a_file_that_is_no_trace_or_no_profile_is_named_in_one_sentence(
    read: Callable[[Path], object], cases: tuple[bytes, ...], tmp_path: Path
) -> None:
    files = [tmp_path, tmp_path / "missing", Path("~nobody"), *(tmp_path / f"{at}\nb" for at in range(len(cases)))]
    for file, data in zip(files[3:], cases, strict=True):
        file.write_bytes(data)
    for file in files:
        with pytest.raises(UsageError, match=file.name.replace("\n", r"\\n")) as error:
            read(file)
        assert "\n" not in str(error.value)


def test_stacks_are_those_of_the_module_and_what_it_calls_and_only_kept_on_request(run: SimpleNamespace) -> None:
    stacks = flames.read_stacks(run.stacks)
    (linear,) = {frames[-1] for frames, _ in stacks if "linear" in frames[-1] and frames[-1].startswith("<")}
    assert linear == "<linear>"
    assert any(frame.startswith("nn.Module: Linear_") for frames, _ in stacks for frame in frames)
    assert run.unasked == ""  # if this fails, torch keeps stacks by itself: delete `keep_stacks` and the lesson's claim


def test_the_same_function_of_two_objects_is_one_frame() -> None:
    text = (
        "a.py(1):_run;<built-in_method_add_of_Tensor_object_at_0x7f00aa> 3\n"
        "a.py(1):_run;<built-in_method_add_of_Tensor_object_at_0x7f00bb> 4\n"
        "a.py(1):_run;<built-in_method_relu_of_type_object_at_0x55> 2\n"
    )
    (run,) = flames.fold_up(flames.read_stacks(text)).above
    assert (run.name, run.total, run.own) == ("a.py(1): run", 9, 0)
    assert [(each.name, each.total) for each in run.above] == [("<add>", 7), ("<relu>", 2)]


def test_frames_lie_above_their_callers_in_order_of_name_and_the_cost_of_removed_frames_goes_below() -> None:
    tree = flames.fold_up([(("b",), 1), (("a", "c"), 2), (("a",), 3), (("b", "c"), 4), ((), 5)])
    boxes = [(each.frame.name, each.below, each.start, each.frame.total) for each in flames.placed(tree)]
    a, b = ("all", "a"), ("all", "b")
    assert boxes == [("all", (), 0, 15), ("a", ("all",), 5, 5), ("c", a, 8, 2), ("b", ("all",), 10, 5), ("c", b, 11, 4)]
    assert flames.own_cost_by_name(tree) == {"c": 6, "all": 5, "a": 3, "b": 1}
    assert flames.without_frames([(("a", "call", "b"), 2)], "^call$") == [(("a", "b"), 2)]


def test_a_flame_graph_has_the_caller_below_and_a_box_per_frame_as_wide_as_its_share() -> None:
    tree = flames.fold_up([(("train", "<conv2d>"), 3), (("train", "nn.Module: A"), 1), (('<script src="x">&\x07',), 1)])
    top, middle, bottom = flames.flame_graph(tree, width=60).splitlines()
    assert [bottom[:4], "▏train" in middle, "<conv2d>" in top] == ["▏all", True, True]
    text = flames.flame_graph_svg(tree, title="<b>", description="Of a test.")
    assert "<script" not in text
    svg = ET.fromstring(text)  # noqa: S314 - our own
    groups = {(group.findtext(f"{SVG}title") or "").split(": ")[0]: group for group in svg.iter(f"{SVG}g")}
    boxes = {name: rect.attrib for name, group in groups.items() if (rect := group.find(f"{SVG}rect")) is not None}
    assert float(boxes["train"]["width"]) == pytest.approx(0.8 * float(boxes["all"]["width"]), rel=0.01)
    assert svg.findtext(f"{SVG}title") == "<b>"
