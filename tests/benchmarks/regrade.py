"""How far does a grade move? One honest submission graded again and again, with busy neighbours.

    python tests/benchmarks/regrade.py --times 20 --burners 3

Prints every grade, then how many different points were given and how far the ratios lie apart: |log deviation| from
their median, 95th percentile and worst. Exit code 1 when the points ever changed.
"""

import argparse
import math
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

from grader import catalogue
from grader.grade import grade
from grader.records import Submission
from grader.refusal import digest
from grader.supervisor import Settings
from harness.lanes import lane
from harness.units import percent, ratio


def main() -> int:
    """Grade, print, sum up."""
    parser = argparse.ArgumentParser(description="Regrade one submission beside busy neighbours.")
    parser.add_argument("--lesson", default="01_correct_first")
    parser.add_argument("--file", type=Path, help="the submission (default: the lesson's solution)")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--burners", type=int, default=3)
    parser.add_argument("--no-sandbox", action="store_true")
    options = parser.parse_args()
    source = (options.file or catalogue.solution(options.lesson)).read_text(encoding="utf-8")
    submission = Submission("regrade", options.lesson, "regrade.py", digest(source.encode()), source)
    ratios, points = [], []
    with burners(options.burners):
        for number in range(options.times):
            with lane() as held:
                settings = Settings(f"seed {number}", sandboxed=not options.no_sandbox, core=held.core)
                report = grade(submission, settings)
            speed = report.verdicts[0].attempt.speed
            points.append(report.points)
            if speed:
                ratios.append(speed.ratio)
                interval = f"{ratio(speed.ratio)} ({ratio(speed.low)} to {ratio(speed.high)}; {speed.rounds} rounds)"
            else:
                interval = report.verdicts[0].attempt.rationale
            print(f"{number + 1:3}  {report.points:g} points  {interval}  {report.duration_s:.1f} s", flush=True)
    if len(ratios) > 1:
        middle = median(ratios)
        off = sorted(abs(math.log(value / middle)) for value in ratios)
        p95 = quantiles(off, n=20, method="inclusive")[-1]
        spread = f"median {ratio(middle)}, p95 {percent(p95)}, worst {percent(off[-1])}"
        print(f"points: {sorted(set(points))}   ratio: {spread}")
    return 1 if len(set(points)) > 1 else 0


@contextmanager
def burners(count: int) -> Iterator[None]:
    """Keep `count` processes busy meanwhile, and end them."""
    started = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for burner in started:
            burner.kill()
            burner.wait()


if __name__ == "__main__":
    sys.exit(main())
