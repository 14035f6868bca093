"""Compare the peak memory of a submission with that of the baseline, a simple function, on the same new inputs.

The kernel reports the most memory that each worker had (`isolation.peak_memory`). Two measurements of the same function
differ by only one or two percent. Known ways to hide memory, and the defence against each:

- *Memory freed before the end, or allocated before the call*: the kernel's peak value never falls, and it includes the
  loading of the file. So memory from the import or from an earlier call counts.
- *The worker's own memory, freed by the submission*: only the initial memory that the worker still has at the end is
  subtracted. Freed initial memory cannot return. Pages of files, such as torch's code, can, so they are not subtracted.
- *A helper process*: a system call filter denies it. Without a filter it is detected, and the submission earns nothing.
- *Data outside of memory*: in files, pipes, sockets, queues, swap, or shared pages. Before the file is loaded, a system
  call filter starts to deny new objects of these kinds (`seccomp.STORES_OUTSIDE`). Existing files cannot be
  written. Without seccomp these ways are open. One gap remains: named pipes that a submission created while its answers
  were checked. Each holds 64 KiB, and a worker may open about fifty.
- *The memory that the worker shares with the grader*: it is only as large as the inputs and the answer. In every call,
  a changed input is a wrong answer. If a submission computes in the memory for the answer, it saves as many bytes as
  the answer has. So an exercise should have small answers.
- *An allocator that keeps freed memory* would disturb the measurement. So malloc returns large blocks in these workers.

The number of file pages depends on the machine: the same calls of torch mapped 20 MiB with one installation of torch,
and 74 MiB with another one. So the arrays of a task should be so large that 200 MiB more in both peaks change no tier.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from grader.isolation import peak_memory
from grader.isolation.forkserver import ForkServer
from grader.kinds.examiner import Examiner, MeasuredCost, Solver
from grader.records import Attempt, Speed, Status
from grader.seeds import generator
from grader.session import Session
from grader.source import Source
from grader.task import Task, TensorExam, tier_of
from grader.trials.correctness import Answer
from grader.trials.faults import blame_grader, blame_submission
from grader.trials.inputs import ALIGNMENT
from grader.trials.tensor_supply import Drawn, TensorSupply
from grader.trials.worker_client import worker
from harness.rendering.units import percent, size

CALLS: Final = 3
"""The number of calls per process. With several, what is kept from call to call counts too."""


class PeakMemory(MeasuredCost):
    """The most memory that a process had resident at once, in bytes. Only a function of tensors can be measured."""

    def measure(self, examiner: Examiner[Any], tree: ForkServer, source: Source, session: Session) -> Attempt:
        """Compare the cost of a right submission, run in the process tree `tree`, with the baseline's."""
        task, exam = examiner.task, examiner.exam
        if not isinstance(exam, TensorExam):
            raise examiner.cannot_measure()
        drawn = TensorSupply(exam, generator(*examiner.seed, "measured")).draw(CALLS)
        with blame_grader(f"The baseline of {task.full_name}"), session.pool.trusted(tensors=True) as trusted:
            plain, right = self.peak_bytes(task, trusted, task.baseline, drawn)
        with blame_submission(task.name):
            mine, answers = self.peak_bytes(task, tree, source, drawn)
        for one, answer, other in zip(drawn, answers, right, strict=True):
            one.check(answer, other, f"when its {self.name} was measured")
        return self.graded(task, plain, mine)

    def graded(self, task: Task, plain: int, mine: int) -> Attempt:
        """Return the graded result for the peaks of the baseline and of a submission, with a sentence about them."""
        ratio, part = plain / max(mine, 1), percent(mine / plain, 2)
        speed = Speed(ratio, ratio, ratio, rounds=CALLS, tier=tier_of(ratio, task.tiers))
        said = f"The submission's peak memory was {size(mine)}, {part} of the baseline's {size(plain)}."
        return Attempt(Status.PASSED, said, speed=speed)

    def peak_bytes(
        self, task: Task, tree: ForkServer, source: Source, drawn: Sequence[Drawn]
    ) -> tuple[int, list[Answer]]:
        """Load a source text in a new process of `tree`, and call its function on each input."""
        input_bytes = ALIGNMENT + max(at + base.nbytes for one in drawn for at, base in one.packed.bases)
        output_bytes = ALIGNMENT + max(one.size_bytes for one in drawn)
        answers = list[Answer]()
        with worker(
            tree, replace(task.limits, returns_memory=True, stores_outside=False), input_bytes, output_bytes
        ) as one:
            one.begin(peak_memory.peak_bytes)
            one.load(source)
            for given in drawn:
                one.outputs.poison(given.size_bytes)
                claim = one.call(task.name, given.packed)
                unchanged = given.packed.unchanged(one.inputs)
                answers.append(Answer.read(claim, one.outputs, inputs_unchanged=unchanged))
            return one.metered(peak_memory.peak_bytes), answers

    def estimate(self, solver: Solver, calls: Sequence[Any]) -> float:
        """Return the bytes by which calls raise this process's peak memory, at least 1 MiB, or NaN if unknown."""
        solver(calls[0])
        try:
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # sets the peak to the present memory use
        except OSError:
            return math.nan
        before = _resident_kib("VmRSS")
        for each in calls:
            solver(each)
        return max(_resident_kib("VmHWM") - before, 1024) * 1024.0


def _resident_kib(name: str) -> int:
    found = re.search(rf"^{name}:\s*(\d+)", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
    return int(found[1]) if found else 0


PEAK_MEMORY: Final = PeakMemory("peak memory", "needs {} as much memory", "times less peak memory", spread=0.01)
