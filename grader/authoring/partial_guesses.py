"""Find tasks in which guesses in some scenarios raise the grade of a known submission.

Such a submission measures honestly in most scenarios. In the others, it returns an answer of `blind_answers` without
looking at its input. A few of these answers are right by luck, or the rules of the exam allow a few wrong ones. A guess
costs almost nothing, so it must not raise the ratio by much (`grader.trials.simulated.mean_gain`).
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from grader import overlays
from grader.authoring import blind_answers, in_process
from grader.authoring.in_process import Solver
from grader.seeds import generator
from grader.task import Mismatch, SimulatedExam, Task, tier_of
from grader.trials import simulated
from grader.trials.simulated import Played

SHARES: Final = (1 / 16, 1 / 8, 1 / 6, 1 / 4, 1 / 3, 1 / 2)
"""The shares of the scenarios in which a submission guesses, besides one, two and the forgiven number of scenarios."""

FIRST, EXPENSIVE, RANDOM = "first", "most expensive", "randomly chosen"

RAISED: Final = Mismatch("an answer", "an exception")


@dataclass(frozen=True, slots=True)
class Guesser:
    """A known submission that guesses in `count` scenarios: in the `which` scenarios it returns `answer`."""

    known: str
    answer: str
    which: str
    count: int

    def __str__(self) -> str:
        return f"{self.known}, but it returns {self.answer} in the {self.count} {self.which} scenarios"


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of one function in all scenarios of a draw.

    `gains` holds, for each scenario, the baseline's cost divided by the function's cost, and whether the answer is
    right.
    """

    played: list[Played]
    gains: list[tuple[float, bool]]

    @property
    def ratios(self) -> list[float]:
        """The baseline's cost divided by the function's cost, for each scenario."""
        return [ratio for ratio, _ in self.gains]

    @property
    def right(self) -> list[object]:
        """Each right answer in a tuple, and None in place of each wrong answer."""
        return [None if one.mismatch else (one.answer,) for one in self.played]


@dataclass(frozen=True)
class Mixer:
    """The answers of known submissions and of guesses in the same scenarios, from which both can be mixed.

    Scenarios are independent of each other. So a submission that guesses in some of them need not be run again.
    """

    task: Task
    known: dict[str, Answers]
    guesses: dict[str, Answers]

    @classmethod
    def drawn(cls, task: Task, draw: str) -> "Mixer":
        """Run all known submissions below the top tier, and all guesses, in the scenarios of a draw.

        Leave out known submissions that are not right in this draw, and guesses that are never right.
        """
        known = {
            path.stem: answers(task, in_process.of_source(task, overlays.whole(path)), draw)
            for path in sorted(task.known.glob("*.py"))
            if not path.stem.startswith(("wrong_", f"tier{len(task.tiers)}_"))
        }
        guesses = dict[str, Answers]()
        for name, new_solver in blind_answers.solvers(task):
            found = answers(task, new_solver(), draw)
            if any(found.right) and all(found.right != other.right for other in guesses.values()):
                guesses[name] = found
        return cls(task, {name: each for name, each in known.items() if accepted(task, each.played)}, guesses)

    def guessers(self) -> Iterator[Guesser]:
        """Yield each combination of a known submission and a guess."""
        for known, honest in self.known.items():
            for answer in self.guesses:
                for count in counts(self.task, len(honest.played)):
                    for which in (FIRST, EXPENSIVE, RANDOM):
                        yield Guesser(known, answer, which, count)

    def guessed(self, guesser: Guesser, rng: np.random.Generator) -> set[int]:
        """Return the positions of the scenarios in which a submission guesses."""
        ratios = self.known[guesser.known].ratios
        order: list[int] = rng.permutation(len(ratios)).tolist()
        if guesser.which == FIRST:
            order.sort()
        elif guesser.which == EXPENSIVE:
            order.sort(key=lambda at: ratios[at])
        return set(order[: guesser.count])

    def ratio(self, guesser: Guesser, guessed: Collection[int] = ()) -> float:
        """Return the ratio of a submission that guesses, in the draw's scenarios, also if too many answers are wrong.

        Return 0 if no answer is right.
        """
        honest, guess = self.known[guesser.known], self.guesses[guesser.answer]
        gains = [guess.gains[at] if at in guessed else one for at, one in enumerate(honest.gains)]
        measured = simulated.measures(honest.played[0].scenario)
        return simulated.mean_gain(gains, measured=measured) if any(right for _, right in gains) else 0.0

    def honest_tier(self, known: str) -> int:
        """Return the tier of a known submission without guesses."""
        return simulated.speed(self.task, self.known[known].played).tier

    def tier(self, guesser: Guesser, guessed: Collection[int]) -> int:
        """Return the tier of a submission that guesses. Its answers may be wrong."""
        return tier_of(self.ratio(guesser, guessed), self.task.tiers)

    def accepts(self, guesser: Guesser, guessed: Collection[int]) -> bool:
        """Return whether enough answers of a submission that guesses are right."""
        honest, guess = self.known[guesser.known].played, self.guesses[guesser.answer].played
        return accepted(self.task, [guess[at] if at in guessed else one for at, one in enumerate(honest)])


def accepted(task: Task, played: Sequence[Played]) -> bool:
    """Return whether enough answers are right to pass a task."""
    assert isinstance(task.exam, SimulatedExam)
    if sum(one.mismatch is not None for one in played) > task.exam.forgiven:
        return False
    return task.exam.together([one.scenario for one in played]) is None


def counts(task: Task, scenarios: int) -> list[int]:
    """Return the numbers of scenarios in which a submission guesses."""
    assert isinstance(task.exam, SimulatedExam)
    forgiven = task.exam.forgiven
    found = {1, 2, forgiven, forgiven + 1, *(round(scenarios * share) for share in SHARES)}
    return sorted(count for count in found if 0 < count < scenarios)


def answers(task: Task, solver: Solver, draw: str) -> Answers:
    """Run a function in all scenarios of a draw. An exception counts as a wrong answer."""
    assert isinstance(task.exam, SimulatedExam)
    played = list[Played]()
    for scenario in task.exam.scenarios(generator(draw)):
        try:
            answer = simulated.as_plain(solver(scenario))
            played.append(Played(scenario, answer, scenario.judge(answer)))
        except Exception:  # noqa: BLE001 - any exception makes the answer wrong
            played.append(Played(scenario, None, RAISED))
    return Answers(played, [(simulated.gain(one.scenario), one.mismatch is None) for one in played])


def gained_tiers(task: Task, draw: str = "a draw") -> Iterator[str]:
    """Yield one sentence for each known submission that guesses in some scenarios and reaches a higher tier by it."""
    if not isinstance(task.exam, SimulatedExam) or not task.tiers:
        return
    mixer, rng = Mixer.drawn(task, draw), generator(draw, "guesses")
    for guesser in mixer.guessers():
        guessed = mixer.guessed(guesser, rng)
        tier, honest = mixer.tier(guesser, guessed), mixer.honest_tier(guesser.known)
        if tier > honest and mixer.accepts(guesser, guessed):
            yield f"{guesser}: it reaches tier {tier} instead of {honest}"
