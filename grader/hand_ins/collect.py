"""Read a folder of hand-ins: the files that the students of a class handed in for each lesson.

    DIR/<student>/<lesson>.py | <lesson>.ipynb | <anything>.zip
    DIR/<student>/<time>/<the same>                              one of several attempts, handed in at this time
    DIR/<student>.zip                                            as `submit` writes it
    DIR/<name>_<number>_<number>_<lesson>.py | .ipynb | .zip     as Canvas downloads all submissions

The time of a hand-in is the time in its folder's name, such as 2026-11-20T23-59-00 (in the course's time zone) or
20261120T225900Z. If no folder has such a name, it is the modification time of the file or zip in DIR. For files from
Canvas the time is unknown, because they have the time of the download. Times inside a zip are ignored, because they
come from the student's own clock.

A file that cannot be used becomes a `Submission` with a `refusal`, and a file that the grader fails to read one with a
`fault`. All other hand-ins are still collected.
"""

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from operator import attrgetter
from pathlib import Path, PurePosixPath

from grader.files import file_name
from grader.hand_ins import archives, left_out, originals
from grader.hand_ins.left_out import LeftOut, LessonNames
from grader.hand_ins.location import Location, folder_time
from grader.hand_ins.manifest import NAME as MANIFEST
from grader.hand_ins.manifest import Manifest
from grader.hand_ins.notebooks import read_notebook
from grader.hand_ins.refusal import MAX_NOTEBOOK_BYTES, MAX_SOURCE_BYTES, Refusal, digest, python_text
from grader.records import Sender, Submission, TimeSource
from grader.source import Source
from harness.errors import UsageError

_READERS: dict[str, tuple[int, Callable[[bytes, str], Source]]] = {
    ".py": (MAX_SOURCE_BYTES, python_text),
    ".ipynb": (MAX_NOTEBOOK_BYTES, read_notebook),
}
# Canvas adds -1 to the name of a second hand-in.
_CANVAS = re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<number>\d+)_\d+_(?P<stem>.+?)(?:-\d+)?(?P<suffix>\.\w+)")


StudentOf = Callable[[Sender], str]
"""A function that returns the name of the student who is the sender of a file."""


@dataclass(frozen=True, slots=True)
class Collection:
    """The students of a class, also those without a hand-in, their submissions, and the files that are not graded."""

    students: tuple[str, ...]
    submissions: tuple[Submission, ...]
    notes: tuple[str, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def unchanged(self) -> set[tuple[str, str]]:
        """The students and lessons of the exercise files into which nothing was written."""
        return {(one.student, one.lesson) for one in self.left_out if one.why == originals.UNCHANGED}


def collect(
    folder: Path,
    lessons: Sequence[str],
    *,
    kit: str,
    zone: tzinfo = UTC,
    known: Sequence[str] = (),
    student_of: StudentOf = attrgetter("label"),
) -> Collection:
    """Return the hand-ins for `lessons` in a class's folder.

    `kit` is the grader's version, which is compared with the version in each zip. `zone` is the time zone of folder
    names without an offset. `known` are further lessons of the course. `student_of` gives the student of each sender:
    senders with the same student are one student. Raise `UsageError` if there is no hand-in.
    """
    try:
        paths = sorted(folder.iterdir())
    except OSError as fault:
        why = f"{folder} cannot be read ({fault.strerror})"
        raise UsageError(f"{why}; give the folder that contains one folder or zip for each student.") from None
    reader = _Reader(LessonNames.of(lessons, known), kit, zone, student_of)
    root = Path(os.path.realpath(folder))
    for path in paths:
        name = file_name(path.name)
        if not archives.is_junk(name):
            student = reader.student(re.sub(r"\.zip$", "", name, flags=re.IGNORECASE))
            reader.read_entry(Location(path, root, student, name))
    found = reader.collection()
    if not (found.submissions or found.unchanged):
        expected = f"{folder}/<student>/{lessons[0]}.py or {folder}/<student>.zip"
        left = "".join(f" {one.path} was left out: {one.why}" for one in found.left_out if one.misnamed)
        raise UsageError(f"{folder} contains no hand-in; expected names such as {expected}.{left}")
    return found


def collect_one(folder: Path, student: str, lessons: Sequence[str], *, kit: str) -> Collection:
    """Return the submissions in the folder of one student, possibly none. Raise `UsageError` without such a folder."""
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}; give the folder with the student's files.")
    reader = _Reader(LessonNames.of(lessons, ()), kit)
    reader.read_folder(Location(folder, Path(os.path.realpath(folder)), student, student))
    return reader.collection()


