"""Write the hand-ins of a course of four weeks as learning platforms export them, and the facts about them.

New York changes its clocks on 1 November 2026, between the due dates of the second and the third week. The facts are
plain data: who handed in which content for which lesson, and when. `second_opinion.py` computes all grades from them.
"""

import json
import os
import random
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

ROOT = Path(__file__).parents[2]
ZONE, UTC = ZoneInfo("America/New_York"), ZoneInfo("UTC")
LESSONS = ("04_autorange", "03_cuda_sync", "06_ab_testing", "02_timeit_vs_timer")
FIRST_DUE = datetime(2026, 10, 24, 18, tzinfo=ZONE)
TASKS = ("blocked_autorange", "time_async", "is_slower", "time_per_call")
TWINS = "Ada Ota"
"""The name of two people."""

EXPORTED = datetime(2026, 12, 1, tzinfo=UTC)
FIRST = (
    *("Ada", "Søren", "Zoë", "José", "Ren", "Ivy", "Kofi", "Lena", "Nguyễn", "Fatima"),
    *("Bo", "Chloé", "Yuki", "Omar", "Dörte", "Ağa", "Dana", "Eun-ji", "Mary Ann"),
)
LAST = (
    *("Ota", "O'Hara", "Kováč", "García", "Müller", "Nowak", "Øst", "de_Vries", "Smith-Lee", "Żak"),
    *("Bianchi", "Öz", "Petrov", "Chen", "Diaz", "Ng"),
)

COURSE = """\
title = "Measuring, autumn 2026"
timezone = "America/New_York"
attempts = "latest"
drop_lowest = 1

[late]
percent_per_day = 10
grace_minutes = 15
at_most_percent = 50
closes_after_days = 4

[lessons.04_autorange]
due = 2026-10-24T18:00:00
weight = 1

[lessons.03_cuda_sync]
due = 2026-10-31T18:00:00
attempts = "best"
weight = 2

[lessons.06_ab_testing]
due = 2026-11-07T18:00:00
attempts = "first"
weight = 2

[lessons.02_timeit_vs_timer]
due = 2026-11-14T18:00:00
extra_credit = true

[sections.tuesday]
lessons.03_cuda_sync.due = 2026-11-01T18:00:00

[files]
"homework four.py" = "02_timeit_vs_timer"
"""


@dataclass(frozen=True)
class Person:
    """One row of the roster."""

    number: str
    name: str
    email: str
    sections: tuple[str, ...]


@dataclass(frozen=True)
class HandedIn:
    """One file: who handed it in, for which lesson, its content's name, the UTC time, and how its lateness is known."""

    person: str
    lesson: str
    content: str
    at: str | None
    late_by_mark: bool = False


def people(rng: random.Random, number: int) -> list[Person]:
    """Return the people of a class. Two of them share a name, and every fortieth is in both sections."""
    found: list[Person] = []
    for place in range(number):
        name = f"{FIRST[place % 19]} {LAST[place % 16]}"  # the names repeat after 304 people
        name = TWINS if place == 1 else name
        section = ("monday", "tuesday") if place % 40 == 39 else ("monday",) if rng.random() < 0.5 else ("tuesday",)
        found.append(Person(str(700000 + 13 * place), name, f"s{place:03d}@example.edu", section))
    return found


def contents(lesson: str) -> dict[str, bytes]:
    """Return files that students hand in for a lesson, by name. `stub` is not an attempt, and `pdf` no exercise."""
    solution = (ROOT / "solutions" / f"{lesson}.py").read_text(encoding="utf-8")
    known = ROOT / "grader" / "tasks" / f"lesson_{lesson}" / "known"
    slow = "\n".join(path.read_text(encoding="utf-8") for path in sorted(known.rglob("baseline.py")))
    new: dict[str, object] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**new, "source": source} for source in ("!pip install numpy", solution, "1 / 0")]
    stub = (ROOT / "lessons" / "exercises" / f"{lesson}.py").read_bytes().replace(b"\n", b"\r\n")
    return {
        "solution": solution.encode(),
        "notebook": json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}).encode(),
        "slow": slow.encode(),
        "wrong": f"{solution}\n\ndef {TASKS[LESSONS.index(lesson)]}(*args):\n    return 1\n".encode(),
        "stub": b"\xef\xbb\xbf" + stub + b"# later\r\n",
        "pdf": b"%PDF-1.7\n",
    }


def write(folder: Path, number: int = 120) -> tuple[list[Person], list[HandedIn], dict[str, Path]]:
    """Write a course file, a roster and exports into `folder`. Return the people, facts and exports by name."""
    rng = random.Random(40)
    roster, facts, exports = people(rng, number), list[HandedIn](), dict[str, Path]()
    folder.mkdir(parents=True)
    (folder / "course.toml").write_text(COURSE + _extensions(roster), encoding="utf-8-sig")
    rows = [f"{one.number},{one.name},{one.email},{section}" for one in roster for section in one.sections]
    (folder / "students.csv").write_text("id,name,email,section\r\n" + "\r\n".join(rows), encoding="utf-8", newline="")
    for week, lesson in enumerate(LESSONS):
        files, due = contents(lesson), FIRST_DUE + timedelta(weeks=week)
        for section, layout in zip(("monday", "tuesday"), LAYOUTS[week], strict=True):
            place = exports[f"week{week + 1}_{layout.__name__}"] = folder / f"week{week + 1}_{layout.__name__}"
            place.mkdir()
            there = [one for one in roster if section == one.sections[0] and rng.random() < 0.9]
            facts += [fact for one in there for fact in _handed_in(one, lesson, files, due, layout, place, rng)]
    return roster, facts, exports


