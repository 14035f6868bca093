"""What attacks got of two graders: the evidence, what it proves, and the table of it. Starts nothing.

An attack earns nothing honestly: what it hands in is as wrong as the wrong control. So any point it has, and any secret
that reaches whoever listens, is what the attack got.
"""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Got:
    """What one hand-in has of one grader: points (None: it gave no grade), how it says so, a secret that came out."""

    points: float | None
    of: float
    says: str = ""
    leaked: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether an attack, whose honest work is worth nothing, got something."""
        return bool(self.points) or self.leaked

    def __str__(self) -> str:
        earned = "no grade" if self.points is None else f"{self.points:g} of {self.of:g}"
        return ", ".join([earned, *[self.says] * bool(self.says), *["the secret came out"] * self.leaked])


@dataclass(frozen=True)
class Attack:
    """An attack in two dialects, and what each grader gave for it."""

    name: str
    tries: str
    elsewhere: Got
    here: Got


@dataclass(frozen=True)
class Control:
    """An honest hand-in, the points it is worth, and what each grader gave for it."""

    name: str
    worth: float
    elsewhere: Got
    here: Got

    @property
    def as_it_should(self) -> bool:
        """Whether both graders gave what it is worth: else nothing that they say of attacks proves anything."""
        return self.elsewhere.points == self.here.points == self.worth


def first_line(source: str) -> str:
    """What a file of an attack says that it tries: the first line of its docstring, without its row's number."""
    said = (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
    return said.partition(". ")[2] if said.startswith("Row ") else said


def pairs(theirs: Path, ours: Sequence[Path]) -> list[tuple[Path, Path]]:
    """Each attack of the folder `theirs` with its namesake in the folders `ours`; `LookupError` when one has none."""
    found = []
    for path in sorted(theirs.glob("*.py")):
        namesakes = [folder / path.name for folder in ours if (folder / path.name).exists()]
        if not namesakes:
            raise LookupError(f"{path} has no namesake in {', '.join(map(str, ours))}")
        found.append((path, namesakes[0]))
    return found


def markdown(versions: tuple[str, str], attacks: Iterable[Attack], controls: Iterable[Control]) -> str:
    """Both graders' answers side by side: attacks first, then the controls."""
    lines = [f"| hand-in | what it tries | {versions[0]} | {versions[1]} |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {_spoken(one.name)} | {one.tries} | {_told(one.elsewhere)} | {_told(one.here)} |"
        for one in sorted(attacks, key=lambda one: one.name)
    ]
    lines += [
        f"| {_spoken(one.name)} | honest, worth {one.worth:g} points | {one.elsewhere} | {one.here} |"
        for one in controls
    ]
    return "\n".join(lines)


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def _told(got: Got) -> str:
    return f"**succeeds**: {got}" if got.succeeded else f"fails: {got}"


def summary(versions: tuple[str, str], attacks: Sequence[Attack]) -> str:
    """How many succeeded with each."""
    counts = [
        sum(got.succeeded for got in side) for side in zip(*((a.elsewhere, a.here) for a in attacks), strict=True)
    ]
    return f"Of {len(attacks)} attacks {counts[0]} succeed with {versions[0]}, {counts[1]} with {versions[1]}."
