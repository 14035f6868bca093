"""What do the system call filters cost a submission that is being timed? One code in two trees, with and without.

    python tests/benchmarks/filters.py --times 30

Duels of `batched_dot`'s baseline against itself, as grading fights them: with filters on both sides, and on one side
alone. Prints the ratios, and the CPU time of calls of nothing, asked in turns on either side: a handful of system
calls, and little else.
"""

import argparse
import math
import random
from contextlib import ExitStack
from dataclasses import replace
from statistics import median
from unittest import mock

import numpy as np

from grader import catalogue
from grader.isolation import namespaces, seccomp
from grader.isolation.forkserver import ForkServer
from grader.task import Task, TensorExam
from grader.trials.speed import Contestants
from grader.trials.supervisor import worker
from grader.trials.turns import Supply
from harness import twins
from harness.lanes import lane
from harness.noise import p95
from harness.units import percent, ratio, seconds

CALLS = 2000


class Unfiltered(ForkServer):
    """A tree as on a machine that has no filters."""

    def __init__(self) -> None:
        way = namespaces.tried(namespaces.bwrap() or "bwrap")
        with mock.patch.object(namespaces, "tried", return_value=replace(way, filtered=False)):
            super().__init__(tensors=True, sandboxed=True)

    def fork(self, *given: object) -> object:  # type: ignore[override]
        """Fork a worker that installs no filter."""
        with mock.patch.object(seccomp, "worker_filter", return_value=None):
            return super().fork(*given)  # type: ignore[arg-type]


def main() -> None:
    """Duel, and print what was found."""
    parser = argparse.ArgumentParser(description="The price of the system call filters.")
    parser.add_argument("--times", type=int, default=20)
    options = parser.parse_args()
    task, *_ = catalogue.load().tasks("01_correct_first")
    with lane() as held:
        for name, other in (("filters on both sides", Filtered), ("on one side alone", Unfiltered)):
            found = [fight(task, other, held.cores, seed) for seed in range(options.times)]
            off = sorted(abs(math.log(value)) for value in found)
            print(
                f"{name}: ratio {ratio(median(found), 4)}; off by {percent(p95(off))} (p95), {percent(off[-1])} (worst)"
            )
        filtered_s, bare_s = nothing(task, held.cores)
        print(f"a call of nothing: {seconds(filtered_s)} with filters, {seconds(bare_s)} without")


class Filtered(ForkServer):
    """A tree as grading starts it."""

    def __init__(self) -> None:
        super().__init__(tensors=True, sandboxed=True)


def fight(task: Task, other: type[Filtered | Unfiltered], cores: tuple[int, ...], seed: int) -> float:
    """The ratio of one duel: above 1 when the other side is faster than one with filters."""
    assert isinstance(task.exam, TensorExam)
    rng = np.random.default_rng(seed)
    with ExitStack() as stack:
        one, two = Filtered(), other()
        stack.callback(one.close)
        stack.callback(two.close)
        contestants = Contestants(task, task.baseline, one, two, cores)
        outcome, _ = contestants.fight(Supply(task.exam, rng), random.Random(seed))
        return outcome.estimate.ratio


def nothing(task: Task, cores: tuple[int, ...]) -> tuple[float, float]:
    """CPU seconds of a call that does nothing, the median of many: with filters, and without."""
    assert isinstance(task.exam, TensorExam)
    supply = Supply(task.exam, np.random.default_rng(0))
    first = supply.first
    with ExitStack() as stack:
        stack.enter_context(twins.pinned(cores))
        workers = []
        for tree in (Filtered(), Unfiltered()):
            stack.callback(tree.close)
            workers.append(stack.enter_context(worker(tree, task.limits)))
            workers[-1].load(task.baseline)
            workers[-1].arrange(task.name, first.packed, str(first.dtype), first.allowed.shape, cores)
        calls = [[one.timed(8, null=True)[0].cpu_s for one in workers] for _ in range(CALLS)]
    filtered_s, bare_s = (median(side) for side in zip(*calls, strict=True))
    return filtered_s, bare_s


if __name__ == "__main__":
    main()
