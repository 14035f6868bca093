"""Devices: where work runs, and when it has run.

`launch` hands work over, `synchronize` waits until everything handed over is done. On a CPU the first call
does both; on a CUDA device it only puts work in a queue, and so it does on a `SimulatedStream`, which shows
what a GPU teaches on a machine without one. Leaving `with device:` waits for what was launched.

`record` puts an *event* in the queue: a time stamp taken by the device itself, when it gets there. Two of them tell
what the work between them took, whatever the host did meanwhile.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Protocol, Self

from harness import caches, clocks
from harness.errors import MachineError, UsageError

Work = Callable[[], object]
"""Something to run; what it returns is dropped."""


class Event(Protocol):
    """A moment in a device's own queue. It can be read once the device has been synchronized after it."""

    def seconds_since(self, earlier: "Event") -> float:
        """Return the device's time from an earlier event of the same device to this one."""


class Device(Protocol):
    """A place where work runs. What launched work raises, the next `synchronize` raises at the latest."""

    @property
    def name(self) -> str:
        """What people call it."""

    def launch(self, work: Work) -> None:
        """Hand `work` over; it may or may not have run when this returns."""

    def synchronize(self) -> None:
        """Return when all launched work is done."""

    def record(self) -> Event:
        """Put an event in the queue behind what has been launched so far."""

    def flush(self) -> Work:
        """Return work that leaves nothing of use in the device's caches; launch it before what shall run cold."""

    def __enter__(self) -> Self:
        """Return the device itself."""

    def __exit__(self, *_: object) -> None:
        """Wait for what was launched."""


class HostEvent:
    """An event whose time is taken by a thread of this process."""

    def __init__(self) -> None:
        self.at_s: float | None = None

    def happen(self) -> None:
        """Take the time."""
        self.at_s = clocks.wall()

    def seconds_since(self, earlier: Event) -> float:
        """Return the seconds from `earlier` to this event. Raises `UsageError` before both have happened."""
        if not isinstance(earlier, HostEvent) or earlier.at_s is None or self.at_s is None:
            raise UsageError("Events are read in pairs of one device, after synchronize().")
        return self.at_s - earlier.at_s


class CudaEvent:
    """An event whose time is taken by the GPU: `torch.cuda.Event(enable_timing=True)`."""

    def __init__(self) -> None:
        import torch  # noqa: PLC0415 - as in Cuda

        self.event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        self.event.record()

    @property
    def happened(self) -> bool:
        """Whether the GPU has got there."""
        return bool(self.event.query())  # type: ignore[no-untyped-call]

    def seconds_since(self, earlier: Event) -> float:
        """Return the seconds from `earlier` to this event. Raises `UsageError` before both have happened."""
        if not isinstance(earlier, CudaEvent) or not (earlier.happened and self.happened):
            raise UsageError("Events are read in pairs of one device, after synchronize().")
        elapsed_ms: float = earlier.event.elapsed_time(self.event)
        return elapsed_ms / 1e3


class Cpu:
    """The processor this runs on: a launch returns when its work is done."""

    name = "CPU"

    def launch(self, work: Work) -> None:
        """Run `work` now."""
        work()

    def synchronize(self) -> None:
        """Return at once: nothing is ever outstanding."""

    def record(self) -> HostEvent:
        """Return an event that happens now."""
        event = HostEvent()
        event.happen()
        return event

    def flush(self) -> Work:
        """Return work that overwrites the caches."""
        return caches.cpu_flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.synchronize()


class Cuda:
    """A GPU: work that calls torch on its tensors only puts kernels in the queue of the current stream."""

    def __init__(self, index: int = 0) -> None:
        """Take GPU number `index`. Raises `MachineError` where torch finds none of that number."""
        import torch  # noqa: PLC0415 - takes over a second; a CPU or a simulated stream does without

        if not torch.cuda.is_available() or not 0 <= index < torch.cuda.device_count():
            raise MachineError(f"torch finds no CUDA device {index} here; a SimulatedStream() shows the same effects.")
        self._cuda = torch.cuda
        self._index = index
        self.name = torch.cuda.get_device_name(index)

    def launch(self, work: Work) -> None:
        """Run `work` with this GPU as the current one; its kernels may still be waiting when this returns."""
        with self._cuda.device(self._index):
            work()

    def synchronize(self) -> None:
        """Return when every kernel on every stream of this GPU is done."""
        self._cuda.synchronize(self._index)

    def record(self) -> CudaEvent:
        """Put an event in the GPU's current stream."""
        with self._cuda.device(self._index):
            return CudaEvent()

    def flush(self) -> Work:
        """Return work that overwrites the L2 cache."""
        return caches.cuda_flush(self._index)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.synchronize()


class SimulatedStream:
    """A thread that works off a queue in order, as a CUDA stream does.

    A launch costs microseconds whatever its work costs. As on a GPU, work launched after a failure is not
    run, and the failure is raised where one synchronizes; after that the stream works again. torch gets one
    thread for it, the stream's own: a device does not share the host's cores out anew for every call.
    """

    name = "simulated stream"

    def __init__(self) -> None:
        self._queue: SimpleQueue[Work | threading.Event | None] = SimpleQueue()
        self._failure: BaseException | None = None
        self._open = True
        # A daemon, so that a program that forgets to close the stream still ends.
        self._thread = threading.Thread(target=self._work_off, name=self.name, daemon=True)
        self._thread.start()

    def launch(self, work: Work) -> None:
        """Put `work` in the queue and return at once."""
        if not self._open:
            raise UsageError("This simulated stream is closed; make a new SimulatedStream() to launch more work.")
        self._queue.put(work)

    def synchronize(self) -> None:
        """Wait until the queue is worked off; raise what launched work raised."""
        if threading.current_thread() is self._thread:
            raise UsageError("Work on a stream cannot wait for its own stream; synchronize where you launched it.")
        if self._open:
            reached = threading.Event()
            self._queue.put(reached)
            reached.wait()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def record(self) -> HostEvent:
        """Put an event in the queue; the thread takes its time when it gets there."""
        event = HostEvent()
        self.launch(event.happen)
        return event

    def flush(self) -> Work:
        """Return work that overwrites the caches of the core that the thread is on."""
        return caches.cpu_flush()

    def close(self) -> None:
        """Finish the queue, end the thread, and raise what its work raised; a second call does nothing."""
        try:
            self.synchronize()
        finally:
            self._open = False
            self._queue.put(None)
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _work_off(self) -> None:
        with _one_torch_thread():
            while (item := self._queue.get()) is not None:
                if isinstance(item, threading.Event):
                    item.set()
                elif self._failure is None:
                    try:
                        item()
                    except BaseException as failure:  # noqa: BLE001 - kept for synchronize, which raises it
                        self._failure = failure


@contextmanager
def _one_torch_thread() -> Iterator[None]:
    """Let torch, where it is loaded, work on the calling thread alone; other threads keep what they have."""
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else 0
    if torch:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if torch:
            torch.set_num_threads(threads)  # or threads to come would inherit the one


def pick_device() -> Cuda | Cpu:
    """Return the first GPU, or the CPU where torch finds none."""
    return Cuda() if _has_cuda() else Cpu()


def pick_stream() -> Cuda | SimulatedStream:
    """Return a device that runs work behind the caller's back: the first GPU, or a simulated stream."""
    return Cuda() if _has_cuda() else SimulatedStream()


def _has_cuda() -> bool:
    import torch  # noqa: PLC0415 - as in Cuda

    return torch.cuda.is_available()
