import importlib
import random
from statistics import fmean

import pytest

from harness.store import load
from lessons.engine.catalogue import FOLDER

MODULE = importlib.import_module("lessons.06_ab_testing")


def test_the_recorded_counts_are_of_two_environments_and_name_no_folder_of_whoever_recorded_them() -> None:
    first, second = MODULE.recorded()
    assert first.environment.fingerprint() != second.environment.fingerprint()
    assert first.env != second.env
    path = FOLDER / "recorded" / "06_counts.jsonl"
    assert load(path) == (first, second)
    assert '"/' not in path.read_text(encoding="utf-8")


def test_a_drift_in_a_straight_line_cancels_in_abba_and_in_no_other_order() -> None:
    grown = {name: MODULE.by_growth(order) for name, order in MODULE.orders().items()}
    assert list(grown) == ["AAAA BBBB", "ABAB", "ABBA"]
    blocks, turns, abba = grown.values()
    assert blocks > 10 * turns > 0
    assert abba == pytest.approx(0, abs=1e-12)


def test_orders_share_the_turns_evenly() -> None:
    for order in (*MODULE.orders().values(), *MODULE.ORDERS.values()):
        assert order.count("A") == order.count("B") == len(order) / 2


def test_an_aa_test_of_a_drifting_record_errs_back_to_back_and_not_in_turn() -> None:
    record = [1 + 0.001 * turn for turn in range(400)]
    errors = {name: MODULE.aa_errors(record, order) for name, order in MODULE.ORDERS.items()}
    assert all(len(each) == 10 for each in errors.values())
    assert min(errors["back to back"]) > 0.01
    assert max(map(abs, errors["in turn, ABBA"])) < 0.001


def test_the_bet_keeps_its_promise_on_fair_coins_and_the_t_test_does_not_when_peeked_at() -> None:
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


def test_once_said_stays_said() -> None:
    assert MODULE.share_by([[False, True, False], [False, False, False]]) == [0, 0.5, 0.5]
