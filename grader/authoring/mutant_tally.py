"""The results of a task's mutants, and their text for `lint --mutants`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from grader.authoring.mutation import Mutant

LEAST_SHARE: Final = 0.95
"""Of the mutants that change an answer, a task must reject at least this share."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that the task accepts although it changes an answer, and a case that shows the change."""

    mutant: Mutant
    case: str

    def lines(self) -> Iterator[str]:
        """Yield the lines that `lint` prints for this mutant."""
        yield f"  {self.mutant.file}:{self.mutant.line}"
        yield f"    was  {self.mutant.was}"
        yield f"    now  {self.mutant.now}"
        yield f"    a case that shows the change: {self.case}"


@dataclass(frozen=True)
class Tally:
    """The results for a task's mutants.

    `made` is the number of all mutants. The other counts are of the mutants that were tried, which may be fewer.
    `survivors` pass the graded draw, but are wrong in a further draw, or in a variation of the draw's cases.
    `equivalent` is the number of mutants that are right in all draws. Of these, `doubtful` mutants change the answer to
    other arguments. Only the author can decide whether the exercise allows these arguments.
    """

    task: str
    made: int
    rejected: int = 0
    equivalent: int = 0
    survivors: tuple[Survivor, ...] = ()
    doubtful: tuple[Survivor, ...] = ()

    @property
    def tried(self) -> int:
        """The number of mutants that were judged."""
        return self.rejected + self.equivalent + len(self.survivors)

    @property
    def share(self) -> float:
        """The rejected share of the mutants that change an answer, or 1 if there are none."""
        changed = self.rejected + len(self.survivors)
        return self.rejected / changed if changed else 1.0

    @property
    def is_enough(self) -> bool:
        """Whether the task rejects enough mutants."""
        return self.share >= LEAST_SHARE

    def lines(self) -> Iterator[str]:
        """Yield a summary line, and then the lines of the survivors and of the doubtful mutants."""
        sample = "" if self.tried == self.made else f" (a random sample of {self.made})"
        share = f"{100 * self.share:.1f} % of those that change an answer"
        counts = f"{self.tried} mutants{sample}, {self.equivalent} equivalent, {self.rejected} rejected: {share}"
        yield f"{'✓' if self.is_enough else '✗'} {self.task}: {counts}"
        yield from _listed(self.survivors)
        if self.doubtful:
            yield f"  {len(self.doubtful)} of the equivalent mutants change the answer to arguments that no case uses."
            yield "  All known right answers agree there. If the exercise allows these arguments, add a case:"
            yield from _listed(self.doubtful)


def _listed(survivors: tuple[Survivor, ...]) -> Iterator[str]:
    for survivor in sorted(survivors, key=lambda each: (each.mutant.file, each.mutant.line)):
        yield from survivor.lines()
