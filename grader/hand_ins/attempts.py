"""Read the submissions in exercise files, and decide which of them are attempts of their own."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from grader.hand_ins.entries import FolderEntry
from grader.hand_ins.location import Location
from grader.hand_ins.manifest import Manifest
from grader.hand_ins.notebooks import read_notebook
from grader.hand_ins.refusal import MAX_NOTEBOOK_BYTES, MAX_SOURCE_BYTES, digest, python_text
from grader.records import Submission, TimeSource
from grader.source import Source

_NAMED = 4  # the maximum number of files that a refusal names

READERS: dict[str, tuple[int, Callable[[bytes, str], Source]]] = {
    ".py": (MAX_SOURCE_BYTES, python_text),
    ".ipynb": (MAX_NOTEBOOK_BYTES, read_notebook),
}
"""The maximum size in bytes, and the function that returns the code, by the suffix of an exercise file."""


def submissions_in(
    place: Location, entry: FolderEntry, lesson: str, suffix: str, listed: Manifest | None = None
) -> list[Submission]:
    """Return the submission of each student in an exercise file. `listed` is the manifest of its zip."""
    limit, text_of = READERS[suffix]
    data = b""
    try:
        data = entry.read(limit)
        if listed:
            listed.check("/".join(entry.path), digest(data))
        return place.submissions(lesson, data, text_of(data, entry.name))
    except Exception as error:  # noqa: BLE001 - any error stops only this file
        return place.failed(lesson, error, data)


def distinct(given: Sequence[tuple[str, Submission]]) -> Iterable[Submission]:
    """Return the attempts of a student at a lesson in order of time. Equal files are one attempt.

    Different files that were handed in together are one refused attempt. Folders with a time are different hand-ins.
    """
    slots: dict[tuple[str, datetime | None], dict[str, Submission]] = {}
    for key, one in given:
        at = one.handed_in if one.time_source is TimeSource.FOLDER else None
        slots.setdefault((key, at), {}).setdefault(one.content, one)
    sources = list(TimeSource)
    attempts = [_only_one(tuple(files.values())) for files in slots.values()]
    attempts.sort(key=lambda one: (sources.index(one.time_source), one.handed_in or datetime.min.replace(tzinfo=UTC)))
    distinct: dict[str, Submission] = {}
    for one in attempts:
        distinct.setdefault(one.content, one)
    return sorted(distinct.values(), key=lambda one: (one.handed_in is not None, one.handed_in))


def _only_one(given: Sequence[Submission]) -> Submission:
    if len(given) == 1:
        return given[0]
    names = sorted(submission.path for submission in given)
    paths = " and ".join([*names[:_NAMED], *([f"{len(names) - _NAMED} more"] if len(names) > _NAMED else [])])
    why = f"{given[0].lesson} was handed in more than once, as {paths}; hand in only one of these files."
    together = digest("\n".join(sorted(submission.sha256 for submission in given)).encode())
    return replace(given[0], path=paths, sha256=together, source=None, refusal=why)
