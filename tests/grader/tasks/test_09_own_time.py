"""Task (a) of lesson 09: call trees with planted own times, and their right answers."""

from importlib import import_module
from itertools import pairwise

import numpy as np

trees = import_module("grader.tasks.lesson_09_cprofile.own_time")
recorded = import_module("grader.tasks.lesson_09_cprofile.own_time")


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
    assert all(any(calls_itself(tree.nodes)) for tree in trees.draw_timed(np.random.default_rng(1)))


def calls_itself(nodes: tuple[tuple[int, str, int, int], ...]) -> list[bool]:
    above: list[str] = []
    found = []
    for depth, name, *_ in nodes:
        del above[depth:]
        found.append(name in above)
        above.append(name)
    return found


def test_a_program_is_recorded_as_its_call_tree() -> None:
    record = import_module("grader.tasks.lesson_09_cprofile.record")

    def fib(n: int) -> int:
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    (called,) = list(record.traced(lambda: fib(3)).called.values())[:1]
    nodes = [(depth, name.partition(":")[2], calls) for depth, name, calls, _ in called.nodes()]
    assert nodes == [(0, "<lambda>", 1), (1, "fib", 1), (2, "fib", 2), (3, "fib", 2)]
