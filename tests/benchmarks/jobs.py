"""Run comparisons of a benchmark, a few at a time, in a new process."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tally import MARGIN, Judgement

from harness.paired.duel_result import Finding

_HERE = Path(__file__).parent


class BenchmarkError(Exception):
    """A job could not be run. The message contains its output."""


@dataclass(frozen=True, slots=True)
class Job:
    """One comparison: the tool, the work with its true slowdown, the time budget, and the margin."""

    tool: str
    work: str
    truth: float
    budget_s: float
    margin: float = MARGIN


@dataclass(frozen=True, slots=True)
class Batch:
    """Jobs for one process, run in order while the machine is under a load."""

    load: str
    repetition: int
    jobs: tuple[Job, ...]


def environment() -> dict[str, str]:
    """Return the environment variables of a new process that imports benchmarks and fairclock."""
    return os.environ | {"PYTHONPATH": os.pathsep.join((str(_HERE), str(_HERE.parent.parent)))}


def play(jobs: Sequence[Job]) -> list[list[Judgement]]:
    """Run the jobs one after the other in a new process; return a list of results for each.

    Raises `BenchmarkError` when the process fails.
    """
    ended = subprocess.run(
        [sys.executable, _HERE / "judging.py"],
        input=json.dumps([asdict(job) for job in jobs]),
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise BenchmarkError(f"Judging {[job.tool for job in jobs]} of {jobs[0].work!r} failed:\n{ended.stderr}")
    return [[_judgement(one) for one in said] for said in json.loads(ended.stdout)]


def _judgement(told: dict[str, object]) -> Judgement:
    reading, slowdown, finding, timing_s, wall_s = told.values()
    assert isinstance(slowdown, float)
    assert isinstance(timing_s, float)
    assert isinstance(wall_s, float)
    return Judgement(str(reading), slowdown, Finding(str(finding)), timing_s, wall_s)
