"""Tests of the explanations of lesson 09, for made-up results."""

from collections import Counter
from pathlib import Path
from typing import Any

from sessions import MadeUp

from harness.profiles.stats import ProfiledFunction

LESSON = MadeUp("09_cprofile")


def function(
    name: str, calls: int, own_s: float, cumulative_s: float, outer_calls: int | None = None
) -> ProfiledFunction:
    return ProfiledFunction(
        name, "script.py", calls, calls if outer_calls is None else outer_calls, own_s, cumulative_s, {}
    )


def looks(sampled: Counter[str], traced: Counter[str], tracing_s: float, little: int = 40_000) -> Any:
    found = {"counting": Counter(little=little, much=4, program=1), "sampling": sampled, "tracing": traced}
    turns = [{"plain": 1.0, "counting": 3.0, "sampling": 1.1, "tracing": tracing_s}] * 5
    return LESSON.Looks(found, turns)


def test_few_samples_decide_nothing_and_equal_calls_refute_that_counts_know_no_time() -> None:
    few = looks(Counter(little=1, much=2), Counter(little=600, much=400), tracing_s=2.0)
    unclear = {"counts-know-no-time": "inconclusive", "tracing-blames-calls": "inconclusive", "tracing-costs": "held"}
    LESSON.check("three_ways_to_look", few, unclear)
    equal_calls = looks(Counter(little=30, much=70), Counter(little=6, much=4), tracing_s=2.0, little=4)
    LESSON.check("three_ways_to_look", equal_calls, {"counts-know-no-time": "refuted"})


def test_a_server_that_others_can_reach_and_that_does_not_end_refutes_the_claims_about_it(tmp_path: Path) -> None:
    kept = tmp_path / "train.html"
    kept.write_text('<script src="/static/x.js">', encoding="utf-8")
    for listens_on, standing in ((("192.0.2.7",), "refuted"), ((), "skipped")):
        pictures = LESSON.Pictures((function("train", 1, 1.0, 1.0),), kept, "no page", listens_on, ended=False)
        _, standings = LESSON.explained("in_pictures", pictures)
        assert standings.pop("loopback-only") == standing
        assert set(standings.values()) == {"refuted"}
