"""Record the memory of torch's tensors, without Python objects and libraries: on a CPU during a call, or on a GPU.

Lesson 17 shows the record of a GPU's memory, which `write_record` makes on a machine with a GPU.
"""

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

from harness.errors import MachineError
from harness.machine.devices import one_torch_thread
from harness.profiles import kineto  # noqa: F401 - hides the messages of torch's profiler
from harness.timeable import first_result

NAME: Final = "cuda_memory.json"
FOLDER: Final = Path(__file__).parents[2] / "lessons" / "recorded" / "17_peaks_and_leaks"
COMMAND: Final = "python -m lessons.17_peaks_and_leaks --record"

Change = tuple[str, int]  # the name of an event, as in torch's snapshots, and the number of bytes
_ACTIONS: Final = frozenset({"alloc", "free_completed", "segment_alloc", "segment_free"})

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


@dataclass(frozen=True, slots=True)
class CudaMemory:
    """A record of a GPU's memory: the text `made_by` names the GPU, and `changes` are the events in order of time."""

    made_by: str
    changes: tuple[Change, ...]

    @property
    def tensor_bytes(self) -> tuple[int, ...]:
        """The memory of tensors after each event, in bytes."""
        return self._sums("alloc", "free_completed")

    @property
    def segment_bytes(self) -> tuple[int, ...]:
        """The memory that torch got from CUDA, after each event, in bytes."""
        return self._sums("segment_alloc", "segment_free")

    def count(self, action: str) -> int:
        """Return the number of events with this name."""
        return sum(name == action for name, _ in self.changes)

    def _sums(self, gained: str, lost: str) -> tuple[int, ...]:
        return tuple(accumulate(((name == gained) - (name == lost)) * n_bytes for name, n_bytes in self.changes))


def read_record(folder: Path = FOLDER) -> CudaMemory | None:
    """Return the record in a folder, or None if the folder does not contain one."""
    file = folder / NAME
    if not file.exists():
        return None
    kept = json.loads(file.read_text(encoding="utf-8"))
    return CudaMemory(kept["made by"], tuple((str(name), int(n_bytes)) for name, n_bytes in kept["changes"]))


def record_of(trace: Iterable[Mapping[str, Any]]) -> list[Change]:
    """Return the events of a snapshot's trace that change the memory of tensors or of segments."""
    return [(each["action"], int(each["size"])) for each in trace if each["action"] in _ACTIONS]


def write_record(folder: Path) -> list[Path]:
    """Train a small network on this machine's GPU, and write the record into a folder.

    Return the written files: [] if torch finds no GPU.
    """
    if not torch.cuda.is_available():
        return []
    layers = [layer for _ in range(16) for layer in (nn.Linear(256, 256), nn.Tanh())]
    network, x = nn.Sequential(*layers).cuda(), torch.randn(4096, 256, device="cuda")
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    torch.cuda.memory._record_memory_history(max_entries=100_000)  # noqa: SLF001 - the documented name
    for _ in range(5):
        optimizer.zero_grad()
        network(x).square().mean().backward()
        optimizer.step()
    torch.cuda.synchronize()
    snapshot = torch.cuda.memory._snapshot()  # noqa: SLF001
    torch.cuda.memory._record_memory_history(enabled=None)  # noqa: SLF001
    changes = record_of(snapshot["device_traces"][torch.cuda.current_device()])
    made = f"{torch.cuda.get_device_name()}; torch {torch.__version__}; {datetime.now(UTC):%Y-%m-%d}"
    file = folder / NAME
    file.write_text(json.dumps({"made by": made, "changes": changes}) + "\n", encoding="utf-8")
    return [file]
