"""Measure the cost of a run besides grading: collecting, the journal and all reports, for several class sizes.

    python tests/benchmarks/supervisor.py 100 1000 20000

In each class, every student hands in one lesson, and a fake grader immediately returns a grade with 160 rounds of
times. For each size, a new process runs the class as the command `run` does, and then runs it again when all is graded.
It prints milliseconds per hand-in, and how many of them are CPU time. In the remaining time, it waits for the disk,
because each grade is written before the next. It also prints the process's peak memory and the journal's size.
"""

import argparse
import io
import resource
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parents[1] / "grader"))

import generated_class
from rich.console import Console

from grader.class_run.executors import Threads
from grader.class_run.run import grade_class
from grader.records import Report, Submission
from harness.machine.clocks import wall
from harness.rendering.units import size

LESSON = "01_correct_first"
SOURCE = "import torch\n\n\ndef batched_dot(a, b):\n    return (a * b).sum(1)\n\n\n" + "# what a student wrote\n" * 80
DIFFERENT = 97


def main() -> int:
    """Run each size in a new process."""
    parser = argparse.ArgumentParser(description="Measure the cost of a run besides grading.")
    parser.add_argument("sizes", type=int, nargs="*", default=[100, 1000, 20000])
    parser.add_argument("--alone", action="store_true", help="measure this size only, in this process")
    chosen = parser.parse_args()
    if chosen.alone:
        measure(chosen.sizes[0])
        return 0
    print(
        f"{'hand-ins':>9} {'ms each':>9} {'CPU ms':>10} {'again':>9} {'peak memory':>12} {'journal':>10} "
        f"{'a hand-in':>10}",
        flush=True,
    )
    for number in chosen.sizes:
        subprocess.run([sys.executable, __file__, "--alone", str(number)], check=True)
    return 0


def measure(number: int) -> None:
    """Grade a class of this size twice, and print one line."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, out = Path(scratch) / "class", Path(scratch) / "grades"
        for student in range(number):
            path = folder / f"student{student:05d}" / f"{LESSON}.py"
            path.parent.mkdir(parents=True)
            path.write_text(f"{SOURCE}# {student}\n", encoding="utf-8")
        (first_s, core_s), (again_s, _) = run(folder, out), run(folder, out)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        journal = sum(path.stat().st_size for path in out.glob("grades.sqlite*"))
    each, on_core, again = (1e3 * spent_s / number for spent_s in (first_s, core_s, again_s))
    print(
        f"{number:9} {each:9.2f} {on_core:10.2f} {again:9.2f} {size(peak):>12} {size(journal):>10} "
        f"{size(journal / number):>10}",
        flush=True,
    )


def run(folder: Path, out: Path) -> tuple[float, float]:
    """Run the class once; return wall seconds, and CPU seconds of this process."""
    made = [one.report for one in generated_class.gradings(generated_class.students(DIFFERENT), [LESSON])]

    def grade(submission: Submission, seed: str) -> Report:
        del seed
        return replace(made[hash(submission.student) % len(made)], submission=submission)

    began_s, began_cpu_s = wall(), process_time()
    grade_class(
        folder,
        out,
        grade=grade,
        tasks=generated_class.points([LESSON]),
        lanes=Threads(2),
        console=Console(file=io.StringIO()),
        kit="0",
    )
    return wall() - began_s, process_time() - began_cpu_s


if __name__ == "__main__":
    sys.exit(main())
