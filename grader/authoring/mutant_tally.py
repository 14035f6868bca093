"""The results of `lint --mutants` for one task. A mutant is a right submission with one small change."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from grader.authoring.mutation import Mutant

LEAST_SHARE: Final = 0.95
"""The smallest share of wrong mutants (changed submissions) that a task must reject."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """A changed submission that the task accepts although it is wrong, and a test case that it answers wrongly."""

    mutant: Mutant
    case: str

    def lines(self) -> Iterator[str]:
        """Yield the lines that `lint --mutants` prints for this changed submission."""
        yield f"  {self.mutant.file}:{self.mutant.line}"
        yield f"    was  {self.mutant.was}"
        yield f"    now  {self.mutant.now}"
        yield f"    a case that shows the change: {self.case}"


@dataclass(frozen=True)
class Tally:
    """The number of mutants (right submissions with one small change) of one task, by result.

    `made` counts all mutants. The other numbers count only tried mutants. `survivors` are accepted by the graded test
    cases but wrong on other inputs. `equivalent` counts mutants that are right in all test cases. Of these, `doubtful`
    mutants answer changed arguments differently. Only the author can decide whether the exercise allows these
    arguments.
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
        """The rejected share of the wrong mutants, or 1 if none was wrong."""
        changed = self.rejected + len(self.survivors)
        return self.rejected / changed if changed else 1.0

    @property
    def is_enough(self) -> bool:
        """Whether the task rejects a large enough share of the wrong mutants (changed submissions)."""
        return self.share >= LEAST_SHARE

    def lines(self) -> Iterator[str]:
        """Yield a summary line, and then lines on each wrong mutant that was accepted and on each doubtful mutant."""
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