def submission_of(path: Path, *, student: str, lesson: str) -> Submission:
    """Return the submission in one exercise file. Raise `UsageError` if `path` is not an exercise file."""
    if not path.exists():
        such = f"such as lessons/exercises/{lesson}.py"
        raise UsageError(f"There is no file {path}; give the path of the exercise file, {such}.")
    if path.suffix not in _READERS:
        raise UsageError(f"{path} is not an exercise; give a .py or .ipynb file.")
    place = Location(path, Path(os.path.realpath(path)).parent, student, str(path))
    return _submission(place, PurePosixPath(path.name).with_stem(lesson))


@dataclass(slots=True)
class _Reader:
    """Reads folders and zips of students. `unread` has the refusals of folders and zips whose lessons are unknown."""

    names: LessonNames
    kit: str
    zone: tzinfo = UTC
    student_of: StudentOf = attrgetter("label")
    students: set[str] = field(default_factory=set)
    given: list[Submission] = field(default_factory=list)
    unread: dict[str, Submission] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def collection(self) -> Collection:
        """Return what was found, sorted by student, lesson and time."""
        attempts: dict[tuple[str, str], list[Submission]] = {}
        for one in self.given:
            attempts.setdefault((one.student, one.lesson), []).append(one)
        # The lessons in an unreadable zip are unknown, so each lesson that the class handed in gets the refusal.
        of_class = {lesson for _, lesson in attempts} or set(self.names.graded)
        for student, refused in self.unread.items():
            for lesson in of_class:
                attempts.setdefault((student, lesson), [replace(refused, lesson=lesson)])
        unchanged = {one.student for one in self.left_out if one.why == originals.UNCHANGED}
        without = self.students - {student for student, _ in attempts} - unchanged
        return Collection(
            tuple(sorted(self.students)),
            tuple(attempt for key in sorted(attempts) for attempt in _distinct(attempts[key])),
            tuple(sorted([*self.notes, *(f"{student}: no exercise found" for student in without)])),
            tuple(sorted(self.left_out, key=lambda one: one.path)),
        )

    def student(self, label: str, name: str = "", *ids: str) -> str:
        """Return the student who sent a file, or "" for an empty label."""
        texts = [unicodedata.normalize("NFC", text) for text in (label, name, *ids)]
        return self.student_of(Sender(texts[0], texts[1], tuple(texts[2:]))) if label else ""

    @contextmanager
    def _guarded(self, place: Location, data: bytes = b"") -> Iterator[None]:
        """Turn an exception in the `with` block into a submission, so that it stops only this file, folder or zip."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - a refusal, or any fault of the grader
            self._add(place.failed("", error, data))

    def read_entry(self, entry: Location) -> None:
        """Read an entry of the class's folder: the folder or zip of a student, a file from Canvas, or another file."""
        path = entry.path
        with self._guarded(entry):
            if path.is_symlink() and (_is_zip(path) or not path.is_file()):
                # A link can lead to the files of another student.
                raise Refusal(f"{entry.shown} is a link; hand in a folder of files, or a zip.")
            if path.is_dir():
                self.read_folder(replace(entry, student=self.student(entry.shown)))
            else:
                self._read_beside_folders(entry)

    def _read_beside_folders(self, entry: Location) -> None:
        place, name, student = entry, entry.shown, ""
        canvas = _CANVAS.fullmatch(name)
        if canvas and not entry.path.is_symlink():  # a link can lead to the file of another student
            name, number = canvas["stem"] + canvas["suffix"], canvas["number"]
            student = self.student(f"{canvas['name']}_{number}", canvas["name"], number)
            place = replace(entry, student=student, dated=False)
        if _is_zip(entry.path):
            self._read_zip(place)
        elif student and (path := PurePosixPath(name)).suffix in _READERS and path.stem in self.names.graded:
            self._add(_submission(place, path))
        else:
            file = self.names.classify(student or self.student(left_out.student_of_archive(name)), name, entry.path)
            beside = "" if file.student else "It is beside the students' folders, so it belongs to no student. "
            self._leave_out([replace(file, path=entry.shown, why=beside + file.why)])

    def read_folder(self, folder: Location) -> None:
        """Read the folder of a student or of one attempt."""
        self.students.add(folder.student)
        home = Path(os.path.realpath(folder.path))
        others: list[LeftOut] = []
        with self._guarded(folder):
            for path in sorted(folder.path.iterdir()):
                name = file_name(path.name)
                place = replace(folder, path=path, home=home, shown=f"{folder.shown}/{name}")
                with self._guarded(place):
                    if not self._read_file(place) and not archives.is_junk(name):
                        others.append(self.names.classify(folder.student, place.shown, path))
        self._leave_out(left_out.listed(others, folder.shown))

    def _read_file(self, place: Location) -> bool:
        """Read an entry of a student's folder. Return False if it is no exercise, zip or folder of an attempt."""
        path = place.path
        if path.suffix in _READERS and path.stem in self.names.graded:
            self._add(_submission(place, PurePosixPath(path.name)))
        elif _is_zip(path):
            self._read_zip(place)
        elif not place.at and not path.is_symlink() and path.is_dir() and (at := folder_time(path.name, self.zone)):
            self.read_folder(replace(place, at=at))
        else:
            return False
        return True

    def _read_zip(self, place: Location) -> None:
        exercises = frozenset(lesson + suffix for lesson in self.names.graded for suffix in _READERS)
        student, shown = place.student, place.shown
        with self._guarded(place):
            data = place.read(archives.MAX_ARCHIVE_BYTES)
            with self._guarded(place, data):
                files, skipped = archives.members(data, exercises | {MANIFEST})
                others = [self.names.classify(student, f"{shown}/{name}") for name in skipped]
                listed = Manifest.from_json(files.pop(MANIFEST)) if MANIFEST in files else None
                for name, content in sorted(files.items()):
                    file = PurePosixPath(name)
                    if file.name in exercises:
                        self._add(_submission(replace(place, shown=f"{shown}/{name}"), file, content, listed))
                self._leave_out(left_out.listed(others, shown))
                self.students.add(student)
                if listed is None:
                    self.notes.append(f"{student}: {shown} has no {MANIFEST}, so it could not be checked for changes")
                elif listed.kit != self.kit:
                    told = f"was made with kit version {listed.kit}; this kit is version {self.kit}"
                    self.notes.append(f"{student}: {shown} {told}")

    def _add(self, submission: Submission) -> None:
        self.students.add(submission.student)
        given = submission
        if given.source is not None and originals.is_original(given.lesson, str(given.source)):
            why = originals.UNCHANGED
            self._leave_out([LeftOut(given.student, given.path, given.lesson, why, misnamed=False)])
        elif submission.lesson:
            self.given.append(submission)
        else:
            self.unread.setdefault(submission.student, submission)

    def _leave_out(self, files: Sequence[LeftOut]) -> None:
        self.left_out += files
        self.students |= {file.student for file in files} - {""}


