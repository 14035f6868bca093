"""Measure the time and memory that the reports of a large class take, and the size of the pages.

    python tests/benchmarks/pages.py --students 1000

It makes a journal of a generated class: every exercise, plausible grades, and 160 measured rounds per timed exercise.
Then it runs the real `report` command twice, the second time without changes. It prints seconds, peak memory and sizes.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "grader"))

import generated_class
from commanding import command

from harness.rendering.units import number, seconds, size


def main() -> int:
    """Generate a class, write its reports twice, and print the figures."""
    parser = argparse.ArgumentParser(description="Reports of a large class.")
    parser.add_argument("--students", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=160)
    parser.add_argument("--keep", type=Path, help="keep the pages in this folder")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        out = chosen.keep or Path(scratch) / "grades"
        generated_class.fill(out, Path(scratch) / "class", chosen.students, rounds=chosen.rounds)
        print(f"{number(chosen.students)} students; journal of {size((out / 'grades.sqlite').stat().st_size)}")
        for what in ("first", "again"):
            took_s, peak_bytes = timed(out)
            print(f"report, {what}: {seconds(took_s)}, peak memory {size(peak_bytes)}")
        for name in ("report.html", "leaderboard.html"):
            print(f"{name}: {size((out / name).stat().st_size)}")
        pages = [path.stat().st_size for path in out.glob("*/report.html")]
        print(f"{number(len(pages))} students' pages: {size(sum(pages) / len(pages))} each, {size(max(pages))} at most")
    return 0


def timed(out: Path) -> tuple[float, int]:
    """Run `report` with a leaderboard; return its wall seconds and its peak memory in bytes."""
    began_s = time.perf_counter()
    process = subprocess.Popen(command("report", out, "--leaderboard"), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return time.perf_counter() - began_s, usage.ru_maxrss * 1024


if __name__ == "__main__":
    sys.exit(main())
