"""Grades in words: what every report says alike."""

from grader.class_run.roll import HandIn
from grader.records import Report, Status, Verdict
from grader.trials.faults import NOT_PYTHON, NOT_WRITTEN

SYNTAX_ERROR = "syntax error"

STATUS = {
    Status.PASSED: "right",
    Status.WRONG: "wrong",
    Status.RAISED: "raised an error",
    Status.TIMED_OUT: "timed out",
    Status.OUT_OF_MEMORY: "out of memory",
    Status.CRASHED: "crashed",
    Status.CHEATED: "broke the rules",
    Status.UNDECIDED: "at a tier's edge",
    Status.GRADER_ERROR: "not graded (our fault)",
}
"""Each status as a reader's word."""

_SEVERITY = (
    Status.PASSED,
    Status.UNDECIDED,
    Status.WRONG,
    Status.RAISED,
    Status.TIMED_OUT,
    Status.OUT_OF_MEMORY,
    Status.CRASHED,
    Status.CHEATED,
    Status.GRADER_ERROR,
)


def points(value: float) -> str:
    """Return points without a needless fraction: 6.0 → "6", 4.5 → "4.5"."""
    return format(round(value, 2), "g")


def total(value: float, *, final: bool) -> str:
    """Return the sum of a student's points, marked as not final while a lesson waits for its grade."""
    return points(value) if final else f"{points(value)} so far"


def status(report: Report) -> str:
    """Return how a hand-in went, in a few words: "refused", or how the worst of its tasks ended."""
    if report.submission.refused:
        return "refused"
    ends = ((_SEVERITY.index(verdict.status), ended(verdict)) for verdict in report.verdicts)
    return max(ends, key=lambda one: (one[0], one[1] != NOT_WRITTEN))[1]


def ended(verdict: Verdict) -> str:
    """Return how a task ended, in a few words; a function not written and a syntax error have words of their own."""
    if verdict.status is Status.RAISED and verdict.attempt.help == NOT_WRITTEN:
        return NOT_WRITTEN
    if verdict.status is Status.RAISED and verdict.attempt.rationale.startswith(NOT_PYTHON):
        return SYNTAX_ERROR
    return STATUS[verdict.status]


def lost(hand_in: HandIn) -> str:
    """Return what became of an attempt that was replaced before it was graded."""
    return f"{hand_in.path} (SHA-256 {hand_in.sha256[:12]}…) was replaced before it was graded, so it cannot count."


def gone(hand_in: HandIn) -> str:
    """Return the same for the instructor, and what to do."""
    return f"{lost(hand_in)} To let it count, put the file back in the class folder and run again."


def explanation(verdict: Verdict) -> str:
    """Return what a student reads of one task, line by line; never empty."""
    attempt = verdict.attempt
    return "\n".join(line for line in (attempt.rationale, attempt.help) if line) or f"{STATUS[attempt.status]}."
