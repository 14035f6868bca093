"""Grade a class in a separate process, which tests kill or interrupt: CLASS OUT SECONDS-PER-GRADING."""

import sys
import time
from pathlib import Path

from classroom import grade, run

from grader.records import Report, Submission
from harness.errors import FairclockError


def slowly(submission: Submission, seed: str) -> Report:
    time.sleep(float(sys.argv[3]))
    return grade(submission, seed)


try:
    summary, said = run(Path(sys.argv[1]), Path(sys.argv[2]), slowly)
except FairclockError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)
print(said, file=sys.stderr)
print("\n".join(summary.lines()))
sys.exit(summary.exit_code)
