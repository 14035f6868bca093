"""Fill grades into a CSV file that a course system exported, and keep all other bytes of the file.

`grader.course.people` compares students and rows: first by unique values, such as a number, then by login, then
by name. A student gets no row if two rows match, or if two students match the same row.
"""

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from itertools import chain

from grader.course.people import ANY_ORDER, EXACT, LOGIN, Identity, People, fold
from grader.course.roll import Roll
from grader.reports import grade_texts
from harness.errors import UsageError
from harness.rendering.texts import shown

_FORMULA = tuple("=+-@\t\r\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH COMMERCIAL AT}")
"""Characters at the beginning of a spreadsheet formula. Source: OWASP, "CSV Injection"."""

_FIRST_LINE = re.compile(r"\ufeff*(?:\"?sep=([^\w\s\"']|\t)\"?[,;]* *(?:\r\n|\r|\n))?", re.IGNORECASE)
"""A byte order mark, and the line `sep=;` that Excel reads as the separator. Both may be missing."""
_LINE_END = re.compile("\r\n|\r|\n")
_MARKS = {False: (",", r"\."), True: (r"\.", ",")}
"""The thousands separator and the decimal sign, as patterns, by whether the decimal sign is a comma."""


class CsvFile:
    """A CSV file that a course system exported, with grades filled in.

    `rows` are the texts of its cells without quotes, and `head` is the index of the row with the headings: the first
    row with a text. `written` is the number of cells with a grade, and `changed` the number of those whose grade is new
    or different. `missing` has a line for each grade that is not in the file. The constructor raises `UsageError`,
    which names `name`, if `data` is not CSV.
    """

    def __init__(self, data: bytes, name: str) -> None:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            why = "is not UTF-8 text. Export the file again, or save it as `CSV UTF-8` in your spreadsheet program"
            raise UsageError(f"{name} {why}.") from None
        if "\0" in text:
            raise UsageError(f"{name} is not a CSV file. Give the file that your course system exported.")
        self.name = name
        first = _FIRST_LINE.match(text)
        self._before = first[0] if first else ""
        body = text.removeprefix(self._before)
        self.separator: str = (first and first[1]) or _separator(body)
        self._raw, self._ends, rest = _split(body, self.separator)
        if rest:
            line = len(_LINE_END.findall(text, 0, len(text) - len(rest))) + 1
            raise UsageError(
                f"{name}, line {line}: a quote is not closed, or a text follows it. Export the file again."
            )
        self.rows = [[_text(cell) for cell in row] for row in self._raw]
        self.head = next((at for at, row in enumerate(self.rows) if any(map(str.strip, row))), -1)
        if self.head < 0:
            raise UsageError(f"{name} is empty. Export it again.")
        self.written = self.changed = 0
        self.missing: list[str] = []
        self.notes: list[str] = []

    def cell(self, row: int, column: int) -> str:
        """Return the text of a cell, or "" if the row is too short."""
        return "".join(self.rows[row][column : column + 1])

    @property
    def below(self) -> range:
        """The indices of the rows below the headings."""
        return range(self.head + 1, len(self.rows))

    def line(self, row: int) -> str:
        """Return the file's name with the number of the line at which a row begins, for a message."""
        before = self._before + "".join(map(self._joined, range(row)))
        return f"{self.name}, line {len(_LINE_END.findall(before)) + 1}"

    def _joined(self, row: int) -> str:
        return self.separator.join(self._raw[row]) + self._ends[row]

    def column(self, heading: str) -> int | None:
        """Return the index of the column with a heading, compared by `fold`, or None without such a column.

        Raise `UsageError` if two columns have this heading.
        """
        found = [at for at, cell in enumerate(self.rows[self.head]) if fold(cell) == heading]
        if len(found) > 1:
            raise UsageError(f"{self.line(self.head)}: {len(found)} columns are named {heading!r}. Remove all but one.")
        return found[0] if found else None

    def fill(self, row: int, column: int, text: str) -> bool:
        """Put `text` into a cell, in quotes if needed. Return False if the cell has this text already."""
        raw, texts = self._raw[row], self.rows[row]
        raw += [""] * (column + 1 - len(raw))
        texts += [""] * (column + 1 - len(texts))
        if texts[column] == text:
            return False
        quoted = raw[column].lstrip(" ").startswith('"') or bool(re.search(f'["\r\n{re.escape(self.separator)}]', text))
        raw[column], texts[column] = '"' + text.replace('"', '""') + '"' if quoted else text, text
        return True

    def remove(self, row: int) -> None:
        """Remove a row below the headings."""
        for parts in (self.rows, self._raw, self._ends):
            del parts[row]

    def append(self) -> int:
        """Add an empty row below the last row that has a text, and return its index."""
        row = 1 + max(at for at, cells in enumerate(self.rows) if any(map(str.strip, cells)))
        end = self._ends[self.head] or "\n"
        self._ends[row - 1] = self._ends[row - 1] or end
        self.rows.insert(row, [""] * len(self.rows[self.head]))
        self._raw.insert(row, [*self.rows[row]])
        self._ends.insert(row, end)
        return row

    @property
    def data(self) -> bytes:
        """The content of the CSV file, with the changed cells."""
        return (self._before + "".join(map(self._joined, range(len(self.rows))))).encode()

    def write(self, row: int, column: int, points: float, *, comma: bool) -> None:
        """Put points into a cell, with a decimal comma if `comma` is set. A cell with the same number is kept."""
        text = grade_texts.points(points)
        self.written += 1
        if number(self.cell(row, column), comma=comma) != float(text):
            self.changed += self.fill(row, column, text.replace(".", ",") if comma else text)

    def factor(self, row: int, what: str, cell: str, here: float, *, comma: bool, scale: bool) -> float:
        """Return the maximum points in the text `cell` of a row, divided by the points `here` if `scale`, else 1.

        `what` names the cell. Raise `UsageError` if it is not positive, or differs from `here` without `scale`.
        """
        most = number(cell, comma=comma)
        if most is None or most <= 0:
            raise UsageError(
                f"{self.line(row)}: {what} has {cell!r} as its maximum. Set points in the course system, with one "
                "maximum for all, and export again."
            )
        if round(most - here, 2) and not scale:
            raise UsageError(
                f"{self.line(row)}: {what} has {grade_texts.points(most)} points there, but {grade_texts.points(here)} "
                "here. Set the same number there and export again, choose other lessons with --lessons, or use --scale."
            )
        return most / here if scale else 1.0

    def has_decimal_comma(self, cells: Iterable[str]) -> bool:
        """Return whether the numbers in these cells, or else the separator of the file, tell of a decimal comma."""
        for text in cells:
            if found := re.fullmatch(r"\s*[+-]?([\d\s.,]*)([.,])(\d*)\s*", text):
                before, mark, after = found.groups()
                if len(after) != 3 or before == "0" or set(before) & {".", ","} - {mark}:
                    return mark == ","
        return self.separator == ";"

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


