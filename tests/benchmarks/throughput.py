"""How many submissions a minute? A class of equal, right hand-ins of lesson 01, graded by the real command.

    python tests/benchmarks/throughput.py --students 60 --jobs 2
    python tests/benchmarks/throughput.py --students 60 --jobs 2 --without agrees    # `batched_dot` alone

Prints submissions a minute, beside the floor: the CPU time of starting Python and importing torch in a fresh process,
which every submission has to pay once; and how busy the machine was.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own

from grader import catalogue
from harness import twins
from harness.units import number, seconds

LESSON = "01_correct_first"


def main() -> int:
    """Make the class, grade it, tell."""
    parser = argparse.ArgumentParser(description="Submissions graded in a minute.")
    parser.add_argument("--students", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--without", default="", metavar="TASK", help="leave this function out of the hand-ins")
    options = parser.parse_args()
    floor_s = median(_cpu_s([sys.executable, "-P", "-s", "-c", "import os, torch; os._exit(0)"]) for _ in range(3))
    print(f"floor: {seconds(floor_s)} of CPU to start Python and import torch")
    left_out = f"\ndel {options.without}" if options.without else ""
    source = catalogue.solution(LESSON).read_text(encoding="utf-8") + left_out
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
    print(f"{options.students} submissions in {seconds(wall_s)}: {number(options.students * 60 / wall_s)} a minute")
    there_s = cores * wall_s / options.students
    print(f"{seconds(there_s - idle_s / options.students)} of CPU each, on the whole machine, of {seconds(there_s)}")
    print(f"no more than {number(cores * 60 / floor_s)} a minute are possible on {cores} cores")
    return 0


def _cpu_s(argv: list[str]) -> float:
    """CPU seconds of a command and all it waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, check=True, env={**os.environ, **twins.ENVIRONMENT, "PATH": os.environ["PATH"]})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
