"""Fill grades into a CSV file that a course system exported, and keep all other bytes of the file.

The grader only knows the name of a student's folder or zip. First, this name is compared with the unique values of each
row: login, number and e-mail address. If no row has such a value, it is compared with the student names and with the
parts of the addresses before the @. A student gets no row if two rows match, or if two students match the same row.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from grader.reports import grade_texts
from harness.errors import UsageError

BOM = "\ufeff"

_FORMULA = tuple("=+-@\t\r\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH COMMERCIAL AT}")
"""Characters at the beginning of a spreadsheet formula. Source: OWASP, "CSV Injection"."""

_MOODLE = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?")
"""The name of a student's folder in Moodle's "Download all submissions", with the student's name and a number."""

_CANVAS = re.compile(r"(?P<name>[^_]+)_(?P<number>\d+)")
"""A student in a download from Canvas: the name without spaces, `_`, and the student's number in Canvas."""


class CsvFile:
    """A CSV file that a course system exported, with grades filled in.

    `rows` are the texts of its cells without quotes. `written` is the number of cells with a grade, and `changed` the
    number of those whose grade is new or different. `missing` has a line for each grade that is not in the file. The
    constructor raises `UsageError`, which names `name`, if `data` is not CSV.
    """

    def __init__(self, data: bytes, name: str) -> None:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            why = "is not UTF-8 text. Export the file again, or save it as `CSV UTF-8` in your spreadsheet program"
            raise UsageError(f"{name} {why}.") from None
        if "\0" in text:
            raise UsageError(f"{name} is not a CSV file. Give the file that your course system exported.")
        self._bom = BOM if text.startswith(BOM) else ""
        text = text.removeprefix(BOM)
        if not text.strip():
            raise UsageError(f"{name} is empty. Export it again.")
        self.separator = _separator(text)
        self._raw, self._ends = _split(text, self.separator, name)
        self.rows = [[_text(cell) for cell in row] for row in self._raw]
        self.written = self.changed = 0
        self.missing: list[str] = []
        self.notes: list[str] = []

    def fill(self, row: int, column: int, text: str) -> bool:
        """Put `text` into a cell, in quotes if needed. Return False if the cell has this text already."""
        raw, texts = self._raw[row], self.rows[row]
        raw += [""] * (column + 1 - len(raw))
        texts += [""] * (column + 1 - len(texts))
        if texts[column] == text:
            return False
        quoted = raw[column].startswith('"') or bool(re.search(f'["\r\n{re.escape(self.separator)}]', text))
        raw[column], texts[column] = '"' + text.replace('"', '""') + '"' if quoted else text, text
        return True

    @property
    def data(self) -> bytes:
        """The content of the CSV file, with the changed cells."""
        lines = (self.separator.join(cells) + end for cells, end in zip(self._raw, self._ends, strict=True))
        return (self._bom + "".join(lines)).encode()

    def write(self, row: int, column: int, points: float, *, comma: bool) -> None:
        """Put points into a cell, with a decimal comma if `comma` is set. A cell with the same number is kept."""
        cells, text = self.rows[row], grade_texts.points(points)
        self.written += 1
        if number("".join(cells[column : column + 1])) != number(text):
            self.changed += self.fill(row, column, text.replace(".", ",") if comma else text)

    def lines(self, place: str) -> Iterator[str]:
        """Yield the lines that the command `export` prints about the file that it wrote to `place`."""
        yield f"Wrote {place}: {self.written} grade{'' if self.written == 1 else 's'}, {self.changed} of them changed."
        yield from self.notes
        if self.missing:
            yield f"Not in the file ({len(self.missing)}):"
            yield from (f"  {one}" for one in self.missing)


@dataclass(frozen=True, slots=True)
class Row:
    """One student's row in an exported file: its index, its unique values, the student's name, and a short label."""

    row: int
    ids: tuple[str, ...]
    name: str
    label: str


@dataclass(frozen=True, slots=True)
class Matches:
    """The index of each student's row in an exported file, and the reason (`why`) for each student without a row.

    `notes` name the students who were matched by name only, without a unique value.
    """

    rows: dict[str, int]
    why: dict[str, str]
    notes: list[str]


