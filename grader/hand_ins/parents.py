"""Distinguish the folder of a class from a folder that holds several classes, such as the exports of several weeks."""

import re
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Final

from grader.hand_ins.archives import Item
from grader.hand_ins.entries import FolderEntry, Kind
from grader.hand_ins.layouts import PLAIN, LayoutClaim, platforms
from grader.hand_ins.left_out import folded
from grader.hand_ins.metadata import GRADESCOPE
from harness.errors import UsageError
from harness.rendering import units

_MOST_NAMED: Final = 8
_WORK: Final = "week|wk|hw|homework|assignment|assign|lab|ps|pset|problem[ _-]?set|exercises?|ex|tasks?|lesson|sheet"
_MORE_WORK: Final = (
    "unit|module|part|project|proj|quiz|exam|block|section|tutorial|seminar|"
    "woche|blatt|übung|uebung|aufgabe|semaine|tp|td|semana"
)
_ASSIGNMENT: Final = re.compile(
    rf"(?:{_WORK}|{_MORE_WORK})[ _-]*\d+[a-z]?(?:[ _-].*)?|.*(?:export|submissions?)|(?:.*-)?\d{{4}}-?\d\d-?\d\d.*"
)
"""The names of folders of whole classes, such as `week1`, `assignment_12_export` and `2026-11-20`."""

_OF_ONE: Final = re.compile(
    r"(?:attempt|try|version|ver|v|draft|final|old|new|backup|copy|take|submission|rev|latest|fixed|resub|my|src|code|work|"
    r"solution|home|desktop|documents|downloads|users|kit|fairclock|lessons|exercises|notebooks).*|\d+"
)
"""The names of folders in which one student keeps files, such as `draft2` and `lessons`."""

_KIT: Final = {"lessons": "exercises"}


class _Verdict(IntEnum):
    """What a folder holds: one student's files, perhaps one student's files, perhaps a class, or a class."""

    STUDENT = 0
    EITHER = 1
    PERHAPS_CLASS = 2
    CLASS = 3


@dataclass(frozen=True, slots=True)
class Inside:
    """What a folder or zip holds: its own entries (True for folders), and the path and lesson of each exercise."""

    top: dict[str, bool] = field(default_factory=dict)
    exercises: list[tuple[tuple[str, ...], str]] = field(default_factory=list)


def classes(
    claims: Mapping[str, LayoutClaim], found: Mapping[str, Inside], lessons: Collection[str], zipped: str = ""
) -> list[str]:
    """Return the names of the folders and zips that hold classes and not the files of a student.

    `zipped` is the name of the zip that holds these folders, if it is one. Raise `UsageError` if the folder is one
    student's copy of the course.
    """
    plain = {name: found[name] for name, claim in claims.items() if claim.layout == PLAIN and name in found}
    if any(part in plain[name].top for name, part in _KIT.items() if name in plain):
        raise UsageError("The folder is a copy of the course, not a class; give the folder that contains it.")
    verdicts = {name: _verdict(name, inside, lessons) for name, inside in plain.items()}
    # A program that zips a folder gives the zip the folder's name, and browsers and Google Drive add to it.
    verdicts |= {
        name: _Verdict.CLASS
        for name, verdict in verdicts.items()
        if verdict is _Verdict.EITHER and len(claims) == 1 and folded(zipped).startswith(folded(name))
    }
    of_work = {name: one for name, one in verdicts.items() if plain[name].exercises or one is _Verdict.CLASS}
    surest, least = max(of_work.values(), default=_Verdict.STUDENT), min(of_work.values(), default=_Verdict.STUDENT)
    if surest is _Verdict.CLASS:
        found_classes = [name for name, verdict in verdicts.items() if verdict >= _Verdict.PERHAPS_CLASS]
        # One student's zip that looks like a class must not stop the grading of the other students.
        return found_classes if 2 * len(found_classes) >= len(of_work) else []
    if surest < _Verdict.PERHAPS_CLASS or not least or len(plain) < len(claims):
        return []
    return [name for name, verdict in of_work.items() if verdict >= least]


def _verdict(name: str, inside: Inside, lessons: Collection[str]) -> _Verdict:
    stem, people = folded(name).removesuffix(".zip"), _platform_people(inside)
    if GRADESCOPE in inside.top or people > 1:
        return _Verdict.CLASS
    if people:
        return _Verdict.PERHAPS_CLASS
    if not inside.exercises or any(len(path) == 1 for path, _ in inside.exercises):
        return _Verdict.STUDENT
    work = set(map(folded, lessons))
    children: dict[str, set[str]] = {}
    for path, lesson in inside.exercises:
        child = folded(path[0]).removesuffix(".zip")
        is_clone = child.startswith(f"{stem.removesuffix('-submissions')}-")
        if is_clone or not (child in {stem, *work} or _OF_ONE.fullmatch(child) or _ASSIGNMENT.fullmatch(child)):
            children.setdefault(child, set()).add(lesson)
    if not children:
        return _Verdict.STUDENT
    if stem in work or _ASSIGNMENT.fullmatch(stem):
        return _Verdict.CLASS
    several = sum(map(len, children.values())) > len(set().union(*children.values()))
    return _Verdict.PERHAPS_CLASS if several else _Verdict.EITHER


def _platform_people(inside: Inside) -> int:
    kinds = {True: Kind.FOLDER, False: Kind.FILE}
    items = {name: Item(FolderEntry((name,), name, kinds[is_folder])) for name, is_folder in inside.top.items()}
    return len({one.label for claim in platforms(items).values() for one in claim.senders})


def message(folder: Path, names: Collection[str]) -> str:
    """Return a sentence that names these folders of classes, and the commands that grade them."""
    listed = units.few(names, _MOST_NAMED)
    first = "Unpack this zip first, then grade" if folder.is_file() else "Grade"
    one = "each of them" if len(names) > 1 else "it"
    commands = "; ".join(_command(folder, name) for name in list(names)[:_MOST_NAMED])
    what = "folders of classes, not of students" if len(names) > 1 else "the folder of a class, not of a student"
    return f"{folder} contains {what}: {listed}. {first} {one} on its own: {commands}"


def _command(folder: Path, name: str) -> str:
    place = folder.with_suffix("") if folder.is_file() else folder
    out = "grades-" + re.sub(r"[^\w-]+", "-", name.removesuffix(".zip"))
    return f"python -m grader run {shlex.quote(str(place / name))} --out {shlex.quote(out)}"
