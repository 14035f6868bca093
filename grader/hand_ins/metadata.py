"""Read the files in which learning platforms name the people and the times of the hand-ins that they export."""

import csv
import io
import re
from dataclasses import dataclass
from typing import Final

import yaml  # type: ignore[import-untyped]  # its stubs are a package of their own

from grader.hand_ins.entries import FolderEntry
from grader.hand_ins.refusal import Refusal

GRADESCOPE: Final = "submission_metadata.yml"
_MAX_BYTES: Final = 100_000_000
_MAX_TEXT: Final = 200
_BLACKBOARD_NAME: Final = re.compile(r"^Name: (.*) \(([^()\s]+)\)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Submitter:
    """A person whom a platform names, with the person's number, e-mail address and login."""

    name: str
    ids: tuple[str, ...]


def gradescope(entry: FolderEntry) -> dict[str, tuple[tuple[Submitter, ...], str]]:
    """Return the submitters and the time of each submission, by the name of the submission's folder or file.

    Only the lines of the submitters and of the times are parsed, because the file may contain much other text.
    """
    try:
        lines = entry.read(_MAX_BYTES).decode("utf-8-sig", "replace").splitlines()
    except (OSError, Refusal):
        return {}
    found, kept, wanted = {}, list[str](), False
    for line in (*lines, "end:"):
        if line[:1] not in {" ", "-", "#", ""}:
            found.update(_gradescope_submission(kept))
            kept, wanted = [line], False
        elif re.match(r"  :?[a-z]", line):
            wanted = bool(re.match(r"  :?(submitters|created_at):", line))
        if wanted:
            kept.append(line)
    return found


def _gradescope_submission(lines: list[str]) -> dict[str, tuple[tuple[Submitter, ...], str]]:
    try:
        tree: object = yaml.load("\n".join(lines), yaml.BaseLoader)  # noqa: S506 - it makes texts, lists and dicts only
        ((name, about),) = tree.items() if isinstance(tree, dict) else {}.items()
        fields = {str(key).lstrip(":"): value for key, value in about.items()}
        people = [
            {str(key).lstrip(":"): value for key, value in one.items() if isinstance(value, str)}
            for one in fields["submitters"]
        ]
    except (yaml.YAMLError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return {}
    texts = [[one.get(key, "")[:_MAX_TEXT] for key in ("name", "sid", "email")] for one in people]
    named = tuple(Submitter(name, tuple(filter(None, ids))) for name, *ids in texts)
    at = fields.get("created_at")
    return {str(name): (named, at if isinstance(at, str) else "")}


def moodle_times(entry: FolderEntry) -> dict[str, str]:
    """Return when each participant handed in, by the participant's number, from a grading worksheet, or {}."""
    try:
        rows = list(csv.reader(io.StringIO(entry.read(_MAX_BYTES).decode("utf-8-sig"), newline="")))
        who, when = (next(n for n, cell in enumerate(rows[0]) if is_it(cell)) for is_it in (_is_number, _is_time))
    except (OSError, Refusal, ValueError, csv.Error, IndexError, StopIteration, RuntimeError):
        return {}
    long = [row for row in rows[1:] if len(row) > max(who, when)]
    return {number[0]: row[when] for row in long if (number := re.findall(r"\d+", row[who])) and row[when].strip()}


def _is_number(heading: str) -> bool:
    return heading.strip().casefold() == "identifier"


def _is_time(heading: str) -> bool:
    return heading.strip().casefold() == "last modified (submission)"


def blackboard(entry: FolderEntry) -> tuple[str, str]:
    """Return the name and the login of the student whose hand-in a text file of Blackboard describes, or ("", "")."""
    try:
        text = entry.read(_MAX_TEXT * 100, cut=True).decode("utf-8-sig", "replace")
    except (OSError, Refusal):
        return "", ""
    found = _BLACKBOARD_NAME.search(text)
    return (found[1], found[2]) if found else ("", "")
