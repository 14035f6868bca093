"""Compute the physical limit of a task: the shortest time in which a core can compute an answer.

Any right function must read each input once and write its answer once, and make certain operations
(`TensorExam.operations`). The core's peak speeds, measured in a process of trusted code, give the limit. If a measured
time is far below it, the submission did not compute its answers, or the measurement is wrong. Then the duel is void.
The check never blames an honest submission: the data is assumed to be in the fastest cache that holds it, and the best
speed of a run counts.

A task for several threads or a GPU has no limit here, because more than one core may work.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final

from grader.isolation.forkserver import ForkServer
from grader.limits import Limits
from grader.task import Inputs, TensorExam
from grader.trials.faults import blame_grader
from grader.trials.inputs import root
from grader.trials.worker_client import worker
from harness.machine import peak_speed
from harness.paired.rounds import Reading
from harness.processes.process_env import Cores

MARGIN: Final = 2.0
"""A time is impossible if it is shorter than the limit divided by this number, because the peaks may be too low."""

BEST: Final[dict[tuple[Any, ...], float]] = {}
"""The best speeds that this process has measured, by cores, function and arguments."""


def least_bytes(inputs: Inputs, answer_bytes: int) -> int:
    """Return how many bytes any right function must read and write. Inputs that share memory are read once."""
    read: dict[int, int] = {}
    for one in inputs:
        owner = root(one)
        read[id(owner)] = max(read.get(id(owner), 0), min(one.nbytes, owner.nbytes))
    return sum(read.values()) + answer_bytes


def seconds(exam: TensorExam, inputs: Inputs, answer_bytes: int, trusted: ForkServer, cores: Cores) -> float:
    """Return the shortest time in which a core of `cores` can compute the answer to these inputs.

    The peak speeds are measured now, in a new process of `trusted`. If an earlier measurement was better, it counts.
    """
    read_bytes = least_bytes(inputs, 0)
    with _measuring(trusted, cores) as measure:
        limit_s = (read_bytes + answer_bytes) / measure("read_bytes_per_s", read_bytes)
        if exam.operations:
            limit_s = max(limit_s, exam.operations(*inputs) / measure("operations_per_s"))
    return limit_s


def call_s(turns: Sequence[Sequence[Reading]], *, by_wall: bool = False) -> float:
    """Return the CPU seconds of a submission's call, or wall seconds if `by_wall`: the median of the pairs' medians."""
    return median(median(one.call_s(by_wall=by_wall) for one in pair) for pair in turns)


@contextmanager
def _measuring(trusted: ForkServer, cores: Cores) -> Iterator[Callable[..., float]]:
    with blame_grader("The measurement of the core's peak speed"), worker(trusted, Limits()) as one:
        trusted.pin(cores)
        one.load(Path(peak_speed.__file__).read_text(encoding="utf-8"))

        def measure(name: str, *arguments: int) -> float:
            found = one.values(name, [{"value": value} for value in arguments], lambda *_: None, 0)
            key = (cores, name, arguments)
            BEST[key] = max(found["answer"], BEST.get(key, 0.0))
            return BEST[key]

        yield measure
