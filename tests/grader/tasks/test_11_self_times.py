"""Task (a) of lesson 11: planted traces with their right answers, and a real trace with the profiler's table."""

import json
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from grader import paths

traces = import_module("grader.tasks.lesson_11_torch_profiler.self_times")
recorded = import_module("grader.tasks.lesson_11_torch_profiler.recorded")
record = import_module("grader.tasks.lesson_11_torch_profiler.record")
SOLUTION = paths.solution("11_torch_profiler")


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


@pytest.mark.long
def test_it_can_be_recorded_anew() -> None:
    torch_threads = torch.get_num_threads()
    text = record.as_text(record.record())
    torch.set_num_threads(torch_threads)
    kept = json.loads(text)
    names = {name for _, name, _ in kept["events"]}
    assert {"forward", "aten::conv2d"} <= names
    assert any("nn.Module: Conv2d_0" in frames for frames in kept["stacks"])
