"""Compare the results of attacks on two graders, and make a table of them. This module starts no process.

An attack hands in wrong answers, which are worth no points. So each point that it gets is a success of the attack, and
so is each secret that it sends to the listening program.
"""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Got:
    """The result of one hand-in: points (None without a grade), the grader's text, and a secret that reached the
    listener.
    """

    points: float | None
    of: float
    says: str = ""
    leaked: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether an attack got points or a secret."""
        return bool(self.points) or self.leaked

    def __str__(self) -> str:
        earned = "no grade" if self.points is None else f"{self.points:g} of {self.of:g}"
        return ", ".join([earned, *[self.says] * bool(self.says), *["the secret came out"] * self.leaked])


@dataclass(frozen=True)
class Attack:
    """An attack, written once for each of two graders, and its results."""

    name: str
    tries: str
    elsewhere: Got
    here: Got


@dataclass(frozen=True)
class Control:
    """An honest hand-in, the points that it is worth, and each grader's result."""

    name: str
    worth: float
    elsewhere: Got
    here: Got

    @property
    def as_it_should(self) -> bool:
        """Whether both graders gave the points that the hand-in is worth. If not, their results on attacks prove
        nothing.
        """
        return self.elsewhere.points == self.here.points == self.worth


def first_paragraph(source: str) -> str:
    """Return the first paragraph of an attack's docstring, which describes the attack, on one line."""
    docstring = ast.get_docstring(ast.parse(source)) or ""
    return " ".join(docstring.partition("\n\n")[0].split())


def pairs(theirs: Path, ours: Sequence[Path]) -> list[tuple[Path, Path]]:
    """Return each attack in the folder `theirs` with the file of the same name in the folders `ours`.

    Raise `LookupError` if a file is missing.
    """
    found = []
    for path in sorted(theirs.glob("*.py")):
        namesakes = [folder / path.name for folder in ours if (folder / path.name).exists()]
        if not namesakes:
            raise LookupError(f"{path} has no namesake in {', '.join(map(str, ours))}")
        found.append((path, namesakes[0]))
    return found


def markdown(versions: tuple[str, str], attacks: Iterable[Attack], controls: Iterable[Control]) -> str:
    """Return a table of both graders' results: attacks first, then the controls."""
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
    """Return a sentence with the number of attacks that succeeded with each grader."""
    counts = [
        sum(got.succeeded for got in side) for side in zip(*((a.elsewhere, a.here) for a in attacks), strict=True)
    ]
    return f"Of {len(attacks)} attacks {counts[0]} succeed with {versions[0]}, {counts[1]} with {versions[1]}."
