from collections.abc import Iterator
from contextlib import contextmanager

import claims
import pytest
from neighbours import LOADS, Load

from lessons.engine import check_claims
from lessons.engine.record import Json
from lessons.engine.tally import LessonRun


def ran(lesson: str, verdict: str) -> LessonRun:
    claim: dict[str, Json] = {
        "id": "x-is-so",
        "sentence": "x is so",
        "measured": 2.0,
        "shown": "2 s",
        "wanted": "at least 1 s",
        "verdict": verdict,
        "reason": "",
    }
    return LessonRun(lesson, {"claims": [claim]})


def test_every_lesson_runs_as_often_as_asked_while_each_load_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    on: list[str] = []
    met: list[tuple[str, str]] = []

    @contextmanager
    def load_on(load: Load) -> Iterator[None]:
        on.append(load.name)
        yield
        on.remove(load.name)

    def run_lesson(lesson: str) -> LessonRun:
        met.append((*on, lesson))  # type: ignore[arg-type]  # one load at a time, so it is a pair
        return ran(lesson, "held")

    monkeypatch.setattr(check_claims, "run_lesson", run_lesson)
    runs = claims.under_each(LOADS[:2], ["02_a", "04_b"], 2, tell=lambda _: None, load_on=load_on)
    assert on == []
    assert {load: len(some) for load, some in runs.items()} == {"as it is": 4, "bursty": 4}
    assert met == [(load, lesson) for load in runs for _ in range(2) for lesson in ("02_a", "04_b")]


def test_the_report_has_a_table_a_load_and_names_what_was_refuted_or_failed() -> None:
    runs = {
        "as it is": [ran("02_a", "held"), ran("02_a", "inconclusive")],
        "bursty": [ran("02_a", "refuted"), LessonRun("04_b", {}, "ended with 1: it broke")],
    }
    told = claims.report(runs)
    assert told.count("Machine: ") == 2
    assert "1 held, 0 refuted, 1 inconclusive, 0 skipped." in told
    assert "04_b ended with 1: it broke" in told
    assert told.endswith("Refuted: 02_a x-is-so. Did not run to the end: 04_b.")
    assert claims.table("bursty", runs["bursty"]).rows == (("02_a", "x-is-so", "2 s", "at least 1 s", 0, 1, 0, 0),)
