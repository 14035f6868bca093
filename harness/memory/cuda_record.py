"""Record how torch's allocator for a GPU uses memory during training, and read such a record, as in lesson 17."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

NAME: Final = "cuda_memory.json"
FOLDER: Final = Path(__file__).parents[2] / "lessons" / "recorded" / "17_peaks_and_leaks"
COMMAND: Final = "python -m lessons.17_peaks_and_leaks --record"

Change = tuple[str, int]  # the name of an event, as in torch's snapshots, and the number of bytes
_ACTIONS: Final = frozenset({"alloc", "free_completed", "segment_alloc", "segment_free"})


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


def read(folder: Path = FOLDER) -> CudaMemory | None:
    """Return the record in a folder, or None if the folder does not contain one."""
    file = folder / NAME
    if not file.exists():
        return None
    kept = json.loads(file.read_text(encoding="utf-8"))
    return CudaMemory(kept["made by"], tuple((str(name), int(n_bytes)) for name, n_bytes in kept["changes"]))


def changes_in(trace: Iterable[Mapping[str, Any]]) -> list[Change]:
    """Return the events of a snapshot's trace that change the memory of tensors or of segments."""
    return [(each["action"], int(each["size"])) for each in trace if each["action"] in _ACTIONS]


def write(folder: Path) -> list[Path]:
    """Train a small network on this machine's GPU, and write the record into a folder.

    Return the written files: [] if torch finds no GPU.
    """
    import torch  # noqa: PLC0415 - reading a record does not need torch
    from torch import nn  # noqa: PLC0415

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
    changes = changes_in(snapshot["device_traces"][torch.cuda.current_device()])
    made = f"{torch.cuda.get_device_name()}; torch {torch.__version__}; {datetime.now(UTC):%Y-%m-%d}"
    file = folder / NAME
    file.write_text(json.dumps({"made by": made, "changes": changes}) + "\n", encoding="utf-8")
    return [file]
