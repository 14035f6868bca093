"""Compute all grades of a course from its course file and plain facts, with no code of the grader: FOLDER.

FOLDER has `course.toml`, `students.csv` and `facts.json`. The facts are `handed_in` (person, lesson, content, time in
UTC or null), `points` (lesson → content → points of each task), `maximum` (lesson → points) and `by_hand` (person →
lesson → task → points). Print JSON: the points that count for each person and lesson, and the total in percent.
"""

import csv
import json
import math
import re
import sys
import tomllib
import unicodedata
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path
from zoneinfo import ZoneInfo

folder = Path(sys.argv[1])
course = tomllib.loads((folder / "course.toml").read_text(encoding="utf-8-sig"))
facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
zone, utc, late = ZoneInfo(course["timezone"]), ZoneInfo("UTC"), course["late"]
UNKNOWN = datetime(1, 1, 1, tzinfo=utc)
"""Stands for the time of a hand-in without one, which is never late."""

sections: dict[str, set[str]] = {}
names: dict[str, str] = {}
with (folder / "students.csv").open(encoding="utf-8-sig", newline="") as file:
    for row in csv.DictReader(file):
        sections.setdefault(row["id"], set()).add(row["section"])
        names |= {row["id"]: row["id"], row["email"]: row["id"], row["name"]: row["id"]}


def instant(wall: datetime) -> datetime:
    """Return the UTC time at which the clock of the course shows a time: the later of two (no time here is skipped)."""
    return wall.replace(tzinfo=zone, fold=1).astimezone(utc)


def rounded(number: float) -> float:
    """Return a number with two digits. Halves are rounded up, as people do."""
    return math.floor(number * 100 + 0.5 + 1e-9) / 100


def due_by_the_clock(person: str, lesson: str) -> datetime:
    """Return the due date of a person as the clock of the course shows it."""
    due: datetime = course["lessons"][lesson]["due"]
    for section in sections[person]:
        due = course.get("sections", {}).get(section, {}).get("lessons", {}).get(lesson, {}).get("due", due)
    for name, own in course["extensions"].items():
        if names.get(unicodedata.normalize("NFC", name), "") == person and (more := own.get(lesson, own.get("all"))):
            if isinstance(more, datetime):
                return more
            number, unit = re.findall(r"(\d+) (hour|day|week)", more)[0]
            if unit != "hour":
                return due + timedelta(days=int(number) * (7 if unit == "week" else 1))
            return (instant(due) + timedelta(hours=int(number))).astimezone(zone).replace(tzinfo=None)
    return due


def after_lateness(points: float, at: datetime, due: datetime, slip_days: int) -> float:
    """Return the points that are left after the penalty for lateness, with some days paid by slip days."""
    if at <= instant(due) + timedelta(minutes=late["grace_minutes"]):
        return points
    if at > instant(due + timedelta(days=late["closes_after_days"])):
        return 0.0
    days = 1
    while at > instant(due + timedelta(days=days)):
        days += 1
    lost: float = min(late["percent_per_day"] * max(0, days - slip_days), late["at_most_percent"]) / 100
    return rounded(points * (1 - lost))


def points_for(person: str, lesson: str, slip_days: int = 0) -> float:
    """Return the points of a person in a lesson, with some slip days."""
    due, points = due_by_the_clock(person, lesson), facts["points"][lesson]
    attempts: dict[str, datetime] = {}
    for one in facts["handed_in"]:
        if (one["person"], one["lesson"]) == (person, lesson):
            at = datetime.fromisoformat(one["at"]) if one["at"] else UNKNOWN
            attempts[one["content"]] = min(attempts.get(one["content"], at), at)
    given = sorted(attempts.items(), key=lambda one: one[1])
    closes = instant(due + timedelta(days=late["closes_after_days"]))
    given = [one for one in given if one[1] <= closes] or given[-1:]
    which = course["lessons"][lesson].get("attempts", course["attempts"])
    given = {"latest": given[-1:], "first": given[:1], "best": given}[which]
    by_hand: dict[str, float] = facts["by_hand"].get(person, {}).get(lesson, {})
    tasks = list(next(iter(points.values())))
    earned = [
        sum(by_hand[task] for task in by_hand)
        + after_lateness(sum(points[content][task] for task in tasks if task not in by_hand), at, due, slip_days)
        for content, at in given
    ]
    return max(earned, default=sum(by_hand.values()))


def total(grades: dict[str, float]) -> float:
    """Return the course total in percent: weighted shares, without the lowest lessons, plus extra credit."""
    share: dict[str, float] = {lesson: points / facts["maximum"][lesson] for lesson, points in grades.items()}
    weight: dict[str, float] = {lesson: course["lessons"][lesson].get("weight", 1) for lesson in grades}
    extra = {lesson for lesson in grades if course["lessons"][lesson].get("extra_credit")}
    regular = sorted(sorted(set(grades) - extra), key=lambda lesson: (share[lesson], -weight[lesson]))
    kept = regular[course.get("drop_lowest", 0) :]
    earned = sum(share[lesson] * weight[lesson] for lesson in {*kept, *extra})
    return rounded(100 * earned / sum(weight[lesson] for lesson in kept))


def grades_of(person: str) -> dict[str, float]:
    """Return a person's points by lesson. All ways to spend slip days are tried, and the best one counts."""
    lessons: list[str] = sorted(course["lessons"], key=lambda lesson: instant(due_by_the_clock(person, lesson)))
    slip = course.get("slip_days", {"budget": 0, "per_lesson": 0})
    days = range(slip["per_lesson"] + 1)
    points = {(lesson, spent): points_for(person, lesson, spent) for lesson in lessons for spent in days}

    def worth(plan: tuple[int, ...]) -> tuple[float, int, tuple[int, ...]]:
        parts = (
            points[lesson, spent] / facts["maximum"][lesson] * course["lessons"][lesson].get("weight", 1)
            for lesson, spent in zip(lessons, plan, strict=True)
        )
        return round(sum(parts), 9), -sum(plan), plan

    plans = (plan for plan in product(days, repeat=len(lessons)) if sum(plan) <= slip["budget"])
    best = max(plans, key=worth)
    return {lesson: points[lesson, spent] for lesson, spent in zip(lessons, best, strict=True)}


grades = {person: grades_of(person) for person in sections}
print(json.dumps({person: {**own, "total": total(own)} for person, own in grades.items()}))
