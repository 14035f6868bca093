"""A submission that guesses in some scenarios reaches no higher tier than the same submission without guesses."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from small_tasks import search

from grader.authoring import blind_answers, partial_guesses
from grader.seeds import generator
from grader.task import Scenario, SimulatedExam, Task
from grader.trials import simulated

GALLOP = """
def find(probe):
    step = 8
    low = 0
    while not probe(low + step):
        low += step
    return next(number for number in range(low + 1, low + step + 1) if probe(number))
"""


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    """Return a task with 24 hidden numbers, half of them 60, in which 11 answers may be wrong."""
    small = search(tmp_path)
    assert isinstance(small.exam, SimulatedExam)
    drawn = small.exam.scenarios

    def scenarios(rng: object) -> list[Scenario]:
        found = [one for _ in range(8) for one in drawn(generator(str(rng)))]
        for one in found[::2]:
            one.number = 60  # type: ignore[attr-defined]
        return found

    (small.known / "tier1_gallop.py").write_text(GALLOP, encoding="utf-8")

    def guess(_: Task) -> Iterator[tuple[str, blind_answers.NewSolver]]:
        yield "60", lambda: lambda _: 60
        yield "0", lambda: lambda _: 0

    monkeypatch.setattr(blind_answers, "solvers", guess)
    return replace(small, exam=replace(small.exam, scenarios=scenarios, forgiven=11))


def test_a_guess_that_gains_a_tier_is_found(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(partial_guesses.gained_tiers(task)) == []
    monkeypatch.setattr(simulated, "MOST_TIMES_MEDIAN", math.inf)
    found = list(partial_guesses.gained_tiers(task))
    assert any("baseline, but it returns 60 in the 12 first scenarios: it reaches tier" in one for one in found), found
    assert not any("returns 0 " in one for one in found)


def test_a_mixed_submission_has_the_answers_of_both(task: Task) -> None:
    mixer = partial_guesses.Mixer.drawn(task, "a draw")
    assert list(mixer.known) == ["baseline", "tier1_gallop"]
    assert list(mixer.guesses) == ["60"]
    guesser = partial_guesses.Guesser("baseline", "60", partial_guesses.FIRST, 2)
    guessed = mixer.guessed(guesser, generator("any"))
    assert guessed == {0, 1}
    assert mixer.accepts(guesser, guessed)
    assert not mixer.accepts(guesser, range(24))
    assert mixer.ratio(guesser) == pytest.approx(1)
    assert 1 < mixer.ratio(guesser, guessed) < 2 ** (2 / 24) + 1e-9
