"""How claims fared over several runs of several lessons. Pure: what the runs wrote in, counts and a table out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import cast

from harness.tables import Cell, Column, Table
from harness.units import count
from lessons.engine.claim import Standing
from lessons.engine.record import Json


@dataclass(frozen=True, slots=True)
class Ran:
    """One run of one lesson: what it wrote with `--json`, or why it wrote nothing."""

    lesson: str
    record: Mapping[str, Json]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Fate:
    """One claim over all runs of its lesson: how often it came to each verdict.

    `shown` is the measured value of the only run, or the least and the largest of several, as people read it.
    """

    lesson: str
    id: str
    sentence: str
    wanted: str
    shown: str
    held: int
    refuted: int
    inconclusive: int
    skipped: int
    reasons: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """The verdict in a word where all runs agree; else each with its number of runs."""
        counts = {standing.value: getattr(self, standing.value) for standing in Standing}
        came = {verdict: runs for verdict, runs in counts.items() if runs}
        return next(iter(came)) if len(came) == 1 else ", ".join(f"{runs} {verdict}" for verdict, runs in came.items())


def fates(runs: Sequence[Ran]) -> tuple[Fate, ...]:
    """Return every claim that any run settled, in the order in which lessons and claims first came."""
    told: dict[tuple[str, str], list[Mapping[str, Json]]] = {}
    for run in runs:
        for claim in cast("list[Mapping[str, Json]]", run.record.get("claims", [])):
            told.setdefault((run.lesson, str(claim["id"])), []).append(claim)
    return tuple(_fate(lesson, each) for (lesson, _), each in told.items())


def all_well(runs: Sequence[Ran]) -> bool:
    """Tell whether every lesson ran to its end and no claim was refuted."""
    return all(not run.fault for run in runs) and all(not fate.refuted for fate in fates(runs))


def summary(runs: Sequence[Ran]) -> str:
    """Return the last line: how many claims came to what, and which were refuted."""
    counts = Counter[str]()
    for fate in fates(runs):
        counts.update({standing.value: getattr(fate, standing.value) for standing in Standing})
    words = ", ".join(f"{counts[standing.value]} {standing.value}" for standing in Standing)
    refuted = [f"{fate.lesson} {fate.id}" for fate in fates(runs) if fate.refuted]
    failed = [run.lesson for run in runs if run.fault]
    sentences = [f"{words}."]
    sentences += [f"Refuted: {', '.join(refuted)}."] if refuted else []
    sentences += [f"Did not run to the end: {', '.join(failed)}."] if failed else []
    return " ".join(sentences)


def table(runs: Sequence[Ran]) -> Table:
    """Return one row a claim: measured, wanted, verdict; over several runs, how often it came to each verdict."""
    several = len(runs) > len({run.lesson for run in runs})
    verdicts = tuple(Column(standing.value, count) for standing in Standing) if several else (Column("verdict"),)
    columns = (Column("lesson"), Column("claim"), Column("measured"), Column("wanted"), *verdicts)
    rows = tuple(_row(fate, several=several) for fate in fates(runs))
    return Table("", columns, rows)


def to_json(runs: Sequence[Ran], *, fast: bool) -> Json:
    """Return everything for a JSON file: the counts, and below them each run as its lesson wrote it."""
    return {
        "format": 1,
        "fast": fast,
        "all_well": all_well(runs),
        "claims": [cast("Json", {**asdict(fate), "reasons": list(fate.reasons)}) for fate in fates(runs)],
        "runs": [{"lesson": run.lesson, "fault": run.fault, "record": dict(run.record)} for run in runs],
    }


def _fate(lesson: str, claims: Sequence[Mapping[str, Json]]) -> Fate:
    counts = Counter(str(claim["verdict"]) for claim in claims)
    measured = [claim for claim in claims if claim["measured"] is not None]
    ends = [end(measured, key=lambda claim: float(str(claim["measured"]))) for end in (min, max)] if measured else []
    return Fate(
        lesson=lesson,
        id=str(claims[0]["id"]),
        sentence=str(claims[0]["sentence"]),
        wanted=next((str(claim["wanted"]) for claim in claims if claim["wanted"]), ""),
        shown=" to ".join(dict.fromkeys(str(claim["shown"]) for claim in ends)),
        held=counts[Standing.HELD],
        refuted=counts[Standing.REFUTED],
        inconclusive=counts[Standing.INCONCLUSIVE],
        skipped=counts[Standing.SKIPPED],
        reasons=tuple(dict.fromkeys(str(claim["reason"]) for claim in claims if claim["reason"])),
    )


def _row(fate: Fate, *, several: bool) -> tuple[Cell, ...]:
    verdicts = tuple(getattr(fate, standing.value) for standing in Standing) if several else (fate.verdict,)
    return (fate.lesson, fate.id, fate.shown, fate.wanted, *verdicts)
