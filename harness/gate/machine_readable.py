"""Write a run for other programs: as JSON that can be read again, and as properties of JUnit.

README.md has the fields of the JSON. `VERSION` changes when a field is removed, or when its meaning changes.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any, Final

from harness.gate.outcomes import BenchmarkOutcome, Change, GateControl, GateRound, GateRun, GateVerdict

FORMAT: Final = "fairclock duel"
VERSION: Final = 1
_ROUND_FIELDS: Final = tuple(field.name for field in fields(GateRound))


def to_json(run: GateRun) -> str:
    """Return the run with all rounds as JSON. An end of an interval that is infinite is written as null."""
    outcomes = [
        {**_values(outcome), "rounds": _columns(outcome.rounds), "red": run.is_red(outcome)} for outcome in run.outcomes
    ]
    content = {
        "format": FORMAT,
        "version": VERSION,
        "void": run.is_void,
        "red": any(map(run.is_red, run.outcomes)),
        **_values(run),
        "started": run.started.isoformat(),
        "controls": [_values(control) for control in run.controls],
        "outcomes": outcomes,
    }
    return json.dumps(content, allow_nan=False) + "\n"


def _values(of: GateRun | GateControl | BenchmarkOutcome) -> dict[str, Any]:
    """Return the fields of a record. Infinite ends of its change are None, because JSON has no infinite numbers."""
    found = {field.name: getattr(of, field.name) for field in fields(of)}
    if isinstance(change := found.get("change"), Change):
        found["change"] = {key: value if math.isfinite(value) else None for key, value in asdict(change).items()}
    return found


def _columns(rounds: Sequence[GateRound]) -> dict[str, list[float]]:
    return {name: [getattr(one, name) for one in rounds] for name in _ROUND_FIELDS}


def from_json(content: str) -> GateRun:
    """Return the run that `to_json` wrote. Raise `ValueError` for any other text, with a sentence for the user."""
    try:
        data = json.loads(content)
        if (data["format"], data["version"]) != (FORMAT, VERSION):
            raise KeyError(f"it has the format {data['format']}, version {data['version']}")  # noqa: TRY301
        known = {field.name: data[field.name] for field in fields(GateRun)}
        return GateRun(
            **{
                **known,
                "started": datetime.fromisoformat(data["started"]),
                "controls": tuple(
                    GateControl(one["name"], _change(one["change"]), one["failed"]) for one in data["controls"]
                ),
                "outcomes": tuple(map(_outcome, data["outcomes"])),
            }
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"This file was not written by `pytest --duel-json` in format version {VERSION}, or it is damaged: {error}"
        ) from error


def _change(data: Mapping[str, float | None]) -> Change:
    values = (data[field.name] for field in fields(Change))
    return Change(*(math.inf if value is None else value for value in values))


def _outcome(data: Mapping[str, Any]) -> BenchmarkOutcome:
    rounds = zip(*(data["rounds"][name] for name in _ROUND_FIELDS), strict=True)
    known = {field.name: data[field.name] for field in fields(BenchmarkOutcome)}
    return BenchmarkOutcome(
        **{
            **known,
            "verdict": GateVerdict(data["verdict"]),
            "change": None if data["change"] is None else _change(data["change"]),
            "rounds": tuple(GateRound(*values) for values in rounds),
        }
    )


def junit_properties(run: GateRun, outcome: BenchmarkOutcome) -> list[tuple[str, object]]:
    """Return what JUnit's file says about a test. The plugin adds this list to `user_properties` of its report."""
    change = outcome.change
    found = {
        "duel_verdict": outcome.verdict.value,
        "duel_base": run.base,
        "duel_cost": run.cost,
        "duel_cost_base": outcome.base,
        "duel_cost_here": outcome.here,
        "duel_change": change and change.measured,
        "duel_change_low": change and change.low,
        "duel_change_high": change and change.high,
        "duel_why": outcome.why or None,
    }
    return [(name, value) for name, value in found.items() if value is not None]
