"""Recognise the layouts of a class's folder: what learning platforms export, clones, and one folder for each student.

Each layout is a function that finds its entries among the names in the class's folder. The first layout that claims an
entry gets it. Sources of the names: Canvas `lib/content_zipper.rb`, Moodle `mod/assign/locallib.php`, and exports.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Final

from grader.course.dates import read_time
from grader.hand_ins import archives, metadata
from grader.hand_ins.archives import Item
from grader.hand_ins.entries import Kind
from grader.hand_ins.left_out import SUFFIXES, student_of_archive
from grader.hand_ins.metadata import sender
from grader.records import Sender, TimeSource

Items = Mapping[str, Item]
PLAIN: Final = "one folder or zip for each student"
_OWN: Final = frozenset({TimeSource.FOLDER, TimeSource.FILE})


@dataclass(frozen=True, slots=True)
class LayoutClaim:
    """What a layout understands about an entry of a class's folder. Without `senders`, it belongs to no student.

    `name` is the file's name as the student wrote it, and "" for a folder. `hand_in` is the same for the files that
    were handed in together. `at` is the platform's time in UTC, and `source` says why there is none. `own` are the
    sources of other times that are used, or compared with the platform's. An entry with `about` describes others, and
    is not a hand-in. `unread` is the platform's time as it was written, if it could not be read.
    """

    layout: str
    senders: tuple[Sender, ...]
    name: str
    hand_in: str
    at: datetime | None = None
    source: TimeSource = TimeSource.UNKNOWN
    own: frozenset[TimeSource] = frozenset()
    about: bool = False
    unread: str = ""


def recognised(items: Items, zone: tzinfo, parent: str = "") -> dict[str, LayoutClaim]:
    """Return a claim for each entry of a class's folder. `parent` is the folder's own name."""
    claims = platforms(items, zone)
    for layout in (_github, _plain):
        claims |= layout({name: item for name, item in items.items() if name not in claims}, zone, parent)
    both = {name: replace(claim, own=_OWN) if claim.at else claim for name, claim in claims.items()}
    return _with_different_labels(both)


def platforms(items: Items, zone: tzinfo = UTC) -> dict[str, LayoutClaim]:
    """Return a claim for each entry that a learning platform has written."""
    claims: dict[str, LayoutClaim] = {}
    for layout in (_gradescope, _moodle, _brightspace, _blackboard, _canvas):
        claims |= layout({name: item for name, item in items.items() if name not in claims}, zone, "")
    return claims


def _with_different_labels(claims: Mapping[str, LayoutClaim]) -> dict[str, LayoutClaim]:
    people: dict[tuple[str, str], set[str]] = {}
    for claim in claims.values():
        for one in claim.senders:
            people.setdefault((claim.layout, one.label), set()).update(one.ids[:1])

    def distinct(layout: str, one: Sender) -> Sender:
        same = len(people[layout, one.label]) > 1 and one.ids
        return replace(one, label=f"{one.label} ({one.ids[0]})") if same else one

    senders = {name: tuple(distinct(claim.layout, one) for one in claim.senders) for name, claim in claims.items()}
    return {name: replace(claim, senders=senders[name]) for name, claim in claims.items()}


def _gradescope(items: Items, zone: tzinfo, _parent: str) -> Iterator[tuple[str, LayoutClaim]]:
    if not (file := items.get(metadata.GRADESCOPE)) or file.is_folder:
        return
    yield metadata.GRADESCOPE, LayoutClaim("Gradescope", (), "", "", about=True)
    found = metadata.gradescope(file.entry)
    for name in items:
        if name in found or re.fullmatch(r"submission_\d+", name):
            people, created = found.get(name, ((), ""))
            at = read_time(created, zone)
            yield name, LayoutClaim("Gradescope", people or (sender(name),), "", name, at, unread="" if at else created)


_MOODLE = re.compile(
    r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_(?P<kind>file|onlinetext|[a-z]+?)_?(?P<rest>(?<=_).*)?"
)


def _moodle(items: Items, zone: tzinfo, _parent: str) -> Iterator[tuple[str, LayoutClaim]]:
    found = {name: match for name in items if (match := _MOODLE.fullmatch(name))}
    times: dict[str, str] = {}
    for name, item in items.items() if found else ():
        if name.casefold().endswith(".csv") and (rows := metadata.moodle_times(item.entry)):
            times |= rows
            yield name, LayoutClaim("Moodle", (), "", "", about=True)
    for name, match in found.items():
        written = times.get(match["id"], "").strip(" -")
        at = read_time(written, zone)
        full = match["name"]
        team, _, member = full.partition("-")  # a team's name is before the names of its members
        who = sender(full, member if " " in member and re.search(r"[\d ]", team) else full, match["id"])
        hand_in, own, unread = f"Moodle {match['id']}", frozenset({TimeSource.FILE}), "" if at else written
        yield name, LayoutClaim("Moodle", (who,), match["rest"] or "", hand_in, at, own=own, unread=unread)


def _brightspace(items: Items, zone: tzinfo, _parent: str) -> Iterator[tuple[str, LayoutClaim]]:
    for name in items:
        first, *parts = name.split(" - ")
        if not re.fullmatch(r"\d+-\d+", first) or len(parts) < 2:
            continue
        place = next((n for n in range(len(parts) - 1, 0, -1) if read_time(parts[n], zone)), 0)
        at, file = read_time(parts[place], zone) if place else None, " - ".join(parts[place + 1 :] if place else [])
        ids = [part for part in parts[: place - 1] if any(map(str.isdigit, part))] if place > 1 else []
        full = " - ".join(part for part in parts[: place or 1] if part not in ids)
        who = sender(full, full, first.partition("-")[0], *ids)
        unread = "" if at else parts[1]
        yield name, LayoutClaim("Brightspace", (who,), file, name.removesuffix(f" - {file}"), at, unread=unread)
    if "index.html" in items and any(re.match(r"\d+-\d+ - ", name) for name in items):
        yield "index.html", LayoutClaim("Brightspace", (), "", "", about=True)


_BLACKBOARD = re.compile(r"(?P<head>.+)_attempt_(?P<at>\d{4}(?:-\d\d){5})(?:_(?P<rest>.+)|\.txt)", re.DOTALL)


def _blackboard(items: Items, zone: tzinfo, _parent: str) -> Iterator[tuple[str, LayoutClaim]]:
    found = {name: match for name in items if (match := _BLACKBOARD.fullmatch(name))}
    common = os.path.commonprefix([match["head"] for match in found.values()])  # noqa: RUF071 - of texts
    people = {
        match["head"]: metadata.blackboard(items[name].entry) for name, match in found.items() if not match["rest"]
    }
    for name, match in found.items():
        head = match["head"]
        start = common.rfind("_") + 1 if len({one["head"] for one in found.values()}) > 1 else head.rfind("_") + 1
        full, login = people.get(head, ("", ""))
        login = login if login and head.endswith(f"_{login}") else head[start:]
        who, at = sender(login, full, login), read_time(match["at"], zone)
        hand_in, about = f"{head} {match['at']}", not match["rest"]
        yield name, LayoutClaim("Blackboard", (who,), match["rest"] or "", hand_in, at, about=about)


_CANVAS = re.compile(
    r"(?:(?P<name>.+?)_)??(?P<late>LATE_)?(?P<id>anon_\w{3,12}?|\d+)_(?:\d+_(?P<stem>.+?)(?:-\d+)?(?P<suffix>\.\w+)?|"
    r"(?P<text>(?:text|link)\.html))",
    re.DOTALL,
)


def _canvas(items: Items, _zone: tzinfo, _parent: str) -> Iterator[tuple[str, LayoutClaim]]:
    for name, item in items.items():
        match = _CANVAS.fullmatch(name)
        if item.is_folder or not match or not (match["name"] or match["id"].startswith("anon_")):
            continue
        who = sender("_".join(filter(None, (match["name"], match["id"]))), match["name"] or "", match["id"])
        file = match["text"] or match["stem"] + (match["suffix"] or "")
        late = TimeSource.LATE_MARK if match["late"] else TimeSource.UNKNOWN
        yield name, LayoutClaim("Canvas", (who,), file, f"Canvas {match['id']}", source=late)


def _github(items: Items, _zone: tzinfo, parent: str) -> Iterator[tuple[str, LayoutClaim]]:
    """Claim the clones of the repositories of an assignment, such as `hw1-ada`: their names have the same beginning."""
    clones = [name for name, item in items.items() if item.is_clone]
    assignment = parent.removesuffix("-submissions")
    common = os.path.commonprefix(clones) if len(clones) > 1 else ""  # noqa: RUF071 - of texts
    start = f"{assignment}-" if assignment != parent else common[: common.rfind("-") + 1]
    if start and clones and all(name.startswith(start) and name != start for name in clones):
        for name in clones:
            login = name.removeprefix(start)
            yield name, LayoutClaim("GitHub Classroom", (sender(login, "", login),), "", name)


def _plain(items: Items, _zone: tzinfo, _parent: str) -> Iterator[tuple[str, LayoutClaim]]:
    for name, item in items.items():
        label = name[:-4] if archives.is_zip(name) else student_of_archive(name)
        if item.is_folder or (item.entry.kind is Kind.LINK and not label and not name.endswith(SUFFIXES)):
            label = name
        who = [sender(label, label)] if label else []
        yield name, LayoutClaim(PLAIN, tuple(who), "" if item.is_folder else name, name, own=_OWN)


def unread_times(claims: Iterable[LayoutClaim]) -> Iterator[str]:
    """Yield a sentence on the hand-ins of each platform whose times could not be read."""
    found: dict[str, list[str]] = {}
    for claim in (one for one in claims if one.unread):
        found.setdefault(claim.layout, []).append(claim.unread)
    for layout, texts in found.items():
        times = f"{len(texts)} times that cannot be read, such as {texts[0]!r}, so they do not count"
        yield f"{layout} wrote {times}. Export the hand-ins again, with English as your language on the platform."


def counts_by_layout(claims: Mapping[str, LayoutClaim]) -> str:
    """Return which layouts were recognised, such as "Canvas (30), Moodle (2)"."""
    counted = Counter(claim.layout for claim in claims.values() if claim.senders and not claim.about)
    return ", ".join(f"{layout} ({count:,})" if len(counted) > 1 else layout for layout, count in counted.most_common())
