"""Every known submission of the simulated tasks gets the grade of its file name, in many drawn scenarios."""

import ast
import contextlib
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from playing import Game, find_task, play, tier_reached

from grader import overlays, paths
from grader.task import SimulatedExam, Task
from grader.trials.simulated import gain

TASKS = (
    find_task("01_correct_first", "agrees"),
    find_task("02_timeit_vs_timer", "time_per_call"),
    find_task("02_timeit_vs_timer", "repair"),
    find_task("03_cuda_sync", "time_async"),
    find_task("04_autorange", "blocked_autorange"),
    find_task("05_compare", "crossover"),
    find_task("06_ab_testing", "is_slower"),
    find_task("07_fuzzing", "smallest_slow_case"),
    find_task("08_callgrind", "culprit"),
    find_task("12_jit_fusion", "break_even"),
    find_task("15_instruction_suite", "expand"),
    find_task("15_instruction_suite", "schedule"),
    find_task("16_sampling", "share"),
    find_task("16_sampling", "changes"),
    find_task("17_peaks_and_leaks", "checkpoints"),
    find_task("18_threads", "tally"),
    find_task("18_threads", "races"),
    find_task("19_compile", "recompilations"),
    find_task("19_compile", "fewest_graphs"),
)
SEEDS = range(4)
MEAN_OFF, SCENARIO_OFF = 0.02, 0.25
"""The largest relative error of `plain_cost`, over an exam and in one scenario. It is smaller than a step of tiers."""

KNOWN = [(task, path) for task in TASKS for path in sorted(task.known.glob("*.py"))]
RIGHT = [(task, path) for task, path in KNOWN if not path.stem.startswith("wrong_")]
WRONG = [(task, path) for task, path in KNOWN if path.stem.startswith("wrong_")]


def name_of(value: object) -> str:
    return value.stem if isinstance(value, Path) else value.name if isinstance(value, Task) else str(value)


def read(path: Path) -> str:
    return overlays.whole(path)


@cache
def baseline_game(number: int, seed: int) -> Game:
    """Return the result of the baseline in the scenarios of a task. Several tests use this result."""
    return play(TASKS[number], TASKS[number].baseline, seed)


def baseline_games(task: Task) -> list[Game]:
    return [baseline_game(TASKS.index(task), seed) for seed in SEEDS]


@pytest.mark.parametrize("task", [task for task in TASKS if task.tiers], ids=name_of)
def test_each_scenario_knows_what_the_baseline_spends_in_it(task: Task) -> None:
    games = baseline_games(task)
    assert [game.gain for game in games] == pytest.approx([1.0] * len(games), rel=MEAN_OFF)
    ratios = [gain(scenario) for game in games for scenario in game.scenarios]
    assert ratios == pytest.approx([1.0] * len(ratios), rel=SCENARIO_OFF)


@pytest.mark.parametrize(("task", "path"), RIGHT, ids=name_of)
def test_a_right_answer_reaches_the_tier_of_its_name_in_every_scenario(task: Task, path: Path) -> None:
    expected = 0 if path.stem == "baseline" else int(path.stem.removeprefix("tier")[0])
    for game in baseline_games(task) if path.stem == "baseline" else (play(task, read(path), seed) for seed in SEEDS):
        assert game.kept, game.mismatches
        assert not task.tiers or tier_reached(game) == expected


@pytest.mark.parametrize(("task", "path"), WRONG, ids=name_of)
def test_a_wrong_answer_is_wrong_whatever_is_drawn(task: Task, path: Path) -> None:
    assert ast.get_docstring(ast.parse(read(path)))
    assert isinstance(task.exam, SimulatedExam)
    forgiven = task.exam.forgiven
    assert not any(play(task, read(path), seed, enough=forgiven).kept for seed in SEEDS)


@pytest.mark.parametrize("task", TASKS, ids=name_of)
def test_the_solution_gains_well_more_than_full_marks_ask_for(task: Task) -> None:
    solution = read(paths.solution(task.lesson))
    for seed in SEEDS:
        game = play(task, solution, seed)
        assert game.kept, game.mismatches
        assert all(game.gain >= task.least_gain * tier.ratio for tier in task.tiers)


@pytest.mark.parametrize(("task", "seed"), list(product(TASKS, SEEDS)), ids=name_of)
def test_the_same_seed_draws_the_same_scenarios(task: Task, seed: int) -> None:
    one, other = baseline_game(TASKS.index(task), seed), play(task, task.baseline, seed)
    assert [scenario.cost for scenario in one.scenarios] == [scenario.cost for scenario in other.scenarios]
    assert [scenario.title for scenario in one.scenarios] == [scenario.title for scenario in other.scenarios]


@pytest.mark.parametrize("task", TASKS, ids=name_of)
def test_hints_are_three_and_each_tells_more_than_the_last(task: Task) -> None:
    lengths = [len(hint) for hint in task.hints]
    assert lengths == sorted(lengths)
    assert lengths[0] > 0


@pytest.mark.parametrize("task", TASKS, ids=name_of)
def test_the_stub_is_not_right(task: Task) -> None:
    stub = read(paths.stub(task.lesson))
    with contextlib.suppress(NotImplementedError):
        assert not play(task, stub, seed=0).kept