def match_rows(
    done: CsvFile, roll: Roll, lines: Sequence[Row], number_: str = "{}"
) -> tuple[dict[str, int], dict[str, str]]:
    """Return the index of each student's row in a file, and the reason for each student with grades, but without a row.

    `number_` is how the file writes a number of the platform, such as "Participant {}" for 70123. Notes are added to
    the file: who was matched by name only, which rows belong to no grade, and who gets 0 points for a missed lesson.
    """
    everybody = _identities(roll, number_)
    students = {student: everybody[student] for student, given in roll.gradebook().items() if given}
    rows: dict[str, int] = {}
    why: dict[str, str] = {}
    people = People(Identity(line.ids, (line.name,)) for line in lines)
    for way in (EXACT, LOGIN, ANY_ORDER):
        left = {one: identity for one, identity in students.items() if one not in {*rows, *why}}
        found = {one: [lines[at] for at in people.find(left[one], range(way + 1))] for one in left}
        claimed = [*rows.values(), *(claim[0].row for claim in found.values() if len(claim) == 1)]
        for student, claim in found.items():
            if len(claim) > 1:
                why[student] = f"matches {len(claim)} rows ({', '.join(str(line.row + 1) for line in claim)})"
            elif claim and claimed.count(claim[0].row) > 1:
                why[student] = f"matches row {claim[0].row + 1}, which also matches another student"
            elif claim:
                rows[student] = claim[0].row
                by_name = f"{student} was matched only by name, with {claim[0].label}."
                done.notes += [by_name] if way == ANY_ORDER else []
    if empty := "; ".join(line.label for line in lines if line.row not in rows.values()):
        done.notes.append(f"Rows that were not changed, because no grade belongs to the row: {empty}.")
    if missed := [f"{who} ({', '.join(lessons)})" for who, lessons in roll.missing().items()]:
        done.notes.append(f"0 points, because {grade_texts.NO_ATTEMPT} ({len(missed)}): {'; '.join(missed)}.")
    return rows, {student: "matches no row" for student in students if student not in rows} | why


