"""Run lessons in separate processes, and summarize the results of their claims.

These runs use a separate state folder, so they do not change the student's progress.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from harness.command_line import named
from harness.rendering.tables import Cell, Table
from harness.rendering.units import Format, count
from harness.storage.user_files import FOLDER_VARIABLE, state_folder
from lessons.engine.interval import ClaimStanding
from lessons.engine.record import Json

LIMIT_S = 600
"""The time limit in seconds of one lesson in this check. It is twenty times the longest time of a short run."""


@dataclass(frozen=True, slots=True)
class LessonRun:
    """One run of a lesson. `record` holds its results as a JSON value. If the run failed, `fault` is the reason."""

    lesson: str
    record: Mapping[str, Json]
    fault: str = ""


def chosen(given: Sequence[str], lessons: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the lessons that the user named by number or name, in the order of `lessons`.

    If `given` is empty, return all lessons. Raise `UsageError` if a name fits no lesson or several lessons.
    """
    meant = {named(each, lessons) for each in given}
    return tuple(name for name in lessons if not given or name in meant)


def run_all(lessons: Sequence[str], times: int, *, report: Callable[[str], None]) -> tuple[LessonRun, ...]:
    """Run all lessons `times` times, and return the results. `report` receives the name of each run before the run.

    All lessons run once before the second run of any lesson. A short disturbance then affects only one run of a lesson.
    """
    runs = []
    for turn in range(1, times + 1):
        for lesson in lessons:
            report(f"{lesson}, run {turn} of {times}" if times > 1 else lesson)
            runs.append(run_lesson(lesson, "--fast"))
    return tuple(runs)


def run_lesson(lesson: str, option: str) -> LessonRun:
    """Run a lesson with an option such as `--fast`, and return its results, or the reason why it failed."""
    environment = {**os.environ, FOLDER_VARIABLE: str(state_folder() / "check-claims")}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "claims.json"
        command = [sys.executable, "-m", f"lessons.{lesson}", "--no-input", option, "--json", str(file)]
        try:
            done = subprocess.run(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                timeout=LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return LessonRun(lesson, {}, f"was stopped after {LIMIT_S} s")
        if done.returncode or not file.exists():
            errors = done.stderr.strip().splitlines() or ["no error message"]
            return LessonRun(lesson, {}, f"ended with exit code {done.returncode}: {errors[-1]}")
        return LessonRun(lesson, json.loads(file.read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True)
class ClaimSummary:
    """A claim with the number of its `runs` that had each result.

    `shown` is the measured value as text. After several runs, it is the smallest and the largest value.
    """

    lesson: str
    id: str
    sentence: str
    wanted: str
    shown: str
    runs: Mapping[str, int]
    reasons: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """The result of the claim if it is the same in all runs, or for example "2 held, 1 refuted"."""
        seen = {verdict: runs for verdict, runs in self.runs.items() if runs}
        return next(iter(seen)) if len(seen) == 1 else ", ".join(f"{runs} {verdict}" for verdict, runs in seen.items())


def summaries(runs: Sequence[LessonRun]) -> tuple[ClaimSummary, ...]:
    """Return a summary of each claim that has a result in at least one run, in the order of the runs."""
    settled: dict[tuple[str, str], list[Mapping[str, Json]]] = {}
    for run in runs:
        for claim in cast("list[Mapping[str, Json]]", run.record.get("claims", [])):
            settled.setdefault((run.lesson, str(claim["id"])), []).append(claim)
    return tuple(_summary(lesson, each) for (lesson, _), each in settled.items())


def all_well(runs: Sequence[LessonRun]) -> bool:
    """Return whether all lessons ran to their end and no claim was refuted."""
    return all(not run.fault for run in runs) and all(not each.runs[ClaimStanding.REFUTED] for each in summaries(runs))


def summary(runs: Sequence[LessonRun]) -> str:
    """Return the report's last line: the number of each result, the refuted claims, and the lessons that failed."""
    claims = summaries(runs)
    words = ", ".join(f"{sum(each.runs[standing] for each in claims)} {standing.value}" for standing in ClaimStanding)
    refuted = [f"{each.lesson} {each.id}" for each in claims if each.runs[ClaimStanding.REFUTED]]
    failed = [run.lesson for run in runs if run.fault]
    sentences = [f"{words}."]
    sentences += [f"Refuted: {', '.join(refuted)}."] if refuted else []
    sentences += [f"Did not run to the end: {', '.join(failed)}."] if failed else []
    return " ".join(sentences)


def table(runs: Sequence[LessonRun]) -> Table:
    """Return a table with one row per claim: the measured value, the bounds, and the result.

    If a lesson ran several times, the table contains the number of runs with each result.
    """
    several = len(runs) > len({run.lesson for run in runs})
    columns: dict[str, Format | None] = dict.fromkeys(("lesson", "claim", "measured", "wanted"))
    columns |= {standing.value: count for standing in ClaimStanding} if several else {"verdict": None}
    return Table.of("", columns, [_row(each, several=several) for each in summaries(runs)])


def to_json(runs: Sequence[LessonRun], *, fast: bool) -> Json:
    """Return the summaries of the claims and the record of each run as a JSON value."""
    return {
        "format": 1,
        "fast": fast,
        "all_well": all_well(runs),
        "claims": [_summary_as_json(each) for each in summaries(runs)],
        "runs": [{"lesson": run.lesson, "fault": run.fault, "record": dict(run.record)} for run in runs],
    }


def _summary(lesson: str, claims: Sequence[Mapping[str, Json]]) -> ClaimSummary:
    counts = Counter(str(claim["verdict"]) for claim in claims)
    measured = [claim for claim in claims if claim["measured"] is not None]
    ends = [end(measured, key=lambda claim: float(str(claim["measured"]))) for end in (min, max)] if measured else []
    return ClaimSummary(
        lesson=lesson,
        id=str(claims[0]["id"]),
        sentence=str(claims[0]["sentence"]),
        wanted=next((str(claim["wanted"]) for claim in claims if claim["wanted"]), ""),
        shown=" to ".join(dict.fromkeys(str(claim["shown"]) for claim in ends)),
        runs={standing.value: counts[standing] for standing in ClaimStanding},
        reasons=tuple(dict.fromkeys(str(claim["reason"]) for claim in claims if claim["reason"])),
    )


def _summary_as_json(each: ClaimSummary) -> Json:
    fields = asdict(each)
    return {**fields.pop("runs"), **fields, "reasons": list(each.reasons)}


def _row(each: ClaimSummary, *, several: bool) -> tuple[Cell, ...]:
    return (each.lesson, each.id, each.shown, each.wanted, *(each.runs.values() if several else (each.verdict,)))
