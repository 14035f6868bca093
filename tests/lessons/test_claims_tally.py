import pytest

from lessons.engine.claim import bounds_in_words
from lessons.engine.record import Json
from lessons.engine.tally import Ran, all_well, fates, summary, table, to_json


def ran(lesson: str, *claims: tuple[str, float | None, str]) -> Ran:
    told: list[Json] = [
        {
            "id": id_,
            "sentence": f"{id_} is so",
            "measured": measured,
            "shown": "" if measured is None else f"{measured:g} s",
            "wanted": "" if measured is None else "at least 1 s",
            "verdict": verdict,
            "reason": "no counter" if verdict == "skipped" else "",
        }
        for id_, measured, verdict in claims
    ]
    return Ran(lesson, {"claims": told})


RUNS = (
    ran("02_a", ("x", 2.0, "held"), ("y", None, "skipped")),
    ran("04_b", ("x", 3.0, "held")),
    ran("02_a", ("x", 10.0, "inconclusive"), ("y", None, "skipped")),
    ran("04_b", ("x", 3.0, "held")),
)


def test_claims_are_counted_by_lesson_and_id_over_all_runs() -> None:
    first, second, third = fates(RUNS)
    assert (first.lesson, first.id, first.held, first.inconclusive) == ("02_a", "x", 1, 1)
    assert (second.skipped, second.reasons, second.shown) == (2, ("no counter",), "")
    assert (third.lesson, third.held) == ("04_b", 2)


def test_several_values_are_told_from_the_least_to_the_largest() -> None:
    assert [fate.shown for fate in fates(RUNS)] == ["2 s to 10 s", "", "3 s"]


def test_the_verdict_of_one_run_is_a_word_and_of_several_a_count_of_each() -> None:
    assert [fate.verdict for fate in fates(RUNS)] == ["1 held, 1 inconclusive", "skipped", "held"]
    assert [column.name for column in table(RUNS).columns][-1] == "skipped"
    assert [column.name for column in table(RUNS[:2]).columns][-1] == "verdict"
    assert table(RUNS).rows[0] == ("02_a", "x", "2 s to 10 s", "at least 1 s", 1, 0, 1, 0)


def test_only_a_refuted_claim_or_a_lesson_that_fails_is_not_well() -> None:
    assert all_well(RUNS)
    refuted, failed = ran("04_b", ("x", 0.0, "refuted")), Ran("05_c", {}, "ended with 1: it broke")
    assert not all_well((*RUNS, refuted))
    assert not all_well((*RUNS, failed))
    assert summary((*RUNS, refuted, failed)).endswith("Refuted: 04_b x. Did not run to the end: 05_c.")


def test_the_json_file_keeps_the_counts_and_every_run() -> None:
    whole = to_json(RUNS, fast=True)
    assert isinstance(whole, dict)
    claims, runs = whole["claims"], whole["runs"]
    assert isinstance(claims, list)
    assert isinstance(runs, list)
    assert (len(claims), len(runs), whole["all_well"]) == (3, 4, True)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (1.0, 2.0, "1 s to 2 s"),
        (1.0, float("inf"), "at least 1 s"),
        (float("-inf"), 2.0, "at most 2 s"),
        (2.0, 2.0, "2 s"),
        (float("-inf"), float("inf"), ""),
    ],
)
def test_bounds_are_written_in_the_claims_own_unit(low: float, high: float, words: str) -> None:
    assert bounds_in_words(low, high, lambda value: f"{value:g} s") == words
