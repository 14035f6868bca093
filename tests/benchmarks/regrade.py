"""Grade one submission repeatedly while busy processes load the machine, and print how much its grade varies.

    python tests/benchmarks/regrade.py --times 20 --load bursty
    python tests/benchmarks/regrade.py --times 100 --edge 5 --crowd 25

It prints every grade, then the number of different grades and the spread of the ratios. With `--edge P`, the submission
must always reach the tier P % below its ratio without load, and never the one P % above it. Exit code 1 if a grade
changed. A void grading does not count, because `run` grades again later.
"""

import argparse
import math
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from statistics import median

from neighbours import BUSY, LOADS, disturbed

from grader import catalogue, overlays, paths
from grader.grade import grade_task
from grader.hand_ins.refusal import digest
from grader.isolation.pool import Pool
from grader.records import UNGRADED, Submission, Verdict
from grader.session import Session
from grader.task import Task, Tier
from harness.paired.noise import p95
from harness.rendering.units import percent, ratio

LESSON = "01_correct_first"
REHEARSALS = 15
"""The number of gradings that determine the ratio before the tiers are set."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Regrade one submission beside busy neighbours.")
    parser.add_argument("--file", type=Path, help="the submission (default: the solution of lesson 01)")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--load", choices=[load.name for load in LOADS], default="bursty")
    parser.add_argument("--crowd", type=int, metavar="N", help="N busy processes instead of a load")
    parser.add_argument(
        "--edge", type=float, metavar="P", help="replace the tiers by two, P %% below and above the submission's ratio"
    )
    options = parser.parse_args()
    task, *_ = catalogue.load().tasks(LESSON)
    source = overlays.whole(options.file or paths.solution(LESSON))
    submission = Submission("regrade", LESSON, "regrade.py", digest(source.encode()), source)
    with Pool(spare=1) as pool:
        if options.edge:
            found = [_graded(task, submission, Session(f"rehearsal {n}", pool)) for n in range(REHEARSALS)]
            task = beside(task, median(v.attempt.speed.ratio for v in found if v.attempt.speed), options.edge / 100)
        (load,) = [load for load in LOADS if load.name == options.load]
        with disturbed(replace(load, code=BUSY, count=lambda _: options.crowd) if options.crowd else load):
            verdicts = [_graded(task, submission, Session(f"seed {n}", pool)) for n in range(options.times)]
    return sum_up(verdicts)


def beside(task: Task, known: float, edge: float) -> Task:
    """Return the task with two tiers: `percent` % below and above a known ratio."""
    print(f"ratio {ratio(known)}; tiers at {ratio(known / (1 + edge))} and {ratio(known * (1 + edge))}")
    return replace(task, tiers=(Tier(known / (1 + edge), 0.6), Tier(known * (1 + edge), 1.0)))


def sum_up(verdicts: list[Verdict]) -> int:
    """Print the spread of the grades and ratios. Return 1 if the grades are not all equal.

    A task without a grade does not count, because the grader grades the file again later.
    """
    grades = Counter(f"{verdict.points:g} points, {verdict.status}" for verdict in verdicts)
    print("; ".join(f"{number}× {text}" for text, number in grades.most_common()))
    ratios = [verdict.attempt.speed.ratio for verdict in verdicts if verdict.attempt.speed]
    if len(ratios) > 1:
        middle = median(ratios)
        off = sorted(abs(math.log(value / middle)) for value in ratios)
        print(f"ratio: median {ratio(middle)}, p95 {percent(p95(off))}, worst {percent(off[-1])}")
    return 1 if len({verdict.points for verdict in verdicts if verdict.status not in UNGRADED}) > 1 else 0


def _graded(task: Task, submission: Submission, session: Session) -> Verdict:
    verdict = grade_task(task, submission, session)
    speed = verdict.attempt.speed
    text = verdict.attempt.rationale
    if speed:
        text = f"{ratio(speed.ratio)} ({ratio(speed.low)} to {ratio(speed.high)}; {speed.rounds} rounds)"
    print(f"{verdict.points:4g} points  {verdict.status}  {text}", flush=True)
    return verdict


if __name__ == "__main__":
    sys.exit(main())
