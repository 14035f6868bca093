"""Submissions that ignore the question are wrong in each exam of the kit, and right in exams made for these tests."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from small_tasks import search

from grader.authoring import blind_answers
from grader.seeds import generator
from grader.task import Mismatch, Scenario, SimulatedExam, SimulatedFunction
from grader.tasks.plain import PlainScenario
from grader.values import Value


@dataclass
class Table(PlainScenario):
    """A scenario that gives the submission a table and expects this answer."""

    rows: list[list[Value]]
    answer: Value
    title: str = "a table"
    function: str = "pick"
    cost: float = 1.0
    plain_cost: float = 1.0

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        return (self.rows,)

    def judge(self, answer: Value) -> Mismatch | None:
        return None if answer == self.answer else Mismatch(str(self.answer), str(answer))


def names(rng: object) -> list[str]:
    return [f"name{n}" for n in rng.integers(10**9, size=3)]  # type: ignore[attr-defined]


def constant(rng: object) -> Sequence[Scenario]:
    return [Table([[name]], True) for name in names(rng)]


def itself(rng: object) -> Sequence[Scenario]:
    return [Table([[name]], [[name]]) for name in names(rng)]


def reverse(rng: object) -> Sequence[Scenario]:
    return [Table([[name], ["x"]], [["x"], [name]]) for name in names(rng)]


def in_order(rng: object) -> Sequence[Scenario]:
    return [Table([[name]], number) for number, name in enumerate(names(rng))]


def in_place(rng: object) -> Sequence[Scenario]:
    return [Table([[name, "x"], [name * 2, "y"]], name * (1 + n % 2)) for n, name in enumerate(names(rng))]


def by_kind(rng: object) -> Sequence[Scenario]:
    kinds = rng.permutation(3)  # type: ignore[attr-defined]
    return [Table([[name]], int(kind), title=f"kind {kind}") for name, kind in zip(names(rng), kinds, strict=True)]


def fair(rng: object) -> Sequence[Scenario]:
    return [Table([[name]], name[::-1]) for name in names(rng)]


@pytest.mark.parametrize(
    ("scenarios", "said"),
    [
        (constant, "it returns True"),
        (itself, "it returns argument 1"),
        (reverse, "it returns argument 1, backwards"),
        (in_order, "right answers to other inputs, in order"),
        (in_place, "the cells where the right answers to other inputs were, in order"),
        (by_kind, "for each scenario, a right answer for another scenario of the same title"),
        (fair, ""),
    ],
)
def test_an_exam_that_can_be_passed_without_a_look_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scenarios: Callable[..., Sequence[Scenario]], said: str
) -> None:
    task = replace(search(tmp_path), exam=SimulatedExam(scenarios), tiers=())
    drawn = scenarios(generator("other inputs"))
    monkeypatch.setattr(blind_answers, "other_answers", lambda _: [scenario.answer for scenario in drawn])  # type: ignore[attr-defined]
    found = list(blind_answers.right_blind_answers(task))
    assert any(sentence.endswith(said) for sentence in found) if said else not found


def test_the_most_frequent_answer_is_the_first_of_several() -> None:
    assert blind_answers.most_frequent([1, [2], [2], 3, 3]) == [2]