def _is_zip(path: Path) -> bool:
    return path.suffix.casefold() == ".zip" and not path.is_dir()


def _submission(
    place: Location, file: PurePosixPath, content: bytes | None = None, listed: Manifest | None = None
) -> Submission:
    """Return the submission in a file. A file in a zip has the path `file` in it, and the bytes `content`."""
    limit, text_of = _READERS[file.suffix]
    data = content or b""
    try:
        data = place.read(limit) if content is None else content
        if listed:
            listed.check(str(file), digest(data))
        return place.submission(file.stem, data, text_of(data, file.name))
    except Exception as error:  # noqa: BLE001 - any error stops only this file
        return place.failed(file.stem, error, data)


def _distinct(given: Sequence[Submission]) -> Iterable[Submission]:
    """Return the attempts of a student at a lesson in order of time. Equal files are one attempt."""
    slots: dict[datetime | None, list[Submission]] = {}
    for one in given:
        slots.setdefault(one.handed_in if one.time_source is TimeSource.FOLDER else None, []).append(one)
    attempts = sorted(map(_only_one, slots.values()), key=lambda one: (one.handed_in is not None, one.handed_in))
    distinct: dict[str, Submission] = {}
    for one in attempts:
        distinct.setdefault(one.content, one)
    return distinct.values()


def _only_one(given: Sequence[Submission]) -> Submission:
    if len(given) == 1:
        return given[0]
    paths = " and ".join(sorted(submission.path for submission in given))
    why = f"{given[0].lesson} was handed in more than once, as {paths}; hand in only one of these files."
    together = digest("\n".join(sorted(submission.sha256 for submission in given)).encode())
    return replace(given[0], path=paths, sha256=together, source=None, refusal=why)
