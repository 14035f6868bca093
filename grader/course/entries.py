"""The keys and values of a course file, and errors that quote the line and show a correct spelling."""

import difflib
import json
import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from grader.course.dates import DAY, YEARS, Extension, LocalTime
from grader.course.policy import Which
from harness.errors import UsageError
from harness.rendering.texts import shown

Kind = TypeVar("Kind", str, bool, dict[str, object], list[str])

NAMED: Final = ("extensions", "sections", "struck", "files", "teams", "chosen")
"""The tables whose keys are names that the instructor chooses."""

MOST_DAYS: Final = 3650
_DATE = f"a date from {YEARS[0]} to {YEARS[-1]}, such as 2026-11-20T23:59:00"
_MORE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?) ?(hour|day|week)s?", re.IGNORECASE)
_HOURS: Final = {"hour": 1, "day": 24, "week": 168}
_SHA256 = re.compile(r"[0-9a-f]{8,64}", re.IGNORECASE)
_NAME = re.compile(".+", re.DOTALL)
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_MANY_PARTS = re.compile(r"""(?<![\w"'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){100}""")
_AT = re.compile(r" \(at line (\d+), column \d+\)$| \(at end of document\)$")
_QUOTED_CHARACTERS = 100
_EXAMPLE: Final = "grader/class_run/README.md"
_QUOTING: Final = "A name with a space, a dot or an accent needs straight double quotes."


def load(text: str, file: str) -> "Entry":
    """Return the whole course file called `file`. Raise `UsageError`, which quotes the line, if it is not TOML."""
    too_deep = UsageError(f"{file} is nested too deeply. Write it like the example in {_EXAMPLE}.")
    if _MANY_PARTS.search(text):  # tomllib would need minutes
        raise too_deep
    try:
        return Entry(text, file, (), tomllib.loads(text))
    except RecursionError:
        raise too_deep from None
    except ValueError as fault:  # also for a number with too many digits
        found = _AT.search(str(fault))
        open_quotes = (n for n, line in enumerate(text.split("\n"), 1) if line.count('"') % 2)
        number = int(found[1] or next(open_quotes, 0)) if found else 0
        wrong = shown(_AT.sub("", str(fault)), lines=False)
        rest = f" {_QUOTING} So does a text, and a time needs seconds."
        if "integer string conversion" in wrong:
            wrong, rest = "A number has too many digits", ""
        raise UsageError(f"{_place(text, file, number)} is not TOML: {wrong}.{rest}") from None


def spelled(*path: str) -> str:
    """Return a key as TOML spells it, such as `extensions."José García".all`."""
    quoted = (key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False) for key in path)
    return ".".join(quoted).replace("\x7f", r"\u007f")  # JSON allows this control character, and TOML does not


