"""A CSV file to be filled in: what is not written to comes out byte for byte as it came in.

Byte order mark, separator, line ends and the quotes of every cell are kept, so that what a course's system exported
differs from what it gets back in the cells that were filled, and nowhere else.
"""

import re
import unicodedata
from dataclasses import dataclass

from harness.errors import UsageError

BOM = "\ufeff"
SEPARATORS = ",;\t"
MAX_BYTES = 50_000_000
"""Larger than the export of any course."""

_FORMULA = tuple("=+-@\t\r\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH COMMERCIAL AT}")
"""What a spreadsheet takes for the beginning of a formula. Source: OWASP, "CSV Injection"."""


@dataclass(slots=True)
class _Row:
    """The cells of a row as they stand in the file, quotes included, and the line end after them."""

    raw: list[str]
    end: str


class Sheet:
    """A CSV file in memory: `rows` are its cells as text, `fill` changes one, `to_bytes` gives the file again."""

    def __init__(self, bom: str, separator: str, rows: list[_Row]) -> None:
        self.separator = separator
        self._bom = bom
        self._rows = rows

    @classmethod
    def read(cls, data: bytes, name: str) -> "Sheet":
        """Read the bytes of a file that people know as `name`. Raises `UsageError` for what is no such file."""
        if len(data) > MAX_BYTES:
            raise UsageError(f"{name} is larger than {MAX_BYTES:,} bytes; name the file that the course exported.")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            why = "is not UTF-8 text; export it again, or save it as `CSV UTF-8` in your spreadsheet"
            raise UsageError(f"{name} {why}.") from None
        if "\0" in text:
            raise UsageError(f"{name} is no CSV file; name the file that the course exported.")
        bom = BOM if text.startswith(BOM) else ""
        text = text.removeprefix(BOM)
        if not text.strip():
            raise UsageError(f"{name} is empty; export it again.")
        separator = _separator(text)
        return cls(bom, separator, _split(text, separator, name))

    @property
    def rows(self) -> list[list[str]]:
        """Every cell's text, without quotes; rows are as long as they are in the file."""
        return [[_text(raw) for raw in row.raw] for row in self._rows]

    def fill(self, row: int, column: int, text: str) -> bool:
        """Put `text` into a cell, quoted where it was or must be; False when it stands there already."""
        cells = self._rows[row].raw
        cells += [""] * (column + 1 - len(cells))
        if _text(cells[column]) == text:
            return False
        quoted = cells[column].startswith('"') or bool(re.search(f'["\r\n{re.escape(self.separator)}]', text))
        cells[column] = '"' + text.replace('"', '""') + '"' if quoted else text
        return True

    def to_bytes(self) -> bytes:
        """The whole file."""
        return (self._bom + "".join(self.separator.join(row.raw) + row.end for row in self._rows)).encode()


def harmless(text: str) -> str:
    """Return text that no spreadsheet takes for a formula: where it might, an apostrophe stands before it.

    A space before the sign does not make it harmless.
    """
    return "'" + text if text.lstrip().startswith(_FORMULA) or text.startswith(_FORMULA) else text


def number(text: str) -> float | None:
    """Return the number in a cell, whichever sign its decimals have; None where there is none."""
    plain = text.strip().replace("\N{NO-BREAK SPACE}", "").replace("\N{NARROW NO-BREAK SPACE}", "").replace(" ", "")
    if not re.fullmatch(r"[+-]?[\d.,]*\d[\d.,]*", plain):
        return None
    *whole, last = re.split(r"[.,]", plain)
    return float("".join(whole) + "." + last) if whole else float(last)


def folded(text: str) -> str:
    """Return text in the form in which two spellings of a name or a heading are one."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _separator(text: str) -> str:
    """The separator of the first line, read outside of quotes."""
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
            raise UsageError(f"{name}, line {line}: a quote is not closed; export the file again.")
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
