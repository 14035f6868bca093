"""Compare two ways to start process trees: each imports torch itself, or all are forked from one template process.

    python tests/benchmarks/starts.py --times 20

It prints how long a start takes. Then it grades baselines as if they were submissions. The true ratio of such a duel is
1. For each way and task, it prints the errors of the single pairs of workers, and of the verdicts. An error is a |log
ratio|; the root mean square and the largest error are printed.
"""

import argparse
import math
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from statistics import fmean, median

from valid_duels import valid_duel

from grader import catalogue
from grader.isolation.forkserver import ForkServer
from grader.isolation.template import Template
from grader.task import Task, TensorExam
from grader.trials.speed import Contestants
from harness.machine import clocks
from harness.machine.lanes import lane
from harness.rendering.units import percent, seconds

TASKS = ("01_correct_first.batched_dot", "09_cprofile.scores", "12_jit_fusion.polynomial")
WAYS = ("alone", "forked")
STARTS = 10


def main() -> int:
    """Measure the starts, run the duels, and print the results."""
    parser = argparse.ArgumentParser(description="A/A errors and start times of process trees.")
    parser.add_argument("--times", type=int, default=20, help="duels per way and task (default 20)")
    options = parser.parse_args()
    tasks = [task for task in catalogue.all_tasks() if task.full_name in TASKS]
    template = Template(sandboxed=True)
    try:
        print(f"start of a tree: {' · '.join(f'{way} {seconds(start_s(way, template))}' for way in WAYS)}")
        errors: dict[tuple[str, str], list[tuple[float, list[float]]]] = {}
        for turn in range(options.times):
            for task in tasks:
                for way in random.sample(WAYS, len(WAYS)):
                    with two_trees(way, template) as (trusted, tree), lane() as held:
                        found = duel(task, trusted, tree, held.cores, turn)
                    errors.setdefault((task.full_name, way), []).append(found)
            print(f"turn {turn + 1} of {options.times}", file=sys.stderr, flush=True)
    finally:
        template.retire()
    for (name, way), each in errors.items():
        pairs = summed_up([error for _, of_pairs in each for error in of_pairs])
        print(f"{name}, {way}: pairs {pairs}; verdicts {summed_up([verdict for verdict, _ in each])}")
    return 0


def started(way: str, template: Template) -> ForkServer:
    """Return a new process tree with torch, in the sandbox."""
    return ForkServer(tensors=True, sandboxed=True, template=template if way == "forked" else None)


def start_s(way: str, template: Template) -> float:
    """Return the median seconds until a tree is ready."""
    took_s = []
    for _ in range(STARTS):
        began_s = clocks.wall()
        tree = started(way, template)
        tree.wait_until_ready()
        took_s.append(clocks.wall() - began_s)
        tree.close()
    return median(took_s)


@contextmanager
def two_trees(way: str, template: Template) -> Iterator[tuple[ForkServer, ForkServer]]:
    """Yield two new process trees."""
    with ExitStack() as stack:
        trees = [started(way, template) for _ in range(2)]
        for tree in trees:
            stack.callback(tree.close)
        for tree in trees:
            tree.wait_until_ready()
        yield trees[0], trees[1]


def duel(
    task: Task, trusted: ForkServer, tree: ForkServer, cores: tuple[int, ...], seed: int
) -> tuple[float, list[float]]:
    """Return the error of a verdict about the baseline against itself, and the error of each pair."""
    assert isinstance(task.exam, TensorExam)
    contestants = Contestants(task, task.baseline, trusted, tree, cores)
    outcome = valid_duel(contestants, task.exam, seed)
    logs: dict[int, list[float]] = {}
    for each in outcome.rounds:
        logs.setdefault(each.pair, []).append(math.log(each.ratio))
    return math.log(outcome.estimate.ratio), [median(of_pair) for of_pair in logs.values()]


def summed_up(errors: Sequence[float]) -> str:
    """Return the root mean square and the largest error, as text."""
    return (
        f"rms {percent(math.sqrt(fmean(error**2 for error in errors)), 2)}, worst {percent(max(map(abs, errors)), 2)}"
    )


if __name__ == "__main__":
    sys.exit(main())
