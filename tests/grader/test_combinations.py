"""A right answer with one or two cheats in it earns at most the points of the right answer (`combinations.py`)."""

import secrets
from pathlib import Path

import pytest
from combinations import Combination, combination, kinds, parts, report

from grader.isolation.pool import Pool

pytestmark = [pytest.mark.sandbox, pytest.mark.slow, pytest.mark.long, pytest.mark.program("cc")]
SAMPLE = 40


def test_a_random_sample_of_combinations_earns_no_more_than_its_right_answers(warm_pool: Pool) -> None:
    seed = secrets.token_hex(4)
    lines = [line for _, line in report(seed, range(SAMPLE), warm_pool)]
    assert [line for line in lines if line.startswith("BROKEN")] == [], f"seed {seed}"


@pytest.mark.parametrize("number", range(len(parts()["THROUGH"])))
def test_a_right_answer_without_a_cheat_keeps_its_points_through_each_way(number: int, warm_pool: Pool) -> None:
    ways, in_python = list(parts()["THROUGH"]), [tasks[0] for kind, tasks in kinds().items() if kind != "C"]
    task = in_python[number % len(in_python)]
    one = Combination(task, Path(task.known, "baseline.py"), (("nothing", "always", ways[number]),), notebook=False)
    assert one.graded(warm_pool).points == one.points


def test_an_equal_seed_gives_equal_combinations() -> None:
    first, again = ([combination("a seed", number).title for number in range(SAMPLE)] for _ in range(2))
    assert first == again
    assert len(set(first)) > SAMPLE * 0.9
