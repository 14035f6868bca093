"""What filling in a course's file gave: the file, and everything that found no place in it."""

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Filled:
    """A filled file. `written` counts cells with a grade in them now, `changed` those that had another before.

    `lost` names each grade that found no place, and why; with any of them the export is not whole. `told` is what a
    person should know besides.
    """

    data: bytes = b""
    written: int = 0
    changed: int = 0
    lost: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def lines(self, place: str) -> Iterator[str]:
        """What to tell the instructor."""
        yield f"Wrote {place}: {self.written} grade{'' if self.written == 1 else 's'}, {self.changed} of them new."
        yield from self.told
        if self.lost:
            yield f"Not in it ({len(self.lost)}):"
            yield from (f"  {one}" for one in self.lost)
