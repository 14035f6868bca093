import dis
from importlib import import_module

import numpy as np

traces = import_module("grader.tasks.lesson_13_bytecode.pairs")


def test_traces_hold_opcodes_of_the_python_that_runs() -> None:
    assert [name for name in traces.NAMES if name not in dis.opmap] == []
    assert len(set(traces.NAMES)) == len(traces.NAMES)


def test_a_number_of_times_that_is_no_whole_number_is_wrong() -> None:
    scenario = traces.draw_timed(np.random.default_rng(5))[0]
    assert scenario.judge([[first, second, float(times)] for first, second, times in scenario.right]) is not None
