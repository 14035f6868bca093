"""Grade a class in a separate process, which tests kill or interrupt: CLASS OUT SECONDS-PER-GRADING LOG."""

import sys
import time
from pathlib import Path

from classroom import KIT, TASKS, grade
from rich.console import Console

from grader.class_run.lanes import Threads
from grader.class_run.run import grade_class
from grader.records import Report, Submission
from harness.errors import FairclockError

folder, out, log = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[4])


def slowly(submission: Submission, seed: str) -> Report:
    with log.open("a") as lines:
        lines.write(f"{submission.student}\n")
    time.sleep(float(sys.argv[3]))
    return grade(submission, seed)


try:
    summary = grade_class(
        folder, out, grade=slowly, tasks=TASKS, lanes=Threads(2), console=Console(stderr=True, width=100), kit=KIT
    )
except FairclockError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)
print("\n".join(summary.lines()))
sys.exit(summary.exit_code)
