"""A right answer with one or two cheats in it earns at most the points of the right answer (`combinations.py`)."""

import secrets

import pytest
from combinations import report

from grader.isolation.pool import Pool

pytestmark = [pytest.mark.sandbox, pytest.mark.slow, pytest.mark.long, pytest.mark.program("cc")]
SAMPLE = 20


def test_a_random_sample_of_combinations_earns_no_more_than_its_right_answers(warm_pool: Pool) -> None:
    seed = secrets.token_hex(4)
    lines = [line for _, line in report(seed, range(SAMPLE), warm_pool)]
    assert [line for line in lines if line.startswith("BROKEN")] == [], f"seed {seed}"
