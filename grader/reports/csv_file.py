"""Change single cells of a CSV file and keep all its other bytes.

The byte order mark, the separator, the line ends and the quotes of each cell are kept. A course system therefore gets
back the file that it exported, in which only the filled cells differ.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.errors import UsageError

BOM = "\ufeff"
SEPARATORS = ",;\t"
MAX_BYTES = 50_000_000
"""The maximum size of a CSV file in bytes. Exports of courses are much smaller."""

_FORMULA = tuple("=+-@\t\r\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH COMMERCIAL AT}")
"""Characters at the beginning of a spreadsheet formula. Source: OWASP, "CSV Injection"."""


@dataclass(slots=True)
class _Row:
    """One row of a CSV file: its cells with their quotes, and its line end."""

    raw: list[str]
    end: str


class CsvFile:
    """A CSV file in memory.

    `rows` are the texts of its cells, `fill` changes one cell, and `to_bytes` returns the file.
    """

    def __init__(self, bom: str, separator: str, rows: list[_Row]) -> None:
        self.separator = separator
        self._bom = bom
        self._rows = rows

    @classmethod
    def read(cls, data: bytes, name: str) -> "CsvFile":
        """Return the CSV file with the content `data`. Raise `UsageError`, which names `name`, if it is not CSV."""
        if len(data) > MAX_BYTES:
            raise UsageError(
                f"{name} is larger than {MAX_BYTES:,} bytes. Give the file that your course system exported."
            )
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            why = "is not UTF-8 text. Export the file again, or save it as `CSV UTF-8` in your spreadsheet program"
            raise UsageError(f"{name} {why}.") from None
        if "\0" in text:
            raise UsageError(f"{name} is not a CSV file. Give the file that your course system exported.")
        bom = BOM if text.startswith(BOM) else ""
        text = text.removeprefix(BOM)
        if not text.strip():
            raise UsageError(f"{name} is empty. Export it again.")
        separator = _separator(text)
        return cls(bom, separator, _split(text, separator, name))

    @property
    def rows(self) -> list[list[str]]:
        """The text of every cell without quotes, row by row. Rows can have different numbers of cells."""
        return [[_text(raw) for raw in row.raw] for row in self._rows]

    def fill(self, row: int, column: int, text: str) -> bool:
        """Put `text` into a cell, in quotes if needed. Return False if the cell has this text already."""
        cells = self._rows[row].raw
        cells += [""] * (column + 1 - len(cells))
        if _text(cells[column]) == text:
            return False
        quoted = cells[column].startswith('"') or bool(re.search(f'["\r\n{re.escape(self.separator)}]', text))
        cells[column] = '"' + text.replace('"', '""') + '"' if quoted else text
        return True

    def to_bytes(self) -> bytes:
        """Return the CSV file, with the changed cells, as bytes."""
        return (self._bom + "".join(self.separator.join(row.raw) + row.end for row in self._rows)).encode()


@dataclass(slots=True)
class Filled:
    """A file with grades filled in.

    `written` is the number of its cells with a grade, and `changed` the number of those whose grade is new or
    different. `missing` has a line for each grade that is not in the file, with the reason. `notes` has other notes for
    the instructor.
    """

    data: bytes = b""
    written: int = 0
    changed: int = 0
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def lines(self, place: str) -> Iterator[str]:
        """Yield the lines that the command `export` prints about the file that it wrote to `place`."""
        yield f"Wrote {place}: {self.written} grade{'' if self.written == 1 else 's'}, {self.changed} of them changed."
        yield from self.notes
        if self.missing:
            yield f"Not in the file ({len(self.missing)}):"
            yield from (f"  {one}" for one in self.missing)


def defuse_formula(text: str) -> str:
    """Return the text, with an apostrophe in front if a spreadsheet could read the text as a formula.

    Leading spaces are ignored, because some spreadsheets remove them.
    """
    return "'" + text if text.lstrip().startswith(_FORMULA) or text.startswith(_FORMULA) else text


def number(text: str) -> float | None:
    """Return the number in a cell, or None if the cell has no number.

    Decimal points and decimal commas are accepted.
    """
    plain = text.strip().replace("\N{NO-BREAK SPACE}", "").replace("\N{NARROW NO-BREAK SPACE}", "").replace(" ", "")
    if not re.fullmatch(r"[+-]?[\d.,]*\d[\d.,]*", plain):
        return None
    *whole, last = re.split(r"[.,]", plain)
    return float("".join(whole) + "." + last) if whole else float(last)


def fold(text: str) -> str:
    """Return the text in a form for comparing names: Unicode NFKC, lower case, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _separator(text: str) -> str:
    """Return the separator that is most frequent in the first line of a CSV text.

    Separators in quotes are not counted.
    """
    outside = "".join(part for number, part in enumerate(text.split('"')) if number % 2 == 0)
    first = re.split("[\r\n]", outside.lstrip("\r\n"), maxsplit=1)[0]
    return max(SEPARATORS, key=first.count)


def _split(text: str, separator: str, name: str) -> list[_Row]:
    cell = re.compile(f'[ ]*"(?:[^"]|"")*"[ ]*(?=[{re.escape(separator)}\r\n]|\\Z)|[^{re.escape(separator)}\r\n]*')
    end = re.compile("\r\n|\n|\r")
    rows, here = [_Row([], "")], 0
    while True:
        found = cell.match(text, here)
        assert found  # an empty cell matches too
        if found.group().lstrip(" ").startswith('"') and not found.group().rstrip(" ").endswith('"'):
            line = text.count("\n", 0, here) + 1
            raise UsageError(f"{name}, line {line}: a quote is not closed. Export the file again.")
        rows[-1].raw.append(found.group())
        here = found.end()
        if here < len(text) and text[here] == separator:
            here += 1
            continue
        if not (ended := end.match(text, here)):
            return rows
        rows[-1].end = ended.group()
        here = ended.end()
        if here == len(text):
            return rows
        rows.append(_Row([], ""))


def _text(raw: str) -> str:
    stripped = raw.strip(" ")
    return stripped[1:-1].replace('""', '"') if len(stripped) > 1 and stripped.startswith('"') else raw