def _identities(roll: Roll, number_: str) -> dict[str, Identity]:
    found = {student: [Identity((student,), (student,))] for student in roll.students}
    for student, person in roll.roster.students.items():
        found[student] = [person.identity(student)]
    for one in roll.senders:
        numbers = tuple(number_.format(text) for text in one.ids)
        found.setdefault(roll.roster.student_of(one), []).append(Identity((*one.ids, *numbers), (one.name,)))
    return {
        student: Identity(*(tuple(dict.fromkeys(chain(*parts))) for parts in zip(*map(astuple, of), strict=True)))
        for student, of in found.items()
    }


def csv_text(rows: Iterable[Sequence[str | float]], end: str) -> str:
    """Return a table as CSV text with the line end `end`. No cell can act as a formula, or on a reader's screen."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator=end)
    table.writerows([csv_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return text.getvalue()


def csv_cell(text: str) -> str:
    """Return the text as it is shown, with an apostrophe in front of what a spreadsheet could read as a formula."""
    text = shown(text)
    return "'" + text if text.lstrip().startswith(_FORMULA) or text.startswith(_FORMULA) else text


def number(text: str, *, comma: bool = False) -> float | None:
    """Return the number in a cell, or None if the cell has no number.

    `comma` decides only on numbers such as "1,234", which is less than two with a decimal comma.
    """
    plain = re.sub(r"(?<=\d)[\s'\N{RIGHT SINGLE QUOTATION MARK}](?=\d{3}(?!\d))", "", text.strip())
    for thousands, decimal in (_MARKS[comma], _MARKS[not comma]):
        if re.fullmatch(rf"[+-]?[1-9]\d{{0,2}}(?:{thousands}\d{{3}})+(?:{decimal}\d*)?", plain):
            plain = re.sub(thousands, "", plain)
        if re.fullmatch(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)", plain):
            value = float(plain.replace(",", "."))
            return value if math.isfinite(value) else None
    return None


def _separator(text: str) -> str:
    found = re.match(r'[,;\t\s]*+(?:"(?:[^"]|"")*+"|[^,;\t\r\n]*+)[^,;\t\r\n]*+([,;\t])', text)
    return found[1] if found else ","


def _split(text: str, separator: str) -> tuple[list[list[str]], list[str], str]:
    sign = re.escape(separator)
    cell = re.compile(f'( *"(?:[^"]|"")*+" *(?=[{sign}\r\n]|\\Z)|(?! *")[^{sign}\r\n]*)({sign}|\r\n|\n|\r|\\Z)')
    rows: list[list[str]] = [[]]
    ends: list[str] = []
    at = 0
    while found := cell.match(text, at):
        raw, end = found.groups()
        at = found.end()
        rows[-1].append(raw)
        if end != separator:
            ends.append(end)
            if at == len(text):
                return rows, ends, ""
            rows.append([])
    return rows, ends, text[at:]


def _text(raw: str) -> str:
    stripped = raw.strip(" ")
    return stripped[1:-1].replace('""', '"') if len(stripped) > 1 and stripped.startswith('"') else raw
