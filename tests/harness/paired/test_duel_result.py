import json
import math

import pytest

from harness.paired.decide import Rules
from harness.paired.duel_result import Duel
from harness.paired.rounds import Reading, Round, judge

TIMES = "\N{MULTIPLICATION SIGN}"


def rounds(ratio: float, *, pairs: int = 3, each: int = 40, sleep_s: float = 0.0) -> list[Round]:
    """Return rounds of 100 calls that cost the candidate 10 µs each; some rounds are disturbed."""
    return [
        Round(
            pair,
            Reading(1e-3 * ratio * (1.5 if number % 13 == 0 else 1.0), 1e-3 * ratio, 100),
            Reading(1e-3, 1e-3 + sleep_s, 100),
            baseline_first=number % 2 == 0,
        )
        for pair in range(pairs)
        for number in range(each)
    ]


def found(
    ratio: float, *, paired_processes: bool = False, caveat: str = "", pairs: int = 3, sleep_s: float = 0.0
) -> Duel:
    outcome = judge(rounds(ratio, pairs=pairs, sleep_s=sleep_s), (1 / 1.02, 1.02), Rules(min_pairs=3))
    return Duel.of(outcome, 0.02, paired_processes=paired_processes, caveat=caveat)


def test_repr_is_one_short_line_that_distinguishes_processes_from_loops_and_gives_the_caveat() -> None:
    for outcome, words in [
        (found(2.0), "120 rounds, 3 pairs of loops"),
        (found(1.0, paired_processes=True), "120 rounds, 3 pairs of processes"),
        (found(2.0, pairs=1), "40 rounds, 1 pair of loops"),
    ]:
        assert repr(outcome) == f"<Duel {outcome}>"
        assert words in repr(outcome)
        assert len(repr(outcome)) < 140
        assert "\n" not in repr(outcome)
        assert "estimate" not in repr(outcome)
    assert str(found(2.0, caveat="no clock here")).endswith("An estimate: no clock here.")


def test_the_table_has_one_line_per_pair_with_seconds_per_call_and_a_notebook_shows_it() -> None:
    title, names, _, *lines = found(2.0).table().splitlines()
    assert title == str(found(2.0))
    assert names.split() == ["pair", "rounds", "ratio", "baseline", "candidate"]
    assert [line.split() for line in lines] == [
        [str(number), "40", f"2{TIMES}", "20", "µs", "10", "µs"] for number in (1, 2, 3)
    ]
    slept = found(2.0, sleep_s=9e-3)
    assert "100 µs" in slept.table()
    assert f"0.2000{TIMES}" in slept.table()
    page = found(2.0, caveat="a < b")._repr_html_()
    assert page.startswith("<pre>FASTER")
    assert "a &lt; b" in page
    assert found(2.0).histogram() in page


@pytest.mark.parametrize("pairs", [1, 3])
def test_from_dict_restores_the_duel(pairs: int) -> None:
    outcome = found(2.0, pairs=pairs, paired_processes=True, caveat="because")
    assert math.isinf(outcome.high) == (pairs == 1)
    assert Duel.from_dict(json.loads(json.dumps(outcome.to_dict(), allow_nan=False))) == outcome


def test_the_seconds_per_call_of_a_side_are_the_median_over_the_rounds() -> None:
    assert found(2.0).candidate_s == pytest.approx(1e-5)
    assert found(2.0).baseline_s == pytest.approx(2e-5)
    slept = found(2.0, sleep_s=1.0)
    assert slept.hidden_work
    assert slept.candidate_s == pytest.approx((1e-3 + 1.0) / 100)
