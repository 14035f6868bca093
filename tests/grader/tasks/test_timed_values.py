"""Tasks with timed values: planted cases with their right answers, recorded programs, and what is drawn."""

import dis
import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from torch.profiler import ProfilerActivity, profile

from grader import paths
from harness.bytecode import instructions
from harness.bytecode.instructions import plain_instructions
from harness.memory.allocations import lacking_memray

blocks = import_module("grader.tasks.lesson_17_peaks_and_leaks.at_peak")
opcodes = import_module("grader.tasks.lesson_13_bytecode.pairs")
programs = import_module("grader.tasks.lesson_13_bytecode.run")
stacks = import_module("grader.tasks.lesson_11_torch_profiler.fold")
trees = import_module("grader.tasks.lesson_09_cprofile.own_time")


def test_the_examples_in_the_exercises_have_the_answers_that_are_shown() -> None:
    tree = trees.CallTree("", "", ((0, "main", 1, 10), (1, "load", 2, 20), (2, "parse", 9, 40), (1, "parse", 3, 30)))
    assert tree.arguments == ([[0, "main", 1, 100], [1, "load", 2, 60], [2, "parse", 9, 40], [1, "parse", 3, 30]],)
    assert tree.right == [["parse", 12, 70, 70], ["load", 2, 20, 60], ["main", 1, 10, 100]]
    given = ("train forward conv", 30), ("train backward", 50), ("train forward", 10), ("train", 5)
    boxes = [[0, "train", 0, 95], [1, "backward", 5, 50], [1, "forward", 55, 40], [2, "conv", 65, 30]]
    assert stacks.Stacks("", "", tuple((tuple(frames.split()), us) for frames, us in given)).right == boxes
    events = (("alloc", 7, 300, "load"), ("alloc", 9, 100, "parse"), ("free", 7, 0, ""), ("alloc", 7, 400, "parse"))
    assert blocks.Blocks("", "", events).right == [["parse", 500]]


def test_a_number_of_another_type_is_wrong() -> None:
    scenario = opcodes.draw_timed(np.random.default_rng(5))[0]
    assert scenario.judge([[first, second, float(times)] for first, second, times in scenario.right]) is not None
    case = next(case for case in programs.draw_cases(np.random.default_rng(5)) if "a < b," in case.title)
    assert (case.right, case.judge(True)) == (True, None)
    assert case.judge(1) is not None


def test_a_program_is_recorded_as_its_call_tree() -> None:
    record = import_module("grader.tasks.lesson_09_cprofile.record")

    def fib(n: int) -> int:
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    (called,) = list(record.traced(lambda: fib(3)).called.values())[:1]
    nodes = [(depth, name.partition(":")[2], calls) for depth, name, calls, _ in called.nodes()]
    assert nodes == [(0, "<lambda>", 1), (1, "fib", 1), (2, "fib", 2), (3, "fib", 2)]


def test_own_times_of_a_real_trace_are_those_of_the_profiler_s_table(tmp_path: Path) -> None:
    step = import_module("grader.tasks.lesson_11_torch_profiler.record").Step()
    step()
    with profile(activities=[ProfilerActivity.CPU]) as found:
        step()
    found.export_chrome_trace(str(tmp_path / "step.json"))
    events = json.loads((tmp_path / "step.json").read_text(encoding="utf-8"))["traceEvents"]
    for event in events:
        event.update({name: round(1000 * event[name]) for name in ("ts", "dur") if name in event})
    names: dict[str, object] = {}
    exec(paths.solution("11_torch_profiler").read_text(encoding="utf-8"), names)  # noqa: S102 - the kit's solution
    self_times = names["self_times"]
    assert callable(self_times)
    rows = {name: (calls, own_ns) for name, calls, own_ns in self_times(events)}
    table: dict[str, tuple[int, float]] = {}
    for each in found.key_averages():  # a name may have several rows, as a label and as an operator
        calls, own_us = table.get(each.key, (0, 0.0))
        table[each.key] = calls + each.count, own_us + each.self_cpu_time_total
    assert set(rows) - set(table) == {"PyTorch Profiler (0)"}  # an event of the profiler itself
    for name, (calls, own_us) in table.items():
        assert rows[name][1] == pytest.approx(1000 * own_us, abs=20 * calls + 1), name
        assert rows[name][0] >= calls  # the table merges an event with an event of the same name that it contains


def test_programs_have_jumps_in_both_directions_all_kinds_of_operators_and_small_results() -> None:
    drawn = [case for seed in range(8) for case in programs.draw_cases(np.random.default_rng(seed))]
    drawn += [case for seed in range(8) for case in programs.draw_timed(np.random.default_rng(seed))]
    rows = [(at, one) for case in drawn for at, one in enumerate(plain_instructions(case._called().__code__))]
    names = {one.name for _, one in rows}
    assert {"COPY", "SWAP", "UNARY_NEGATIVE", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE"} <= names
    jumps = [(at, int(one.argument or 0)) for at, one in rows if "JUMP" in one.name]
    assert {to < at for at, to in jumps} == {True, False}
    assert max(abs(case.right) for case in drawn) < 1e12


def test_programs_and_opcodes_are_those_of_the_running_python(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [name for name in opcodes.NAMES if name not in dis.opmap] == []
    this = f"compiled by Python {sys.version_info.major}.{sys.version_info.minor}"
    assert {case.title.endswith(this) for case in programs.draw_cases(np.random.default_rng(1))} == {True}
    monkeypatch.setattr(instructions, "CHECKED_ON", ((3, 3),))
    assert f"{this} (checked on 3.3 to 3.3)" in programs.draw_cases(np.random.default_rng(1))[0].title


def test_no_address_is_used_by_two_blocks_at_once() -> None:
    for case in blocks.draw_cases(np.random.default_rng(3)):
        in_use: set[int] = set()
        for kind, address, n_bytes, _ in case.events:
            assert kind == "free" or (address not in in_use and n_bytes > 0), case.title
            (in_use.add if kind == "alloc" else in_use.discard)(address)


@pytest.mark.skipif(bool(lacking_memray()), reason=lacking_memray())
def test_a_program_is_recorded_as_its_allocations_and_frees() -> None:
    record = import_module("grader.tasks.lesson_17_peaks_and_leaks.record")

    def keep_and_drop() -> bytearray:
        kept = bytearray(3000)
        for _ in range(3):
            bytearray(2000)
        return kept

    events = record.recorded(keep_and_drop)
    large = [i for i, event in enumerate(events) if event[3] == "keep_and_drop" and event[2] > 1900]
    assert [events[i][2] // 1000 for i in large] == [3, 2, 2, 2]
    frees = [("free", events[i][1], 0, "") for i in large]
    freed = [free in events[i:j] for free, i, j in zip(frees, large, [*large[1:], None], strict=True)]
    assert freed == [False, True, True, True]