def _name_of(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


@dataclass(frozen=True, slots=True)
class Entry:
    """A key of a course file with its value, or None if the file lacks the key. The methods raise `UsageError`."""

    text: str = field(repr=False)
    file: str
    path: tuple[str, ...]
    value: object = None

    @property
    def is_given(self) -> bool:
        """Whether the file has this key."""
        return self.value is not None

    @property
    def name(self) -> str:
        """The key as TOML spells it, such as `extensions."José García".all`."""
        return shown(spelled(*self.path), lines=False)

    def place(self) -> str:
        """Return the name of the file, with the number and the text of this key's line."""
        return _place(self.text, self.file, _line_of(self.text, self.path))

    def wrong(self, instead: str) -> UsageError:
        """Return an error that quotes the line of this key and tells what to write instead."""
        return UsageError(f"{self.place()}: {self.name} is wrong; write {instead}.")

    def table(self, *keys: str) -> dict[str, "Entry"]:
        """Return the entries of this table with these keys. No other key is allowed."""
        found = self.each(keys)
        return {key: found.get(key, self._at(key, None)) for key in keys}

    def each(self, known: Sequence[str] = ()) -> dict[str, "Entry"]:
        """Return all entries of this table, by name. With `known`, other keys are not allowed."""
        found: dict[str, Entry] = {}
        for key, one in self.of(dict, f"a table, that is a line [{self.name}] with keys below it").items():
            entry = self._at(key, one)
            if not _name_of(key):
                raise UsageError(f"{entry.place()}: {entry.name} has no name; write one.")
            if known and key not in known:
                raise _unknown(entry, known)
            if found.setdefault(_name_of(key), entry) is not entry:
                raise UsageError(f"{entry.place()}: {entry.name} appears twice; write it once.")
        return found

    def _at(self, key: str, value: object) -> "Entry":
        return Entry(self.text, self.file, (*self.path, key), value)

    def of(self, kind: type[Kind], instead: str) -> Kind:
        """Return a value of this type, or without the key its empty value. Raise `wrong(instead)` for other values."""
        value = kind() if self.value is None else self.value
        if not isinstance(value, kind):
            raise self.wrong(instead)
        return value

    def texts(self, pattern: re.Pattern[str], instead: str) -> tuple[str, ...]:
        """Return a list of texts in the Unicode form NFC, all of this pattern. Whole numbers are texts, too."""
        given = self.of(list, instead)
        found = tuple(_name_of(str(one)) for one in given if type(one) in {str, int})
        if len(found) < len(given) or not all(map(pattern.fullmatch, found)):
            raise self.wrong(instead)
        return found

    def names(self) -> tuple[str, ...]:
        """Return a list of names."""
        return self.texts(_NAME, 'a list of names, such as ["ada", "bob"]')

    def digest(self) -> str:
        """Return the first characters of a SHA-256 value."""
        text = str(self.value) if type(self.value) in {str, int} else ""
        if not _SHA256.fullmatch(text):
            raise self.wrong('at least the first 8 digits of a SHA-256, such as "3fa1c0de"')
        return text.lower()

    def digests(self) -> tuple[str, ...]:
        """Return the first characters of SHA-256 values."""
        instead = 'a list with at least the first 8 digits of each SHA-256, such as ["3fa1c0de"]'
        return tuple(map(str.lower, self.texts(_SHA256, instead)))

    def number(self, default: float, most: float = 1e4, *, least: float = 0, whole: bool = False) -> float:
        """Return a number from `least` to `most`, which may have to be whole."""
        n = default if self.value is None else self.value
        if isinstance(n, int | float) and not isinstance(n, bool) and least <= n <= most and not (whole and n % 1):
            return float(n)
        raise self.wrong(f"a {'whole ' * whole}number from {least:g} to {most:g}")

    def one_of(self, *texts: str) -> str:
        """Return one of these texts, or "" without the key."""
        if self.value is not None and self.value not in texts:
            raise self.wrong(" or ".join(f'"{one}"' for one in texts))
        return str(self.value or "")

    def which(self) -> Which | None:
        """Return the rule that chooses an attempt."""
        return Which(self.one_of(*Which)) if self.is_given else None

    def zone(self) -> tzinfo | None:
        """Return a time zone."""
        if self.value is None:
            return None
        try:
            return ZoneInfo(self.value if isinstance(self.value, str) else "")
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise self.wrong('a time zone of this machine, such as "Europe/Berlin" or "UTC"') from None

    def moment(self, zone: tzinfo | None) -> LocalTime | None:
        """Return a time in the course's zone, or in UTC without one. A date without a time means its last second."""
        value = self.value
        if value is None:
            return None
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime.combine(value, time(23, 59, 59))
        if not isinstance(value, datetime) or value.year not in YEARS:
            raise self.wrong(_DATE)
        if value.tzinfo:
            return LocalTime.at_utc(value, zone or UTC)
        if zone is None:
            here = f"{value.isoformat()}+01:00"
            raise self.wrong(f'a date with an offset ({here}), or add timezone = "Europe/Berlin" at the top')
        return LocalTime.at_wall(value, zone)

    def extension(self, zone: tzinfo | None) -> LocalTime | Extension:
        """Return a due date, or the length of an extension."""
        match = _MORE.fullmatch(self.value.strip()) if isinstance(self.value, str) else None
        if match and (length := float(match[1]) * timedelta(hours=_HOURS[match[2].lower()])) <= MOST_DAYS * DAY:
            return Extension(length, elapsed=match[2].lower() == "hour")
        if isinstance(self.value, str) or not (moment := self.moment(zone)):
            raise self.wrong(f'{_DATE}, or a time such as "2 days", at most {MOST_DAYS} days')
        return moment


def _unknown(entry: Entry, known: Sequence[str]) -> UsageError:
    *table, key = entry.path
    near = difflib.get_close_matches(key[:_QUOTED_CHARACTERS], known, 1)
    instead = f"write {spelled(*table, near[0])}" if near else f"allowed keys: {', '.join(known)}"
    quoting = f" {_QUOTING}" if not near and entry.path[0] in NAMED else ""
    return UsageError(f"{entry.place()}: {entry.name} is not allowed here; {instead}.{quoting}")


def _place(text: str, file: str, number: int) -> str:
    lines = text.split("\n")
    if not 1 <= number <= len(lines):
        return file
    line = lines[number - 1].strip()
    cut = line[:_QUOTED_CHARACTERS] + "…" * (len(line) > _QUOTED_CHARACTERS)
    return f"{file}, line {number} `{shown(cut, lines=False)}`"


def _line_of(text: str, path: tuple[str, ...]) -> int:
    best, number = 0, 0
    header: tuple[str, ...] = ()
    for place, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("["):
            keys = header = _keys(line)
        elif "=" in line:
            keys = (*header, *_keys(line.partition("=")[0] + "=0"))
        else:
            continue
        same = min(len(keys), len(path))
        if same > best and keys[:same] == path[:same]:
            best, number = same, place
    return number


def _keys(line: str) -> tuple[str, ...]:
    try:
        value: object = tomllib.loads(line)
    except (ValueError, RecursionError):
        return ()
    keys: list[str] = []
    while isinstance(value, dict) and value:
        ((key, value),) = value.items()
        keys.append(key)
    return tuple(keys)
