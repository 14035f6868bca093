"""Compare the peak memory of a submission with that of the baseline, a simple function, on the same new inputs.

One new process (worker) loads the submission and calls it on a few inputs. Another worker does the same with the
baseline. Then the kernel reports the most memory that each worker had (`isolation.peak_memory`). Each answer of the
submission is checked. One worker per function is enough, because two measurements of the same function differ by only
one or two percent.

Known ways to hide memory, and the defence against each:

- *Memory freed before the end, or allocated before the call*: the kernel's peak value never falls, and it includes the
  loading of the file. So memory from the import or from an earlier call counts. (Only a writable `/proc` would allow a
  submission to lower the peak value.)
- *The worker's own memory, freed by the submission*: only the initial memory that the worker still has at the end is
  subtracted.
- *A helper process*: a system call filter denies it. Without a filter it is detected, and the submission earns nothing.
- *Data outside of memory*: in files, pipes, sockets, queues, swap, or shared pages. Before the file is loaded, a system
  call filter starts to deny new objects of these kinds (`seccomp_rules.STORES_OUTSIDE`). Existing files cannot be
  written, because the size limit of files is 0. Without seccomp these ways are open. One gap remains: named pipes that
  a submission created while its answers were checked. Each holds 64 KiB, and a worker may open about fifty.
- *The memory that the worker shares with the grader*: it is only as large as the inputs and the answer. In every call,
  a changed input is a wrong answer. If a submission computes in the memory for the answer, it saves as many bytes as
  the answer has. So an exercise should have small answers.
- *An allocator that keeps freed memory* is not an attempt to cheat, but it would disturb the measurement. So malloc
  returns large blocks in these workers (`Limits.returns_memory`).

Pages of files, such as torch's code, do not count, because their number depends on the machine. They are subtracted
from two peaks, and the larger difference counts. From the peak of loading the file, the pages at the end of loading are
subtracted. From the peak of all calls, the pages before the last call are subtracted. At most as many pages are
subtracted as the baseline's worker had. So a submission gains little if it maps a file after its peak.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from grader.isolation.forkserver import ForkServer
from grader.isolation.peak_memory import Memory
from grader.records import Attempt, Speed, Status
from grader.seeds import generator
from grader.session import Session
from grader.task import Task, TensorExam, tier_of
from grader.trials.correctness import Answer
from grader.trials.faults import blame_grader, blame_submission
from grader.trials.inputs import ALIGNMENT
from grader.trials.tensor_supply import Drawn, TensorSupply
from grader.trials.worker_client import worker
from harness.rendering.units import percent, size

CALLS: Final = 3
"""The number of calls per process. With several, memory that is kept from call to call counts too."""


def compare(
    task: Task, exam: TensorExam, tree: ForkServer, source: str, session: Session, seed: Sequence[str]
) -> Attempt:
    """Compare the peak memory of a right submission, run in the process tree `tree`, with the baseline's."""
    supply = TensorSupply(exam, generator(*seed, "measured"))
    drawn = supply.draw(CALLS)
    with blame_grader(f"The baseline of {task.full_name}"), session.pool.trusted(tensors=True) as trusted:
        reference, plain = measure(task, trusted, task.baseline, drawn)
    with blame_submission(task.name):
        own, answers = measure(task, tree, source, drawn)
    for one, answer, other in zip(drawn, answers, plain, strict=True):
        one.check(answer, other, "when its memory was measured")
    return compared(task, reference, own)


def compared(task: Task, baseline: Sequence[Memory], own: Sequence[Memory]) -> Attempt:
    """Return the graded result for the memory of two workers, with the ratio and a sentence for the student.

    Each worker was measured several times. Memory that holds pages of files is subtracted: for the submission, at most
    as much as for the baseline. Then the largest memory of each worker is compared.
    """
    most_files = max(one.files for one in baseline)
    baseline_bytes, own_bytes = (max(one.peak - min(one.files, most_files) for one in each) for each in (baseline, own))
    ratio = baseline_bytes / max(own_bytes, 1)
    speed = Speed(ratio, ratio, ratio, rounds=CALLS, tier=tier_of(ratio, task.tiers))
    part = percent(own_bytes / baseline_bytes, 2)
    said = f"The submission's peak memory was {size(own_bytes)}, {part} of the baseline's {size(baseline_bytes)}."
    return Attempt(Status.PASSED, said, speed=speed)


def measure(task: Task, tree: ForkServer, source: str, drawn: Sequence[Drawn]) -> tuple[list[Memory], list[Answer]]:
    """Load a source text in a new process of `tree`, and call its function on each input. Return memory and answers.

    The memory is returned after loading, and after all calls. There, the pages of files are those before the last call.
    """
    limits = replace(task.limits, returns_memory=True, stores_outside=False)
    input_bytes = max(at + base.nbytes for one in drawn for at, base in one.packed.bases)
    output_bytes = max(one.size_bytes for one in drawn)
    answers = []
    with worker(tree, limits, _padded(input_bytes), _padded(output_bytes)) as one:
        one.begin()
        one.load(source)
        loaded = before = one.memory()
        for given in drawn:
            before = one.memory()
            one.outputs.poison(given.size_bytes)
            claim = one.call(task.name, given.packed)
            unchanged = given.packed.unchanged(one.inputs)
            answers.append(Answer.read(claim, one.outputs, inputs_unchanged=unchanged))
        return [loaded, one.memory()._replace(files=before.files)], answers


def _padded(count: int) -> int:
    return count + ALIGNMENT
