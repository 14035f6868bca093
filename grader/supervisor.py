"""The supervisor's side of one worker: it asks, waits, reads the clock, and believes nothing but bytes it holds.

A worker is started at once and met when first asked, so that the next ones can start up while this one works. Every
way a submission can end its own grading becomes a `WorkerFault` that carries a status.
"""

import contextlib
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from grader import protocol, sandbox
from grader.errors import MachineError, WorkerFault
from grader.faults import WORD_CHARACTERS, Raised
from grader.inputs import Packed
from grader.memory import SharedMemory
from grader.protocol import Channel
from grader.records import Status
from grader.tail import Tail
from grader.task import Limits
from harness import twins
from harness.clocks import Clock, ProcessGoneError, process_cpu, wall
from harness.rounds import Reading

INPUT_BYTES: Final = 64 << 20
OUTPUT_BYTES: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class Settings:
    """How grading is done here: in a sandbox or not, on which core, with which secret, hiding which folders."""

    seed: str
    sandboxed: bool = True
    core: int | None = None
    hidden: tuple[Path, ...] = field(default=())


class Worker:
    """One process tree that may run one submission, or trusted code, and is then thrown away."""

    def __init__(self, limits: Limits, settings: Settings, *, tensors: bool) -> None:
        self.limits = limits
        self.inputs = SharedMemory(INPUT_BYTES if tensors else 1)
        self.outputs = SharedMemory(OUTPUT_BYTES if tensors else 1)
        self._socket, theirs = socket.socketpair()
        self._socket.setblocking(False)  # a worker that reads nothing must not hold the supervisor up
        self._channel = Channel(self._socket.fileno())
        self._core = settings.core
        with theirs:
            descriptors = (theirs.fileno(), self.inputs.descriptor, self.outputs.descriptor)
            self._process = sandbox.start(
                descriptors, tensors=tensors, limits=limits, sandboxed=settings.sandboxed, hidden=settings.hidden
            )
        assert self._process.popen.stdout is not None
        self._output = Tail(self._process.popen.stdout.fileno())
        self._pid: int | None = None
        self._schedule: int | None = None
        self._clock: Clock | None = None
        self._last_cpu_s = 0.0
        self._closed = False

    @property
    def output_tail(self) -> str:
        """The end of what the worker's tree printed."""
        return self._output.text()

    def load(self, source: str) -> None:
        """Run a submission's module code."""
        self._meet()
        try:
            self._request(protocol.LOAD, {"source": source}, self.limits.load_s, "while the file was being loaded")
        except protocol.ProtocolError as error:
            raise WorkerFault(Status.RAISED, f"The file is too long to be graded: {error}.") from None

    def call(self, function: str, packed: Packed) -> dict[str, Any]:
        """Call once with tensors; the claim made of the answer. Its bytes lie in `outputs`."""
        packed.write(self.inputs)
        body = {"function": function, "inputs": packed.layouts}
        return self._request(protocol.TENSORS, body, self.limits.call_s, f"in {function}")

    def arrange(self, function: str, packed: Packed, dtype: str, shape: Sequence[int]) -> None:
        """Prepare timed calls with inputs laid out as these; take the pinned core and start the CPU clock."""
        body = {"function": function, "inputs": packed.layouts, "dtype": dtype, "shape": list(shape)}
        self._request(protocol.ARRANGE, body, self.limits.call_s, f"before {function} was timed")
        assert self._pid is not None
        with self._running(f"before {function} was timed"):
            twins.pin(self._pid, self._core)
            self._clock = cpu_clock(self._pid)
            self._last_cpu_s = self._clock() if self._clock else 0.0

    def timed(self, size_bytes: int, *, null: bool = False) -> tuple[Reading, bytes]:
        """One timed call: what it cost, and the output's bytes.

        The clock never stops: CPU time used since the end of the previous turn counts towards this one, so nothing
        is won by working ahead while it is somebody else's turn. The reading ends when the bytes are held here. Its
        wall time leaves out what the worker waited for its core: that is the neighbours' doing. Where the system has no
        such clock, wall time stands in for it.
        """
        where = "in a timed call"
        with self._running(where):
            began_s, waited_s = wall(), self._waited_s()
            claim = self._request(protocol.NULL if null else protocol.GO, None, self.limits.call_s, where)
            answer = self.outputs.read(size_bytes)
            now_s = self._clock() if self._clock else wall()
            cpu_s = now_s - (self._last_cpu_s if self._clock else began_s)
            if cpu_s <= 0:
                self.vouch()
                said = "The submission broke the protocol in a timed call: it was done before it was asked."
                raise WorkerFault(Status.CRASHED, said)
            reading = Reading(cpu_s, wall_s=max(cpu_s, wall() - began_s - (self._waited_s() - waited_s)))
        self._last_cpu_s = now_s
        if claim:
            problem = str(claim.get("problem"))[:WORD_CHARACTERS]
            raise WorkerFault(Status.WRONG, f"A timed call answered with a {problem}.")
        return reading, answer

    def vouch(self) -> None:
        """Raise a WorkerFault unless all that the worker does is seen by its clock: one process, on its core."""
        assert self._pid is not None
        if not twins.stays(self._pid, self._core):
            raise WorkerFault(
                Status.CHEATED,
                "The submission left the core that it was being timed on.",
                "Threads may be used, but where they run is not theirs to say.",
            )
        if self._process.helpers():
            raise WorkerFault(
                Status.CRASHED,
                "The submission started processes of its own while it was being timed.",
                "Do the work in the function that is called; helpers are not seen by the clock and not allowed.",
            )

    def values(
        self, function: str, arguments: Sequence[Mapping[str, Any]], metered: Callable[[str, list[Any]], Any], most: int
    ) -> dict[str, Any]:
        """Call with plain values, answering up to `most` calls of metered functions in between."""
        deadline_s = wall() + self.limits.call_s
        where = f"in {function}"
        self._send(protocol.VALUES, {"function": function, "arguments": list(arguments)})
        for _ in range(most + 1):
            kind, body = self._receive(deadline_s - wall(), where)
            if kind != protocol.METERED:
                return self._served(kind, body)
            name, given = body.get("name"), body.get("arguments")
            if not isinstance(name, str) or not isinstance(given, list):
                raise WorkerFault(Status.CRASHED, "The submission broke the protocol with a malformed call.")
            try:
                reply = {"value": metered(name, given)}
            except ValueError as error:
                reply = {"error": str(error)}
            self._send(protocol.ANSWER, reply)
        raise WorkerFault(
            Status.TIMED_OUT,
            f"{function} called the functions it was given more than {most} times in one go.",
            "Is there a loop that never ends, or one that times single calls where blocks are meant?",
        )

    def close(self) -> None:
        """End the process tree and give everything back; a second time does nothing."""
        if self._closed:
            return
        self._closed = True
        self._process.kill()
        if self._schedule is not None:
            os.close(self._schedule)
        self._output.close()
        if self._process.popen.stdout:
            self._process.popen.stdout.close()
        self._socket.close()
        self.inputs.close()
        self.outputs.close()

    def _waited_s(self) -> float:
        """Seconds the worker was ready to run and another had its core (Linux: Documentation/scheduler/sched-stats)."""
        return int(os.pread(self._schedule, 64, 0).split()[1]) / 1e9 if self._schedule else 0.0

    def _meet(self) -> None:
        if self._pid is not None:
            return
        try:
            kind, _ = self._channel.receive(self.limits.load_s)
            pid = self._process.interpreter()
            if sys.platform == "linux":
                self._schedule = os.open(f"/proc/{pid}/schedstat", os.O_RDONLY)
            self._pid = pid
        except (protocol.Closed, protocol.Late, protocol.ProtocolError, OSError, ValueError) as error:
            self._process.kill()
            raise MachineError(f"A worker did not start: {self.output_tail.strip()[-300:] or error!r}") from error
        assert kind == protocol.HELLO

    def _request(self, kind: bytes, body: Mapping[str, Any] | None, timeout_s: float, where: str) -> dict[str, Any]:
        self._send(kind, body)
        return self._served(*self._receive(timeout_s, where))

    def _served(self, kind: bytes, body: dict[str, Any]) -> dict[str, Any]:
        if kind == protocol.RAISED:
            raise Raised(body)
        if kind != protocol.DONE:
            raise WorkerFault(Status.CRASHED, f"The submission broke the protocol with a {kind!r}.")
        return body

    def _send(self, kind: bytes, body: Mapping[str, Any] | None) -> None:
        try:
            self._channel.send(kind, body, timeout_s=self.limits.call_s)
        except protocol.Late:
            raise WorkerFault(Status.CRASHED, "The submission broke the protocol: it asks and never listens.") from None
        except protocol.Closed:
            raise self._end("before it was asked") from None

    def _receive(self, timeout_s: float, where: str) -> tuple[bytes, dict[str, Any]]:
        try:
            return self._channel.receive(max(0.0, timeout_s))
        except protocol.Late:
            raise WorkerFault(
                Status.TIMED_OUT,
                f"No answer within {self.limits.load_s if 'loaded' in where else self.limits.call_s:g} s {where}.",
                "Look for a loop that never ends.",
            ) from None
        except protocol.ProtocolError as error:
            raise WorkerFault(Status.CRASHED, f"The submission broke the protocol with {error}.") from None
        except protocol.Closed:
            raise self._end(where) from None

    @contextlib.contextmanager
    def _running(self, where: str) -> Iterator[None]:
        """Tell a process that can be looked at no more from one that runs."""
        try:
            yield
        except (ProcessGoneError, ProcessLookupError):
            raise self._end(where) from None

    def _end(self, where: str) -> WorkerFault:
        status = self._process.reap()
        if status is None:
            return WorkerFault(Status.CRASHED, f"The process hung up {where}.", "Leave its file descriptors alone.")
        if sandbox.died_of_memory(status):
            return WorkerFault(Status.OUT_OF_MEMORY, f"The process was killed {where}, most likely for its memory.")
        return WorkerFault(
            Status.CRASHED,
            f"The process ended {where}, with exit status {status}.",
            "Ending the process proves nothing: return the answer. (Exit status 139 is a segmentation fault.)",
        )


@contextlib.contextmanager
def worker(limits: Limits, settings: Settings, *, tensors: bool) -> Iterator[Worker]:
    """A worker that is ended whatever happens."""
    one = Worker(limits, settings, tensors=tensors)
    try:
        yield one
    except WorkerFault as fault:
        one.close()
        fault.printed = fault.printed or one.output_tail
        raise
    finally:
        one.close()


def cpu_clock(pid: int) -> Clock | None:
    """The CPU clock of a worker, read from outside; None where the system has none (anything but Linux)."""
    try:
        return process_cpu(pid)
    except MachineError:
        return None
