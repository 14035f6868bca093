"""Changes that staff make to the course file on pages: paths of keys with new values, applied to the file's text.

A change never rewrites the file. It is kept in the database, and applied whenever the file is read, also to a file
that was changed since. Comments and all other settings in the text stay as they are.
"""

import tomllib
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, cast

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable, InlineTable

from grader.course.entries import spelled
from grader.errors import UsageError
from grader.files import storable

Value = str | bool | float | date | Sequence[str] | Mapping[str, str | Sequence[str]]
"""The value of a setting."""

OF_STUDENTS: Final = (("extensions",), ("struck",), ("files",), ("chosen",), ("slip_days", "chosen"))
"""The tables of the course file whose keys name students."""

LIST: Final = "students"
"""The key of each list of students in the course file."""

Meant = Callable[[str], str]
"""A function that returns the student whom a name means, so that a change finds the table of this student."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of the setting at `path` to a `value`, as TOML spells it, or its removal (None).

    `by` is the person who made the change, at the time `at`. `state` is "holds", "undone", or "written" if the course
    file itself has the change. `number` is its number in the database.
    """

    path: tuple[str, ...]
    value: str | None
    by: str
    at: datetime
    state: str = "holds"
    number: int = 0

    def __str__(self) -> str:
        """Return the change as a line of TOML, or as the removal of a setting."""
        key = spelled(*self.path)
        return f"{key} = {self.value}" if self.value is not None else f"{key} removed"


def student_place(path: Sequence[str]) -> int | None:
    """Return the index of the key that names a student in a path of keys, or None without such a key."""
    return next((len(of) for of in OF_STUDENTS if tuple(path[: len(of)]) == of and len(path) > len(of)), None)


def plain(name: str) -> str:
    """Return a name in the form in which names are compared: the Unicode form NFC, without spaces around it."""
    return unicodedata.normalize("NFC", name).strip()


def spelled_value(value: Value | None) -> str | None:
    """Return a value as TOML spells it, or None for None. Lone surrogates in texts are replaced."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{spelled(key)} = {spelled_value(one)}" for key, one in value.items()) + "}"
    if isinstance(value, str):
        return tomlkit.item(storable(value)).as_string()
    return tomlkit.item([storable(one) for one in value] if isinstance(value, Sequence) else value).as_string()


def value_of(text: str) -> Any:
    """Return the value that TOML spells as `text`."""
    return tomllib.loads(f"_ = {text}")["_"]


def applied(text: str, edits: Sequence[Edit], meant: Meant = plain) -> str:
    """Return the text of a course file with changes. Raise `UsageError` if a change does not fit this file."""
    for edit in edits:
        text = _applied(text, edit, meant)
    return text


def _applied(text: str, edit: Edit, meant: Meant) -> str:
    before = tomllib.loads(text)
    path = _found(before, edit.path, meant)
    wanted = _changed(before, path, edit.value)
    if wanted == before:
        return text
    text += "" if text.endswith("\n") else "\n"  # the library may append to an incomplete line
    for new in (tomlkit.table, tomlkit.inline_table):  # below dotted keys, a new table must be inline
        with suppress(TOMLKitError, tomllib.TOMLDecodeError, LookupError, TypeError, ValueError):
            document = tomlkit.parse(text)
            _change(document, path, edit.value, new)
            changed = tomlkit.dumps(document)
            if _filled(tomllib.loads(changed)) == _filled(wanted):  # otherwise the library changed something else, too
                return changed
    why = "does not fit how the course file is written. Write this setting into the file by hand."
    raise UsageError(f"The change `{edit}` {why}")


def _filled(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table without empty tables in it, which have no meaning in a course file."""
    inner = {key: _filled(one) if isinstance(one, dict) else one for key, one in table.items()}
    return {key: one for key, one in inner.items() if one != {}}


def _found(table: Mapping[str, Any], path: Sequence[str], meant: Meant) -> tuple[str, ...]:
    """Return the path with the keys as the file spells them, if it has them. Names in Unicode have several forms."""
    keys: list[str] = []
    for place, key in enumerate(path):
        same = meant if place == student_place(path) else plain
        keys.append(key if key in table else next((one for one in table if same(one) == same(key)), key))
        found = table.get(keys[-1])
        table = found if isinstance(found, dict) else {}
    return tuple(keys)


def _changed(table: Mapping[str, Any], path: Sequence[str], value: str | None) -> dict[str, Any]:
    key, *rest = path
    if rest:
        inner = table.get(key, {})
        if not isinstance(inner, dict):
            raise UsageError(f"{spelled(key)} is not a table in the course file. Correct the file first.")
        if value is None and key not in table:
            return {**table}
        return {**table, key: _changed(inner, rest, value)}
    if value is None:
        return {one: of for one, of in table.items() if one != key}
    if isinstance(table.get(key), dict):
        raise UsageError(f"{spelled(key)} is a table in the course file, so it cannot have a value.")
    return {**table, key: value_of(value)}


def _change(
    table: AbstractTable | TOMLDocument, path: Sequence[str], value: str | None, new: Callable[[], AbstractTable]
) -> None:
    *outer, key = path
    for name in outer:
        if name not in table:
            table[name] = tomlkit.inline_table() if isinstance(table, InlineTable) else new()
        table = cast("AbstractTable", table[name])
    if value is None:
        del table[key]
    else:
        table[key] = tomlkit.value(value)
