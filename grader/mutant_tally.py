"""What became of a task's mutants, and how `lint --mutants` prints it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from grader.mutation import Mutant

LEAST_SHARE: Final = 0.95
"""The part that must be rejected of the mutants that change an answer."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that passes although it changes an answer, and a case that shows it."""

    mutant: Mutant
    case: str

    def lines(self) -> Iterator[str]:
        """Yield it as `lint` prints it."""
        yield f"  {self.mutant.file}:{self.mutant.line}"
        yield f"    was  {self.mutant.was}"
        yield f"    now  {self.mutant.now}"
        yield f"    a case that catches it: {self.case}"


@dataclass(frozen=True)
class Tally:
    """The mutants of a task: `made` exist, and the others were tried.

    `survivors` are wrong in a further draw, or in a variation for which the task has an oracle. `doubtful` ones are
    equivalent as far as the task's draws go, but alter the answer to other arguments. Only the author knows whether the
    exercise allows these.
    """

    task: str
    made: int
    rejected: int = 0
    equivalent: int = 0
    survivors: tuple[Survivor, ...] = ()
    doubtful: tuple[Survivor, ...] = ()

    @property
    def tried(self) -> int:
        """How many were judged."""
        return self.rejected + self.equivalent + len(self.survivors)

    @property
    def share(self) -> float:
        """The rejected part of those that change an answer; 1 where none does."""
        changed = self.rejected + len(self.survivors)
        return self.rejected / changed if changed else 1.0

    @property
    def is_enough(self) -> bool:
        """Whether the task rejects as many as it must."""
        return self.share >= LEAST_SHARE

    def lines(self) -> Iterator[str]:
        """Yield a summary, then the survivors and the doubtful ones by file and line."""
        sample = "" if self.tried == self.made else f" (an even sample of {self.made})"
        share = f"{100 * self.share:.1f} % of those that change an answer"
        counts = f"{self.tried} mutants{sample}, {self.equivalent} equivalent, {self.rejected} rejected: {share}"
        yield f"{'✓' if self.is_enough else '✗'} {self.task}: {counts}"
        yield from _listed(self.survivors)
        if self.doubtful:
            yield f"  {len(self.doubtful)} of the equivalent ones change an answer to arguments that no case draws."
            yield "  All right answers agree on these. If the exercise allows them, add a case:"
            yield from _listed(self.doubtful)


def _listed(survivors: tuple[Survivor, ...]) -> Iterator[str]:
    for survivor in sorted(survivors, key=lambda each: (each.mutant.file, each.mutant.line)):
        yield from survivor.lines()
