"""The file of a course system in which points were filled in, and the grades that are not in it."""

from collections.abc import Iterator
from dataclasses import dataclass, field


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
