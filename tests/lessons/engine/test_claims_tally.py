from lessons.engine.record import Json
from lessons.engine.tally import LessonRun, all_well, summaries, summary, table, to_json


def ran(lesson: str, *claims: tuple[str, float | None, str]) -> LessonRun:
    claims_: list[Json] = [
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
    return LessonRun(lesson, {"claims": claims_})


RUNS = (
    ran("02_a", ("x", 2.0, "held"), ("y", None, "skipped")),
    ran("04_b", ("x", 3.0, "held")),
    ran("02_a", ("x", 10.0, "inconclusive"), ("y", None, "skipped")),
    ran("04_b", ("x", 3.0, "held")),
)


def test_claims_are_counted_by_lesson_and_id_over_all_runs() -> None:
    first, second, third = summaries(RUNS)
    assert (first.lesson, first.id, first.held, first.inconclusive) == ("02_a", "x", 1, 1)
    assert (second.skipped, second.reasons, second.shown) == (2, ("no counter",), "")
    assert (third.lesson, third.held) == ("04_b", 2)


def test_several_values_are_shown_from_the_smallest_to_the_largest() -> None:
    assert [each.shown for each in summaries(RUNS)] == ["2 s to 10 s", "", "3 s"]


def test_the_verdict_of_one_run_is_a_word_and_of_several_runs_the_count_of_each_result() -> None:
    assert [each.verdict for each in summaries(RUNS)] == ["1 held, 1 inconclusive", "skipped", "held"]
    assert [column.name for column in table(RUNS).columns][-1] == "skipped"
    assert [column.name for column in table(RUNS[:2]).columns][-1] == "verdict"
    assert table(RUNS).rows[0] == ("02_a", "x", "2 s to 10 s", "at least 1 s", 1, 0, 1, 0)


def test_a_refuted_claim_or_a_failed_lesson_is_not_well() -> None:
    assert all_well(RUNS)
    refuted, failed = ran("04_b", ("x", 0.0, "refuted")), LessonRun("05_c", {}, "ended with 1: it broke")
    assert not all_well((*RUNS, refuted))
    assert not all_well((*RUNS, failed))
    assert summary((*RUNS, refuted, failed)).endswith("Refuted: 04_b x. Did not run to the end: 05_c.")


def test_the_json_file_contains_the_counts_and_each_run() -> None:
    whole = to_json(RUNS, fast=True)
    assert isinstance(whole, dict)
    claims, runs = whole["claims"], whole["runs"]
    assert isinstance(claims, list)
    assert isinstance(runs, list)
    assert (len(claims), len(runs), whole["all_well"]) == (3, 4, True)
