"""Task (a) of lesson 09: call trees with planted own times, and their right answers."""

from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from playing import find_task, mistakes

from grader import paths
from grader.task import CountedExam
from grader.tasks.plain import right_rows
from grader.values import Value

trees = import_module("grader.tasks.lesson_09_cprofile.trees")
recorded = import_module("grader.tasks.lesson_09_cprofile.recorded")
TASK = find_task("09_cprofile", "own_time")
RIGHT = [paths.solution("09_cprofile"), *sorted(TASK.known.glob("[bt]*.py"))]
WRONG = list(TASK.wrong_answers)


def mismatches(path: Path, seed: int) -> list[str]:
    return mistakes(path, "own_time", trees.draw_cases(np.random.default_rng(seed)))


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_a_right_one_is_right_whatever_is_drawn(path: Path) -> None:
    assert [mismatches(path, seed) for seed in range(2)] == [[]] * 2


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_a_wrong_one_is_wrong_whatever_is_drawn(path: Path) -> None:
    assert all(mismatches(path, seed) for seed in range(2))


def test_the_tree_in_the_exercise_has_the_rows_that_it_shows() -> None:
    nodes = ((0, "main", 1, 10), (1, "load", 2, 20), (2, "parse", 9, 40), (1, "parse", 3, 30))
    tree = trees.CallTree("as shown", nodes)
    assert tree.arguments == ([[0, "main", 1, 100], [1, "load", 2, 60], [2, "parse", 9, 40], [1, "parse", 3, 30]],)
    assert tree.right == [["parse", 12, 70, 70], ["load", 2, 20, 60], ["main", 1, 10, 100]]


def test_own_times_add_up_to_the_totals_of_the_roots() -> None:
    for tree in trees.draw_cases(np.random.default_rng(2)):
        roots = sum(total for (depth, *_), total in zip(tree.nodes, tree.totals_us, strict=True) if depth == 0)
        assert sum(int(str(row[2])) for row in tree.right) == roots


def test_recorded_trees_are_real_ones_that_call_themselves() -> None:
    for program, nodes in recorded.load().items():
        depths = [depth for depth, *_ in nodes]
        assert depths[0] == 0, program
        assert all(after <= before + 1 for before, after in pairwise(depths)), program
    recursive = [tree for tree in trees.draw_counted(np.random.default_rng(1)) if any(calls_itself(tree.nodes))]
    assert len(recursive) == len(trees.COUNTED)


def calls_itself(nodes: tuple[tuple[int, str, int, int], ...]) -> list[bool]:
    above: list[str] = []
    found = []
    for depth, name, *_ in nodes:
        del above[depth:]
        found.append(name in above)
        above.append(name)
    return found


def test_what_is_counted_is_drawn_anew_each_time() -> None:
    one, other = (trees.draw_counted(np.random.default_rng(seed)) for seed in (1, 2))
    assert [tree.right for tree in one] != [tree.right for tree in other]
    assert all(tree.judge(right_rows(tree)) is None for tree in one)


@pytest.mark.parametrize("answer", [None, "", 3, {}, [[]], [["x", 1, 2, 3]], [["x", 1, 2, 3]] * 2000, [3], "rows"])
def test_any_answer_is_judged_and_nonsense_is_wrong(answer: Value) -> None:
    assert trees.draw_counted(np.random.default_rng(5))[0].judge(answer) is not None


def test_the_modules_named_in_the_exercise_are_those_that_are_there() -> None:
    assert isinstance(TASK.exam, CountedExam)
    told = paths.stub("09_cprofile").read_text(encoding="utf-8")
    assert all(name in told for name in TASK.exam.modules if name != "__future__")


def test_a_program_is_recorded_as_its_call_tree() -> None:
    record = import_module("grader.tasks.lesson_09_cprofile.record")

    def fib(n: int) -> int:
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    (called,) = list(record.traced(lambda: fib(3)).called.values())[:1]
    nodes = [(depth, name.partition(":")[2], calls) for depth, name, calls, _ in called.nodes()]
    assert nodes == [(0, "<lambda>", 1), (1, "fib", 1), (2, "fib", 2), (3, "fib", 2)]
