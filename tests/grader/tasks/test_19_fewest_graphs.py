"""Task (b) of lesson 19: orders of statements, and their numbers of graphs."""

from importlib import import_module
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from grader import paths
from grader.values import Value

statements = import_module("grader.tasks.lesson_19_compile.statements")

T, P = statements.TORCH, statements.PYTHON
SHOWN = ((T, ()), (P, (0,)), (T, (0,)), (P, (2,)), (T, (2, 3)))
"""The statements in the exercise's text."""


def judged(answer: Value, rows: Any = SHOWN) -> tuple[str, float]:
    """Return the mismatch of an answer as a text, and the cost."""
    scenario = statements.Function("planted", rows)
    mismatch = scenario.judge(answer)
    return "" if mismatch is None else " ".join(mismatch.lines), scenario.cost


def test_the_graphs_are_those_of_the_exercise() -> None:
    assert judged([0, 1, 2, 3, 4]) == ("", 3.0)
    assert judged([0, 2, 1, 3, 4]) == ("", 2.0)
    assert statements.Function("planted", SHOWN).plain_cost == 3.0


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([0, 1, 2, 3], "each number from 0 to 4 once"),
        ([0, 1, 2, 3, 3], "each number from 0 to 4 once"),
        ([0, 1, 2, 3, 5], "each number from 0 to 4 once"),
        ([0, True, 2, 3, 4], "each number from 0 to 4 once"),
        ([0, 1.0, 2, 3, 4], "each number from 0 to 4 once"),
        ([1, 0, 2, 3, 4], "0 before 1"),
        ([0, 2, 1, 4, 3], "3 before 4"),
        ([0, 2, 3, 1, 4], "1 before 3"),
        (3, "each number from 0 to 4 once"),
        (None, "each number from 0 to 4 once"),
        ("01234", "each number from 0 to 4 once"),
        ({"0": 1}, "each number from 0 to 4 once"),
    ],
)
def test_an_answer_that_breaks_a_rule_is_told_which(answer: Value, said: str) -> None:
    wrong, cost = judged(answer)
    assert said in wrong
    assert cost == statements.NEVER


def random_rows(rng: np.random.Generator) -> Any:
    kinds = [T, *(str(kind) for kind in rng.choice([T, P], 6))]
    return tuple(
        (kind, tuple(sorted({int(use) for use in rng.integers(0, n, int(rng.integers(3)))} if n else ())))
        for n, kind in enumerate(kinds)
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_solution_has_the_fewest_graphs_of_all_orders(seed: int) -> None:
    rows = random_rows(np.random.default_rng(seed))
    names: dict[str, Any] = {}
    exec(paths.solution("19_compile").read_text(encoding="utf-8"), names)  # noqa: S102 - the reference solution
    wrong, cost = judged(names["fewest_graphs"]([[kind, list(uses)] for kind, uses in rows]), rows)
    assert wrong == ""
    allowed = (judged(list(order), rows) for order in permutations(range(len(rows))))
    assert cost == min(graphs for mismatch, graphs in allowed if not mismatch)


def test_each_function_has_a_torch_statement_and_the_given_order_follows_the_rules() -> None:
    for seed in range(5):
        for scenario in statements.draw_scenarios(np.random.default_rng(seed)):
            assert scenario.plain_cost >= 1
            assert scenario.judge(list(range(len(scenario.statements)))) is None
            assert scenario.cost == scenario.plain_cost
