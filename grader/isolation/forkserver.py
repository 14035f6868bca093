"""Start the processes that run one submission: a first Python process, and workers that are forked from it.

The first process imports torch in about a second, or is forked from a template process that has imported torch. Each
worker is then forked in about ten milliseconds. All processes together are the submission's process tree. If the tree
has a process that the grader did not request, the submission is to blame.
"""

import contextlib
import math
import os
import select
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple, TypeVar

from grader.errors import MachineError, NoisyMachineError, WorkerFault
from grader.inside import ending, protocol
from grader.inside.protocol import Channel
from grader.inside.template_main import MOST_FILES
from grader.isolation import proc, sandbox, seccomp, tree_users
from grader.isolation.process_tree import OutputTail, ProcessTree
from grader.isolation.template import NO_ANSWER, ForkedTree, TemplateProcess, attest, attested_pid
from grader.limits import HandInTime, Limits
from grader.records import Status
from harness.machine.clocks import Clock, ProcessGoneError, process_cpu, wall
from harness.processes import process_env
from harness.processes.process_env import Cores

R = TypeVar("R")

START_S: Final = 60.0
"""Seconds to wait for the first process, enough to import torch from a slow disk."""

_WATCH_S: Final = 0.02
"""The least seconds between two checks of what a tree uses, which take about a millisecond."""

_ANSWER_S: Final = 30.0
"""Seconds to wait for a fork, or for the report of a worker's end. Both usually take milliseconds."""


class ForkedWorker(NamedTuple):
    """The process id of a worker as the grader sees it, and as the sandbox's own processes see it."""

    pid: int
    inner_pid: int


