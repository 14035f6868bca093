import math

import pytest
from decisions import MACHINES, RULES, TRUTHS, Rates, main, measure, table, upper_bound
from planted import Machine

CHEAP = [machine for machine in MACHINES if machine.promised and "0.9" not in machine.name]

MACHINE = {machine.name: machine for machine in MACHINES}


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_noise_and_layout_have_the_truth_in_their_middle(machine: Machine) -> None:
    """Otherwise, a right verdict would be counted as false."""
    rates = measure(machine, "2× from each tier", 100)
    assert rates.false == 0
    assert rates.undecided == 0
    assert rates.timing_s <= 0.4


@pytest.mark.parametrize("truth", TRUTHS)
def test_independent_rounds_are_seldom_judged_falsely(truth: str) -> None:
    rates = measure(MACHINES[0], truth, 300)
    assert rates.kept


def test_exactly_at_a_tier_nothing_is_clear_at_the_cap() -> None:
    rates = measure(MACHINES[0], "exactly at a tier", 100)
    assert rates.undecided > 0.9
    assert rates.timing_s >= RULES.cap_s


@pytest.mark.long
@pytest.mark.parametrize("machine", CHEAP, ids=lambda machine: machine.name)
def test_of_ten_thousand_contests_no_more_go_wrong_than_promised(machine: Machine) -> None:
    """The true ratio is 5 % from a tier, where a wrong grade matters most.

    The guarantee for the interval does not depend on the true ratio.
    """
    rates = measure(machine, "5 % below a tier", 10_000)
    assert rates.kept
    assert upper_bound(rates.false, rates.contests) < RULES.error_rate


@pytest.mark.slow
def test_where_an_assumption_is_broken_the_simulation_shows_it() -> None:
    rates = measure(MACHINE["two states, 5 % apart, for 25 rounds"], "2× from each tier", 2_000)
    assert not rates.kept


@pytest.mark.parametrize(("hits", "tries", "bound"), [(0, 100, 1 - 0.05 ** (1 / 100)), (10, 10, 1.0), (5, 100, 0.1023)])
def test_an_upper_bound_is_the_exact_binomial_one(hits: int, tries: int, bound: float) -> None:
    assert upper_bound(hits, tries) == pytest.approx(bound, abs=1e-4)


def test_a_table_shows_rates_beside_the_promised_one() -> None:
    rates = Rates("calm", True, "the same", 1000, 2, 4, 0.5, 100.0, 0.35, 0.7)
    text = table([rates]).to_text()
    assert "calm: promised at most 1 %" in text
    assert "0.2 % (≤ 0.63 %)" in text
    assert math.isclose(upper_bound(2, 1000), 0.0063, abs_tol=1e-4)


def test_the_command_prints_every_truth_and_ends_well(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["decisions.py", "--verdicts", "50", "--jobs", "1", "--only", "independent"])
    assert main() == 0
    printed = capsys.readouterr().out
    assert all(truth in printed for truth in TRUTHS)
    assert "Every rate is within its guarantee." in printed
