"""Tests of the arithmetic for families of almost equal hand-ins, and a small run of each kind."""

import math

import pytest
from near_clones import CLONES, Family, family_chance, timed, told, value


def test_a_rare_mistake_is_likely_in_a_large_family() -> None:
    assert family_chance(0.0) == 0.0
    assert math.isclose(family_chance(0.005), 1 - 0.995**50)
    assert family_chance(0.005) > 0.2
    assert math.isclose(family_chance(0.01, clones=1), 0.01)


def test_grades_are_ordered() -> None:
    assert sorted(["tier 2", "wrong", "tier 0", "tier 10"], key=value) == ["wrong", "tier 0", "tier 2", "tier 10"]
    assert value("right") > value("wrong")


def test_a_family_that_is_graded_too_well_too_often_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert told([Family("never", 0, 1000)]) == 0
    assert told([Family("once", 1, 1000)]) == 1
    assert f"once: 1 of 1000 too good; {CLONES} clones: 4.9 %" in capsys.readouterr().out


def test_no_timed_clone_is_graded_too_well_in_a_small_run() -> None:
    assert [one.line() for one in timed(60) if one.too_good] == []
