"""Task (a) of lesson 11: planted traces with their right answers, and a real trace with the profiler's table."""

import json
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from playing import find_task, mistakes
from torch.profiler import ProfilerActivity, profile

from grader import paths
from grader.task import CountedExam
from grader.tasks.plain import right_rows
from grader.values import Value

traces = import_module("grader.tasks.lesson_11_torch_profiler.traces")
recorded = import_module("grader.tasks.lesson_11_torch_profiler.recorded")
record = import_module("grader.tasks.lesson_11_torch_profiler.record")
TASK = find_task("11_torch_profiler", "self_times")
SOLUTION = paths.solution("11_torch_profiler")
RIGHT = [SOLUTION, *sorted(TASK.known.glob("[bt]*.py"))]
WRONG = list(TASK.wrong_answers)


def mismatches(path: Path, seed: int) -> list[str]:
    return mistakes(path, "self_times", traces.draw_cases(np.random.default_rng(seed)))


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_a_right_one_is_right_whatever_is_drawn(path: Path) -> None:
    assert [mismatches(path, seed) for seed in range(2)] == [[]] * 2


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_a_wrong_one_is_wrong_whatever_is_drawn(path: Path) -> None:
    assert all(mismatches(path, seed) for seed in range(2))


def test_own_times_of_a_real_trace_are_those_of_the_profiler_s_table(tmp_path: Path) -> None:
    step = record.Step()
    step()
    with profile(activities=[ProfilerActivity.CPU]) as found:
        step()
    found.export_chrome_trace(str(tmp_path / "step.json"))
    events = json.loads((tmp_path / "step.json").read_text(encoding="utf-8"))["traceEvents"]
    for event in events:
        event.update({name: round(1000 * event[name]) for name in ("ts", "dur") if name in event})
    names: dict[str, object] = {}
    exec(SOLUTION.read_text(encoding="utf-8"), names)  # noqa: S102 - the kit's solution
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
    assert sum(rows[name][0] == calls for name, (calls, _) in table.items()) > 0.9 * len(table)


def test_a_trace_is_laid_out_so_that_own_times_come_out_as_planted() -> None:
    nodes = ((0, "a", 10), (1, "b", 4), (2, "c", 2), (1, "b", 6), (0, "d", 3))
    spans, own = traces.laid_out(np.random.default_rng(0), nodes, (1, 2), 100)
    assert [(name, length) for _, name, _, length in spans] == [("a", 22), ("b", 6), ("c", 2), ("b", 6), ("d", 3)]
    assert {thread for thread, *_ in spans} == {(1, 2)}
    assert own == (("a", 10), ("b", 4), ("c", 2), ("b", 6), ("d", 3))
    assert spans[4][2] == spans[0][2] + spans[0][3] == 122


def test_the_recorded_step_is_a_real_one_on_a_tree() -> None:
    depths = [depth for depth, _, _ in recorded.events()]
    assert depths[0] == 0
    assert all(after <= before + 1 for before, after in pairwise(depths))
    names = {name for _, name, _ in recorded.events()}
    assert {"forward", "backward", "update", "aten::conv2d", "aten::convolution_backward"} <= names
    assert all(own_ns >= 0 for _, _, own_ns in recorded.events())


def test_it_can_be_recorded_anew() -> None:
    torch_threads = torch.get_num_threads()
    text = record.as_text(record.record())
    torch.set_num_threads(torch_threads)
    kept = json.loads(text)
    names = {name for _, name, _ in kept["events"]}
    assert {"forward", "aten::conv2d"} <= names
    assert any("nn.Module: Conv2d_0" in frames for frames in kept["stacks"])


def test_what_is_counted_is_drawn_anew_each_time_and_not_in_order() -> None:
    one, other = (traces.draw_counted(np.random.default_rng(seed)) for seed in (1, 2))
    assert [scenario.right for scenario in one] != [scenario.right for scenario in other]
    assert all(scenario.judge(right_rows(scenario)) is None for scenario in one)
    begins = [start for _, _, start, _ in one[0].spans]
    assert begins != sorted(begins)


@pytest.mark.parametrize("answer", [None, "", 3, {}, [[]], [["x", 1, 2]], [["x", 1, 2]] * 2000, [3], "rows"])
def test_any_answer_is_judged_and_nonsense_is_wrong(answer: Value) -> None:
    assert traces.draw_counted(np.random.default_rng(5))[0].judge(answer) is not None


def test_the_modules_named_in_the_exercise_are_those_that_are_there() -> None:
    assert isinstance(TASK.exam, CountedExam)
    told = paths.stub("11_torch_profiler").read_text(encoding="utf-8")
    assert all(name in told for name in TASK.exam.modules if name != "__future__")
