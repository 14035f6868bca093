"""`export`: a class's points in the form that another system takes, from the journal of a run.

Canvas and Moodle get the file back that they exported, filled in; nbgrader's columns and JUnit XML are written anew.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.class_run.roll import Roll
from grader.errors import UsageError
from grader.files import explained, write_atomically
from grader.reports import canvas, junit, moodle, nbgrader
from grader.reports.filled import Filled
from harness import names
from harness.overwriting import refuse_edited

IN_CLASS = "lesson in this class"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to export: exactly one of the four. `canvas` and `moodle` are the files that these systems exported."""

    canvas: Path | None = None
    moodle: Path | None = None
    nbgrader: bool = False
    junit: bool = False

    @property
    def form(self) -> str:
        """Which of the four. Raises `UsageError` for none and for several."""
        asked = [name for name in ("canvas", "moodle", "nbgrader", "junit") if getattr(self, name)]
        if len(asked) != 1:
            raise UsageError("Name one format: --canvas EXPORT.csv, --moodle WORKSHEET.csv, --nbgrader or --junit.")
        return asked[0]


@dataclass(frozen=True, slots=True)
class Exported:
    """Where the file lies and what became of the points. `ungraded` are hand-ins that have no grade to export."""

    place: Path
    filled: Filled | None
    replaced: bool
    ungraded: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 when every grade is in the file, 1 when one is not."""
        return 1 if self.ungraded or (self.filled and self.filled.lost) else 0

    def lines(self) -> Iterator[str]:
        """What to tell the instructor."""
        place = f"{self.place}{' in place of the older one' if self.replaced else ''}"
        if self.filled:
            yield from self.filled.lines(place)
        else:
            yield f"Wrote {place}."
            if self.ungraded:
                yield f"Not in it, because they have no grade yet ({len(self.ungraded)}):"
                yield from (f"  {one}" for one in self.ungraded)


def export(
    roll: Roll,
    out: Path,
    wanted: Wanted,
    *,
    to: Path | None = None,
    lessons: Sequence[str] = (),
    columns: Sequence[str] = (),
    scale: bool = False,
    force: bool = False,
) -> Exported:
    """Write the points of a class to `to`, by default a file in `out` named like the format.

    `lessons` are those that count (all where none is named), `columns` are "LESSON=TITLE" for Canvas. Another file at
    `to` is overwritten with `force` alone; what lies in `out` was made there, and is replaced. Raises `UsageError` for
    what does not fit, and has written nothing then.
    """
    form = wanted.form
    place = to or out / f"{form}.{'xml' if form == 'junit' else 'csv'}"
    roll = roll.only([names.named(lesson, roll.lessons, IN_CLASS) for lesson in lessons]) if lessons else roll
    if columns and form != "canvas":
        raise UsageError("--column goes with --canvas: a worksheet of Moodle is one assignment; see --lessons.")
    filled: Filled | None = None
    if wanted.canvas:
        filled = canvas.fill(
            roll, _read(wanted.canvas, place), str(wanted.canvas), _named(columns, roll.lessons), scale=scale
        )
    elif wanted.moodle:
        filled = moodle.fill(roll, _read(wanted.moodle, place), str(wanted.moodle), roll.lessons, scale=scale)
    text = filled.data if filled else (junit if form == "junit" else nbgrader).render(roll).encode()
    if to:
        refuse_edited(to, force=force, is_ours=lambda path: path.read_bytes() == text)
    replaced = place.exists()
    with explained(place):
        place.parent.mkdir(parents=True, exist_ok=True)
    written = write_atomically(place, text)
    return Exported(place, filled, replaced and written, () if filled else tuple(_ungraded(roll)))


def _ungraded(roll: Roll) -> Iterator[str]:
    """Yield each hand-in that has no grade (yet)."""
    for student, given in roll.grades().items():
        yield from (f"{student}, {lesson}" for lesson, points in given.items() if points is None)


def _named(columns: Sequence[str], lessons: Sequence[str]) -> Mapping[str, str]:
    named = {}
    for one in columns:
        lesson, sign, title = one.partition("=")
        if not (sign and lesson and title.strip()):
            raise UsageError(f"--column {one!r} names no column; write --column LESSON=TITLE.")
        known = lesson.strip() == canvas.TOTAL
        named[canvas.TOTAL if known else names.named(lesson, lessons, IN_CLASS)] = title
    return named


def _read(path: Path, place: Path) -> bytes:
    """The bytes of an export, which stays as it is: what is filled in goes elsewhere."""
    if path.resolve() == place.resolve():
        raise UsageError(f"{path} is the export itself; name another file with --to.")
    try:
        return path.read_bytes()
    except OSError as fault:
        raise UsageError(f"{path} cannot be read ({fault.strerror}); name the file that the course exported.") from None