def _extensions(roster: list[Person]) -> str:
    """Return extensions under the number, the e-mail address, and the name in decomposed letters."""
    third, first, second = (one for one in roster if one.number in {"700091", "700130", "700039"})
    name = unicodedata.normalize("NFD", third.name)
    return (
        f'[extensions."{first.number}"]\nall = "3 days"\n[extensions."{second.email}"]\n03_cuda_sync = "1 week"\n'
        f'[extensions."{name}"]\n03_cuda_sync = 2026-11-02T09:00:00\n06_ab_testing = "36 hours"\n'
    )


@dataclass(frozen=True)
class File:
    """A file that a person handed in at a time of the zone of the course, and the platform's number for it."""

    who: Person
    name: str
    data: bytes
    at: datetime
    number: int


def _handed_in(
    one: Person, lesson: str, files: dict[str, bytes], due: datetime, layout: "Layout", place: Path, rng: random.Random
) -> Iterator[HandedIn]:
    for attempt in range(rng.choice((1, 1, 2, 3)) if layout is plain else 1):
        hours = rng.choice((rng.uniform(-72, 0), rng.uniform(-1, 1), rng.uniform(0, 110)))
        at = (due + timedelta(hours=hours)).replace(second=0, microsecond=0, fold=1).astimezone(UTC).astimezone(ZONE)
        content = rng.choice(("solution", "notebook", "slow", "slow", "wrong", "stub", "pdf"))
        name = lesson + {"notebook": ".ipynb", "pdf": ".pdf"}.get(content, ".py")
        name = "homework four.py" if lesson == LESSONS[3] and content == "slow" else name
        file = File(one, name, files[content], at, int(one.number) * 10 + attempt)
        layout(place, file)
        is_clear = one.name != TWINS or layout in {canvas, gradescope, plain}  # the others only tell a name
        if content not in {"stub", "pdf"} and is_clear:
            known = None if layout is canvas else at.astimezone(UTC).isoformat()
            yield HandedIn(one.number, lesson, content, known, layout is canvas and _is_marked(file))


def _is_marked(file: File) -> bool:
    return file.number % 3 == 0


def _put(path: Path, data: bytes, at: datetime = EXPORTED) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (at.timestamp(), at.timestamp()))


def canvas(folder: Path, file: File) -> None:
    """Write `otaren_LATE_9_12345_name`: the number of the student, but no time."""
    squashed = "".join(char for char in "".join(reversed(file.who.name.split())).lower() if char.isalnum())
    late = "LATE_" if _is_marked(file) else ""
    _put(folder / f"{squashed}_{late}{file.who.number}_{file.number}_{file.name}", file.data)


def moodle(folder: Path, file: File) -> None:
    """Write a folder for each participant. The time is that of the file."""
    _put(folder / f"{file.who.name}_{file.number}_assignsubmission_file_" / file.name, file.data, file.at)


def gradescope(folder: Path, file: File) -> None:
    """Write a folder for each submission, and one file that says whose it is."""
    who, at = file.who, file.at.astimezone(UTC)
    about = folder / "submission_metadata.yml"
    earlier = about.read_text(encoding="utf-8") if about.exists() else "---\n"
    about.write_text(
        f"{earlier}submission_{file.number}:\n  :submitters:\n  - :name: {json.dumps(who.name)}\n"
        f"    :sid: '{who.number}'\n    :email: {who.email}\n  :created_at: {at:%Y-%m-%d %H:%M:%S}.501 Z\n",
        encoding="utf-8",
    )
    _put(folder / f"submission_{file.number}" / file.name, file.data)


def plain(folder: Path, file: File) -> None:
    """Write a folder for each attempt below the folder of the student."""
    _put(folder / file.who.email / f"{file.at:%Y-%m-%dT%H-%M-%S}" / file.name, file.data)


def kit_zip(folder: Path, file: File) -> None:
    """Write the zip that Windows makes of a copy of the kit, under the name as macOS decomposes it."""
    path = folder / f"{unicodedata.normalize('NFD', file.who.name)}.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"kit\\lessons\\exercises\\{file.name}", file.data)
        archive.writestr(f"kit\\lessons\\exercises\\{file.name}:Zone.Identifier", b"[ZoneTransfer]")
    _put(path, path.read_bytes(), file.at)


Layout = Callable[[Path, File], None]
LAYOUTS: tuple[tuple[Layout, Layout], ...] = (
    (canvas, moodle),
    (gradescope, plain),
    (plain, gradescope),
    (kit_zip, moodle),
)
