"""A class on disk, and a grader that decides by the words in a submission's text. It starts no worker."""

import csv
import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from grader import reports
from grader.class_run.grading import Grade, LocalLanes
from grader.class_run.run import grade_class
from grader.class_run.summary import Summary
from grader.course.course_file import parse
from grader.course.results import TaskPoints
from grader.hand_ins.collect import Collection, collect
from grader.kinds.timing import TIME
from grader.records import Attempt, Control, Report, Speed, Status, Submission, Verdict
from harness.machine.environment import Environment
from harness.paired.rounds import Reading, Round

KIT = "9.9.9"
DOT, CALL, REPAIR = "01_dot.batched", "02_timer.per_call", "02_timer.repair"
TASKS = (TaskPoints("01_dot", DOT, 10.0), TaskPoints("02_timer", CALL, 6.0), TaskPoints("02_timer", REPAIR, 4.0))
LESSONS = ("01_dot", "02_timer")
ENVIRONMENT = Environment.capture(ask_cuda=False)
ROUNDS = (
    Round(0, Reading(0.31, 0.32), Reading(0.1, 0.1000000001), baseline_first=True),
    Round(1, Reading(0.29, 0.33), Reading(0.1, 0.11), baseline_first=False),
)


def hand_in(folder: Path, student: str, text: str = "right", lesson: str = "01_dot") -> Path:
    """Write one exercise file and return its path."""
    path = folder / student / f"{lesson}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def collected(folder: Path) -> Collection:
    return collect(folder, LESSONS, kit=KIT)


def points(out: Path) -> dict[str, str]:
    """Return the points in the first lesson by student, from the gradebook."""
    with (out / reports.GRADEBOOK).open(encoding="utf-8", newline="") as file:
        return {row[0]: row[5] for row in list(csv.reader(file))[2:]}


def zipped(files: Sequence[tuple[str, bytes]]) -> bytes:
    """Return the bytes of a zip with these members, as any zip tool writes it."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return data.getvalue()


def notebook(*cells: str) -> bytes:
    """Return the bytes of a notebook with these code cells, as Jupyter saves it."""
    printed = {"output_type": "stream", "name": "stdout", "text": ["10 / 10"]}
    one = {"cell_type": "code", "metadata": {"forged": True}, "outputs": [printed], "execution_count": 1}
    return json.dumps(
        {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
            "cells": [one | {"source": cell.splitlines(keepends=True)} for cell in cells],
        }
    ).encode()


def attempt_for(submission: Submission) -> Attempt:
    if submission.source is None:
        return Attempt(Status.REFUSED, submission.refusal)
    source = str(submission.source)
    if "boom" in source:
        raise ZeroDivisionError("a hidden case: [1, 2, 3]")
    if "wrong" in source:
        return Attempt(Status.WRONG, f"Fails 7 of 60 cases. {source}", "Sum, not mean.", cases_passed=53, cases=60)
    if "cheat" in source:
        return Attempt(Status.CHEATED, "Tried to write results.json.")
    if "beyond" in source:
        beyond = Control(1.0, 1.05, 0.05, holds=True, most_ratio=120.0, impossible=True)
        return Attempt(Status.IMPOSSIBLE, "Too fast.", speed=Speed(9000, 8000, 9999, 60, 0), control=beyond)
    if "noisy" in source:
        return Attempt(Status.TOO_NOISY, "The control failed.")
    if "edge" in source:
        near = Speed(7.93, 7.71, 8.14, 212, 3, undecided=True)
        return Attempt(Status.UNDECIDED, "7.93 against a tier at 8.", speed=near)
    fast = Speed(3.0, 2.9, 3.1, 2, 1)
    return Attempt(Status.PASSED, "Right on all 60 cases.", speed=fast, rounds=ROUNDS, output_tail="\udcff")


def grade(submission: Submission, _seed: str = "") -> Report:
    """Grade by the words in the text: right, wrong, edge, cheat, beyond, noisy, or boom for a grader error."""
    attempt = attempt_for(submission)
    share = {Status.PASSED: 0.6, Status.UNDECIDED: 1.0, Status.IMPOSSIBLE: 0.4}.get(attempt.status, 0.0)
    verdicts = tuple(
        Verdict(task.task, share * task.points, task.points, TIME, attempt)
        for task in TASKS
        if task.lesson == submission.lesson
    )
    return Report(
        submission, verdicts, ENVIRONMENT, sandboxed=True, duration_s=0.25, notes=("a note",), missing=("a layer",)
    )


def run(
    folder: Path,
    out: Path | None = None,
    grade_one: Grade = grade,
    *,
    lessons: Sequence[str] = LESSONS,
    course: str = "",
    **options: Any,
) -> tuple[Summary, str]:
    """Grade the class in `folder` on two lanes, without workers. Return the summary and the printed text.

    By default, the grades go to the folder `out` beside the class. `course` is the text of a course file.
    """
    said = io.StringIO()
    summary = grade_class(
        folder,
        out or folder.with_name("out"),
        grade=grade_one,
        tasks=[task for task in TASKS if task.lesson in lessons],
        executor=LocalLanes(options.pop("jobs", 2)),
        console=Console(file=said, width=200),
        kit=KIT,
        about="2 lanes",
        course=parse(course, "course.toml", LESSONS) if course else None,
        course_name="course.toml" if course else "",
        **options,
    )
    return summary, said.getvalue()
