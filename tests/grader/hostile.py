"""A worker that says whatever it is told to, before a supervisor that is the real one.

The supervisor's `Worker` runs unchanged on a socket; at the other end is no process, only bytes. What may come of them
is a fault of the submission's. Anything else (an exception of ours, a wait beyond the limits) is a fault of the
grader's, and lets one submission cost its instructor the run.
"""

import contextlib
import copy
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import cast

import numpy as np

from grader import catalogue
from grader.class_run import rows
from grader.errors import WorkerFault
from grader.isolation.forkserver import Forked, ForkServer
from grader.records import Attempt, Cost, Verdict
from grader.task import Inputs, Limits, MeteredExam, Scenario, Task, TensorExam
from grader.trials import metered
from grader.trials.correctness import Answer, Expected, judge, same
from grader.trials.faults import Raised, fault_of
from grader.trials.inputs import pack
from grader.trials.supervisor import Worker

SILENT, CLOSED = Limits(load_s=0.001, call_s=0.001), Limits(load_s=5, call_s=5)
"""A worker that hangs up is not waited for, so that its limits can be long enough for all that it said."""

KEPT_BYTES = 100_000
WORLDS = 12


@dataclass
class MuteTree:
    """Stands where the process tree would be; a worker of it is the far end of a socket."""

    tensors: bool
    far_end: list[socket.socket] = field(default_factory=list)
    output_tail: str = ""
    waited_s: float = 0.0

    def fork(self, _limits: Limits, descriptors: Sequence[int], _channel: socket.socket) -> Forked:
        self.far_end.append(socket.socket(fileno=os.dup(descriptors[0])))
        return Forked(os.getpid(), 1)

    def end(self, _worker: Forked, *, wait: bool = False) -> int | None:
        del wait
        return None

    def watch(self, _limits: Limits) -> None: ...

    def vouch(self, _cores: object) -> None: ...

    def pin(self, _cores: object) -> None: ...

    def spent_s(self) -> float:
        return 1e-6

    def cpu_s(self) -> float:
        return 0.0


@contextlib.contextmanager
def saying(stream: bytes, *, hangs_up: bool, tensors: bool) -> Iterator[Worker]:
    """A supervisor's worker that has said all this already, and then hangs up or is silent."""
    tree = MuteTree(tensors)
    one = Worker(cast("ForkServer", tree), CLOSED if hangs_up else SILENT)
    try:
        (far,) = tree.far_end
        with far:
            far.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                far.sendall(stream[:KEPT_BYTES])
            if hangs_up:
                far.shutdown(socket.SHUT_WR)  # it still reads: else the supervisor would not even ask
            yield one
    finally:
        one.close()


@cache
def _tensor_case() -> tuple[Task, TensorExam, Inputs, Expected]:
    task, *_ = catalogue.load().tasks("01_correct_first")
    assert isinstance(task.exam, TensorExam)
    inputs = task.exam.cases(np.random.default_rng(0))[0]
    return task, task.exam, inputs, Expected.of(task.exam, inputs)


def _load(one: Worker) -> None:
    one.load("x = 1")


def _call(one: Worker) -> None:
    _, _, inputs, expected = _tensor_case()
    packed = pack(inputs)
    answer = Answer.read(one.call("batched_dot", packed), one.outputs, inputs_unchanged=True)
    judge(expected, answer)
    same(answer, answer)


def _arrange(one: Worker) -> None:
    _, _, inputs, expected = _tensor_case()
    one.arrange("batched_dot", pack(inputs), str(expected.dtype), expected.want.shape, None)


def _timed(one: Worker) -> None:
    one.timed(8)
    one.timed(8, null=True)


def _play(exam: MeteredExam, world: Scenario, number: int) -> Callable[[Worker], None]:
    """Play a copy of a world that nobody has played: to draw all worlds anew takes ten times as long."""

    def play(one: Worker) -> None:
        try:
            own = copy.deepcopy(world)
        except (TypeError, DeprecationWarning):  # it holds a generator, or Python 3.13 would rather not copy it
            own = exam.scenarios(np.random.default_rng(0))[number]
        played = metered._play(exam, one, own)
        metered.same_answer(played.answer, played.answer)

    return play


@cache
def requests() -> dict[str, Callable[[Worker], None]]:
    """All that a supervisor asks of workers, by name: metered tasks in a dozen of their worlds."""
    found: dict[str, Callable[[Worker], None]] = {"load": _load, "call": _call, "arrange": _arrange, "timed": _timed}
    for lesson in catalogue.load().lessons:
        for task in catalogue.load().tasks(lesson):
            if isinstance(task.exam, MeteredExam):
                worlds = task.exam.scenarios(np.random.default_rng(0))
                for number in range(0, len(worlds), 1 + len(worlds) // WORLDS):
                    found[f"{task.full_name} {number}"] = _play(task.exam, worlds[number], number)
    return found


def ask(name: str, stream: bytes, *, hangs_up: bool) -> WorkerFault | None:
    """Ask this of a worker that says that. Gives the submission's fault, if any; all else is raised.

    The fault's words go the way into the journal.
    """
    fault: WorkerFault | None = None
    with saying(stream, hangs_up=hangs_up, tensors=name in {"call", "arrange", "timed"}) as one:
        try:
            requests()[name](one)
        except WorkerFault as ended:
            fault = ended
        except Raised as raised:
            fault = fault_of(raised, "f")
    if fault:
        attempt = Attempt(fault.status, fault.rationale, fault.help)
        for cell in rows.of_verdict(Verdict("01.f", 0.0, 1.0, Cost.TIME, attempt)):
            if isinstance(cell, str):
                cell.encode()
    return fault
