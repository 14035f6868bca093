"""Task (b) of lesson 20: find the first slow commit with few comparisons, although many verdicts are UNDECIDED.

No verdict is wrong, so each scenario has one right answer. The cost is the number of comparisons. The baseline compares
each commit once. Bisection needs about log2(n) verdicts. But if a long stretch of commits around the middle never gives
a verdict, a search that goes on with the next commit asks for each of them.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from grader.kinds.simulated import CALLS
from grader.task import Mismatch, SimulatedExam, SimulatedFunction, Task, Tier
from grader.tasks.plain import is_whole, shown
from grader.tasks.simulated import shuffled, stratified
from grader.values import Value
from harness.rendering import units

SLOWER, SAME, UNDECIDED = "SLOWER", "SAME", "UNDECIDED"

FEWEST, MOST = 680, 720
"""The smallest and the largest number of commits in a history. With a wider range, the number would help to guess."""

NOISES: Final = (0.0, 0.25, 0.5)
"""The probabilities that a comparison of a usual commit is UNDECIDED."""

PLAIN, SCATTERED, STRETCHES = 12, 12, 36
"""The number of scenarios of each kind: no broken commits, many short broken stretches, a long one in the middle."""

Stretch = tuple[int, int]
"""The positions of commits that cannot be compared: the first one, and the one after the last."""

Draw = Callable[[np.random.Generator, int], list[Stretch]]
"""A function that draws the stretches of broken commits in a history of this number of commits."""


@dataclass
class HistoryScenario:
    """A history in which the commit at `position` is the first slow one. Commits in `broken` are never decided."""

    title: str
    commits: int
    position: int
    noise: float
    broken: frozenset[int]
    chance: random.Random
    comparisons: int = 0
    function: str = "bisect"
    arguments: tuple[Value | SimulatedFunction, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.arguments = (SimulatedFunction("verdict"), self.commits)

    @property
    def right(self) -> Value:
        """The number of the first slow commit."""
        return self.position

    @property
    def cost(self) -> float:
        """The number of comparisons, or 1 if there was none."""
        return max(1, self.comparisons)

    @property
    def plain_cost(self) -> float:
        """The number of commits, each of which the baseline compares once. It repeats only a few comparisons."""
        return self.commits

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Return the verdict for `verdict(commit)`. Raise `ValueError` if there is no such commit."""
        place = arguments[0] if len(arguments) == 1 else None
        if not is_whole(place, 0, self.commits - 1):
            got = ", ".join(map(shown, arguments))
            raise ValueError(f"{name}(commit) takes a whole number from 0 to {self.commits - 1}, not ({got}).")
        self.comparisons += 1
        if self.chance.random() < self.noise or place in self.broken:
            return UNDECIDED
        return SLOWER if place >= self.position else SAME

    def judge(self, answer: Value) -> Mismatch | None:
        """Return None if the answer is the first slow commit, else a `Mismatch`."""
        if not is_whole(answer, 0, self.commits - 1):
            return Mismatch(f"commit {self.position}", shown(answer), "Return the number of one of the commits.")
        if answer == self.position:
            return None
        remark = f"You made {units.some(self.comparisons, 'comparison')}."
        if self.broken or self.noise:
            remark = f"{remark} UNDECIDED means neither SAME nor SLOWER. Compare again, or compare another commit."
        return Mismatch(f"commit {self.position} of {self.commits}", f"commit {answer}", remark)


def draw_scenarios(rng: np.random.Generator) -> tuple[HistoryScenario, ...]:
    """Return the scenarios of one grading, in random order."""
    early, late = (stratified(rng, *ends, STRETCHES // 2) for ends in ((0.05, 0.45), (0.55, 0.95)))
    drawn: list[tuple[str, list[float], Draw]] = [
        ("every commit can be compared", stratified(rng, 0.05, 0.95, PLAIN), lambda *_: []),
        ("some commits do not run", stratified(rng, 0.05, 0.95, SCATTERED), _scattered),
        ("a long stretch of commits does not run", [*early, *late], _in_the_middle),
    ]
    return shuffled(
        rng,
        [
            _drawn(rng, title, share, NOISES[number % len(NOISES)], draw)
            for title, shares, draw in drawn
            for number, share in enumerate(shares)
        ],
    )


def _drawn(rng: np.random.Generator, title: str, share: float, noise: float, draw: Draw) -> HistoryScenario:
    number = int(rng.integers(FEWEST, MOST))
    position = int(share * number)
    stretches = draw(rng, number)
    while draw is _in_the_middle and any(first < position <= end for first, end in stretches):
        stretches = draw(rng, number)
    broken = frozenset(place for first, end in stretches for place in range(first, end)) - {position - 1, position}
    chance = random.Random(int(rng.integers(2**60)))
    return HistoryScenario(title, number, position, noise, broken, chance)


def _scattered(rng: np.random.Generator, number: int) -> list[Stretch]:
    """Return ten short stretches at random places."""
    firsts = rng.integers(number, size=10).tolist()
    return [(first, min(number, first + int(rng.integers(1, number // 50)))) for first in firsts]


def _in_the_middle(rng: np.random.Generator, number: int) -> list[Stretch]:
    """Return a stretch of 10 % to 30 % of the commits. The middle of the history is in the middle half of it."""
    length = int(rng.uniform(0.1, 0.3) * number)
    first = number // 2 - int(rng.uniform(0.25, 0.75) * length)
    return [(first, first + length)]


BISECT = Task(
    summary="find the first slow commit, although many comparisons are undecided",
    cost=CALLS,
    tiers=(Tier(2.5, 0.7), Tier(18.0, 1.0)),
    hints=(
        "Keep two commits: the newest one that is SAME, and the oldest one that is SLOWER. What do you know then?",
        (
            "Compare the commit in the middle. If it is UNDECIDED, you know nothing new. You may ask again, or ask "
            "another commit. If a hundred commits around the middle do not run, which of the two is better, and how "
            "far away is the other commit?"
        ),
        (
            "After an UNDECIDED, compare a random commit between the two, and after the next UNDECIDED the middle "
            "again. The random commit is soon outside of any stretch of commits that do not run, and the middle helps "
            "if the comparison was only noisy. Stop when no commit lies between the two commits."
        ),
    ),
    exam=SimulatedExam(
        draw_scenarios, max_calls=50_000, tells="A verdict is a measurement, and the task counts the comparisons."
    ),
    read="lesson 20, “Find the commit”",
    idea=(
        "The solution keeps the newest commit that is SAME and the oldest one that is SLOWER. Only a decided verdict "
        "moves one of them, so no noise can lead it to a wrong commit. After an UNDECIDED, it compares a random commit "
        "of the whole range. So it soon leaves any stretch of commits that do not run, however long it is."
    ),
    references=(
        "`git bisect skip` marks a commit that cannot be tested, and git then tries commits at random distances. "
        "`fairclock bisect` repeats an undecided comparison with more time."
    ),
    least_gain=1.8,
)
