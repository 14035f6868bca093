"""A class of 30 students in its first week: what each hands in, and the points that the course's rules give."""

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from zoneinfo import ZoneInfo

from classroom import notebook, zipped

from grader import overlays

ROOT = Path(__file__).parents[2]
TIMER, AUTORANGE = "02_timeit_vs_timer", "04_autorange"
ZONE = ZoneInfo("Europe/Berlin")
DUE = datetime(2026, 11, 20, 23, 59, tzinfo=ZONE)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
KNOWN = ROOT / "grader" / "tasks" / f"lesson_{AUTORANGE}" / "known" / "blocked_autorange"

TEXTS = {
    "top": (KNOWN / "tier3_one_rehearsal.py", 10.0),
    "second": (KNOWN / "tier2_three_times.py", 8.0),
    "first": (KNOWN / "tier1_four_times.py", 6.0),
    "plain": (KNOWN / "baseline.py", 4.0),
    "wrong": (KNOWN / "wrong_mean.py", 0.0),
    "stub": (ROOT / "lessons" / "exercises" / f"{AUTORANGE}.py", 0.0),
    "timer": (ROOT / "solutions" / f"{TIMER}.py", 20.0),
    "timer stub": (ROOT / "lessons" / "exercises" / f"{TIMER}.py", 0.0),
}
"""Answers, and the points that their truth tables promise."""


@dataclass(frozen=True)
class Attempt:
    """One hand-in: its lesson, its bytes, the points that it earns, and its time in `hours` after the due date."""

    lesson: str
    data: bytes
    earned: float
    hours: float
    suffix: str = ".py"

    @property
    def at(self) -> datetime:
        return DUE + self.hours * HOUR

    @property
    def sha256(self) -> str:
        return sha256(self.data).hexdigest()


def answer(name: str, hours: float = -5, own: str = "") -> Attempt:
    """Return the known answer `name`. The words `own` at its end make it different from other students' answers."""
    path, earned = TEXTS[name]
    text = overlays.whole(path) + (f"\n# {own}\n" if own else "")
    return Attempt(TIMER if name.startswith("timer") else AUTORANGE, text.encode(), earned, hours)


def notebooks(name: str, hours: float = -5) -> Attempt:
    given = answer(name)
    return Attempt(given.lesson, notebook(given.data.decode()), given.earned, hours, ".ipynb")


BROKEN = Attempt(AUTORANGE, b"def blocked_autorange(run, clock\n", 0.0, -5)
LATIN = Attempt(AUTORANGE, "# café".encode("latin-1"), 0.0, -5)

HANDED_IN: dict[str, tuple[Attempt, ...]] = {
    **{f"s0{number}": (answer("top", hours),) for number, hours in ((1, -5), (2, -4), (3, -3), (4, 20), (5, -1))},
    "s06": (answer("top", -9, "s06"), answer("wrong", -2, "s06")),
    "s07": (answer("first", -9, "s07"), answer("top", 30, "s07"), answer("second", 60, "s07")),
    "s08": (answer("first", -9, "s08"), answer("wrong", -1, "meant for another course")),
    "s09": (notebooks("top"),),
    "s10": (notebooks("top"),),
    "s11": (answer("top", -5, "s11"), answer("timer", -5)),
    "s12": (answer("second"), answer("timer")),
    "s13": (answer("second"), answer("timer")),
    "s14": (answer("top", 1 / 6, "s14"),),
    "s15": (answer("top", 25, "s15"),),
    "s16": (answer("top", 24 * 6, "s16"),),
    "s17": (answer("top", 24 * 8, "s17"),),
    "s18": (answer("top", 24 * 2 + 5, "s18"),),
    **{f"s{number}": (answer("stub"), answer("timer stub")) for number in (19, 20)},
    "s21": (answer("stub"),),
    "s22": (BROKEN,),
    "s23": (Attempt(AUTORANGE, b"import (", 0.0, -5),),
    "s24": (),
    "s25": (answer("timer", -5, "s25"),),
    "s26": (answer("timer", -5, "s26"),),
    "s27": (),
    "s28": (answer("plain", -5, "s28"),),
    "s29": (LATIN,),
    "s30": (answer("top", -30), answer("top", 40)),
}
ZIPPED = ("s12", "s13")
STRUCK = HANDED_IN["s08"][1]
LEFT_OUT = {
    "s24": {"s24/4_autorange.py": AUTORANGE},
    "s25": {"s25/04_autorange (1).py": AUTORANGE},
    "s26": {"s26/hw2.py": AUTORANGE, "s26/05_compare.PY": "05_compare"},
    "s27": {"s27/exercises": AUTORANGE, "s27/all.7z": ""},
}
"""Misnamed files by student, with the exercise that each resembles."""

