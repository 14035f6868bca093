"""Count how near honest submissions come to the physical limit, and how often an impossible time is noticed.

    python tests/benchmarks/limits.py limits.jsonl                  # 1,000 gradings of known submissions; hours
    python tests/benchmarks/limits.py limits.jsonl --minutes 20     # a part of them; the next run continues
    python tests/benchmarks/limits.py limits.jsonl --report         # only the table

An honest grading grades the solution or a known right submission of a task that is graded by time. A *planted* grading
grades a submission that answers each timed call from memory, and the grader gives it the same input each time. So the
answers are right, but take nearly no time. The share of a submission is its ratio divided by the largest possible ratio
on this core (`grader/trials/physical_limit.py`).

The file has a line for each grading. The exit code is 1 if an honest time was called impossible.
"""

import argparse
import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

import json_lines

from grader import catalogue, overlays
from grader.authoring.tier_records import right_submissions
from grader.grade import grade_task
from grader.hand_ins.refusal import digest
from grader.isolation.pool import Pool
from grader.records import Cost, Status, Submission
from grader.seeds import generator, independent
from grader.session import Session
from grader.task import Task, TensorExam
from grader.trials.turns import Supply
from harness.machine.environment import Environment
from harness.rendering import units
from harness.rendering.tables import Column, Table

PLANTED: Final = "answers from memory"
"""The name of the planted submission in the file."""

PLANT_EACH: Final = 5
"""One planted grading of each task follows this number of honest gradings of each known submission."""

IN_PYTHON: Final = """

_honest, _known = {name}, {{}}


def {name}(*inputs):
    shapes = tuple(tuple(one.shape) for one in inputs)
    if shapes not in {timed}:
        return _honest(*inputs)
    if shapes not in _known:
        _known[shapes] = _honest(*inputs)
    return _known[shapes]
"""

IN_C: Final = """
uint32_t {name}(const uint8_t *data, size_t size) {{
  static uint32_t known;
  static int is_known;
  if (size < {size})
    return honest(data, size);
  if (!is_known)
    known = honest(data, size);
  is_known = 1;
  return known;
}}
"""


@dataclass(frozen=True, slots=True)
class Graded:
    """One grading. `share` is the ratio as a share of the physical limit, or None without a measured ratio."""

    task: str
    name: str
    number: int
    status: str
    ratio: float | None
    share: float | None
    rationale: str

    @property
    def key(self) -> tuple[str, str, int]:
        """The task, the submission and the repetition."""
        return self.task, self.name, self.number

    @property
    def is_planted(self) -> bool:
        """Whether the submission answered from memory."""
        return self.name == PLANTED

    @property
    def is_called_impossible(self) -> bool:
        """Whether the grader called the measured time impossible."""
        return self.status == Status.IMPOSSIBLE


def timed_tasks() -> tuple[Task, ...]:
    """Return all tasks that are graded by time."""
    return tuple(task for task in catalogue.all_tasks() if task.cost is Cost.TIME)


def sources(task: Task) -> dict[str, str]:
    """Return the source texts of a task's right submissions and of the planted one, by their names."""
    found = {name: overlays.whole(path) for name, path in right_submissions(task).items()}
    return {**found, PLANTED: planted(task, found["solution"])}


def planted(task: Task, solution: str) -> str:
    """Return the source text of a submission that computes the answer to a timed or large input only once."""
    exam = task.exam
    assert isinstance(exam, TensorExam)
    kinds = filter(None, (exam.timed, *exam.also_timed, exam.large))
    inputs = [next(drawing(independent(generator("any input")))) for drawing in kinds]
    if not exam.in_c:
        shapes = {tuple(one.shape for one in drawn) for drawn in inputs}
        return solution + IN_PYTHON.format(name=task.name, timed=shapes)
    begin, _, body = solution.partition(f"\nuint32_t {task.name}(")
    body, end, rest = body.partition('\n"""')
    honest = f"\nstatic uint32_t honest({body}\n"
    return f"{begin}{honest}{IN_C.format(name=task.name, size=inputs[0][0].size)}{end}{rest}"


