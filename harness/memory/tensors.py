"""Record the memory of torch's tensors on a CPU during a call, without Python objects and libraries."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import torch
from torch.profiler import ProfilerActivity, profile

from harness.errors import MachineError
from harness.machine.devices import one_torch_thread
from harness.profiles import kineto  # noqa: F401 - hides the messages of torch's profiler
from harness.timeable import first_result

_CPU: Final = 0  # the number of the CPU among the types of devices in a trace of torch's profiler


@dataclass(frozen=True, slots=True)
class TensorMemory:
    """The blocks of torch's CPU tensors during a call: for each event, the bytes allocated, or freed if negative."""

    changes: tuple[int, ...]

    @property
    def curve(self) -> tuple[int, ...]:
        """The bytes in use after each event, compared with the start of the call."""
        return tuple(accumulate(self.changes))

    @property
    def peak_bytes(self) -> int:
        """The most bytes in use, compared with the start of the call."""
        return max((0, *self.curve))

    @property
    def kept_bytes(self) -> int:
        """The bytes that the call allocated and did not free."""
        return sum(self.changes)


def tensor_memory(call: Callable[[], object]) -> TensorMemory:
    """Call a function once, on one thread of torch, and return each change of the memory of torch's CPU tensors.

    Exceptions of the call are not caught. Raise `UsageError` if the call only returns a coroutine or an iterator, and
    `MachineError` if torch does not record the memory of any tensor.
    """
    changes = _recorded(call)
    if not changes and not _recorded(lambda: torch.empty(1)):
        raise MachineError("torch's profiler does not record the memory of tensors. Install another version of torch.")
    return TensorMemory(changes)


def _recorded(call: Callable[[], object]) -> tuple[int, ...]:
    with tempfile.TemporaryDirectory(prefix="fairclock-tensors-") as folder:
        file = Path(folder) / "trace.json"
        with one_torch_thread(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
            first_result(call)
        found.export_chrome_trace(str(file))
        return changes_in(json.loads(file.read_bytes())["traceEvents"])


def changes_in(events: list[dict[str, Any]]) -> tuple[int, ...]:
    """Return the changes of CPU memory in the events of a trace, in order of time."""
    blocks = [each for each in events if each.get("name") == "[memory]" and each["args"].get("Device Type") == _CPU]
    return tuple(int(each["args"]["Bytes"]) for each in sorted(blocks, key=lambda each: float(each["ts"])))
