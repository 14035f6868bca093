"""Read what the students of a class handed in: their folders, zips and files."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from operator import attrgetter
from time import thread_time

from grader.hand_ins import archives, left_out, originals
from grader.hand_ins.archives import Item
from grader.hand_ins.attempts import Location, disagreements, distinct, submissions_in
from grader.hand_ins.entries import FolderEntry, Kind, summary
from grader.hand_ins.layouts import Items, LayoutClaim, unread_times
from grader.hand_ins.left_out import LessonNames
from grader.hand_ins.manifest import NAME as MANIFEST
from grader.hand_ins.manifest import Manifest
from grader.hand_ins.parents import Inside
from grader.hand_ins.refusal import MAX_SOURCE_BYTES, Refusal
from grader.records import UNCHANGED, LeftOut, Sender, Submission, TimeSource

_MAX_COPIES = 50  # of one exercise in one hand-in
_EXERCISES = ("lessons", "exercises")
_COURSE = frozenset({"grader", "harness", "lessons", "notebooks", "solutions"})  # the folders of the student kit
_SCRIPTS = frozenset({"grader", "harness", "lessons"})  # those in which a file with the name of an exercise is none
_ONLY = "hand in only the exercises"
READ_S = 60.0  # CPU seconds to read one folder or zip of a student; all lessons of a course take about one
_NAMED = 4  # the maximum number of zips without a manifest that are named one by one
_MAX_GUESSES = 300  # a guess at what a file is takes up to some milliseconds

StudentOf = Callable[[Sender], str]
"""A function that returns the name of the student who is the sender of a file."""


@dataclass(frozen=True, slots=True)
class Collection:
    """The students of a class, also those without a hand-in, their submissions, and the files that are not graded.

    `layout` names the layouts of the class's folder that were recognised. `senders` are by the entry of the folder.
    """

    students: tuple[str, ...]
    submissions: tuple[Submission, ...]
    notes: tuple[str, ...]
    left_out: tuple[LeftOut, ...] = ()
    layout: str = ""
    senders: Mapping[str, tuple[Sender, ...]] = field(default_factory=dict)

    @property
    def unchanged(self) -> set[tuple[str, str]]:
        """The students and lessons of the exercise files into which nothing was written."""
        return {(one.student, one.lesson) for one in self.left_out if one.is_unchanged}


@dataclass(slots=True)
class HandInReader:
    """Reads the folders, zips and files of students. `given` has each submission with the key of its hand-in.

    `unread` has the refusals of folders and zips whose lessons are unknown. `top` has what each folder and zip in the
    class's folder holds directly: names, each with True for a folder. `unlisted` are the zips without a manifest.
    """

    names: LessonNames
    kit: str
    zone: tzinfo = UTC
    student_of: StudentOf = attrgetter("label")
    students: set[str] = field(default_factory=set)
    given: list[tuple[str, Submission]] = field(default_factory=list)
    unread: dict[str, Submission] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    places: list[Location] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)
    top: dict[str, dict[str, bool]] = field(default_factory=dict)
    _ends_s: float = field(default=math.inf, init=False)

    def collection(self, layout: str) -> Collection:
        """Return what was found, sorted by student, lesson and time."""
        attempts: dict[tuple[str, str], list[tuple[str, Submission]]] = {}
        for key, one in self.given:
            attempts.setdefault((one.student, one.lesson), []).append((key, one))
        # The lessons in an unreadable zip are unknown, so each lesson that the class handed in gets the refusal.
        of_class = {lesson for _, lesson in attempts} or set(self.names.graded)
        for student, refused in self.unread.items():
            for lesson in of_class:
                attempts.setdefault((student, lesson), [("", replace(refused, lesson=lesson))])
        others = {one.student for one in self.left_out}
        unchanged = {one.student for one in self.left_out if one.is_unchanged}
        without = self.students - {student for student, _ in attempts} - unchanged
        why = {one: "no exercise, only other files" if one in others else "no exercise found" for one in without}
        notes = [*self.notes, *(f"{one}: {reason}" for one, reason in why.items())]
        if zips := self.unlisted:
            more = f" and {len(zips) - _NAMED} more zips" if len(zips) > _NAMED else ""
            names = ", ".join(zips[:_NAMED]) + more
            notes.append(f"{names}: there is no {MANIFEST}, so changes after `submit` could not be found")
        return Collection(
            tuple(sorted(self.students)),
            tuple(attempt for key in sorted(attempts) for attempt in distinct(attempts[key])),
            (*sorted(notes), *disagreements(self.places, self.zone)),
            tuple(sorted(self.left_out, key=lambda one: (one.path, one.student))),
            layout,
        )

    def read(self, claims: Mapping[str, LayoutClaim], items: Items) -> dict[str, Inside]:
        """Read the entries of a class's folder. Return what each folder and zip in it holds."""
        for name, claim in claims.items():
            self.read_item(claim, items[name])
        self.notes += unread_times(claims.values())
        found = {name: Inside(top) for name, top in self.top.items()}
        stubs = [(one.path, one.lesson) for one in self.left_out if one.is_unchanged]
        for shown, lesson in (*((one.path, one.lesson) for _, one in self.given), *stubs):
            name, *path = shown.split("/")
            if name in found:
                found[name].exercises.append((tuple(path), lesson))
        return found

    @contextmanager
    def _guarded(self, place: Location) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - a refusal, or any fault of the grader
            self._add(place, place.failed("", error))

    def read_item(self, claim: LayoutClaim, item: Item) -> None:
        """Read an entry of the class's folder: the folder, zip or file of a student, or another file."""
        entry, name = item.entry, claim.name or item.entry.name
        self._ends_s = thread_time() + READ_S
        students = tuple(dict.fromkeys(map(self.student_of, claim.senders)))
        times = {TimeSource.PLATFORM: claim.at} if claim.at else {}
        place = Location(students, entry.shown, claim.hand_in, times, claim.source, claim.own)
        if claim.about:
            self.students |= set(students)
            return
        with self._guarded(place):
            if entry.kind is Kind.LINK and students:  # it can lead to the files of another student
                raise Refusal(f"{entry.shown} is a link; hand in a folder of files, or a zip.")
            if item.is_folder:
                self.students |= set(students)
                ignored = Counter[str]()
                self._read_all(place, item.below(ignored), ignored)
            elif not students or not self._read_file(place.inside(entry, self.zone), entry, name):
                file = self.names.classify(name, entry)
                beside = "" if students else "It is beside the students' folders, so it belongs to no student. "
                self._leave_out(place, [replace(file, why=beside + file.why)])

    def _read_all(
        self,
        place: Location,
        entries: Iterable[FolderEntry],
        ignored: Counter[str],
        listed: Manifest | None = None,
        depth: int = 0,
    ) -> None:
        """Read a folder, or a zip, which is in `depth` - 1 other zips. `listed` is the zip's manifest."""
        inside = list(entries)
        kits = {one.path[:n] for one in inside for n in range(len(one.path) - 2) if one.path[n : n + 2] == _EXERCISES}
        found = list[tuple[FolderEntry, str]]()
        for one in inside:
            lesson = self.names.exercise(one.name, place.students, one.shown)[0]
            if any(_is_of_course(one.path, kit, _SCRIPTS if lesson else _COURSE) for kit in kits):
                ignored["files of the course"] += one.kind is not Kind.FOLDER
            else:
                found.append((one, lesson))
        if "/" not in place.shown:
            kinds = sorted((one.path[0], len(one.path) > 1 or one.kind is Kind.FOLDER) for one in inside)
            self.top[place.shown] = dict(kinds)
        for lesson, copies in Counter(lesson for _, lesson in found if lesson).items():
            if copies > _MAX_COPIES:
                raise Refusal(f"{place.shown} contains {lesson} more than {_MAX_COPIES} times; hand it in once.")
        others: list[LeftOut] = []
        files = {lesson for one, lesson in found if one.kind is not Kind.FOLDER}
        for entry, lesson in found:
            file = place.inside(entry, self.zone) if not depth else replace(place, shown=entry.shown)
            with self._guarded(file):
                if entry.kind is not Kind.FOLDER:
                    if not self._read_file(file, entry, entry.name, listed, depth) and entry.name != MANIFEST:
                        unread = LeftOut("", entry.shown, "", left_out.OTHER, misnamed=False)
                        is_guessed = len(others) < _MAX_GUESSES
                        others.append(self.names.classify(entry.name, entry) if is_guessed else unread)
                elif lesson and lesson not in files:
                    a_folder = Refusal(f"{entry.shown} is a folder; hand in a file of that name.")
                    self._add(file, file.failed(lesson, a_folder))
        if ignored.total():
            why = f"Files of tools and systems are ignored: {summary(ignored)}."
            others.append(LeftOut("", f"{place.shown} ({ignored.total():,} ignored)", "", why, misnamed=False))
        self._leave_out(place, left_out.listed(others, place.shown))

    def _read_file(
        self, place: Location, entry: FolderEntry, name: str, listed: Manifest | None = None, depth: int = 0
    ) -> bool:
        lesson, suffix = self.names.exercise(name, place.students, entry.shown)
        if thread_time() > self._ends_s:
            raise Refusal(f"{entry.shown} was not read, because all files together take too long to read; {_ONLY}.")
        if lesson:
            self.places.append(place)
            self._add(place, submissions_in(place, entry, lesson, suffix, listed))
        elif archives.is_zip(name) and depth < 2 and entry.kind is Kind.FILE:
            self._read_zip(place, entry, depth)
        else:
            return False
        return True

    def _read_zip(self, place: Location, entry: FolderEntry, depth: int) -> None:
        on_disk = entry.modified is not None
        with self._guarded(place), entry.open() if on_disk else archives.copy_of(entry) as file:
            with archives.opened(file, entry.shown) as opened:
                ignored = Counter[str]()
                inside = list(opened.entries(ignored))
                file_of = {one.path: one for one in inside}
                manifest = file_of.get((MANIFEST,))
                listed = Manifest.from_json(manifest.read(MAX_SOURCE_BYTES)) if manifest else None
                self._read_all(place, inside, ignored, listed, depth + 1)
            self.students |= set(place.students)
            if listed is None and not depth:
                self.unlisted.append(entry.shown)
            elif listed and listed.kit != self.kit and not depth:
                differs = f"was made with kit version {listed.kit}; this kit is version {self.kit}"
                self.notes += [f"{student}: {entry.shown} {differs}" for student in place.students]

    def _add(self, place: Location, submissions: Sequence[Submission]) -> None:
        for one in submissions:
            self.students.add(one.student)
            if one.source is not None and originals.is_original(one.lesson, str(one.source)):
                self.left_out.append(LeftOut(one.student, one.path, one.lesson, UNCHANGED, misnamed=False))
            elif one.lesson:
                self.given.append((place.hand_in, one))
            else:
                self.unread.setdefault(one.student, one)

    def _leave_out(self, place: Location, files: Sequence[LeftOut]) -> None:
        for student in place.students or ("",):
            self.left_out += [replace(file, student=student) for file in files]
        self.students |= set(place.students) if files else set()


def _is_of_course(path: tuple[str, ...], kit: tuple[str, ...], folders: frozenset[str]) -> bool:
    inside = path[len(kit) :]
    return path[: len(kit)] == kit and len(inside) > 1 and inside[0] in folders and inside[:2] != _EXERCISES
