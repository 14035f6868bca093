"""Grade what is pending in lanes and keep each grade, whatever happens to a single one on the way.

What concerns one hand-in ends as that hand-in's own verdict: a lane that raises or is lost, a grade that the journal
does not take. A full disk and a Ctrl-C concern all, and end the run.
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
"""Makes the verdict of GRADER_ERROR for a submission whose grading raised."""


def grade_all(
    pending: Sequence[Submission],
    lane: Lane,
    lost: Lost,
    keep: Callable[[Graded], Graded],
    lanes: Lanes,
    progress: AbstractContextManager[Callable[[Report], None]],
) -> int:
    """Grade and journal what is pending; return how many came to their end: fewer than all after a Ctrl-C."""
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
"""A lesson and a content: what is graded once, however many students handed it in."""


def key(submission: Submission) -> Key:
    """Return what the grade of a submission belongs to."""
    return submission.lesson, submission.content


def keep(book: Journal, lost: Lost, again: Names[Key], graded: Graded) -> Graded:
    """Journal a grade, and return it; a verdict of GRADER_ERROR where it cannot be kept.

    `again` are contents that are graded though they may have a grade. Where not even that verdict can be kept, the
    hand-in stays without a grade, and the journal and the reports say so. Raises `WriteError` where nothing can be
    kept.
    """
    given = graded.report.submission
    try:
        book.add(replace(graded, again=key(given) in again))
    except FairclockError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it concerns this grade alone
        graded = lost(given, error)
        with suppress(Exception):
            book.add(graded)
    return graded


def _submitted(lanes: Lanes, lane: Lane, submission: Submission) -> "Future[Graded]":
    """Give a submission to the lanes. Where they do not take it, as what cannot be pickled, the future says so."""
    try:
        return lanes.submit(lane, submission)
    except Exception as error:  # noqa: BLE001 - whatever it is, it ends this submission alone
        future: Future[Graded] = Future()
        future.set_exception(error)
        return future


def _outcome(future: "Future[Graded]", submission: Submission, lost: Lost) -> Graded:
    """Return how a submission was graded: GRADER_ERROR where its lane raised anything, or was cancelled."""
    error = CancelledError() if future.cancelled() else future.exception()
    if isinstance(error, KeyboardInterrupt):
        raise error
    return future.result() if error is None else lost(submission, error)
