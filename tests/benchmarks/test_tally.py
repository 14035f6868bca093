from itertools import count

import pytest
from tally import TITLES, Judgement, Trial, rule_of_thumb, score, scoreboard, scores, true_findings

from harness.paired.duel_result import Finding


def trial(truth: float, slowdown: float, finding: Finding, *, tool: str = "duel", load: str = "as it is") -> Trial:
    return Trial(load, "loop", truth, 0, tool, Judgement(TITLES[tool], slowdown, finding, 1.0, 2.0))


@pytest.mark.parametrize(
    ("slowdown", "finding"),
    [(1.03, Finding.SLOWER), (1.019, Finding.SAME), (1.0, Finding.SAME), (0.981, Finding.SAME), (0.97, Finding.FASTER)],
)
def test_two_times_are_different_beyond_the_margin(slowdown: float, finding: Finding) -> None:
    assert rule_of_thumb(slowdown) is finding


def test_a_truth_near_the_margin_may_be_called_either_way() -> None:
    assert true_findings(1.02) == {Finding.SAME, Finding.SLOWER}
    assert true_findings(1.0) == {Finding.SAME}
    assert true_findings(1.03) == {Finding.SLOWER}
    assert true_findings(1.25) == {Finding.SLOWER}


@pytest.mark.parametrize(
    ("truth", "finding", "false", "missed"),
    [
        (1.0, Finding.SAME, False, False),
        (1.0, Finding.SLOWER, True, False),
        (1.0, Finding.FASTER, True, False),
        (1.02, Finding.SAME, False, False),
        (1.02, Finding.FASTER, True, False),
        (1.05, Finding.SLOWER, False, False),
        (1.05, Finding.SAME, True, True),
        (1.05, Finding.FASTER, True, False),
        (1.05, Finding.UNDECIDED, False, False),
        (1.0, Finding.UNDECIDED, False, False),
    ],
)
def test_a_verdict_is_false_when_it_claims_what_is_not_so(
    truth: float, finding: Finding, false: bool, missed: bool
) -> None:
    told = trial(truth, 1.0, finding)
    assert (told.false, told.missed) == (false, missed)


def test_the_error_is_the_same_for_too_much_and_too_little() -> None:
    high, low = (trial(1.1, 1.1 * off, Finding.SLOWER).error for off in (1.05, 1 / 1.05))
    assert high == pytest.approx(low)
    assert trial(1.1, 1.1, Finding.SLOWER).error == 0


def test_an_error_beyond_5_percent_would_flip_a_grade() -> None:
    known = score([trial(1.0, slowdown, Finding.UNDECIDED) for slowdown in (1.06, 0.94, 1.04, 1.0)])
    assert known.flipped_rate == 0.5


def test_a_score_counts_shares_of_all_verdicts() -> None:
    known = score(
        [
            trial(1.0, 1.0, Finding.SAME),
            trial(1.0, 1.1, Finding.SLOWER),
            trial(1.05, 1.0, Finding.SAME),
            trial(1.05, 1.04, Finding.UNDECIDED),
        ]
    )
    assert known.verdicts == 4
    assert (known.false_rate, known.missed_rate, known.undecided_rate) == (0.5, 0.25, 0.25)
    assert known.error_worst == trial(1.0, 1.1, Finding.SLOWER).error
    assert (known.timing_s, known.wall_s) == (1.0, 2.0)


def test_scores_keep_loads_as_they_occur_and_tools_in_their_order() -> None:
    number = count()
    trials = [
        trial(1.0, 1.0 + next(number) / 100, Finding.SAME, tool=tool, load=load)
        for load in ("bursty", "as it is")
        for tool in ("pyperf", "duel", "timeit")
    ]
    known = scores(trials)
    assert list(known) == ["bursty", "as it is"]
    assert list(known["bursty"]) == ["duel", "timeit, min of 5", "pyperf"]
    assert known["bursty"]["pyperf"].error_worst == 0


def test_a_check_of_the_truth_is_no_verdict() -> None:
    check = Trial("as it is", "loop", 1.0, 0, "check", Judgement("check", 1.0, Finding.UNDECIDED, 1.0, 1.0))
    assert scores([check]) == {}


def test_the_scoreboard_has_a_line_for_each_reading() -> None:
    known = scores([trial(1.0, 1.1, Finding.SLOWER), trial(1.0, 1.0, Finding.SAME, tool="pyperf")])
    board = scoreboard("as it is", known["as it is"])
    false = [column.name for column in board.columns].index("false")
    assert [row[0] for row in board.rows] == ["duel", "pyperf"]
    assert [row[false] for row in board.rows] == [1.0, 0.0]