@contextmanager
def same_input_each_time() -> Iterator[None]:
    """Inside the `with` block, give all timed calls of a duel the same input, as a broken grader might do."""
    draw = Supply.draw
    Supply.draw = lambda self, count: [self.first] * count  # type: ignore[method-assign]
    try:
        yield
    finally:
        Supply.draw = draw  # type: ignore[method-assign]


def plan(tasks: Sequence[Task]) -> Iterator[tuple[Task, str, str, int]]:
    """Yield gradings without end: task, name, source text and number of the repetition."""
    texts = {task.full_name: sources(task) for task in tasks}
    for number in count():
        for task in tasks:
            for name, source in texts[task.full_name].items():
                if name != PLANTED or number % PLANT_EACH == 0:
                    yield task, name, source, number


def grade(task: Task, name: str, source: str, number: int, pool: Pool) -> Graded:
    """Grade a source text once, with hidden inputs that depend on the number of the repetition."""
    submission = Submission("limits", task.lesson, f"{name}.py", digest(source.encode()), source)
    session = Session(f"limits {number}", pool)
    if name == PLANTED:
        with same_input_each_time():
            attempt = grade_task(task, submission, session).attempt
    else:
        attempt = grade_task(task, submission, session).attempt
    ratio = attempt.speed.ratio if attempt.speed else None
    most = attempt.control.most_ratio if attempt.control else None
    share = ratio / most if ratio and most else None
    return Graded(task.full_name, name, number, str(attempt.status), ratio, share, attempt.rationale)


def read(path: Path) -> list[Graded]:
    """Return the gradings in the file."""
    return json_lines.read(path, Graded)


def run(path: Path, tasks: Sequence[Task], gradings: int, seconds: float, pool: Pool) -> None:
    """Make the gradings that the file lacks, until it has `gradings` honest ones or the time is over."""
    held, end_s = read(path), time.monotonic() + seconds
    done, honest = {one.key for one in held}, sum(not one.is_planted for one in held)
    for task, name, source, number in plan(tasks):
        if honest >= gradings or time.monotonic() > end_s:
            return
        if (task.full_name, name, number) not in done:
            one = grade(task, name, source, number, pool)
            honest += not one.is_planted
            json_lines.append(path, [one])
            print(f"{one.task}, {one.name}: {one.status}, {one.share or math.nan:.1%} of the limit", flush=True)


def report(graded: Sequence[Graded]) -> Table:
    """Return the table: a line for each task."""
    columns = (
        Column("task"),
        Column("honest", units.count),
        Column("impossible", units.count),
        Column("largest share", units.percent),
        Column("of"),
        Column("planted", units.count),
        Column("noticed", units.count),
    )
    return Table("Physical limits", columns, tuple(map(_row, _by_task(graded))))


def _by_task(graded: Sequence[Graded]) -> list[list[Graded]]:
    return [[one for one in graded if one.task == task] for task in dict.fromkeys(one.task for one in graded)]


def _row(graded: Sequence[Graded]) -> tuple[str | float, ...]:
    honest, of_plan = ([one for one in graded if one.is_planted is kind] for kind in (False, True))
    nearest = max(honest, key=lambda one: one.share or 0.0, default=None)
    return (
        *(graded[0].task, len(honest), sum(one.is_called_impossible for one in honest)),
        *((nearest.share or math.nan, nearest.name) if nearest else (math.nan, "")),
        *(len(of_plan), sum(one.is_called_impossible for one in of_plan)),
    )


def main() -> int:
    """Make the gradings that are left, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the results, one line per grading; a later run continues")
    parser.add_argument("--gradings", type=int, default=1000, help="honest gradings")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--only", default="", help="only tasks whose full name contains this text")
    parser.add_argument("--no-sandbox", action="store_true")
    parser.add_argument("--report", action="store_true", help="print only the table")
    options = parser.parse_args()
    if not options.report:
        print(Environment.capture().describe(), flush=True)
        tasks = [task for task in timed_tasks() if options.only in task.full_name]
        with Pool(sandboxed=not options.no_sandbox, spare=1) as pool:
            run(options.file, tasks, options.gradings, 60 * options.minutes, pool)
    graded = read(options.file)
    print(report(graded).to_text())
    return int(any(one.is_called_impossible for one in graded if not one.is_planted))


if __name__ == "__main__":
    sys.exit(main())
