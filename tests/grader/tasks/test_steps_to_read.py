"""Each task recommends the step of its lesson that explains the task. The test fails if an inserted step moves it."""

import re
from importlib import import_module

import pytest

from grader.catalogue import all_tasks

TITLES = {
    "05_compare.crossover": "Where the winner changes",
    "05_compare.convolve": "Where the winner changes",
    "06_ab_testing.is_slower": "Peeking",
    "07_fuzzing.smallest_slow_case": "Smaller, and still slow",
    "07_fuzzing.larger_squared": "The same sum, much slower",
    "08_callgrind.culprit": "The additional instructions of a broadcast",
    "08_callgrind.by_function": "Count and time the same script",
    "09_cprofile.own_time": "Own time and cumulative time",
    "09_cprofile.scores": "Which caller takes the time?",
    "10_memory.nearest": "Do fewer lines need less memory?",
    "10_memory.tone_curve": "New memory takes time",
    "11_torch_profiler.fold": "A flame graph",
    "11_torch_profiler.self_times": "The trace",
    "12_jit_fusion.polynomial": "One pass instead of eight",
    "12_jit_fusion.break_even": "When compiling pays off",
    "13_bytecode.pairs": "Counting executed opcodes",
    "13_bytecode.run": "The value stack after each instruction",
    "15_instruction_suite.schedule": "Worker processes with their own cores",
}
"""The title of the step that explains a task, by the name of the task. The other tasks must name any existing step."""

READ = {task.full_name: (task.lesson, task.read) for task in all_tasks()}


@pytest.mark.parametrize("name", READ)
def test_each_task_names_the_step_that_explains_it(name: str) -> None:
    lesson, read = READ[name]
    named = re.fullmatch(rf"lesson {lesson[:2]}, step (\d+)", read)
    assert named
    title = import_module(f"lessons.{lesson}").lesson.steps[int(named[1]) - 1].title
    assert title == TITLES.get(name, title)


def test_no_title_belongs_to_a_task_that_does_not_exist() -> None:
    assert set(TITLES) <= set(READ)
