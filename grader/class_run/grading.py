"""Grade the hand-ins of a run in lanes, and store each grade in the journal.

A lane may raise an exception or be lost, and the journal may refuse a grade. Such a problem affects only the verdicts
of one hand-in. A full disk and Ctrl-C end the run.
"""

from collections.abc import Callable, Sequence
from collections.abc import Collection as Names
from concurrent.futures import CancelledError, Future, as_completed
from contextlib import AbstractContextManager, suppress
from dataclasses import replace

from grader.class_run.executors import Lanes
from grader.class_run.journal import Graded, Journal
from grader.records import Report, Submission
from harness.errors import FairclockError

Lane = Callable[[Submission], Graded]
Lost = Callable[[Submission, BaseException], Graded]
"""A function that returns GRADER_ERROR verdicts for a submission whose grading raised an exception."""


def grade_all(
    pending: Sequence[Submission],
    lane: Lane,
    lost: Lost,
    keep: Callable[[Graded], Graded],
    lanes: Lanes,
    progress: AbstractContextManager[Callable[[Report], None]],
) -> int:
    """Grade the submissions in `pending` and store their grades. Return the number of grades that were stored.

    After Ctrl-C, this number may be less than the number of submissions.
    """
    kept = 0
    try:
        futures = {_submitted(lanes, lane, submission): submission for submission in pending}
        with progress as tell:
            for future in as_completed(futures):
                tell(keep(_outcome(future, futures[future], lost)).report)
                kept += 1
    except KeyboardInterrupt:
        lanes.abandon()
    except BaseException:
        lanes.abandon()
        raise
    else:
        lanes.shutdown()
    return kept


Key = tuple[str, str]
"""A lesson and the content of a hand-in. This content is graded once, even if several students handed it in."""


def key(submission: Submission) -> Key:
    """Return the lesson and the content of a submission. Submissions with the same key share one grade."""
    return submission.lesson, submission.content


def keep(book: Journal, lost: Lost, again: Names[Key], graded: Graded) -> Graded:
    """Store a grade in the journal and return it. If it cannot be stored, store and return GRADER_ERROR verdicts.

    A content whose key is in `again` may have a grade already. If GRADER_ERROR cannot be stored either, the journal and
    the reports show the hand-in without a grade. Raise `WriteError` if the journal cannot be written at all.
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


def _submitted(lanes: Lanes, lane: Lane, submission: Submission) -> "Future[Graded]":
    """Give a submission to the lanes and return the future of its grade.

    If the lanes raise an exception, the future holds this exception.
    """
    try:
        return lanes.submit(lane, submission)
    except Exception as error:  # noqa: BLE001 - any failure ends only this submission
        future: Future[Graded] = Future()
        future.set_exception(error)
        return future


def _outcome(future: "Future[Graded]", submission: Submission, lost: Lost) -> Graded:
    """Return the grade of a submission.

    If its lane raised an exception or was cancelled, the verdicts are GRADER_ERROR.
    """
    error = CancelledError() if future.cancelled() else future.exception()
    if isinstance(error, KeyboardInterrupt):
        raise error
    return future.result() if error is None else lost(submission, error)
