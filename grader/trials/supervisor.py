"""The supervisor's side of one worker: it asks, waits, reads the clock, and believes nothing but bytes it holds.

Every way a submission can end its own grading becomes a `WorkerFault` that carries a status.
"""

import contextlib
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from grader.errors import MachineError, WorkerFault
from grader.inside import protocol
from grader.inside.protocol import Channel
from grader.isolation.forkserver import ForkServer
from grader.records import Status
from grader.task import Limits
from grader.trials.faults import MESSAGE_CHARACTERS, WORD_CHARACTERS, Raised, untrusted
from grader.trials.inputs import Packed
from grader.trials.memory import SharedMemory
from grader.trials.patience import Deadline
from harness.clocks import ProcessGoneError, wall
from harness.rounds import Reading, taken
from harness.twins import Cores

INPUT_BYTES: Final = 64 << 20
OUTPUT_BYTES: Final = 16 << 20


class Worker:
    """One process, forked for one use and then thrown away, with the memory it shares with the supervisor."""

    def __init__(
        self, server: ForkServer, limits: Limits, input_bytes: int = INPUT_BYTES, output_bytes: int = OUTPUT_BYTES
    ) -> None:
        self.limits = limits
        self._server = server
        self._cores: Cores = None
        with contextlib.ExitStack() as ours:
            self.inputs = SharedMemory(input_bytes if server.tensors else 1)
            ours.callback(self.inputs.close)
            self.outputs = SharedMemory(output_bytes if server.tensors else 1)
            ours.callback(self.outputs.close)
            self._socket, theirs = socket.socketpair()
            ours.callback(self._socket.close)
            with theirs:
                descriptors = theirs.fileno(), self.inputs.descriptor, self.outputs.descriptor
                self._forked = server.fork(limits, descriptors, self._socket)
            ours.callback(server.end, self._forked)
            self._socket.setblocking(False)  # a worker that reads nothing must not hold the supervisor up
            self._channel = Channel(self._socket.fileno(), idle=self._watch)
            self._slept_s = 0.0
            self._begin(limits.load_s, "before it was asked")
            self._schedule: int | None = None
            self.queued_s = self.ran_s = 0.0
            if sys.platform == "linux":
                self._schedule = os.open(f"/proc/{self._forked.pid}/schedstat", os.O_RDONLY)
                ours.callback(os.close, self._schedule)
            self._ours = ours.pop_all()

    @property
    def output_tail(self) -> str:
        """The end of what the worker's tree printed."""
        return self._server.output_tail

    def load(self, source: str) -> None:
        """Run a submission's module code."""
        try:
            self._request(protocol.LOAD, {"source": source}, self.limits.load_s, "while the file was being loaded")
        except protocol.ProtocolError as error:
            raise WorkerFault(Status.RAISED, f"The file is too long to be graded: {error}.") from None

    def call(self, function: str, packed: Packed) -> dict[str, Any]:
        """Call once with tensors; the claim made of the answer. Its bytes lie in `outputs`."""
        packed.write(self.inputs)
        body = {"function": function, "inputs": packed.layouts}
        return self._request(protocol.TENSORS, body, self.limits.call_s, f"in {function}")

    def arrange(self, function: str, packed: Packed, dtype: str, shape: Sequence[int], cores: Cores) -> None:
        """Prepare timed calls with inputs laid out as these; bind the tree to its cores and start its CPU clock."""
        body = {"function": function, "inputs": packed.layouts, "dtype": dtype, "shape": list(shape)}
        self._request(protocol.ARRANGE, body, self.limits.call_s, f"before {function} was timed")
        self._cores = cores
        with self._running():
            self._server.pin(cores)

    def slow(self, extra_s: float) -> None:
        """Let each timed call of a trusted worker cost so many CPU seconds more, from now on; 0 is as before."""
        self._request(protocol.SLOW, {"extra_s": extra_s}, self.limits.call_s, "before a control")
        self._server.spent_s()  # it is not the next call's doing

    def timed(self, size_bytes: int, *, null: bool = False) -> tuple[Reading, bytes]:
        """One timed call: what it cost, and the output's bytes.

        The clock never stops: CPU time that the tree used since the end of the previous turn counts towards this one,
        so nothing is won by working ahead while it is somebody else's turn. The reading ends when the bytes are held
        here. Its wall time leaves out what the worker waited for its core: that is the neighbours' doing.
        """
        if self._channel.spoken():
            raise WorkerFault(
                Status.CRASHED, "The submission broke the protocol in a timed call: it spoke before it was asked."
            )
        with self._running():
            began_s, waited_s = wall(), self._waited_s()
            claim = self._request(protocol.NULL if null else protocol.GO, None, self.limits.call_s, "in a timed call")
            answer = self.outputs.read(size_bytes)
            reading = taken(self._server.spent_s(), wall() - began_s)
            waited_s = self._waited_s() - waited_s
            self.queued_s, self.ran_s = self.queued_s + waited_s, self.ran_s + reading.cpu_s
            reading = replace(reading, wall_s=max(reading.cpu_s, reading.wall_s - waited_s))
        if claim:
            problem = str(claim.get("problem"))[:WORD_CHARACTERS]
            raise WorkerFault(Status.WRONG, f"A timed call answered with a {problem}.")
        return reading, answer

    def vouch(self) -> None:
        """Raise a WorkerFault unless all that the worker's tree does is seen by its clock."""
        self._where = "while it was being timed"
        with self._running():
            self._server.vouch(self._cores)

    def begin(self) -> None:
        """Count from here on what processes the tree starts, for `peak_bytes`; before a submission is loaded.

        Raises `MachineError` where this machine does not show a process's memory.
        """
        with self._running():
            self._server.pin(None)
            self._server.peak_bytes(self._forked)

    def peak_bytes(self) -> int:
        """The most memory that the worker has had so far (`isolation.resident`), if no other process did its work."""
        self._where = "while its memory was being measured"
        with self._running():
            self._server.vouch(None)
            try:
                return self._server.peak_bytes(self._forked)
            except MachineError:  # `begin` could read it
                said = "The process no longer showed its memory when that was measured."
                help_text = "Leave the process as it is, and its first thread running."
                raise WorkerFault(Status.CRASHED, said, help_text) from None

    def values(
        self, function: str, arguments: Sequence[Mapping[str, Any]], metered: Callable[[str, list[Any]], Any], most: int
    ) -> dict[str, Any]:
        """Call with plain values, answering up to `most` calls of metered functions in between."""
        self._begin(self.limits.call_s, f"in {function}")
        self._send(protocol.VALUES, {"function": function, "arguments": list(arguments)})
        look_s = answered_s = wall()
        for _ in range(most + 1):
            kind, body = self._receive()
            now_s = wall()
            self._deadline.forgive(now_s - answered_s)
            if kind != protocol.METERED:
                return self._served(kind, body)
            if now_s >= look_s:  # whoever asks without a pause is never waited for
                look_s = now_s + protocol.IDLE_MS / 1e3
                with self._running():
                    self._watch()
            name, given = body.get("name"), body.get("arguments")
            if not isinstance(name, str) or not isinstance(given, list):
                raise WorkerFault(Status.CRASHED, "The submission broke the protocol with a malformed call.")
            try:
                reply = {"value": metered(name, given)}
            except ValueError as error:
                reply = {"error": str(error)[:MESSAGE_CHARACTERS]}  # it may quote all that it was given
            self._send(protocol.ANSWER, reply)
            answered_s = wall()
            self._deadline.forgive(0.0, answered_s - now_s)
        raise WorkerFault(
            Status.TIMED_OUT,
            f"{function} called the functions it was given more than {most} times; no more are allowed for one answer.",
            "Look for a loop that does not end, or use fewer calls.",
        )

    def close(self) -> None:
        """End the process and give everything back; a second time does nothing."""
        self._ours.close()

    def _waited_s(self) -> float:
        """Seconds the worker was ready to run and another had its core (Linux: Documentation/scheduler/sched-stats)."""
        return int(os.pread(self._schedule, 64, 0).split()[1]) / 1e9 if self._schedule else 0.0

    def _request(self, kind: bytes, body: Mapping[str, Any] | None, allowed_s: float, where: str) -> dict[str, Any]:
        self._begin(allowed_s, where)
        self._send(kind, body)
        return self._served(*self._receive())

    def _begin(self, allowed_s: float, where: str) -> None:
        """Count from here on what a request uses; `where` says in words what the submission is at."""
        left_s = self.limits.together_s - self._server.waited_s
        self._deadline = Deadline(
            allowed_s, self.limits.patience, self._server.cpu_s, slept_s=self._slept_s, together_s=left_s
        )
        self._where = where

    def _served(self, kind: bytes, body: dict[str, Any]) -> dict[str, Any]:
        self._slept_s = self._deadline.ended()
        self._server.waited_s += self._deadline.waited_s
        if kind == protocol.RAISED:
            raise Raised(body)
        if kind != protocol.DONE:
            raise WorkerFault(Status.CRASHED, f"The submission broke the protocol with a {kind!r}.")
        return body

    def _send(self, kind: bytes, body: Mapping[str, Any] | None) -> None:
        try:
            self._channel.send(kind, body, timeout_s=self._deadline.left_s)
        except protocol.Late:
            raise WorkerFault(Status.CRASHED, "The submission broke the protocol: it asks and never listens.") from None
        except protocol.Closed:
            self._where = "before it was asked"
            raise self._end() from None

    def _receive(self) -> tuple[bytes, dict[str, Any]]:
        try:
            with self._running():
                return self._channel.receive(self._deadline.left_s)
        except protocol.Late:
            raise self._late() from None
        except protocol.ProtocolError as error:
            raise WorkerFault(Status.CRASHED, f"The submission broke the protocol with {error}.") from None
        except protocol.Closed:
            raise self._end() from None

    def _watch(self) -> None:
        """Look, while an answer is waited for, at what the tree uses."""
        self._server.watch(self.limits)
        if self._deadline.passed:
            raise self._late()

    def _late(self) -> WorkerFault:
        if self._deadline.all_passed:
            said = f"The submission took longer than {self.limits.together_s:g} s for all of its calls together."
            help_text = "Look for what waits or sleeps, and for work that each call does again."
            return WorkerFault(Status.TIMED_OUT, said, help_text)
        said = f"No answer within {self._deadline} {self._where}."
        return WorkerFault(Status.TIMED_OUT, said, "Look for a loop that never ends.")

    @contextlib.contextmanager
    def _running(self) -> Iterator[None]:
        """Tell a process that can be looked at no more from one that runs."""
        try:
            yield
        except (ProcessGoneError, ProcessLookupError):
            raise self._end() from None

    def _end(self) -> WorkerFault:
        status = self._server.end(self._forked, wait=True)
        if status is None:
            return WorkerFault(
                Status.CRASHED, f"The process hung up {self._where}.", "Leave its file descriptors alone."
            )
        if status == -signal.SIGKILL:
            return WorkerFault(
                Status.OUT_OF_MEMORY, f"The process was killed {self._where}, most likely for its memory."
            )
        return WorkerFault(
            Status.CRASHED,
            f"The process ended {self._where}, with exit status {status if status >= 0 else 128 - status}.",
            "Ending the process proves nothing: return the answer. (Exit status 139 is a segmentation fault.)",
        )


@contextlib.contextmanager
def worker(
    server: ForkServer, limits: Limits, input_bytes: int = INPUT_BYTES, output_bytes: int = OUTPUT_BYTES
) -> Iterator[Worker]:
    """A worker forked from `server`, with memory for tensors of these sizes, that is ended whatever happens."""
    with untrusted("the submission"):
        one = Worker(server, limits, input_bytes, output_bytes)
    try:
        yield one
    except WorkerFault as fault:
        one.close()
        fault.printed = fault.printed or one.output_tail
        raise
    finally:
        one.close()
