"""Devices that run work from a queue: a GPU, or a simulated stream on a machine without a GPU.

`record` puts an event in the queue. The time between two events is the time of the work between them, if the device is
never idle in between. So first keep the device `busy`, until the host has queued the events and the work. To time a
call that reads its inputs from memory, run a `flush` before each call.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from queue import SimpleQueue
from typing import Final, Self

from harness.errors import MachineError, UsageError
from harness.machine import clocks

Work = Callable[[], object]
"""A function to run; its result is not used."""

_FLUSHED_BYTES: Final = 64 << 20  # more than a CPU's cache, except for a very large last-level cache
_CYCLES_PER_S: Final = 2e9  # the clocks of present GPUs have 1 to 3 GHz
_COPIED_BYTES: Final = 256 << 20  # does not fit into the caches of a GPU, and its copy takes much longer than a launch
_TWO_EVENTS: Final = "Compare two events of the same device, and only after synchronize()."


class HostEvent:
    """An event of a simulated stream. The stream's thread sets its time `at_s` when it reaches the event."""

    at_s: float | None = None

    def happen(self) -> None:
        """Record the current time as the time of this event."""
        self.at_s = clocks.wall()

    def seconds_since(self, earlier: object) -> float:
        """Return the seconds from `earlier` to this event. Raise `UsageError` if one of them has not happened yet."""
        if not isinstance(earlier, HostEvent) or earlier.at_s is None or self.at_s is None:
            raise UsageError(_TWO_EVENTS)
        return self.at_s - earlier.at_s


class CudaEvent:
    """An event whose time the GPU records: a `torch.cuda.Event(enable_timing=True)`."""

    def __init__(self) -> None:
        import torch  # noqa: PLC0415 - as in Cuda

        self.event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        self.event.record()

    def seconds_since(self, earlier: object) -> float:
        """Return the seconds from `earlier` to this event. Raise `UsageError` if one of them has not happened yet."""
        if not isinstance(earlier, CudaEvent) or not (earlier.event.query() and self.event.query()):  # type: ignore[no-untyped-call]
            raise UsageError(_TWO_EVENTS)
        elapsed_ms: float = earlier.event.elapsed_time(self.event)
        return elapsed_ms / 1e3


class Cuda:
    """The first GPU. A call of torch with tensors on the GPU only puts kernels in the queue of the current stream."""

    def __init__(self) -> None:
        """Open the GPU. Raise `MachineError` if torch finds none."""
        import torch  # noqa: PLC0415 - takes more than a second, and a simulated stream does not need it

        if not torch.cuda.is_available():
            raise MachineError("torch finds no CUDA device; SimulatedStream() shows the same effects without a GPU.")
        self._cuda = torch.cuda
        self.name = torch.cuda.get_device_name()

    def launch(self, work: Work) -> None:
        """Call `work`. When the call returns, its kernels may not have run yet."""
        work()

    def synchronize(self) -> None:
        """Wait until every kernel on every stream of this GPU has finished."""
        self._cuda.synchronize()

    def record(self) -> CudaEvent:
        """Put an event in the GPU's current stream."""
        return CudaEvent()

    def flush(self) -> Work:
        """Return a function that overwrites the GPU's L2 cache."""
        import torch  # noqa: PLC0415 - as above

        return torch.empty(2 * torch.cuda.get_device_properties().L2_cache_size, dtype=torch.uint8, device="cuda").zero_

    def busy(self, seconds: float) -> Work:
        """Return a function that keeps the GPU busy for about `seconds`, to within a factor of 2."""
        return partial(self._cuda._sleep, round(seconds * _CYCLES_PER_S))  # noqa: SLF001 - torch's tests use it, too

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.synchronize()


class SimulatedStream:
    """A thread that runs work from a queue in order, as a CUDA stream does.

    If one piece of work raises an exception, the work that is queued behind it does not run, as on a GPU. The next
    `synchronize` raises this exception, and then the stream works again. torch uses only one thread for the work.
    """

    name = "simulated stream"

    def __init__(self) -> None:
        self._queue: SimpleQueue[Work | threading.Event | None] = SimpleQueue()
        self._failure: BaseException | None = None
        self._open = True
        # A daemon thread: the program can end even if the stream was not closed.
        self._thread = threading.Thread(target=self._work_off, name=self.name, daemon=True)
        self._thread.start()

    def launch(self, work: Work) -> None:
        """Put `work` in the queue and return immediately."""
        if not self._open:
            raise UsageError("This simulated stream is closed; open a new SimulatedStream() to launch more work.")
        self._queue.put(work)

    def synchronize(self) -> None:
        """Wait until all work has finished. If work raised an exception, raise this exception."""
        if threading.current_thread() is self._thread:
            raise UsageError(
                "A function in a stream's queue cannot wait for this stream; synchronize in another thread."
            )
        if self._open:
            reached = threading.Event()
            self._queue.put(reached)
            reached.wait()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def record(self) -> HostEvent:
        """Put an event in the queue, and return it."""
        event = HostEvent()
        self.launch(event.happen)
        return event

    def flush(self) -> Work:
        """Return a function that writes 64 MiB, so that the core's caches hold nothing else."""
        import torch  # noqa: PLC0415 - as in Cuda

        return torch.empty(_FLUSHED_BYTES, dtype=torch.uint8).zero_

    def busy(self, seconds: float) -> Work:
        """Return a function that keeps the stream's thread busy for at least `seconds`."""
        return partial(time.sleep, seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.synchronize()
        finally:
            self._open = False
            self._queue.put(None)
            self._thread.join()

    def _work_off(self) -> None:
        with one_torch_thread():
            while (item := self._queue.get()) is not None:
                if isinstance(item, threading.Event):
                    item.set()
                elif self._failure is None:
                    try:
                        item()
                    except BaseException as failure:  # noqa: BLE001 - kept for synchronize, which raises it
                        self._failure = failure


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Let torch use only one thread in a `with` block, if torch is imported. Afterwards, it uses as many as before."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def pick_stream() -> Cuda | SimulatedStream:
    """Return a device that runs work asynchronously: the first GPU, or else a simulated stream."""
    try:
        return Cuda()
    except MachineError:
        return SimulatedStream()


@cache
def gpu_bytes_per_s() -> float:
    """Return how many bytes the GPU reads and writes in a second. Raise `MachineError` if torch finds no GPU.

    The first call measures it: the GPU copies a large tensor five times, and the shortest time counts.
    """
    import torch  # noqa: PLC0415 - as in Cuda

    with Cuda() as device:
        source = torch.zeros(_COPIED_BYTES, dtype=torch.uint8, device="cuda")
        copy = partial(torch.empty_like(source).copy_, source)
        copy()
        times_s = []
        for _ in range(5):
            start = device.record()
            copy()
            end = device.record()
            device.synchronize()
            times_s.append(end.seconds_since(start))
    return 2 * _COPIED_BYTES / min(times_s)
