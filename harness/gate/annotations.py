"""Show a run on GitHub: a job summary, and a warning or an error at the line of each test that needs attention."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from harness.gate import wording
from harness.gate.outcomes import BenchmarkOutcome, GateRun

Locations = Mapping[str, tuple[Path, int]]
"""For the node id of each test: its file, and its line, counted from 1."""

_MOST: Final = 10
"""GitHub shows at most ten warnings and ten errors of a step (docs.github.com, "Workflow commands")."""

_HEADS: Final = ("verdict", "benchmark", "change", "interval", "BASE", "here")


def publish(run: GateRun, locations: Locations, write: Callable[[str], object]) -> None:
    """In a job of GitHub Actions, write the annotations as lines, and add the run to the summary of the job."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    for line in commands(run, locations, Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())):
        write(line)
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(job_summary(run))


def commands(run: GateRun, locations: Locations, workspace: Path) -> Iterator[str]:
    """Yield a workflow command for each outcome with a next step. GitHub shows it at the line of the test.

    An outcome that makes the run red is an error, and another one a warning. Files outside of `workspace` are left out.
    """
    errors, warnings = list[str](), list[str]()
    if run.is_void:
        warnings.append(
            _command("warning", {"title": "The run is void"}, f"{wording.noise(run)} {wording.VOID_NEXT_STEP}")
        )
    for outcome in filter(lambda found: wording.next_step(run, found), wording.worst_first(run)):
        kind, found = ("error", errors) if run.is_red(outcome) else ("warning", warnings)
        title = {"title": f"{outcome.verdict.upper()} {wording.text(outcome.name)}"}
        place = _place(locations.get(outcome.name), workspace)
        found.append(_command(kind, place | title, _measured(run, outcome) + wording.explanation(run, outcome)))
    yield from (*errors[:_MOST], *warnings[:_MOST])


def _measured(run: GateRun, outcome: BenchmarkOutcome) -> str:
    if not outcome.change:
        return ""
    change = wording.in_brackets(outcome.change, outcome.limit(run))
    return f"{run.cost}: {change} compared with {wording.text(run.base)}. "


def _place(location: tuple[Path, int] | None, workspace: Path) -> dict[str, str]:
    if location is None or not location[0].is_relative_to(workspace):
        return {}
    return {"file": location[0].relative_to(workspace).as_posix(), "line": str(location[1])}


def _command(kind: str, properties: Mapping[str, str], message: str) -> str:
    given = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in properties.items())
    return f"::{kind} {given}::{_escaped(message)}"


def _escaped(text: str, more: str = "") -> str:
    return re.sub(f"[%\r\n{more}]", lambda found: f"%{ord(found[0]):02X}", text)


def job_summary(run: GateRun) -> str:
    """Return the run as Markdown of GitHub. Markup in names is escaped."""
    outcomes, left_out = wording.rows_of(run)
    rows = [_HEADS, ("---",) * len(_HEADS), *(_cells(run, outcome) for outcome in outcomes)]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in rows) if outcomes else ""
    steps = [
        f"- **{outcome.verdict.upper()}** {_literal(outcome.name)}: {_literal(explanation)}"
        for outcome in outcomes
        if (explanation := wording.explanation(run, outcome))
    ]
    void = wording.VOID_NEXT_STEP if run.is_void else ""
    parts = (
        f"### {wording.headline(run)}",
        void,
        _literal(wording.comparison(run)),
        table,
        left_out,
        "\n".join(steps),
        _literal(wording.noise(run)),
    )
    return "\n\n".join(filter(None, parts)) + "\n"


def _cells(run: GateRun, outcome: BenchmarkOutcome) -> tuple[str, ...]:
    measured = wording.changes(outcome.change, outcome.limit(run)) if outcome.change else ("", "")
    costs = wording.call_cost(run, outcome.base), wording.call_cost(run, outcome.here)
    verdict = f"**{outcome.verdict.upper()}**" if run.is_red(outcome) else outcome.verdict.upper()
    return verdict, _literal(outcome.name), *measured, *costs


def _literal(text: str) -> str:
    """Return a text in which characters of Markdown, HTML and emoji codes are written as numbers."""
    return re.sub(r"[!#$&*:<>@\[\\\]_`|~]", lambda found: f"&#{ord(found[0])};", wording.text(text))
