"""Task (b) of lesson 17: choose which layers of a network keep their inputs. The cost is the peak of a step.

The baseline keeps the inputs of all layers. Equal segments gain about 4. Methods that prefer small tensors gain 10.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from grader.kinds.peak_memory import PEAK_MEMORY
from grader.task import Mismatch, SimulatedExam, SimulatedFunction, Task, Tier
from grader.tasks.plain import PlainScenario, is_whole, shown
from grader.tasks.simulated import shuffled
from grader.values import Value

NEVER: float = 1e12
"""The cost of a scenario in KiB before a choice has been accepted."""


@dataclass
class Network(PlainScenario):
    """The sizes of the inputs of all layers in KiB. The cost is the peak of the chosen checkpoints."""

    title: str
    sizes: list[int]
    function = "checkpoints"
    cost: float = field(default=NEVER)

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The argument of `checkpoints`: the sizes."""
        return (list(self.sizes),)

    @property
    def plain_cost(self) -> float:
        """The peak if the inputs of all layers are kept, as in the baseline."""
        return float(sum(self.sizes))

    def judge(self, answer: Value) -> Mismatch | None:
        """Return a `Mismatch` for the first broken rule. If there is none, set the cost and return None."""
        if isinstance(answer, str | Mapping) or not isinstance(answer, Sequence) or len(answer) != 2:
            return Mismatch("[kept, peak]", shown(answer), "Return the list of kept layers, and the peak.")
        kept, peak = answer
        if not isinstance(kept, list) or not all(map(is_whole, kept)):
            return Mismatch("a list of the numbers of layers", shown(kept))
        numbers = [int(each) for each in kept if is_whole(each)]
        if numbers[:1] != [0]:
            return Mismatch("a list that begins with layer 0", shown(kept), "The input of the network is always kept.")
        if any(one >= other for one, other in pairwise(numbers)) or numbers[-1] >= len(self.sizes):
            expected = f"ascending numbers up to {len(self.sizes) - 1}"
            return Mismatch(expected, shown(kept), "Return the number of each kept layer once.")
        true_peak, segment = self._peak(numbers)
        if peak != true_peak:
            why = f"The kept layers need {true_peak - segment} KiB, and the largest segment needs {segment} KiB more."
            return Mismatch(f"a peak of {true_peak} for {shown(kept)}", shown(peak), why)
        self.cost = float(true_peak)
        return None

    def _peak(self, kept: list[int]) -> tuple[int, int]:
        """Return the peak, and the part of it that the largest segment needs."""
        segments = pairwise([*kept, len(self.sizes)])
        largest = max(sum(self.sizes[first + 1 : end]) for first, end in segments)
        return sum(self.sizes[layer] for layer in kept) + largest, largest


def draw_scenarios(rng: np.random.Generator) -> tuple[Network, ...]:
    """Return small networks, and networks with small tensors between large ones, in random order."""
    return shuffled(
        rng,
        (
            Network("one layer", [int(rng.integers(100, 200))]),
            Network("three layers", [int(size) for size in rng.integers(100, 200, 3)]),
            *(Network(f"{blocks} blocks", _drawn(rng, blocks)) for blocks in (26, 28, 30, 32, 34, 36, 38, 40)),
            *(Network(f"{blocks} blocks, then 6 large layers", _drawn(rng, blocks, 6)) for blocks in (27, 29, 31, 33)),
        ),
    )


def _drawn(rng: np.random.Generator, blocks: int, more: int = 0) -> list[int]:
    """Return the sizes of blocks of two to five large tensors and a small one, and then `more` large tensors."""
    sizes = [int(rng.integers(100, 200))]
    for large in rng.permutation(np.arange(blocks) % 4 + 2):
        sizes += [int(size) for size in rng.integers(100, 200, large)]
        sizes.append(int(rng.integers(2, 10)))
    return sizes + [int(size) for size in rng.integers(100, 200, more)]


CHECKPOINTS = Task(
    summary="choose the checkpoints of a network, so that a training step needs little memory",
    cost=PEAK_MEMORY,
    tiers=(Tier(2.0, 0.7), Tier(7.0, 1.0)),
    hints=(
        "What is the peak if you keep the inputs of every tenth layer? What if you keep every fifth layer?",
        (
            "A checkpoint costs its own size, and divides a segment in two. Where in the network are checkpoints "
            "cheap? Write a function that computes the peak for a list of kept layers. Then you can compare several "
            "lists."
        ),
        (
            "For each size that occurs: keep layer 0 and all layers whose size is at most this size. Compute the peak "
            "of each of these lists, and of the lists range(0, n, step) for each step. Return the list with the lowest "
            "peak."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, scenario_noun="networks"),
    read="lesson 17, “Less memory for more time: checkpointing”",
    idea=(
        "The solution tries several limits for the memory of a segment. For each limit, it finds the checkpoints with "
        "the smallest sum: the cheapest way to reach layer e is a checkpoint at some layer a, plus the cheapest way to "
        "reach a. Small tensors are cheap checkpoints, so the segments begin there."
    ),
    references=(
        "T. Chen et al., Training Deep Nets with Sublinear Memory Cost (arxiv.org/abs/1604.06174), choose checkpoints "
        "for a given limit of a segment's memory, and search for the best limit."
    ),
    least_gain=1.3,
)