COURSE = f"""
timezone = "Europe/Berlin"
attempts = "{{which}}"
students = ["ivy"]
[late]
percent_per_day = 10
grace_minutes = 15
at_most_percent = 50
closes_after_days = 7
[lessons.{AUTORANGE}]
due = {DUE:%Y-%m-%dT%H:%M:%S}
[extensions.s18]
{AUTORANGE} = "2 days"
[extensions.ivy]
all = "1 week"
[struck.s08]
{AUTORANGE} = ["{STRUCK.sha256[:12]}"]
"""


def write(folder: Path) -> None:
    """Write the class to a folder, as students hand it in."""
    for student, attempts in HANDED_IN.items():
        if student in ZIPPED:
            folder.mkdir(exist_ok=True)
            (folder / f"{student}.zip").write_bytes(zipped([(f"{one.lesson}.py", one.data) for one in attempts]))
            os.utime(folder / f"{student}.zip", (attempts[0].at.timestamp(),) * 2)
            continue
        (folder / student).mkdir(parents=True)
        for one in attempts:
            place = folder / student / f"{one.at:%Y-%m-%dT%H-%M-%S}"
            place.mkdir(exist_ok=True)
            (place / f"{one.lesson}{one.suffix}").write_bytes(one.data)
    top = answer("top").data
    for path in ("s24/4_autorange.py", "s25/04_autorange (1).py", "s26/hw2.py", "s26/05_compare.PY"):
        (folder / path).write_bytes(f"'''Exercise: python -m grader check {AUTORANGE}'''\n".encode() + top)
    (folder / "s26" / "README.txt").write_text("hello")
    (folder / "s27" / "exercises").mkdir()
    (folder / "s27" / "exercises" / f"{AUTORANGE}.py").write_bytes(top)
    (folder / "s27" / "all.7z").write_bytes(b"7z")


def counted(student: str, one: Attempt) -> float:
    """Return the points that count after lateness: 10 % less per day begun, at most half, none after a week."""
    late = one.at - DUE - (2 * DAY if student == "s18" else 0 * DAY)
    if one.lesson == TIMER or late <= timedelta(minutes=15):
        return one.earned
    return 0.0 if late > 7 * DAY else one.earned * (1 - min(0.5, 0.1 * math.ceil(late / DAY)))


def expected(student: str, lesson: str, which: str) -> float | None:
    """Return the points that a student must get for a lesson under a policy; None if nothing was handed in."""
    attempts = [one for one in HANDED_IN.get(student, ()) if one.lesson == lesson and one is not STRUCK]
    firsts = [one for number, one in enumerate(attempts) if one.data not in [other.data for other in attempts[:number]]]
    points = [counted(student, one) for one in firsts]
    return None if not points else round(max(points) if which == "best" else points[-1], 2)


def contents(which: str) -> Iterator[tuple[str, str]]:
    """Yield each pair of a lesson and a content that must be graded under a policy, because it may count."""
    for attempts in HANDED_IN.values():
        for lesson in (TIMER, AUTORANGE):
            may = [one for one in attempts if one.lesson == lesson and one is not STRUCK]
            if student_has_one_content(may):
                may = may[:1]
            yield from ((lesson, one.sha256) for one in (may if which == "best" else may[-1:]))


def student_has_one_content(attempts: list[Attempt]) -> bool:
    return len({one.data for one in attempts}) == 1
