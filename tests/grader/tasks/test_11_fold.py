"""Task (b) of lesson 11: stacks to fold, and their right answers."""

from importlib import import_module

import numpy as np

from harness.profiles import fold_up, placed

stacks = import_module("grader.tasks.lesson_11_torch_profiler.fold")


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
    scenario = stacks.draw_timed(np.random.default_rng(3))[0]
    boxes = [
        [each.depth - 1, each.frame.name, each.start, each.frame.total] for each in placed(fold_up(scenario.stacks))
    ]
    assert boxes[1:] == scenario.right
