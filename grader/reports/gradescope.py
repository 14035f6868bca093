"""One student's grades as `results.json`, in the format of Gradescope's autograder specification.

The `score` of a test is the number of points earned. The `score` of the whole file is the number of points that count
by the course's rules on dates and attempts.
"""

import json
import math

from grader.course.by_hand import HandEntry, in_force
from grader.course.results import LessonStanding
from grader.course.roll import Roll, is_faulted
from grader.records import Report, Verdict
from grader.reports import grade_texts
from grader.trials.score import UNBELIEVED
from harness.rendering.texts import shown

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def render(roll: Roll) -> str:
    """Return the grades of the only student of `roll` as the text of results.json."""
    (student,) = roll.students
    standings = roll.standings_of(student)
    graded = [(report, standings.get(report.submission.lesson)) for report in roll.reports]
    lines = [_lines(report, standing) for report, standing in graded]
    lessons = {report.submission.lesson for report in roll.reports}
    alone = [one for one in roll.standings if one.by_hand and one.lesson not in lessons]
    lines += [f"{one.lesson}: {one.reason}" for one in alone]
    given = in_force(roll.by_hand)
    lines += [grade_texts.hand_entry(roll, one) for one in given if one.points is None]
    lines += grade_texts.set_aside(roll)
    lines += [f"{one.lesson}: {grade_texts.sealed(roll, one)}" for one in roll.sealed]
    lines += [f"{lesson}: 0 points, because {grade_texts.NO_ATTEMPT}." for lesson in roll.missing().get(student, ())]
    lines += [f"{hand_in.lesson}: not graded yet. The score is not final." for hand_in in roll.waiting]
    lines += [f"{file.path} was not graded. {file.why}" for file in roll.left_out]
    if total := grade_texts.totals(roll).get(student):
        lines += ["The total of the course:", *total.arithmetic]
    if bare := [one.submission.lesson for one in roll.reports if not (one.submission.refused or one.sandboxed)]:
        lines.append(f"Graded without a sandbox: {', '.join(bare)}.")
    verdicts = [verdict for report in roll.reports for verdict in report.verdicts]
    marks = roll.marks(student)
    tests = [_with_points_by_hand(roll, marks.get(verdict.task), _test(verdict)) for verdict in verdicts]
    graded_tasks = {verdict.task for verdict in verdicts}
    for task in roll.tasks:
        if task.task in marks and task.task not in graded_tasks:
            bare_test: dict[str, Json] = {"name": task.task, "max_score": task.points, "visibility": "visible"}
            tests.append(_with_points_by_hand(roll, marks[task.task], bare_test))
    result: dict[str, Json] = {
        "score": sum(_counted(report, standing) for report, standing in graded)
        + sum(one.points or 0.0 for one in alone),
        "execution_time": round(sum(report.duration_s for report in roll.reports), 3),
        "output": shown("\n".join(lines)) or "Nothing was handed in.",
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": list[Json](tests),
        "leaderboard": [
            {
                "name": grade_texts.task_title(verdict.task),
                "value": _finite(verdict.attempt.speed.ratio),
                "order": "desc",
            }
            for verdict in verdicts
            if verdict.attempt.speed and verdict.status not in UNBELIEVED
        ],
        "extra_data": {
            "student": student,  # unchanged, because programs identify the student by it
            "kit": roll.kit,
            "course_percent": total.percent if total else None,
            "submissions": [_evidence(report) for report in roll.reports],
        },
    }
    return json.dumps(result, indent=1, allow_nan=False) + "\n"


def _counted(report: Report, standing: LessonStanding | None) -> float:
    """Return how many points of a submission count. After an internal error, this number is preliminary."""
    return report.points if standing is None or standing.points is None else standing.points


def _lines(report: Report, standing: LessonStanding | None) -> str:
    lesson = report.submission.lesson
    earned = f"{grade_texts.points(report.points)} of {grade_texts.points(report.max_points)} points."
    lines = [earned, standing.reason if standing else "", report.submission.refusal, *report.remarks, *report.notes]
    if is_faulted(report):
        lines.append("a part of this file could not be graded. This is not your fault. The file will be graded again.")
    return "\n".join(f"{lesson}: {line}" for line in lines if line)


def _with_points_by_hand(roll: Roll, entry: HandEntry | None, test: dict[str, Json]) -> dict[str, Json]:
    if entry is None:
        return test
    told, extra = [grade_texts.hand_entry(roll, entry), test.get("output")], test.get("extra_data")
    given: dict[str, Json] = {"points": entry.points, "by": shown(entry.by), "at": entry.at.isoformat()}
    given |= {"comment": shown(entry.comment), "points_measured": test.get("score")}
    return test | {
        "score": entry.points,
        "output": shown("\n".join(str(text) for text in told if text)),
        "output_format": "text",
        "extra_data": {**(extra if isinstance(extra, dict) else {}), "by_hand": given},
    }


def _test(verdict: Verdict) -> dict[str, Json]:
    speed = verdict.attempt.speed
    return {
        "name": verdict.task,
        "score": verdict.points,
        "max_score": verdict.max_points,
        "status": "passed" if verdict.status.value in {"passed", "undecided"} else "failed",
        "output": shown(grade_texts.explanation(verdict)),
        "output_format": "text",
        "visibility": "visible",
        "extra_data": {
            "status": verdict.status.name,
            "cost": verdict.cost.name.upper().replace(" ", "_") if verdict.cost else None,
            **{name: _finite(getattr(speed, name)) if speed else None for name in ("ratio", "low", "high")},
            **{name: getattr(speed, name) if speed else None for name in ("rounds", "tier")},
        },
    }


def _evidence(report: Report) -> dict[str, Json]:
    return {
        "lesson": report.submission.lesson,
        "path": shown(report.submission.path),
        "sha256": report.submission.sha256,
        "sandboxed": report.sandboxed,
        "missing_layers": list(report.missing),
        "environment": report.environment.describe(),
        "fingerprint": report.environment.fingerprint(),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
