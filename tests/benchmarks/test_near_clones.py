"""Tests of the arithmetic for families of almost equal hand-ins, and a small run of each kind."""

import math
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from draws import begin, known_files, tasks_of
from error_rates import Errors, chance_to_pass
from guessing_clones import Guessed, guessed, too_good
from near_clones import CLONES, Draw, Family, family, family_chance, in_draw, judged_in, passes, timed, told, value

from grader import paths
from grader.task import SimulatedExam


def test_a_rare_mistake_is_likely_in_a_large_family() -> None:
    assert family_chance(0.0) == 0.0
    assert math.isclose(family_chance(0.005), 1 - 0.995**50)
    assert family_chance(0.005) > 0.2
    assert math.isclose(family_chance(0.01, clones=1), 0.01)
    assert family_chance(1.0) == 1.0


def test_grades_are_ordered() -> None:
    assert sorted(["tier 2", "wrong", "tier 0", "tier 10"], key=value) == ["wrong", "tier 0", "tier 2", "tier 10"]
    assert value("right") > value("wrong")


def test_a_family_that_is_graded_too_well_too_often_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert told([Family("never", 0, 1000)]) == 0
    assert told([Family("once", 1, 1000)]) == 1
    assert f"once: 1 of 1000 too good; {CLONES} clones: 4.9 %" in capsys.readouterr().out


def test_no_timed_clone_is_graded_too_well_in_a_small_run() -> None:
    assert [one.line() for one in timed(60) if one.too_good] == []


def test_wrong_code_needs_luck_in_every_scenario() -> None:
    (task,) = tasks_of("04.blocked_autorange")
    titles = tuple(f"scenario {number}" for number in range(20))
    turns = [titles[number % 20 :] + titles[: number % 20] for number in range(60)]
    often = family(task, "wrong_x", "wrong", [Draw(titles, each[:8], "wrong", math.nan) for each in turns])
    seldom = family(task, "wrong_x", "wrong", [Draw(titles, each[:1], "wrong", math.nan) for each in turns])
    assert often.too_good == seldom.too_good == 0
    assert often.bound < 0.01
    assert seldom.bound > 0.9


def test_code_that_is_always_wrong_in_two_scenarios_never_passes() -> None:
    (task,) = tasks_of("04.blocked_autorange")
    titles = tuple(f"scenario {number}" for number in range(20))
    one, two = (
        family(task, "wrong_x", "wrong", [Draw(titles, titles[:number], "wrong", math.nan)] * 600) for number in (1, 2)
    )
    assert one.bound > 0.1
    assert two.bound < 0.01


def test_further_draws_of_the_scenarios_that_were_wrong_show_that_code_never_passes() -> None:
    (task,) = tasks_of("04.blocked_autorange")
    titles = tuple(f"scenario {number}" for number in range(20))
    drawn = [Draw(titles, titles[:2], "wrong", math.nan)] * 60
    always = [Draw(titles[:2], titles[:2], "wrong", math.nan)] * 540
    sometimes = [Draw(titles[:2], titles[: number % 2], "wrong", math.nan) for number in range(540)]
    assert family(task, "wrong_x", "wrong", drawn).bound > 0.05
    assert family(task, "wrong_x", "wrong", drawn, always).bound < 0.01
    assert family(task, "wrong_x", "wrong", drawn, sometimes).bound > 0.05


def test_wrong_code_needs_few_errors_of_each_kind_to_pass_is_slower() -> None:
    (task,) = tasks_of("06.is_slower")
    usual = Errors(missed=2, slowed=72, false=0, equal=60, estimated=0.005)
    for wrong in ({"missed": 30}, {"false": 20}, {"estimated": 0.1}):
        drawn = [replace(usual, **wrong)] * 30
        assert chance_to_pass(drawn) < 1e-5
        draws = [Draw((), (), "wrong", math.nan, each) for each in drawn]
        assert family(task, "wrong_x", "wrong", draws).bound < 0.01
    assert chance_to_pass([usual] * 30) > 0.5
    wide = [replace(usual, estimated=share) for share in (0.02, 0.04) * 15]
    assert 0.1 < chance_to_pass(wide) < 0.5


def test_the_errors_of_is_slower_are_judged_in_each_draw() -> None:
    (task,) = tasks_of("06.is_slower")
    known = known_files(task.lesson, task.name)[1]
    wrong, right = (in_draw(task, known[stem], 1) for stem in ("wrong_five_pairs", paths.solution(task.lesson).stem))
    assert (wrong.grade, right.grade) == ("wrong", "tier 3")
    assert wrong.errors
    assert right.errors
    assert wrong.errors.estimated > 0.0225 > right.errors.estimated


def test_a_further_draw_may_ask_only_some_scenarios() -> None:
    (task,) = tasks_of("19.recompilations")
    assert isinstance(task.exam, SimulatedExam)
    titles = [each.title for each in task.exam.scenarios(np.random.default_rng(0))]
    whole = judged_in("wrong_each_guard", frozenset(titles), "19_compile", "recompilations", 0)
    assert list(whole.titles) == titles
    assert whole.wrong
    part = judged_in("wrong_each_guard", frozenset(whole.wrong), "19_compile", "recompilations", 0)
    assert part.titles == part.wrong == whole.wrong


def test_a_ratio_far_below_the_next_tier_with_little_spread_never_reaches_it() -> None:
    (task,) = tasks_of("04.blocked_autorange")
    near = math.log(task.tiers[1].ratio)
    apart = [Draw(("a",), (), "tier 1", near - 0.3 + 0.02 * (number % 3)) for number in range(60)]
    close = [
        Draw(("a",), (), f"tier {1 + (number % 3 == 2)}", near - 0.03 + 0.02 * (number % 3)) for number in range(60)
    ]
    assert family(task, "tier1_x", "tier 1", apart).bound < 1e-6
    assert family(task, "tier1_x", "tier 1", close).too_good == 20
    assert family(task, "tier1_x", "tier 1", close).chance > 0.9


def test_a_further_draw_is_passed_by_the_solution_and_not_by_wrong_code() -> None:
    for draw in range(3):
        assert passes("19_compile", {}, "19_compile", "recompilations", draw)
        assert not passes("wrong_each_guard", {}, "19_compile", "recompilations", draw)


def test_a_submission_that_guesses_is_tried_often_only_if_guesses_could_gain_a_tier() -> None:
    (task,) = tasks_of("06.is_slower")
    with ProcessPoolExecutor(1, initializer=begin) as pool:
        found = dict(guessed(pool, task, count=1, seconds=60, enough=5))
    few, many = (found[f"{task.full_name}, tier2_eighty with {number} guesses"][0] for number in (2, 66))
    assert few.too_good == Counter()
    assert many.tier == 2
    assert many.tries == 5
    assert math.exp(few.best) < 4.5 < math.exp(many.best)
    assert set(many.too_good.values()) == {0}
    assert too_good([many]) == 0


def test_the_luckiest_kind_of_guess_counts() -> None:
    one, other = (Guessed(1, 0.0, 10, Counter({("60", "first"): first, ("70", "first"): 2})) for first in (1, 4))
    assert too_good([one, other]) == 5
    assert too_good([]) == 0