class ForkServer:
    """Controls the processes that run one submission, or trusted code: a first process, and workers forked from it."""

    def __init__(
        self, *, tensors: bool, sandboxed: bool, hidden: Sequence[Path] = (), template: TemplateProcess | None = None
    ) -> None:
        self.tensors, self.sandboxed, self.forked = tensors, sandboxed, template is not None
        self._socket, child_socket = socket.socketpair()
        self._process: ProcessTree | ForkedTree
        with child_socket, contextlib.ExitStack() as stack:
            stack.enter_context(self._socket)
            made = None if sandboxed else TemporaryDirectory(prefix=ending.PREFIX, ignore_cleanup_errors=True)
            self.folder = Path(stack.enter_context(made)) if made else None
            if template:
                self._process = template.fork(self._socket, child_socket, self.folder)
            else:
                self._process = sandbox.start(
                    child_socket.fileno(), tensors=tensors, sandboxed=sandboxed, hidden=hidden, folder=self.folder
                )
            self._resources = stack.pop_all()  # `close` closes the socket and removes the folder
        self._channel = Channel(self._socket.fileno())
        self._output = OutputTail(self._process.output)
        self._pids: tuple[int, ...] = ()
        self._clocks: dict[int, Clock | None] = {}
        self._ended_children = 0
        self._counted_s = 0.0
        self._shared_bytes = self._own_tasks = 0
        self._kernel_bytes, _ = proc.kernel_memory()
        self._watched_s = 0.0
        self._closed = self._unresponsive = False
        self.time = HandInTime(math.inf)
        self.remarks: tuple[str, ...] = ()  # on cells of the notebook that a worker has loaded

    @property
    def output_tail(self) -> str:
        """The last part of the text that the processes printed."""
        return self._output.text()

    def start_task(self) -> None:
        """Prepare to grade the next exercise task: clear `output_tail`."""
        self._output.forget()
        self._kernel_bytes, _ = proc.kernel_memory()

    def wait_until_ready(self) -> None:
        """Wait until the first process can fork workers. Raise `MachineError`, and close, if it does not start."""
        if self._pids:
            return
        try:
            self._process.wait_until_ready(self._socket, START_S)
            pids = self._process.pids
            self._clocks = {pids[-1]: cpu_clock(pids[-1])}
            self._shared_bytes = proc.of_process(pids[-1]).memory_bytes
            self._own_tasks = proc.total_usage(pids, 0).tasks
            self._pids = pids
        except BaseException as error:
            self._process.kill()
            said = self.output_tail.strip()[-300:]
            self.close()
            if isinstance(error, (*NO_ANSWER, ValueError, KeyError)):
                raise MachineError(f"A worker did not start: {said or repr(error)}") from error
            raise

    def fork(self, limits: Limits, descriptors: Sequence[int], channel: socket.socket) -> ForkedWorker:
        """Fork a worker that inherits three descriptors: its channel, and the memory for inputs and for outputs.

        The worker's first message arrives on `channel`, and the kernel adds the sender's process id. Raise
        `WorkerFault` if an earlier worker has broken the first process.
        """
        self.wait_until_ready()
        if self._unresponsive:
            raise self._broken()
        attest(channel)
        try:
            if group := self._process.group:
                bound_bytes = proc.allowed_bytes(limits.memory_bytes, len(self._clocks) + 1)
                group.limit(memory_bytes=bound_bytes, tasks=proc.MOST_TASKS)
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
            if not isinstance(inner_pid, int):  # the kernel has refused the fork, so no greeting will come
                raise self._broken()
            self._wait_for_greeting(channel)
            pid = attested_pid(channel)
            attest(channel, on=False)
        except NO_ANSWER as error:
            raise self._broken() from error
        pid = pid or inner_pid
        try:
            self._clocks[pid] = cpu_clock(pid)
        except ProcessGoneError as error:
            raise self._unless_lost(error) from error
        return ForkedWorker(pid, inner_pid)

    def end(self, worker: ForkedWorker, *, wait: bool = False) -> int | None:
        """End a worker and return its exit status, or None if the status is unknown.

        With `wait`, the worker first gets time to end by itself. Then raise `MachineError` if the whole tree has ended
        because the template process has ended.
        """
        if self._closed or worker.pid not in self._clocks:
            return None
        if not wait or self._unresponsive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker.pid, 9)
        if self._unresponsive:
            return None
        try:
            self._channel.send(protocol.REAP, {"pid": worker.inner_pid})
            status = self._answer("status")
        except NO_ANSWER as error:
            if wait and isinstance(lost := self._unless_lost(error), MachineError):
                raise lost from error
            return None
        if status is None:  # the worker closed its channel but still runs
            self.end(worker)
            return None
        del self._clocks[worker.pid]
        with contextlib.suppress(ProcessLookupError):
            self._ended_children = self._count_ended_children()
        return status if isinstance(status, int) else None

    def pin(self, cores: Cores) -> None:
        """Bind all Python processes of the tree to `cores`, and start to measure the CPU time for `spent_s`."""
        with tree_users.acting_as(self._process.owner):
            for pid in self._clocks:
                process_env.pin(pid, cores)
        self._ended_children = self._count_ended_children()
        self.spent_s()

    def cpu_s(self) -> float:
        """Return the CPU seconds of all processes, or wall seconds if their CPU clocks cannot be read."""
        return self.computed_s() or wall()

    def computed_s(self) -> float:
        """Return the CPU seconds of all processes, or 0 if their CPU clocks cannot be read."""
        return sum(clock() for clock in self._clocks.values() if clock)

    def spent_s(self) -> float:
        """Return the CPU seconds that all processes used since the last call of `spent_s` or `pin`."""
        now_s = self.cpu_s()
        spent_s, self._counted_s = now_s - self._counted_s, now_s
        return spent_s

    def watch(self, limits: Limits) -> None:
        """Raise `WorkerFault` if all processes of the tree together use more memory, threads or files than allowed.

        The kernel limits only each process. Raise `NoisyMachineError` if kernel memory, which belongs to no tree, is
        used up.
        """
        if wall() - self._watched_s < _WATCH_S:
            return
        self._watched_s = wall()
        processes = proc.processes(self._pids[0])
        used = proc.total_usage(processes, self._shared_bytes)
        if used.memory_bytes > proc.allowed_bytes(limits.memory_bytes, len(self._clocks)):
            said = f"The submission's processes used {used.memory_bytes / (1 << 30):.1f} GiB of memory together."
            raise WorkerFault(Status.OUT_OF_MEMORY, said)
        if used.tasks - self._own_tasks > proc.MOST_TASKS:
            said = f"The submission ran more than {proc.MOST_TASKS} threads and processes at once."
            raise WorkerFault(Status.CRASHED, said, "Start only a few threads: your code runs on one core.")
        if self.sandboxed and proc.file_count(self._pids[-1], self._process.folder, MOST_FILES) > MOST_FILES:
            said = f"The submission made more than {MOST_FILES:,} files, or folders that cannot be listed."
            raise WorkerFault(Status.CRASHED, said, "Keep data in memory, or write fewer files.")
        now_bytes, short = proc.kernel_memory()
        if short and now_bytes - self._kernel_bytes > proc.KERNEL_BYTES:
            grown = f"{(now_bytes - self._kernel_bytes) / (1 << 30):.1f} GiB"
            raise NoisyMachineError(f"The memory that belongs to no process grew by {grown}, and memory became short.")
        if self._process.owner is not None:
            with tree_users.acting_as(self._process.owner):
                written_bytes = proc.written_bytes(processes[1:])
            if written_bytes > proc.DISK_BYTES:
                said = f"The submission wrote {written_bytes / (1 << 30):.1f} GiB to disk."
                raise WorkerFault(Status.CRASHED, said, "Keep data in memory, or write less data.")

    def metered(self, worker: ForkedWorker, read: Callable[[int], R]) -> R:
        """Return what `read` reads of a worker's process id, as the user who owns the worker."""
        with tree_users.acting_as(self._process.owner):
            return read(worker.pid)

    def check_no_helpers(self, cores: Cores) -> None:
        """Raise `WorkerFault` if the tree has unknown processes, or a process that is not bound to exactly `cores`.

        The CPU time of unknown processes would not be measured.
        """
        if not all(process_env.is_pinned(pid, cores) for pid in self._clocks):
            raise WorkerFault(
                Status.CHEATED,
                "The submission left the cores that it was being timed on.",
                "Use threads if you like, but do not change their CPU affinity.",
            )
        helpers = set(proc.processes(self._pids[0])) - {*self._pids, *self._clocks}
        if helpers or self._count_ended_children() != self._ended_children:
            raise WorkerFault(
                Status.CRASHED,
                "The submission started processes of its own while it was being timed.",
                "Do the work in the function itself. Other processes are not allowed, as their time is not measured.",
            )

    def _wait_for_greeting(self, channel: socket.socket) -> None:
        """Wait until a new worker sends its first message. Raise `protocol.Closed` if the first process has ended.

        This process still has the other end of `channel`, so the end of the worker does not close it.
        """
        ready = select.poll()
        for each in (channel, self._socket):
            ready.register(each, select.POLLIN)
        if channel.fileno() not in dict(ready.poll(_ANSWER_S * 1e3)):
            raise protocol.Closed

    def _answer(self, name: str) -> object:
        try:
            _, body = self._channel.receive(_ANSWER_S)
        except protocol.Late:
            self._unresponsive = True  # a submission has stopped the first process: later calls do not wait for it
            raise
        return body.get(name)

    def _count_ended_children(self) -> int:
        return sum(map(proc.ended_children, {*self._pids, *self._clocks}))

    def _broken(self) -> Exception:
        return self._unless_lost(
            WorkerFault(
                Status.CRASHED,
                "The submission broke the process from which its workers are started.",
                "Do not signal, stop or change processes that your code did not start.",
            )
        )

    def _unless_lost(self, error: Exception) -> Exception:
        """Return the error to raise if a process has ended: `error`, unless no submission can have caused this."""
        if self._process.lost_by_grader:
            return MachineError("The process from which all process trees are forked has ended. Grade again.")
        return error

    def close(self) -> None:
        """End all processes and release their resources. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._process.kill()
        self._socket.close()  # a tree that has not started yet ends now
        self._output.close()
        self._resources.close()


def cpu_clock(pid: int) -> Clock | None:
    """Return a function that returns a process's CPU seconds, or None on systems other than Linux."""
    try:
        return process_cpu(pid)
    except MachineError:
        return None
