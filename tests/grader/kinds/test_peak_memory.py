"""Peak memory compared with the baseline's: what counts, what is checked, and whose fault an error is.

The tests allow generous tolerances for ratios.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_tasks import hand_in, negation
from trees import BARE

from grader.grade import grade_task
from grader.isolation.forkserver import ForkServer
from grader.isolation.pool import Pool
from grader.kinds.peak_memory import CALLS, PEAK_MEMORY
from grader.limits import Limits
from grader.records import Status
from grader.session import Session
from grader.task import Inputs, Task, TensorExam, Tier
from grader.trials.tensor_supply import TensorSupply

pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="needs /proc"), pytest.mark.slow]

BASELINE = """
def negate(x):
    copies = [x * 1.0 for _ in range(64)]
    return -copies[0]
"""

ONE = "def negate(x):\n    return -x\n"
MIB = 1 << 20


def inputs(rngs: Iterator[np.random.Generator]) -> Iterator[Inputs]:
    for rng in rngs:
        yield (rng.standard_normal(1 << 18, dtype=np.float32),)


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """Return the task `negate` on inputs of 1 MiB, whose baseline needs 64 MiB."""
    plain = negation(tmp_path, baseline=BASELINE, limits=Limits(load_s=60, call_s=5, memory_bytes=1 << 30))
    assert isinstance(plain.exam, TensorExam)
    tiers = (Tier(1.2, 0.6), Tier(2.0, 1.0))
    return replace(plain, cost=PEAK_MEMORY, tiers=tiers, exam=replace(plain.exam, timed=inputs))


def held_mib(task: Task, tree: ForkServer, source: str) -> float:
    assert isinstance(task.exam, TensorExam)
    drawn = TensorSupply(task.exam, np.random.default_rng(0)).draw(CALLS)
    return PEAK_MEMORY.peak_bytes(task, tree, source, drawn)[0] / MIB


def test_less_memory_is_a_higher_tier_and_both_peaks_are_told(task: Task) -> None:
    verdict = grade_task(task, hand_in(ONE), BARE)
    assert (verdict.status, verdict.points) == (Status.PASSED, 10), verdict.attempt
    assert "The submission's peak memory was" in verdict.attempt.rationale


@pytest.mark.sandbox
def test_in_the_sandbox_the_baseline_is_as_good_as_itself(task: Task) -> None:
    with Pool() as pool:
        verdict = grade_task(task, hand_in(task.baseline), Session("a secret", pool))
    assert verdict.attempt.speed is not None, verdict.attempt
    assert verdict.attempt.speed.ratio == pytest.approx(1, abs=0.1)


SCRATCH = "torch.zeros(64 << 18)"
"""Code that allocates 64 MiB and writes to all of it."""


BY_HAND = """
import mmap
held = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE)
for _ in range(64):
    held.write(bytes(1 << 20))
def negate(x):
    return -x
"""


def test_memory_counts_wherever_it_is_had_and_once_if_each_call_frees_it(task: Task) -> None:
    sources = (
        ("freed at import", f"import torch\nscratch = {SCRATCH}\ndel scratch\n{ONE}", 64),
        ("freed in the call", f"import torch\ndef negate(x):\n    {SCRATCH}\n    return -x\n", 64),
        ("freed in many parts", "def negate(x):\n    many = [x * n for n in range(40)]\n    return -x\n", 40),
        ("kept", "kept = []\ndef negate(x):\n    kept.append([x + n for n in range(21)])\n    return -x\n", 64),
        ("mapped by hand", BY_HAND, 64),
    )
    with BARE.pool.trusted(tensors=True) as tree:
        plain = held_mib(task, tree, ONE)
        for name, source, mib in sources:
            assert held_mib(task, tree, source) - plain == pytest.approx(mib, abs=8), name


def test_each_answer_is_checked(task: Task) -> None:
    for body, said in {
        "return x * 0": "wrong when its peak memory was measured",
        "return x.neg_()": "an input that was changed",
    }.items():
        verdict = grade_task(task, hand_in(f"def negate(x):\n    if x.numel() < 1000: return -x\n    {body}\n"), BARE)
        assert (verdict.status, verdict.points) == (Status.WRONG, 0)
        assert said in verdict.attempt.rationale


@pytest.mark.parametrize(("mine", "tier"), [(100 * MIB, 2), (100 * MIB + 1, 1)])
def test_tiers_are_met_at_their_very_edge(task: Task, mine: int, tier: int) -> None:
    speed = PEAK_MEMORY.graded(task, 200 * MIB, mine).speed
    assert speed is not None
    assert speed.tier == tier
