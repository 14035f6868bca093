"""One student's grades as Gradescope's `results.json`.

The shape is that of Gradescope's autograder specification; `tests[].name` is `<lesson>.<task>`, and its
`extra_data` carries the measured evidence. The `score` at the top is what counts by the course's policy, those of the
tests are what was earned. Every text is of format "text", which Gradescope shows as it
stands.
"""

import json
import math
from collections.abc import Iterator, Sequence

from grader.class_run.roll import Roll, Standing, is_faulted
from grader.records import Report, Verdict
from grader.reports import words

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def render(roll: Roll, student: str) -> str:
    """Return the file's text for one student of the class."""
    reports = [report for report in roll.reports if report.submission.student == student]
    waiting = [hand_in for hand_in in roll.waiting if hand_in.student == student]
    standings = roll.standings_of(student)
    said = [_said(report, standings.get(report.submission.lesson)) for report in reports]
    said += [f"{hand_in.lesson}: not graded yet, so the score is not final." for hand_in in waiting]
    said += [f"{file.path} was not graded. {file.why}" for file in roll.left_out if file.student == student]
    said += _how(reports)
    verdicts = [verdict for report in reports for verdict in report.verdicts]
    result: dict[str, Json] = {
        "score": sum(_counted(report, standings.get(report.submission.lesson)) for report in reports),
        "execution_time": round(sum(report.duration_s for report in reports), 3),
        "output": "\n".join(said) or "Nothing was handed in.",
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [_test(verdict) for verdict in verdicts],
        "leaderboard": [_leader(v, v.attempt.speed.ratio) for v in verdicts if v.attempt.speed],
        "extra_data": {
            "student": student,
            "kit": roll.kit,
            "submissions": [_evidence(report) | _policy(standings.get(report.submission.lesson)) for report in reports],
        },
    }
    return json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _counted(report: Report, standing: Standing | None) -> float:
    """The points that count; those of a report with a fault of ours stand as they are until it is graded again."""
    return report.points if standing is None or standing.points is None else standing.points


def _said(report: Report, standing: Standing | None) -> str:
    lesson = report.submission.lesson
    earned = f"{words.points(report.points)} of {words.points(report.max_points)} points."
    lines = [earned, standing.reason if standing else "", report.submission.refusal, *report.notes]
    if is_faulted(report):
        lines.append("part of it could not be graded, which is no fault of yours; it will be graded again.")
    return "\n".join(f"{lesson}: {line}" for line in lines if line)


def _how(reports: Sequence[Report]) -> Iterator[str]:
    """Which lessons were graded with no sandbox; what was refused never ran."""
    ran = [report for report in reports if not report.submission.refused]
    if bare := [report.submission.lesson for report in ran if not report.sandboxed]:
        yield f"Graded with no sandbox: {', '.join(bare)}."


def _test(verdict: Verdict) -> Json:
    speed = verdict.attempt.speed
    return {
        "name": verdict.task,
        "score": verdict.points,
        "max_score": verdict.max_points,
        "status": "passed" if verdict.status.value in {"passed", "undecided"} else "failed",
        "output": words.explanation(verdict),
        "output_format": "text",
        "visibility": "visible",
        "extra_data": {
            "status": verdict.status.name,
            "cost": verdict.cost.name if verdict.cost else None,
            "ratio": _finite(speed.ratio) if speed else None,
            "low": _finite(speed.low) if speed else None,
            "high": _finite(speed.high) if speed else None,
            "rounds": speed.rounds if speed else None,
            "tier": speed.tier if speed else None,
        },
    }


def _leader(verdict: Verdict, ratio: float) -> Json:
    return {"name": verdict.task, "value": _finite(ratio), "order": "desc"}


def _policy(standing: Standing | None) -> dict[str, Json]:
    """What the course's policy made of the points, for whoever reads the file by a program."""
    if standing is None:
        return {}
    return {
        "points_earned": standing.raw,
        "points_counted": standing.points,
        "reason": standing.reason,
        "due": standing.due.isoformat() if standing.due else None,
        "handed_in": standing.handed_in.isoformat() if standing.handed_in else None,
        "days_late": standing.days_late,
        "attempts": standing.attempts,
    }


def _evidence(report: Report) -> dict[str, Json]:
    return {
        "lesson": report.submission.lesson,
        "path": report.submission.path,
        "sha256": report.submission.sha256,
        "sandboxed": report.sandboxed,
        "missing_layers": list(report.missing),
        "environment": report.environment.describe(),
        "fingerprint": report.environment.fingerprint(),
    }


def _finite(value: float) -> float | None:
    """Return the number, or None for what JSON has no number for."""
    return value if math.isfinite(value) else None
