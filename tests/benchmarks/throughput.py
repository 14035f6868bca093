"""Measure how many submissions per minute the real command grades, in a class of equal, right hand-ins of lesson 01.

    python tests/benchmarks/throughput.py --students 60 --jobs 2

It prints submissions per minute and how busy the machine was.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own

from grader import paths
from harness.rendering.units import number, seconds

LESSON = "01_correct_first"


def main() -> int:
    parser = argparse.ArgumentParser(description="Submissions graded in a minute.")
    parser.add_argument("--students", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    source = paths.solution(LESSON).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for student in range(options.students):
            place = Path(folder, "class", f"student{student:03}")
            place.mkdir(parents=True)
            (place / f"{LESSON}.py").write_text(f"{source}\n# {student}\n", encoding="utf-8")
        out = str(Path(folder, "out"))
        argv = [sys.executable, "-m", "grader", "run", str(Path(folder, "class")), "--out", out]
        began_s = time.perf_counter()
        idle_s = psutil.cpu_times().idle
        subprocess.run([*argv, "--lessons", LESSON, "--jobs", str(options.jobs)], check=True)
        idle_s = psutil.cpu_times().idle - idle_s
        wall_s = time.perf_counter() - began_s
    cores = os.cpu_count() or 1
    print(f"{options.students} submissions in {seconds(wall_s)}: {number(options.students * 60 / wall_s)} per minute")
    there_s = cores * wall_s / options.students
    print(f"{seconds(there_s - idle_s / options.students)} of CPU time used per submission, of {seconds(there_s)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
