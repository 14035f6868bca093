"""Task (b) of lesson 11: stacks to fold, and their right answers."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from playing import find_task, mistakes

from grader import paths
from grader.tasks.plain import right_rows
from grader.values import Value
from harness.profiles import fold_up, placed

stacks = import_module("grader.tasks.lesson_11_torch_profiler.stacks")
TASK = find_task("11_torch_profiler", "fold")
RIGHT = [paths.solution("11_torch_profiler"), *sorted(TASK.known.glob("[bt]*.py"))]
WRONG = list(TASK.wrong_answers)


def mismatches(path: Path, seed: int) -> list[str]:
    return mistakes(path, "fold", stacks.draw_cases(np.random.default_rng(seed)))


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_a_right_one_is_right_whatever_is_drawn(path: Path) -> None:
    assert [mismatches(path, seed) for seed in range(4)] == [[]] * 4


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_a_wrong_one_is_wrong_whatever_is_drawn(path: Path) -> None:
    assert all(mismatches(path, seed) for seed in range(4))


def test_the_graph_in_the_exercise_has_the_boxes_that_it_shows() -> None:
    scenario = stacks.StacksScenario(
        "as shown",
        (
            (("train", "forward", "conv"), 30),
            (("train", "backward"), 50),
            (("train", "forward"), 10),
            (("train",), 5),
        ),
    )
    assert scenario.right == [
        [0, "train", 0, 95],
        [1, "backward", 5, 50],
        [1, "forward", 55, 40],
        [2, "conv", 65, 30],
    ]


def test_the_boxes_are_those_of_the_lesson_s_picture() -> None:
    scenario = stacks.draw_counted(np.random.default_rng(3))[0]
    boxes = [
        [each.depth - 1, each.frame.name, each.start, each.frame.total] for each in placed(fold_up(scenario.stacks))
    ]
    assert boxes[1:] == scenario.right


def test_what_is_counted_is_met_again_and_again_and_drawn_anew_each_time() -> None:
    one, other = (stacks.draw_counted(np.random.default_rng(seed)) for seed in (1, 2))
    assert [scenario.right for scenario in one] != [scenario.right for scenario in other]
    assert all(scenario.judge(right_rows(scenario)) is None for scenario in one)
    assert len({frames for frames, _ in one[0].stacks}) < len(one[0].stacks) / 2


@pytest.mark.parametrize("answer", [None, "", 3, {}, [[]], [[0, "x", 0, 1]], [[0, "x", 0, 1]] * 2000, [3], "rows"])
def test_any_answer_is_judged_and_nonsense_is_wrong(answer: Value) -> None:
    assert stacks.draw_counted(np.random.default_rng(5))[0].judge(answer) is not None
