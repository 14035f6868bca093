"""Send requests to a worker, a process that runs a submission's code, wait for its answers, and read the clocks.

Only bytes that this module has copied are trusted. `WorkerFault` is raised if a submission ends its own grading.
"""

import contextlib
import signal
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from grader.errors import MachineError, NoisyMachineError, WorkerFault
from grader.inside import protocol
from grader.inside.protocol import Channel
from grader.isolation.forkserver import ForkServer
from grader.limits import Limits
from grader.records import Status
from grader.source import CodeCell, Notebook, Source
from grader.trials.deadline import Deadline
from grader.trials.faults import MESSAGE_CHARACTERS, MOST_REMARKS, WORD_CHARACTERS, Raised, cell_remarks, untrusted
from grader.trials.inputs import Packed, SharedMemory
from harness.machine.clocks import Clock, CoreWait, ProcessGoneError, wall
from harness.paired.rounds import Reading, make_reading
from harness.processes.channel import IDLE_MS
from harness.processes.process_env import Cores

R = TypeVar("R")

INPUT_BYTES: Final = 64 << 20
OUTPUT_BYTES: Final = 16 << 20


class WorkerClient:
    """A worker, a process that runs a submission's code, as the grader sees it, and the memory that both share."""

    def __init__(
        self, server: ForkServer, limits: Limits, input_bytes: int = INPUT_BYTES, output_bytes: int = OUTPUT_BYTES
    ) -> None:
        self.limits = limits
        self._server = server
        self._cores: Cores = None
        with contextlib.ExitStack() as resources:
            self.inputs = SharedMemory(input_bytes)
            resources.callback(self.inputs.close)
            self.outputs = SharedMemory(output_bytes)
            resources.callback(self.outputs.close)
            self._socket, other_end = socket.socketpair()
            resources.callback(self._socket.close)
            with other_end:
                descriptors = other_end.fileno(), self.inputs.descriptor, self.outputs.descriptor
                self._forked = server.fork(limits, descriptors, self._socket)
            resources.callback(server.end, self._forked)
            self._socket.setblocking(False)  # a worker that reads nothing must not block the supervisor
            self._channel = Channel(self._socket.fileno(), idle=self._watch)
            self._slept_s = self._look_s = self.queued_s = self.ran_s = self.took_s = 0.0
            self._waited_s, self._grader_waited_s = CoreWait(self._forked.pid), CoreWait()
            resources.callback(self._waited_s.close)
            resources.callback(self._grader_waited_s.close)
            self._begin(limits.load_s, "before its first request")
            self._resources = resources.pop_all()

    @property
    def output_tail(self) -> str:
        """The end of the output that the submission printed."""
        return self._server.output_tail

    def load(self, source: Source) -> None:
        """Run the code of a submission as a module in the worker. Raise `WorkerFault` or `Raised` if this fails.

        A cell of a notebook that raises an exception ends only itself, and adds a remark to those of the process tree.
        """
        clock = self._waited_s.undisturbed()
        self._begin(self.limits.load_s, "while the file was being loaded", 1.0 if clock else None, clock or wall)
        try:
            self._send(protocol.LOAD, {"source": str(source), "notebook": isinstance(source, Notebook)})
            self._served(*self._receive())
            if isinstance(source, Notebook):
                self._run_cells(source)
        except protocol.ProtocolError as error:
            raise WorkerFault(Status.REFUSED, f"The file is too long to be graded: {error}.") from None
        except WorkerFault as fault:
            fault.never_loads = fault.status is Status.TIMED_OUT
            raise

    def _run_cells(self, notebook: Notebook) -> None:
        raised = list[tuple[CodeCell, Raised]]()
        for above, cell in notebook.placed():
            self._where = f"in {cell.place}"
            self._send(protocol.LOAD, {"cell": [cell.text, above]})
            kind, answer = self._receive()
            self._look()
            if kind == protocol.RAISED and not cell.may_raise:
                raised.append((cell, Raised(answer if len(raised) < MOST_REMARKS else {})))
        self._send(protocol.LOAD, {"cell": ["", 0]})  # an empty cell: its answer names all skipped commands
        skipped = self._served(*self._receive()).get("skipped")
        self._server.remarks = (*notebook.remarks, *cell_remarks(notebook, raised, skipped))

    def call(self, function: str, packed: Packed) -> dict[str, Any]:
        """Call a function once with tensors. Return the worker's message about its answer, which is not trusted.

        The bytes of the answer are in `outputs`.
        """
        packed.write(self.inputs)
        body = {"function": function, "inputs": packed.layouts}
        return self._request(protocol.TENSORS, body, self.limits.call_s, f"in {function}")

    def arrange(self, kind: bytes, function: str, cores: Cores, **layout: object) -> None:
        """Prepare timed calls with a request of this kind. Bind the processes to `cores` and start their CPU clock."""
        self._request(kind, {"function": function, **layout}, self.limits.call_s, f"before {function} was timed")
        self._cores = cores
        with self._running():
            self._server.pin(cores)

    def slow(self, extra_s: float) -> None:
        """Make each later timed call of trusted code cost `extra_s` more CPU seconds. With 0, calls are normal."""
        self._request(protocol.SLOW, {"extra_s": extra_s}, self.limits.call_s, "before a control")
        self._server.spent_s()  # reset the CPU clock: the time of this request does not belong to the next call

    def timed(self, read: Callable[[SharedMemory], bytes]) -> tuple[Reading, bytes]:
        """Make one timed call. Return its cost, and the answer's bytes, which `read` copies.

        The cost includes the request and the copy of the answer, because a submission could avoid a part of both. It
        also includes CPU time that the submission's processes used since the previous call, so computing between calls
        gains nothing. The times for which the worker and this thread waited for their core are subtracted from the
        wall time, because other programs cause this waiting. If both waited at the same time, too much is subtracted,
        but no wall time is shorter than the CPU time. If the worker may use several threads, only the worker's wait is
        subtracted.
        """
        if self._channel.has_message():
            raise self._spoke_early()
        with self._running():
            waited_s, grader_waited_s, began_s = self._waited_s(), self._grader_waited_s(), wall()
            claim = self._request(protocol.GO, None, self.limits.call_s, "in a timed call")
            answer = read(self.outputs)
            reading = make_reading(self._server.spent_s(), wall() - began_s)
            waited_s, grader_waited_s = self._waited_s() - waited_s, self._grader_waited_s() - grader_waited_s
            undisturbed_s = reading.wall_s - waited_s - (grader_waited_s if self.limits.threads == 1 else 0.0)
            reading = replace(reading, wall_s=max(reading.cpu_s / self.limits.threads, undisturbed_s))
            self.queued_s += waited_s
            self.ran_s, self.took_s = self.ran_s + reading.cpu_s, self.took_s + reading.wall_s
        if claim:
            problem = str(claim.get("problem"))[:WORD_CHARACTERS]
            raise WorkerFault(Status.WRONG, f"A timed call answered with a {problem}.")
        return reading, answer

    def check_no_helpers(self) -> None:
        """Raise `WorkerFault` if other processes compute for the submission, because their CPU time is not measured."""
        self._where = "while it was being timed"
        with self._running():
            self._server.check_no_helpers(self._cores)
            self._server.watch(self.limits)

    def begin(self, read: Callable[[int], R]) -> R:
        """Detect new processes from now on, and return what the meter `read` shows for the worker's process id.

        Call this before `load`. Raise `MachineError` if this machine has no such meter.
        """
        with self._running():
            self._server.pin(None)
            return self._server.metered(self._forked, read)

    def metered(self, read: Callable[[int], R]) -> R:
        """Return what the meter `read` shows. Raise `WorkerFault` if another process worked for the submission."""
        self._where = "while its cost was being measured"
        with self._running():
            self._server.check_no_helpers(None)
            try:
                return self._server.metered(self._forked, read)
            except MachineError:  # `begin` could read the meter, so the submission is to blame
                said = "The cost of the submission's process could not be read when it was measured."
                help_text = "Do not change the process, and do not end its first thread."
                raise WorkerFault(Status.CRASHED, said, help_text) from None

    def values(
        self,
        function: str,
        arguments: Sequence[Mapping[str, Any]],
        simulated: Callable[[str, list[Any]], Any],
        most: int,
    ) -> dict[str, Any]:
        """Call a function with plain values, answer up to `most` of its own calls, and return the worker's message."""
        self._begin(self.limits.call_s, f"in {function}")
        self._send(protocol.VALUES, {"function": function, "arguments": list(arguments)})
        answered_s = wall()
        for _ in range(most + 1):
            kind, body = self._receive()
            now_s = wall()
            self._deadline.forgive(now_s - answered_s)
            if kind != protocol.SIMULATED:
                return self._served(kind, body)
            self._look()
            name, given = body.get("name"), body.get("arguments")
            if not isinstance(name, str) or not isinstance(given, list):
                raise _violation("with a malformed call")
            try:
                reply = {"value": simulated(name, given)}
            except ValueError as error:
                reply = {"error": str(error)[:MESSAGE_CHARACTERS]}  # the message may quote long arguments
            self._send(protocol.ANSWER, reply)
            answered_s = wall()
            self._deadline.forgive(0.0, answered_s - now_s)
        raise WorkerFault(
            Status.TIMED_OUT,
            f"{function} made more than {most} calls of its function arguments, which is the limit for one answer.",
            "Look for a loop that does not end, or use fewer calls.",
        )

    def close(self) -> None:
        """End the process and release its resources. A second call does nothing."""
        self._resources.close()

    def _request(self, kind: bytes, body: Mapping[str, Any] | None, allowed_s: float, where: str) -> dict[str, Any]:
        self._begin(allowed_s, where)
        self._send(kind, body)
        return self._served(*self._receive())

    def _begin(self, allowed_s: float, where: str, factor: float | None = None, now: Clock = wall) -> None:
        factor, server, self._where = factor or self.limits.wall_factor, self._server, where
        waited_s = lambda: self._waited_s() + self._grader_waited_s()  # noqa: E731
        with self._running():
            self._deadline = Deadline(allowed_s, factor, server.cpu_s, now, self._slept_s, server.time, waited_s)

    def _served(self, kind: bytes, body: dict[str, Any]) -> dict[str, Any]:
        with self._running():
            self._slept_s = self._deadline.ended()
        if kind == protocol.RAISED:
            raise Raised(body)
        if kind != protocol.DONE:
            raise _violation(f"with a message {kind!r}")
        return body

    def _send(self, kind: bytes, body: Mapping[str, Any] | None) -> None:
        try:
            self._channel.send(kind, body, timeout_s=self._deadline.left_s)
        except protocol.Late:
            raise _violation("by sending calls without reading the answers") from None
        except protocol.Closed:
            self._where = "before it received a request"
            raise self._end() from None

    def _receive(self) -> tuple[bytes, dict[str, Any]]:
        try:
            with self._running():
                return self._channel.receive(self._server.time.left_s)  # `_watch` looks at the deadline meanwhile
        except protocol.Late:
            raise self._late() from None
        except protocol.ProtocolError as error:
            raise _violation(f"with {error}") from None
        except protocol.Closed:
            raise self._end() from None

    def _look(self) -> None:
        """Call `_watch` every `IDLE_MS`. `receive` calls it only when it waits, and a submission may never pause."""
        if wall() >= self._look_s:
            self._look_s = wall() + IDLE_MS / 1e3
            with self._running():
                self._watch()

    def _watch(self) -> None:
        self._server.watch(self.limits)
        if self._deadline.passed:
            raise self._late()

    def _late(self) -> WorkerFault | NoisyMachineError:
        with self._running():
            self._deadline.ended()
        if not self._server.time.left_s:
            return self._server.time.used_up
        said = f"No answer within {self._deadline} {self._where}."
        return WorkerFault(Status.TIMED_OUT, said, "Look for a loop that never ends.")

    @contextlib.contextmanager
    def _running(self) -> Iterator[None]:
        try:
            yield
        except (ProcessGoneError, ProcessLookupError):
            raise self._end() from None

    def _spoke_early(self) -> WorkerFault:
        with contextlib.suppress(OSError):  # the process has ended with unread requests
            if self._socket.recv(1, socket.MSG_PEEK):
                return _violation("in a timed call: it sent an answer before the request")
        self._where = "between its timed calls"
        return self._end()

    def _end(self) -> WorkerFault:
        status = self._server.end(self._forked, wait=True)
        if status is None:
            said = f"The process closed its connection to the grader {self._where}."
            return WorkerFault(Status.CRASHED, said, "Do not close file descriptors that you have not opened.")
        if status == -signal.SIGKILL:
            said = f"The process was killed {self._where}, probably because it used too much memory."
            return WorkerFault(Status.OUT_OF_MEMORY, said)
        return WorkerFault(
            Status.CRASHED,
            f"The process ended {self._where}, with exit status {status if status >= 0 else 128 - status}.",
            "Return the answer, and do not end the process. (Exit status 139 means a segmentation fault.)",
        )


def _violation(how: str) -> WorkerFault:
    return WorkerFault(Status.PROTOCOL_VIOLATION, f"The submission broke the protocol {how}.")


@contextlib.contextmanager
def worker(
    server: ForkServer, limits: Limits, input_bytes: int = INPUT_BYTES, output_bytes: int = OUTPUT_BYTES
) -> Iterator[WorkerClient]:
    """Start a worker, with shared memory for inputs and outputs. End the worker after the `with` block."""
    with untrusted("the submission"):
        one = WorkerClient(server, limits, input_bytes, output_bytes)
    try:
        yield one
    except WorkerFault as fault:
        one.close()
        fault.printed = fault.printed or one.output_tail
        raise
    finally:
        one.close()
