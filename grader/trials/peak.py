"""Peak memory on trial: the baseline's peak over the submission's, on the same fresh inputs, each in one new worker.

A worker is loaded, called on a few inputs that were never seen before, and then its kernel is asked for the most that
it had (`isolation.resident`). Every answer is compared with the baseline's, like those that are timed. No clock is read
and two readings of one function differ by a percent or two, so one worker a side will do.

What was thought of, and where it ends:

- *Freed in between, or allocated before*: the kernel's mark never falls, and it begins before the file is loaded. So
  what is kept from import or from an earlier call counts in each. (Lowering it takes a `/proc` that can be written to.)
- *Dropped before*: nothing that a worker began with is credited unless it is still there at the end.
- *A helper process* is denied by a filter; without one it is seen, and the attempt is void.
- *Kept outside of memory*: in files, pipes, sockets, queues, swap, pages that are shared and let go of. From before the
  file is loaded no such thing can be made (`seccomp.OUTSIDE`), and nothing can be written to the files there are. That
  takes seccomp: where there is none, these ways are open. What is left are pipes with names that a submission made when
  it was checked for right answers: 64 KiB each, and a worker may open some fifty.
- *The supervisor's memory*: that of inputs and outputs is as large as they are. An input that was used as scratch paper
  is a changed input, in every call. The output's place holds the answer in the end; a submission that finds it saves
  as much as its answer is long, so an exercise asks for small answers.
- *An allocator that keeps what was freed* is no exploit but a nuisance: here malloc gives back what is large.

Code of libraries that a function runs is resident and counts, some 25 MiB for torch on either side: a baseline should
hold several times that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from grader.isolation.forkserver import ForkServer
from grader.records import Speed
from grader.settings import Settings
from grader.task import Task, TensorExam
from grader.trials.correctness import Answer
from grader.trials.faults import ours, theirs
from grader.trials.inputs import ALIGNMENT
from grader.trials.supervisor import worker
from grader.trials.turns import Drawn, Supply
from harness.units import percent, size

CALLS: Final = 3
"""Calls of one worker: what one of them keeps for the next one counts as well."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Two peaks in bytes, and what they come to."""

    baseline_bytes: int
    own_bytes: int
    speed: Speed

    @property
    def in_words(self) -> str:
        """Both peaks, for the student."""
        part = percent(self.own_bytes / self.baseline_bytes, 2)
        return f"At its peak it held {size(self.own_bytes)}, {part} of the baseline's {size(self.baseline_bytes)}."


def compare(
    task: Task, exam: TensorExam, tree: ForkServer, source: str, settings: Settings, rng: np.random.Generator
) -> Compared:
    """Measure a right submission, whose process tree is `tree`, and the baseline."""
    supply = Supply(exam, rng)
    drawn = supply.draw(CALLS)
    with ours(f"The baseline of {task.full_name}"), settings.pool.trusted(tensors=True) as trusted:
        baseline_bytes, plain = measure(task, trusted, task.baseline, drawn)
    with theirs(task.name):
        own_bytes, answers = measure(task, tree, source, drawn)
    for one, answer, other in zip(drawn, answers, plain, strict=True):
        one.check(answer, other, "when its memory was measured")
    return compared(task, baseline_bytes, own_bytes)


def compared(task: Task, baseline_bytes: int, own_bytes: int) -> Compared:
    """What two peaks come to. Pure."""
    ratio = baseline_bytes / max(own_bytes, 1)
    tier = sum(ratio >= tier.ratio for tier in task.tiers)
    return Compared(baseline_bytes, own_bytes, Speed(ratio, ratio, ratio, rounds=CALLS, tier=tier))


def measure(task: Task, tree: ForkServer, source: str, drawn: Sequence[Drawn]) -> tuple[int, list[Answer]]:
    """Return the most memory that a new worker of `tree` had in its life, and its answers.

    Its life is to load a source text and to be called on each input.
    """
    limits = replace(task.limits, returns_memory=True, stores_outside=False)
    input_bytes = max(at + base.nbytes for one in drawn for at, base in one.packed.bases)
    output_bytes = max(one.size_bytes for one in drawn)
    answers = []
    with worker(tree, limits, _padded(input_bytes), _padded(output_bytes)) as one:
        one.begin()
        one.load(source)
        for given in drawn:
            one.outputs.poison(given.size_bytes)
            claim = one.call(task.name, given.packed)
            unchanged = given.packed.unchanged(one.inputs)
            answers.append(Answer.read(claim, one.outputs, inputs_unchanged=unchanged))
        return one.peak_bytes(), answers


def _padded(count: int) -> int:
    """A little more than so many bytes: memory of no bytes cannot be mapped."""
    return count + ALIGNMENT
