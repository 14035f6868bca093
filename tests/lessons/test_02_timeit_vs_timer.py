import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch

from harness.others import CROWD, Others
from lessons.engine.lesson import Lesson
from lessons.engine.predict import Answer

ROOT = Path(__file__).parent.parent.parent
Row = list[float]


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return importlib.import_module("lessons.02_timeit_vs_timer")


@pytest.fixture(scope="module")
def lesson(module: ModuleType) -> Lesson:
    assert isinstance(module.lesson, Lesson)
    return module.lesson


Explain = Callable[..., tuple[str, dict[str, str]]]


@pytest.fixture
def explain_threads(prepare: Callable[..., object], module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Explain:
    """Explain planted turns, as after the prediction "a"; return what was printed and how the claims fared."""

    def explain(turns: list[dict[str, Row]], threads: int) -> tuple[str, dict[str, str]]:
        monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
        played = prepare(module.lesson)
        step = module.one_thread_or_all
        page = played.session._page(step)  # type: ignore[attr-defined]
        page.prediction, page.answer = step.predict, Answer("a", "yes, by as much")
        module.explain_threads(page, (turns, Others(0.0)))
        printed = " ".join(played.out.getvalue().split())  # type: ignore[attr-defined]
        return printed, {claim.id: str(claim.standing) for claim in page.claims}

    return explain


def test_a_winner_that_changes_with_the_threads_is_announced(explain_threads: Explain) -> None:
    turns = [{"mul_sum": [1e-4, 2e-4, 1e-4], "bmm": [2e-4, 1e-4, 2e-4]}] * 3
    printed, standings = explain_threads(turns, 4)
    assert "It was no, the other." in printed
    assert "the winner changes" in printed
    assert set(standings.values()) == {"held"}


def test_threads_that_make_it_slower_refute_the_claim_and_are_explained(explain_threads: Explain) -> None:
    turns = [{"mul_sum": [9e-3, 1e-4, 9e-3], "bmm": [18e-3, 2e-4, 18e-3]}] * 3
    printed, standings = explain_threads(turns, 2)
    assert "You said yes, by as much, and so it is." in printed
    assert "mul_sum takes 90× as long with 2 threads" in printed
    assert standings == {
        "one-thread-is-slower": "refuted",
        "same-threads-agree": "held",
        "two-answers": "held",
    }


def test_a_single_thread_skips_the_claims_about_threads(explain_threads: Explain) -> None:
    turns = [{"mul_sum": [1e-4, 1e-4, 1e-4], "bmm": [2e-4, 2e-4, 2e-4]}] * 3
    printed, standings = explain_threads(turns, 1)
    assert "This run could not tell" in printed
    assert "a single thread here" in printed
    assert set(standings.values()) == {"skipped"}


def test_on_a_crowded_machine_nothing_is_said_of_threads(
    prepare: Callable[..., object], module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)  # whatever tests before have left
    played = prepare(module.lesson)
    page = played.session._page(module.one_thread_or_all)  # type: ignore[attr-defined]
    page.prediction = module.one_thread_or_all.predict
    turns = [{"mul_sum": [1.0, 0.01, 1.0], "bmm": [1.0, 0.02, 1.0]}] * 9
    module.explain_threads(page, (turns, Others(CROWD)))
    assert {(str(claim.standing), claim.reason) for claim in page.claims} == {
        ("inconclusive", "the machine was too restless today")
    }


@pytest.mark.parametrize(
    ("one", "full", "said"),
    [
        ([2.0, 2.1, 1.9], [0.5, 0.6, 0.4], "It was no, the other."),
        ([2.0, 2.1, 1.9], [0.5, 1.1, 0.4], "It was yes, by more or by less."),
        ([2.0, 2.1, 1.9], [3.0, 3.1, 2.9], "It was yes, by more or by less."),
        ([2.0, 2.1, 1.9], [2.0, 2.2, 1.9], "and so it is."),
        ([2.0, 2.1, 1.9], [2.0, 4.2, 1.9], "This run could not tell."),
        ([2.0, 2.1, 1.9], [1.2, 2.1, 1.9], "This run could not tell."),
        ([2.0] * 9, [4.0] * 8 + [40.0], "It was yes, by more or by less."),
        ([2.0] * 9, [4.0] * 7 + [2.0] * 2, "This run could not tell."),
    ],
)
def test_what_threads_change_is_said_only_as_far_as_all_turns_say_it(
    explain_threads: Explain, one: Row, full: Row, said: str
) -> None:
    turns = [{"mul_sum": [1.0, 1.0, 1.0], "bmm": [few, few, many]} for few, many in zip(one, full, strict=True)]
    printed, _ = explain_threads(turns, 4)
    assert said in printed
