import importlib
import math
import random
from dataclasses import replace
from statistics import fmean

import pytest
from sessions import Play, explained

from harness.torch_benchmark.result_store import load
from lessons.engine.catalogue import FOLDER
from lessons.engine.interval import Interval

MODULE = importlib.import_module("lessons.06_ab_testing")


def test_the_recorded_counts_come_from_two_environments_and_contain_no_absolute_path() -> None:
    first, second = MODULE.recorded()
    assert first.environment.fingerprint() != second.environment.fingerprint()
    assert first.env != second.env
    path = FOLDER / "recorded" / "06_counts.jsonl"
    assert load(path) == (first, second)
    assert '"/' not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("plain", "standing", "words"),
    [
        (True, "held", "ATEN_CPU_CAPABILITY=default (the value of A is the first one)"),
        (False, "refuted", "The environments do not differ"),
    ],
)
def test_the_text_lists_differences_of_the_environments_only_if_there_are_any(
    prepare: Play, monkeypatch: pytest.MonkeyPatch, plain: bool, standing: str, words: str
) -> None:
    monkeypatch.delenv("ATEN_CPU_CAPABILITY", raising=False)
    a = b = MODULE.here("A", 1e-4)
    if plain:
        settings = (*a.environment.settings, ("ATEN_CPU_CAPABILITY", "default"))
        b = replace(a, environment=replace(a.environment, settings=settings))
    b = replace(b, result=replace(b.result, task_spec=replace(b.result.task_spec, env="B")))
    printed, standings = explained(prepare, MODULE.lesson, "two_environments", MODULE.Results(a, b))
    assert standings["prints-differ"] == standing
    assert words in printed


def test_a_steady_drift_cancels_only_in_the_order_abba() -> None:
    grown = {name: MODULE.by_growth(order) for name, order in MODULE.orders().items()}
    assert list(grown) == ["AAAA BBBB", "ABAB", "ABBA"]
    blocks, turns, abba = grown.values()
    assert blocks > 10 * turns > 0
    assert abba == pytest.approx(0, abs=1e-12)


def test_each_order_has_as_many_turns_of_a_as_of_b() -> None:
    for order in (*MODULE.orders().values(), *MODULE.ORDERS.values()):
        assert order.count("A") == order.count("B") == len(order) / 2


def test_an_aa_test_of_a_record_with_drift_errs_back_to_back_and_not_in_abba_order() -> None:
    record = [1 + 0.001 * turn for turn in range(400)]
    errors = {name: MODULE.aa_errors(record, order) for name, order in MODULE.ORDERS.items()}
    assert all(len(each) == 10 for each in errors.values())
    assert min(errors["back to back"]) > 0.01
    assert max(map(abs, errors["alternating, ABBA"])) < 0.001


def test_a_quick_pattern_of_the_noise_refutes_nothing_about_the_order(prepare: Play) -> None:
    """In each four times, the first and the last are slower. In the order ABBA, these are the two times of A."""
    rng = random.Random(3)
    times = [1 + 0.05 * (at % 4 in {0, 3}) + abs(rng.gauss(0, 0.01)) for at in range(5000)]
    _, standings = explained(prepare, MODULE.lesson, "same_again", times)
    assert standings["back-to-back-errs"] == "inconclusive"


def test_a_slow_change_of_speed_shows_that_the_order_matters(prepare: Play) -> None:
    rng = random.Random(4)
    times = [math.exp(0.2 * math.sin(at / 60) + rng.gauss(0, 0.005)) for at in range(5000)]
    _, standings = explained(prepare, MODULE.lesson, "same_again", times)
    assert standings["back-to-back-errs"] == "held"


def test_with_peeking_the_bet_keeps_its_error_rate_on_normal_values_and_the_t_test_does_not() -> None:
    rng = random.Random(1)
    tosses = [[rng.gauss(0, 1) for _ in range(100)] for _ in range(1500)]
    assert MODULE.share_by([MODULE.bet(each) for each in tosses])[-1] < 0.05
    tests = [MODULE.t_test(each) for each in tosses]
    assert MODULE.share_by(tests)[-1] > 0.12
    assert fmean(says[-1] for says in tests) < 0.08


def test_both_rules_find_a_slowdown() -> None:
    rng = random.Random(2)
    slowed = [[rng.gauss(0.8, 1) for _ in range(100)] for _ in range(50)]
    for rule in (MODULE.bet, MODULE.t_test):
        assert MODULE.share_by([rule(each) for each in slowed])[-1] > 0.9


def test_a_report_counts_for_all_later_numbers_of_pairs() -> None:
    assert MODULE.share_by([[False, True, False], [False, False, False]]) == [0, 0.5, 0.5]


@pytest.mark.parametrize(("pairs", "quantile"), [(10, 1.8331), (20, 1.7291), (50, 1.6766), (100, 1.6604)])
def test_the_limit_of_the_t_test_is_the_quantile_of_student_s_t(pairs: int, quantile: float) -> None:
    assert MODULE.t_limit(pairs) == pytest.approx(quantile, rel=0.001)


def test_a_t_test_of_ten_pairs_is_wrong_in_five_percent_of_tests() -> None:
    """With the normal distribution's limit, 1.645, it would be wrong in 6.7 % of tests."""
    rng = random.Random(3)
    tests = [MODULE.t_test([rng.gauss(0, 1) for _ in range(10)])[-1] for _ in range(20_000)]
    assert fmean(tests) == pytest.approx(0.05, abs=0.006)


@pytest.mark.parametrize(
    ("difference", "size"),
    [
        (Interval(0.1, 0.05, 0.2), Interval(0.1, 0.05, 0.2)),
        (Interval(-0.1, -0.2, -0.05), Interval(0.1, 0.05, 0.2)),
        (Interval(0.05, -0.1, 0.2), Interval(0.05, 0.0, 0.2)),
    ],
)
def test_the_size_of_a_difference_is_an_interval_of_absolute_values(difference: Interval, size: Interval) -> None:
    assert MODULE.size_of(difference) == size


def test_comparisons_without_a_difference_do_not_decide_which_side_looks_slower() -> None:
    assert MODULE.b_slower([0.0, 0.1, 0.2, -0.1, 0.0, -0.2]).middle == 0.5
    assert math.isnan(MODULE.b_slower([0.0, 0.0]).middle)


def test_a_share_that_never_occurs_still_gives_a_finite_ratio() -> None:
    times = MODULE.times_as_often(0.2, 0.0, 1000)
    assert times.low < times.middle == 200 < times.high < math.inf


@pytest.mark.parametrize(
    ("measurement", "counts", "option"),
    [(True, True, "a"), (True, False, "b"), (False, False, "c"), (False, True, None)],
)
def test_the_question_about_equal_copies_has_an_option_for_each_usual_result(
    measurement: bool, counts: bool, option: str | None
) -> None:
    assert MODULE.equal_copies(measurement, counts) == option
