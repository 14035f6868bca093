"""Grades in words: what every report says alike."""

from grader.records import Report, Status, Verdict

STATUS = {
    Status.PASSED: "right",
    Status.WRONG: "wrong",
    Status.RAISED: "did not run",
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


def status(report: Report) -> str:
    """Return how a hand-in went, in a few words: "refused", or the worst of its tasks' statuses."""
    if report.submission.refused:
        return "refused"
    worst = max((verdict.status for verdict in report.verdicts), key=_SEVERITY.index)
    return STATUS[worst]


def explanation(verdict: Verdict) -> str:
    """Return what a student reads of one task, line by line; never empty."""
    attempt = verdict.attempt
    return "\n".join(line for line in (attempt.rationale, attempt.help) if line) or f"{STATUS[attempt.status]}."
