"""Send chosen bytes to the real supervisor, as a hostile worker would.

The supervisor's `Worker` runs unchanged on a socket; the other end has no process, only bytes. The only allowed result
is a fault of the submission. Any other result (another exception, a wait beyond the limits) is a bug of the grader,
because one submission would then stop the whole run.
"""

import contextlib
import os
import socket
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import cast

import numpy as np

from grader import catalogue
from grader.class_run import rows
from grader.errors import WorkerFault
from grader.inside import protocol
from grader.isolation.forkserver import ForkedWorker, ForkServer
from grader.kinds import simulated
from grader.kinds.timing import TIME
from grader.limits import HandInTime, Limits
from grader.records import Attempt, Verdict
from grader.task import Inputs, SimulatedExam, Task, TensorExam
from grader.trials.correctness import Answer, Expected, judge
from grader.trials.faults import Raised, fault_of
from grader.trials.inputs import pack
from grader.trials.known_mistakes import is_alike
from grader.trials.worker_client import WorkerClient, worker

SILENT, CLOSED = Limits(load_s=0.001, call_s=0.001), Limits(load_s=5, call_s=5)
"""The supervisor does not wait for a worker that hangs up, so its limits can be long enough to read all bytes."""

KEPT_BYTES = 100_000


@dataclass
class MuteTree:
    """A stand-in for the process tree, whose workers are the far ends of sockets."""

    tensors: bool = False
    far_end: list[socket.socket] = field(default_factory=list)
    output_tail: str = ""
    time: HandInTime = field(default_factory=HandInTime)

    def fork(self, _limits: Limits, descriptors: Sequence[int], _channel: socket.socket) -> ForkedWorker:
        self.far_end.append(socket.socket(fileno=os.dup(descriptors[0])))
        return ForkedWorker(os.getpid(), 1)

    def end(self, _worker: ForkedWorker, *, wait: bool = False) -> int | None:
        del wait
        return None

    def close(self) -> None:
        for far in self.far_end:
            far.close()

    def watch(self, _limits: Limits) -> None: ...

    def check_no_helpers(self, _cores: object) -> None: ...

    def pin(self, _cores: object) -> None: ...

    def spent_s(self) -> float:
        return 1e-6

    def cpu_s(self) -> float:
        return 0.0


@contextlib.contextmanager
def saying(stream: bytes, *, hangs_up: bool, tree: MuteTree) -> Iterator[WorkerClient]:
    """Return a supervisor's worker that has sent all of these bytes already, and then hangs up or is silent."""
    with contextlib.ExitStack() as stack:
        stack.callback(tree.close)
        one = stack.enter_context(worker(cast("ForkServer", tree), CLOSED if hangs_up else SILENT))
        (far,) = tree.far_end
        far.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            far.sendall(stream[:KEPT_BYTES])
        if hangs_up:
            far.shutdown(socket.SHUT_WR)  # it still reads, because otherwise the supervisor would not send a request
        yield one


@cache
def _tensor_case() -> tuple[Task, TensorExam, Inputs, Expected]:
    task, *_ = catalogue.load().tasks("01_correct_first")
    assert isinstance(task.exam, TensorExam)
    inputs = task.exam.cases(np.random.default_rng(0))[0]
    return task, task.exam, inputs, Expected.of(task.exam, inputs)


def _load(one: WorkerClient) -> None:
    one.load("x = 1")


def _call(one: WorkerClient) -> None:
    _, _, inputs, expected = _tensor_case()
    packed = pack(inputs)
    answer = Answer.read(one.call("batched_dot", packed), one.outputs, inputs_unchanged=True)
    judge(expected, answer)
    is_alike(expected.want.tolist(), answer.plain, 0.0)


def _arrange(one: WorkerClient) -> None:
    _, _, inputs, expected = _tensor_case()
    layout = {"inputs": pack(inputs).layouts, "dtype": str(expected.dtype), "shape": list(expected.want.shape)}
    one.arrange(protocol.ARRANGE, "batched_dot", None, **layout)


def _timed(one: WorkerClient) -> None:
    one.timed(lambda outputs: outputs.read(8))


def _play(task: Task, exam: SimulatedExam, one: WorkerClient) -> None:
    examiner = simulated.SimulatedExaminer(task, exam, ())
    scenario = exam.scenarios(np.random.default_rng(0))[0]
    is_alike([], examiner._play(one, scenario).answer, 0.0)


PLAIN: dict[str, Callable[[WorkerClient], None]] = {
    "load": _load,
    "call": _call,
    "arrange": _arrange,
    "timed": _timed,
}
"""The requests that a supervisor sends, without calls of simulated functions."""


@cache
def requests() -> dict[str, Callable[[WorkerClient], None]]:
    """Return every request that a supervisor sends, by name. Simulated tasks are those of one lesson."""
    played = {
        task.full_name: partial(_play, task, task.exam)
        for task in catalogue.load().tasks("02_timeit_vs_timer")
        if isinstance(task.exam, SimulatedExam)
    }
    return {**PLAIN, **played}


def frame(payload: bytes) -> bytes:
    """Return a message as it goes through the channel."""
    return struct.pack("<I", len(payload)) + payload


def ask(name: str, stream: bytes, *, hangs_up: bool) -> WorkerFault | None:
    """Make this request to a worker that sends these bytes. Return the submission's fault, if any.

    Any other exception is raised. The fault's text is written the way it would go into the journal.
    """
    fault: WorkerFault | None = None
    with saying(stream, hangs_up=hangs_up, tree=MuteTree(tensors=name in {"call", "arrange", "timed"})) as one:
        try:
            requests()[name](one)
        except WorkerFault as ended:
            fault = ended
        except Raised as raised:
            fault = fault_of(raised, "f")
    if fault:
        attempt = Attempt(fault.status, fault.rationale, fault.help)
        for cell in rows.cells(*rows.of_verdict(Verdict("01.f", 0.0, 1.0, TIME, attempt)).values()):
            if isinstance(cell, str):
                cell.encode()
    return fault
