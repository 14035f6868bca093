"""Grade the submissions of a class in parallel, and store each grade in the database of grades (the journal).

If the grading of a submission fails, only this submission has no grade: its report states an internal error, which
costs the student no points. A full disk and Ctrl-C end the run.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import CancelledError, Future, as_completed
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from grader.class_run.journal import Graded, Journal
from grader.class_run.lanes import Grade, Lanes
from grader.course.roll import TaskPoints, is_too_noisy
from grader.isolation import sandbox
from grader.records import Attempt, Fault, Report, Status, Submission, Verdict
from harness.errors import FairclockError
from harness.machine.environment import Environment

Key = tuple[str, str]
"""A lesson, and a digest of the submitted file. Equal files of several students have one key and are graded once."""


def key(submission: Submission) -> Key:
    """Return the lesson of a submission and the digest of its file. Submissions with the same key share one grade."""
    return submission.lesson, submission.content


@dataclass(frozen=True, slots=True)
class HandInGrader:
    """Grades submissions of a class with the function `grade` and the secret `seed`. Dask sends it to its workers.

    `tasks` are the tasks of the class, and `sandboxed` is True if a sandbox is used. Reports of an internal error state
    both.
    """

    grade: Grade
    seed: str
    tasks: tuple[TaskPoints, ...]
    sandboxed: bool

    def graded(self, submission: Submission) -> Graded:
        """Grade one submission. If `grade` fails, return a report of an internal error.

        A submission that the grader could not read gets this report, too.
        """
        started = datetime.now(UTC)
        if submission.fault:
            return self._failed(submission, submission.fault, started)
        try:
            report = self.grade(submission, self.seed)
        except Exception as error:  # noqa: BLE001 - any failure is an internal error and ends only this grading
            return self.lost(submission, error, started)
        return Graded(report, started, datetime.now(UTC))

    def lost(self, submission: Submission, error: BaseException, started: datetime | None = None) -> Graded:
        """Return a report of an internal error for all tasks of a submission whose grading failed with `error`."""
        return self._failed(submission, Fault.of(error), started or datetime.now(UTC))

    def _failed(self, submission: Submission, fault: Fault, started: datetime) -> Graded:
        # Only the exception's type is shown, because its message might quote a hidden case.
        why = f"The grader failed ({fault.kind}); this is not the submission's fault."
        attempt = Attempt(
            Status.GRADER_ERROR, rationale=why, help="The submission will be graded again.", output_tail=fault.trace
        )
        mine = [task for task in self.tasks if task.lesson == submission.lesson]
        finished = datetime.now(UTC)
        report = Report(
            submission=submission,
            verdicts=tuple(Verdict(task.task, 0.0, task.points, None, attempt) for task in mine),
            environment=Environment.capture(),
            sandboxed=self.sandboxed,
            missing=sandbox.missing_layers() if self.sandboxed else (),
            duration_s=(finished - started).total_seconds(),
        )
        return Graded(report, started, finished)


def grade_all(
    pending: Sequence[Submission],
    grader: HandInGrader,
    book: Journal,
    again: Collection[Key],
    lanes: Lanes,
    progress: AbstractContextManager[Callable[[Report], None]],
) -> int:
    """Grade the submissions in `pending`, store the grades in `book`, and return the number of stored grades.

    A file whose key is in `again` is graded although it may have a grade. Submissions for which the machine was too
    noisy are graded once more after all others, because the noise may be over by then. After Ctrl-C, the returned
    number may be less than the number of submissions.
    """
    kept = 0
    noisy: list[Submission] = []
    try:
        with progress as tell:
            for graded in _round(pending, grader, lanes):
                report = _keep(graded, book, grader, again)
                tell(report)
                kept += 1
                if is_too_noisy(report):
                    noisy.append(report.submission)
            for graded in _round(noisy, grader, lanes):
                tell(_keep(graded, book, grader, again))
    except KeyboardInterrupt:
        lanes.abandon()
    except BaseException:
        lanes.abandon()
        raise
    else:
        lanes.finish()
    return kept


def _keep(graded: Graded, book: Journal, grader: HandInGrader, again: Collection[Key]) -> Report:
    """Store a report in the database and return it. If it cannot be stored, store and return an error report.

    If the error report cannot be stored either, the submission remains without a grade. Raise `WriteError` if the
    database cannot be written at all.
    """
    try:
        book.add(replace(graded, again=key(graded.report.submission) in again))
    except FairclockError:
        raise
    except Exception as error:  # noqa: BLE001 - any failure concerns only this grade
        graded = grader.lost(graded.report.submission, error)
        with suppress(Exception):
            book.add(graded)
    return graded.report


def _round(pending: Sequence[Submission], grader: HandInGrader, lanes: Lanes) -> Iterator[Graded]:
    futures = {_submitted(lanes, grader, submission): submission for submission in pending}
    for future in as_completed(futures):
        error = CancelledError() if future.cancelled() else future.exception()
        if isinstance(error, KeyboardInterrupt):
            raise error
        yield future.result() if error is None else grader.lost(futures[future], error)


def _submitted(lanes: Lanes, grader: HandInGrader, submission: Submission) -> "Future[Graded]":
    try:
        return lanes.submit(grader.graded, submission)
    except Exception as error:  # noqa: BLE001 - any failure ends only this submission
        future: Future[Graded] = Future()
        future.set_exception(error)
        return future
