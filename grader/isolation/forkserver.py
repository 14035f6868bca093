"""The supervisor's side of one process tree: a warmed-up process in a sandbox, and the workers forked from it.

One tree serves one submission. Its first process is exec'd and has imported what takes long (torch: a second) before
anything is asked of it; each use forks a worker from it in some ten milliseconds. The whole tree is what counts: its
CPU clock sums over all of its processes, and one that the supervisor did not ask for is a fault.
"""

import contextlib
import os
import socket
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from grader.errors import MachineError, WorkerFault
from grader.inside import protocol
from grader.inside.protocol import Channel
from grader.isolation import proc, resident, sandbox, seccomp, usage
from grader.isolation.tail import Tail
from grader.records import Status
from grader.task import Limits
from harness import twins
from harness.clocks import Clock, process_cpu, wall
from harness.twins import Cores

START_S: Final = 60.0
"""How long the first process may take to be ready: a cold import of torch from a slow disk."""

_ANSWER_S: Final = 30.0
"""How long a ready process may take to fork, or to tell how a worker ended: milliseconds, but for a crowded machine."""

_CREDENTIALS: Final = struct.Struct("iII")


@dataclass(frozen=True, slots=True)
class Forked:
    """A worker's process: its id as seen here, and as its own tree sees it."""

    pid: int
    inner_pid: int


