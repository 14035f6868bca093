"""Grade the submissions of a class in parallel, and store each grade in the database of grades (the journal).

If the grading of a submission fails, only this submission has no grade. A full disk and Ctrl-C end the run.
"""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Collection as Names
from concurrent.futures import CancelledError, Future, as_completed
from contextlib import AbstractContextManager, suppress
from dataclasses import replace

from grader.class_run.executors import Lanes
from grader.class_run.journal import Graded, Journal
from grader.course.roll import is_too_noisy
from grader.records import Report, Submission
from harness.errors import FairclockError

Lane = Callable[[Submission], Graded]
Lost = Callable[[Submission, BaseException], Graded]
"""A function that returns a report of an internal error for a submission whose grading failed."""


def grade_all(
    pending: Sequence[Submission],
    lane: Lane,
    lost: Lost,
    keep: Callable[[Graded], Graded],
    lanes: Lanes,
    progress: AbstractContextManager[Callable[[Report], None]],
) -> int:
    """Grade the submissions in `pending`, store the grades, and return the number of stored grades.

    Submissions for which the machine was too noisy are graded once more after all others, because the noise may be
    over by then. After Ctrl-C, the returned number may be less than the number of submissions. `lane` grades one
    submission, and `lost` makes the report if `lane` raises an exception. `keep` stores a report.
    """
    kept = 0
    noisy: list[Submission] = []
    try:
        with progress as tell:
            for graded in _round(pending, lane, lost, lanes):
                report = keep(graded).report
                tell(report)
                kept += 1
                if is_too_noisy(report):
                    noisy.append(report.submission)
            for graded in _round(noisy, lane, lost, lanes):
                tell(keep(graded).report)
    except KeyboardInterrupt:
        lanes.abandon()
    except BaseException:
        lanes.abandon()
        raise
    else:
        lanes.shutdown()
    return kept


Key = tuple[str, str]
"""A lesson, and a digest of the submitted file. Equal files of several students have one key and are graded once."""


def key(submission: Submission) -> Key:
    """Return the lesson of a submission and the digest of its file. Submissions with the same key share one grade."""
    return submission.lesson, submission.content


def keep(book: Journal, lost: Lost, again: Names[Key], graded: Graded) -> Graded:
    """Store a report in the database and return it. If it cannot be stored, store and return an error report.

    A file whose key is in `again` is graded although it may have a grade. `lost` makes the error report, which costs
    the student no points. If the error report cannot be stored either, the submission remains without a grade. Raise
    `WriteError` if the database cannot be written at all.
    """
    given = graded.report.submission
    try:
        book.add(replace(graded, again=key(given) in again))
    except FairclockError:
        raise
    except Exception as error:  # noqa: BLE001 - any failure concerns only this grade
        graded = lost(given, error)
        with suppress(Exception):
            book.add(graded)
    return graded


def _round(pending: Sequence[Submission], lane: Lane, lost: Lost, lanes: Lanes) -> Iterator[Graded]:
    futures = {_submitted(lanes, lane, submission): submission for submission in pending}
    for future in as_completed(futures):
        yield _outcome(future, futures[future], lost)


def _submitted(lanes: Lanes, lane: Lane, submission: Submission) -> "Future[Graded]":
    try:
        return lanes.submit(lane, submission)
    except Exception as error:  # noqa: BLE001 - any failure ends only this submission
        future: Future[Graded] = Future()
        future.set_exception(error)
        return future


def _outcome(future: "Future[Graded]", submission: Submission, lost: Lost) -> Graded:
    error = CancelledError() if future.cancelled() else future.exception()
    if isinstance(error, KeyboardInterrupt):
        raise error
    return future.result() if error is None else lost(submission, error)