def match_rows(students: Collection[str], lines: Sequence[Row]) -> Matches:
    """Return each student's row in an exported file, or the reason why the student has no row."""
    rows: dict[str, int] = {}
    why: dict[str, str] = {}
    notes: list[str] = []
    for by_name in (False, True):
        found = _claims([one for one in students if one not in {*rows, *why}], lines, int(by_name))
        claimed = [*rows.values(), *(claim[0].row for claim in found.values() if len(claim) == 1)]
        for student, claim in found.items():
            if len(claim) > 1:
                why[student] = f"matches {len(claim)} rows ({', '.join(str(line.row + 1) for line in claim)})"
            elif claim and claimed.count(claim[0].row) > 1:
                why[student] = f"matches row {claim[0].row + 1}, which also matches another student"
            elif claim:
                rows[student] = claim[0].row
                notes += [f"{student} was matched only by name, with {claim[0].label}."] if by_name else []
    why |= {student: "matches no row" for student in students if student not in {*rows, *why}}
    return Matches(rows, why, notes)


def csv_text(rows: Iterable[Sequence[str | float]], end: str) -> str:
    """Return a table as CSV text with the line end `end`. No cell of the table can act as a formula."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator=end)
    table.writerows([defuse_formula(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return text.getvalue()


def defuse_formula(text: str) -> str:
    """Return the text, with an apostrophe in front if a spreadsheet could read it as a formula, also after spaces."""
    return "'" + text if text.lstrip().startswith(_FORMULA) or text.startswith(_FORMULA) else text


def number(text: str) -> float | None:
    """Return the number in a cell, with a decimal point or comma, or None if the cell has no number."""
    plain = re.sub("[ \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]", "", text.strip())
    if not re.fullmatch(r"[+-]?[\d.,]*\d[\d.,]*", plain):
        return None
    *whole, last = re.split(r"[.,]", plain)
    return float("".join(whole) + "." + last) if whole else float(last)


def fold(text: str) -> str:
    """Return the text in a form for comparing names: Unicode NFKC, lower case, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _separator(text: str) -> str:
    """Return the separator that is most frequent in the first line of a CSV text, outside quotes."""
    outside = "".join(text.split('"')[::2])
    first = re.split("[\r\n]", outside.lstrip("\r\n"), maxsplit=1)[0]
    return max(",;\t", key=first.count)


def _split(text: str, separator: str, name: str) -> tuple[list[list[str]], list[str]]:
    """Return the cells of each row with their quotes, and the line end of each row."""
    sign = re.escape(separator)
    cell = re.compile(f'([ ]*"(?:[^"]|"")*"[ ]*(?=[{sign}\r\n]|\\Z)|[^{sign}\r\n]*)({sign}|\r\n|\n|\r|\\Z)')
    rows: list[list[str]] = [[]]
    ends: list[str] = []
    for found in cell.finditer(text):
        raw, end = found.groups()
        if raw.lstrip(" ").startswith('"') and not raw.rstrip(" ").endswith('"'):
            line = text.count("\n", 0, found.start()) + 1
            raise UsageError(f"{name}, line {line}: a quote is not closed. Export the file again.")
        rows[-1].append(raw)
        if end != separator:
            ends.append(end)
            if found.end() == len(text):
                break
            rows.append([])
    return rows, ends


def _text(raw: str) -> str:
    stripped = raw.strip(" ")
    return stripped[1:-1].replace('""', '"') if len(stripped) > 1 and stripped.startswith('"') else raw


def _claims(students: Iterable[str], lines: Iterable[Row], kind: int) -> dict[str, list[Row]]:
    """Return, for each student, the rows that have a key of this kind in common with the student."""
    index: dict[str, set[Row]] = {}
    for line in lines:
        for key in _keys_of_row(line)[kind] - {""}:
            index.setdefault(key, set()).add(line)
    found = {one: {line for key in _keys_of_student(one)[kind] for line in index.get(key, ())} for one in students}
    return {student: sorted(matching, key=lambda line: line.row) for student, matching in found.items()}


def _keys_of_row(line: Row) -> tuple[set[str], set[str]]:
    """Return the unique values of a row, and its sorted name words and logins, which two students may share."""
    logins = (fold(one.partition("@")[0]) for one in line.ids if "@" in one)
    return {fold(one) for one in line.ids}, {*logins, _words(line.name)}


def _keys_of_student(student: str) -> tuple[set[str], set[str]]:
    moodle, canvas = _MOODLE.fullmatch(student), _CANVAS.fullmatch(student)
    numbers = [f"participant {moodle['number']}"] if moodle else [canvas["number"]] if canvas else []
    name = moodle["name"] if moodle else student
    return {fold(student), *numbers}, {fold(name.partition("@")[0]), _words(name)}


def _words(name: str) -> str:
    return " ".join(sorted(re.findall(r"[^\W_]+", fold(name))))