class ForkServer:
    """One process tree that may run one submission, or trusted code, and is then thrown away."""

    def __init__(self, *, tensors: bool, sandboxed: bool, hidden: Sequence[Path] = ()) -> None:
        self.tensors, self.sandboxed = tensors, sandboxed
        self._folder = None if sandboxed else TemporaryDirectory(prefix="fairclock-", ignore_cleanup_errors=True)
        folder = Path(self._folder.name) if self._folder else None
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = sandbox.start(
                theirs.fileno(), tensors=tensors, sandboxed=sandboxed, hidden=hidden, folder=folder
            )
        self._channel = Channel(self._socket.fileno())
        assert self._process.popen.stdout is not None
        self._output = Tail(self._process.popen.stdout.fileno())
        self._chain: tuple[int, ...] = ()
        self._clocks: dict[int, Clock | None] = {}
        self._ended_children = 0
        self._counted_s = 0.0
        self._shared_bytes = self._own_tasks = 0
        self._closed = self._mute = False
        self.waited_s = 0.0
        """Wall seconds that the tree and its workers were waited for since it was lent to the task that has it now."""

    @property
    def output_tail(self) -> str:
        """The end of what the tree printed."""
        return self._output.text()

    def lend(self) -> None:
        """Let `output_tail` and `waited_s` begin here: what comes next is another task's."""
        self._output.forget()
        self.waited_s = 0.0

    def meet(self) -> None:
        """Wait until the first process is ready, and learn who is who. Raises `MachineError` when it does not start."""
        if self._chain:
            return
        try:
            self._channel.receive(START_S)
            self._chain = self._process.chain()
            self._clocks = {self._chain[-1]: cpu_clock(self._chain[-1])}
            self._shared_bytes = usage.of_process(self._chain[-1]).memory_bytes
            self._own_tasks = usage.grown(self._chain, 0).tasks
        except (protocol.Closed, protocol.Late, protocol.ProtocolError, OSError, ValueError) as error:
            self._process.kill()
            raise MachineError(f"A worker did not start: {self.output_tail.strip()[-300:] or error!r}") from error

    def fork(self, limits: Limits, descriptors: Sequence[int], channel: socket.socket) -> Forked:
        """Fork a worker that takes over the three descriptors and says hello on `channel`, the supervisor's end.

        Who says it is told by the kernel. Raises `WorkerFault` when an earlier worker has broken the first process.
        """
        self.meet()
        if self._mute:
            raise self._broken()
        attested = hasattr(socket, "SO_PASSCRED")
        if attested:
            channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        try:
            if group := self._process.group:
                bound_bytes = usage.allowed_bytes(limits.memory_bytes, len(self._clocks) + 1)
                group.limit(memory_bytes=bound_bytes, tasks=usage.MOST_TASKS)
            code = seccomp.worker_filter(stores_outside=limits.stores_outside)
            given = {
                "limits": sandbox.rlimits(limits, sandboxed=self.sandboxed),
                "threads": limits.threads,
                "returns_memory": limits.returns_memory,
                "filter": code.hex() if code else "",
            }
            self._channel.send(protocol.FORK, given)
            socket.send_fds(self._socket, [b"."], list(descriptors))
            inner_pid = self._answer("pid")
            channel.settimeout(_ANSWER_S)
            with self._waiting():
                hello, about, _, _ = channel.recvmsg(5, socket.CMSG_SPACE(_CREDENTIALS.size) if attested else 0)
            if attested:
                channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
        except (protocol.Closed, protocol.Late, protocol.ProtocolError, OSError) as error:
            raise self._broken() from error
        if hello[4:] != protocol.HELLO or not isinstance(inner_pid, int):
            raise self._broken()
        pid = _CREDENTIALS.unpack(about[0][2])[0] if attested else inner_pid
        self._clocks[pid] = cpu_clock(pid)
        return Forked(pid, inner_pid)

    def end(self, worker: Forked, *, wait: bool = False) -> int | None:
        """End a worker, at once unless it is to `wait` for it: its exit status, or None when nobody knows it."""
        if self._closed or worker.pid not in self._clocks:
            return None
        if not wait or self._mute:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker.pid, 9)
        if self._mute:
            return None
        try:
            self._channel.send(protocol.REAP, {"pid": worker.inner_pid})
            status = self._answer("status")
        except (protocol.Closed, protocol.Late, protocol.ProtocolError):
            return None
        if status is None:  # it hung up and lives on
            self.end(worker)
            return None
        del self._clocks[worker.pid]
        with contextlib.suppress(ProcessLookupError):
            self._ended_children = self._count_ended_children()
        return status if isinstance(status, int) else None

    def pin(self, cores: Cores) -> None:
        """Bind all of its Python processes to these cores, and start counting what the tree does from here on."""
        with self._process.looked_into():
            for pid in self._clocks:
                twins.pin(pid, cores)
        self._ended_children = self._count_ended_children()
        self._counted_s = self.cpu_s()

    def cpu_s(self) -> float:
        """CPU seconds that the tree's processes have used; wall seconds where no such clock is to be had."""
        return self.computed_s() or wall()

    def computed_s(self) -> float:
        """Return the CPU seconds that the tree's processes have used; 0 where no such clock is to be had."""
        return sum(clock() for clock in self._clocks.values() if clock)

    def spent_s(self) -> float:
        """CPU seconds since the last time this was asked, or since the tree was pinned."""
        now_s = self.cpu_s()
        spent_s, self._counted_s = now_s - self._counted_s, now_s
        return spent_s

    def watch(self, limits: Limits) -> None:
        """Raise a WorkerFault when all processes of the tree together use more than they may.

        Each has limits of its own, which the kernel keeps; this is for what many of them, or many threads, make of it.
        What the tree consisted of before is not counted, so that where the kernel refuses one more thread, it does so
        first, and the submission gets the error of its own line.
        """
        processes = list(proc.processes(self._chain[0]))
        used = usage.grown(processes, self._shared_bytes)
        if used.memory_bytes > usage.allowed_bytes(limits.memory_bytes, len(self._clocks)):
            said = f"The submission's processes used {used.memory_bytes / (1 << 30):.1f} GiB of memory together."
            raise WorkerFault(Status.OUT_OF_MEMORY, said)
        if used.tasks - self._own_tasks > usage.MOST_TASKS:
            said = f"The submission ran more than {usage.MOST_TASKS} threads and processes at once."
            raise WorkerFault(Status.CRASHED, said, "A few are enough: there is one core to run on.")
        if self._process.owner is not None:
            with self._process.looked_into():
                written_bytes = usage.written_bytes(processes[1:])
            if written_bytes > usage.DISK_BYTES:
                said = f"The submission wrote {written_bytes / (1 << 30):.1f} GiB to disk."
                raise WorkerFault(Status.CRASHED, said, "Keep data in memory, or write less of it.")

    def peak_bytes(self, worker: Forked) -> int:
        """The most memory that a worker has had so far (`isolation.resident`)."""
        with self._process.looked_into():
            return resident.peak_bytes(worker.pid)

    def vouch(self, cores: Cores) -> None:
        """Raise a WorkerFault unless all that the tree does is seen by its clock: known processes, on their cores."""
        if not all(twins.stays(pid, cores) for pid in self._clocks):
            raise WorkerFault(
                Status.CHEATED,
                "The submission left the cores that it was being timed on.",
                "Threads may be used, but where they run is not theirs to say.",
            )
        helpers = set(proc.processes(self._chain[0])) - {*self._chain, *self._clocks}
        if helpers or self._count_ended_children() != self._ended_children:
            raise WorkerFault(
                Status.CRASHED,
                "The submission started processes of its own while it was being timed.",
                "Do the work in the function that is called; helpers are not seen by the clock and not allowed.",
            )

    def _answer(self, name: str) -> object:
        try:
            with self._waiting():
                _, body = self._channel.receive(_ANSWER_S)
        except protocol.Late:
            self._mute = True  # a submission has stopped it: it is waited for once, and not again for each worker
            raise
        return body.get(name)

    @contextlib.contextmanager
    def _waiting(self) -> Iterator[None]:
        began_s = wall()
        try:
            yield
        finally:
            self.waited_s += wall() - began_s

    def _count_ended_children(self) -> int:
        return sum(map(proc.ended_children, {*self._chain, *self._clocks}))

    def _broken(self) -> WorkerFault:
        return WorkerFault(
            Status.CRASHED,
            "The submission broke the process that its workers are started from.",
            "Leave processes alone that are not your own.",
        )

    def close(self) -> None:
        """End the process tree and give everything back; a second time does nothing."""
        if self._closed:
            return
        self._closed = True
        self._process.kill()
        self._output.close()
        if self._process.popen.stdout:
            self._process.popen.stdout.close()
        self._socket.close()
        if self._folder:
            self._folder.cleanup()


def cpu_clock(pid: int) -> Clock | None:
    """The CPU clock of a process, read from outside; None where the system has none (anything but Linux)."""
    try:
        return process_cpu(pid)
    except MachineError:
        return None
