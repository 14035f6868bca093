"""Measure how much time the seccomp filters cost a timed submission.

    python tests/benchmarks/filters.py --times 30

It compares the same code (`batched_dot`'s baseline) with itself, as grading does: with filters on both sides, and with
filters on one side only. It prints the ratios, and the CPU time of no-op calls, measured alternately on both sides. A
no-op call makes a few system calls and does hardly anything else.
"""

import argparse
import math
from contextlib import ExitStack
from dataclasses import replace
from statistics import median
from unittest import mock

import numpy as np
from valid_duels import valid_duel

from grader import catalogue
from grader.isolation import namespaces, seccomp
from grader.isolation.forkserver import ForkServer
from grader.task import Task, TensorExam
from grader.trials.speed import Contestants
from grader.trials.turns import Supply
from grader.trials.worker_client import worker
from harness.machine.lanes import lane
from harness.paired import process_env
from harness.paired.noise import p95
from harness.rendering.units import percent, ratio, seconds

CALLS = 2000


class Unfiltered(ForkServer):
    """A process tree without seccomp filters, as on a machine that has none."""

    def __init__(self) -> None:
        way = namespaces.probe(namespaces.bwrap() or "bwrap")
        with mock.patch.object(namespaces, "probe", return_value=replace(way, filtered=False)):
            super().__init__(tensors=True, sandboxed=True)

    def fork(self, *given: object) -> object:  # type: ignore[override]
        """Fork a worker that installs no filter."""
        with mock.patch.object(seccomp, "worker_filter", return_value=None):
            return super().fork(*given)  # type: ignore[arg-type]


def main() -> None:
    """Play the duels, and print the results."""
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
        print(f"no-op call: {seconds(filtered_s)} with filters, {seconds(bare_s)} without")


class Filtered(ForkServer):
    """A process tree with seccomp filters, as grading starts it."""

    def __init__(self) -> None:
        super().__init__(tensors=True, sandboxed=True)


def fight(task: Task, other: type[Filtered | Unfiltered], cores: tuple[int, ...], seed: int) -> float:
    """Return the ratio of one duel. It is above 1 if the other side is faster than the side with filters."""
    assert isinstance(task.exam, TensorExam)
    with ExitStack() as stack:
        one, two = Filtered(), other()
        stack.callback(one.close)
        stack.callback(two.close)
        contestants = Contestants(task, task.baseline, one, two, cores)
        return valid_duel(contestants, task.exam, seed).estimate.ratio


def nothing(task: Task, cores: tuple[int, ...]) -> tuple[float, float]:
    """Return the median CPU seconds of a no-op call in each tree."""
    assert isinstance(task.exam, TensorExam)
    supply = Supply(task.exam, np.random.default_rng(0))
    first = supply.first
    with ExitStack() as stack:
        stack.enter_context(process_env.pinned(cores))
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
