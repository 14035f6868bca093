"""Read the files in which learning platforms name the people and the times of the hand-ins that they export."""

import csv
import io
import re
import unicodedata
from typing import Final

import yaml  # type: ignore[import-untyped]  # its stubs are a package of their own

from grader.hand_ins.entries import FolderEntry
from grader.hand_ins.refusal import Refusal
from grader.records import Sender

GRADESCOPE: Final = "submission_metadata.yml"
_MAX_BYTES: Final = 100_000_000
_MAX_TEXT: Final = 200
_BLACKBOARD_NAME: Final = re.compile(r"^Name: (.*) \(([^()\s]+)\)\s*$", re.MULTILINE)


def sender(label: str, name: str = "", *ids: str) -> Sender:
    """Return a sender with all texts in the Unicode form NFC."""
    texts = [unicodedata.normalize("NFC", text) for text in (label, name, *ids)]
    return Sender(texts[0], texts[1].strip(), tuple(filter(None, map(str.strip, texts[2:]))))


class _Texts(yaml.BaseLoader):  # type: ignore[misc]
    """A reader of YAML that makes only texts, lists and dictionaries, and an empty text for null."""


_Texts.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"~|null|Null|NULL"), ["~", "n", "N"])
_Texts.add_constructor("tag:yaml.org,2002:null", lambda *_: "")


def gradescope(entry: FolderEntry) -> dict[str, tuple[tuple[Sender, ...], str]]:
    """Return the senders and the time of each submission, by the name of the submission's folder or file."""
    found, kept, wanted, indent = {}, list[str](), False, ""
    for line in (*_text(entry).splitlines(), "end:"):
        if line[:1] not in {" ", "-", "#", ""}:
            found.update(_gradescope_submission(kept))
            kept, wanted, indent = [line], False, ""
        elif field := re.match(r"( +)[\"']?:?(\w+)", line):
            indent = indent or field[1]
            wanted = field[2] in {"submitters", "created_at"} if field[1] == indent else wanted
        if wanted:
            kept.append(line)
    return found


def _text(entry: FolderEntry, limit: int = _MAX_BYTES) -> str:
    try:
        data = entry.read(limit, cut=limit < _MAX_BYTES)
    except (OSError, Refusal):
        return ""
    return data.decode("utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig", "replace")


def _gradescope_submission(lines: list[str]) -> dict[str, tuple[tuple[Sender, ...], str]]:
    try:
        tree: object = yaml.load("\n".join(lines), _Texts)  # noqa: S506 - it makes texts, lists and dicts only
        ((name, about),) = tree.items() if isinstance(tree, dict) else {}.items()
        fields = {str(key).lstrip(":"): value for key, value in about.items()}
        people = [
            {str(key).lstrip(":"): value[:_MAX_TEXT] for key, value in one.items() if isinstance(value, str)}
            for one in fields.get("submitters") or ()
        ]
    except (yaml.YAMLError, ValueError, AttributeError, TypeError, RecursionError):
        return {}
    named = [[one.get(key, "") for key in ("name", "sid", "email")] for one in people]
    senders = (sender(next(filter(None, one), ""), *one) for one in named)
    at = fields.get("created_at")
    return {str(name): (tuple(one for one in senders if one.label), at if isinstance(at, str) else "")}


def moodle_times(entry: FolderEntry) -> dict[str, str]:
    """Return when each participant handed in, by the participant's number, from a grading worksheet, or {}."""
    try:
        rows = list(csv.reader(io.StringIO(_text(entry), newline="")))
        headings = [cell.strip().casefold() for cell in rows[0]]
        who, when = headings.index("identifier"), headings.index("last modified (submission)")
    except (ValueError, csv.Error, IndexError):
        return {}
    long = [row for row in rows[1:] if len(row) > max(who, when)]
    return {number[0]: row[when] for row in long if (number := re.findall(r"\d+", row[who])) and row[when].strip()}


def blackboard(entry: FolderEntry) -> tuple[str, str]:
    """Return the name and the login of the student whose hand-in a text file of Blackboard describes, or ("", "")."""
    found = _BLACKBOARD_NAME.search(_text(entry, _MAX_TEXT * 100))
    return (found[1], found[2]) if found else ("", "")
