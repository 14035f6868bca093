"""Right answers in other honest styles keep their points (`styles.py`)."""

import secrets
from pathlib import Path
from random import Random

import pytest
from promises import graded_despite_noise, quickly
from styles import every, restyled

from grader.isolation.pool import Pool
from grader.task import Task

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]
SAMPLE = 20


def lost(pairs: list[tuple[Task, str]], pool: Pool, folder: Path) -> list[str]:
    """Return a line for each pair of a task and a style that does not earn all points."""
    lines = []
    for task, style in pairs:
        hand_in = restyled(task, style, folder)
        assert hand_in.source is not None, f"{style}: {hand_in.refusal}"
        with quickly():
            verdict = graded_despite_noise(task, hand_in, pool)
        if verdict.points < task.points:
            told = f"{verdict.status.value}: {verdict.attempt.rationale} {verdict.attempt.help}"
            lines.append(f"{task.full_name} with {style}: {verdict.points:g} points, {told}")
    return lines


def test_answers_of_other_types_and_odd_notebooks_keep_their_points(warm_pool: Pool, tmp_path: Path) -> None:
    quick = [(task, style) for task, style in every() if (task.name, style) in QUICK]
    assert len(quick) == len(QUICK)
    assert lost(quick, warm_pool, tmp_path) == []


QUICK = {
    ("changes", "typed named tuples"),
    ("expand", "UserDict and a read-only view"),
    ("races", "texts of NumPy"),
    ("repair", "unusual metadata"),
    ("repair", "a log file, a plot and results"),
}


@pytest.mark.long
@pytest.mark.program("cc")
def test_a_random_sample_of_styles_keeps_its_points(warm_pool: Pool, tmp_path: Path) -> None:
    seed = secrets.token_hex(4)
    assert lost(Random(seed).sample(every(), SAMPLE), warm_pool, tmp_path) == [], f"seed {seed}"
