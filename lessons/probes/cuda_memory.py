"""The recorded memory of a training loop on a GPU."""

import json
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

RECORD = Path(__file__).parents[1] / "recorded" / "17_peaks_and_leaks" / "cuda_memory.json"
ACTIONS = {"alloc", "free_completed", "segment_alloc", "segment_free"}


class CudaMemory(NamedTuple):
    """A record of a GPU's memory: the text `made_by` names the GPU, and `changes` are the events in order of time.

    An event is its name in torch's snapshots, and the number of bytes.
    """

    made_by: str
    changes: list[tuple[str, int]]

    def bytes_after_each(self, gained: str, lost: str) -> tuple[int, ...]:
        """Return the bytes in use after each event: `gained` adds its bytes, and `lost` subtracts them."""
        return tuple(accumulate(((name == gained) - (name == lost)) * n_bytes for name, n_bytes in self.changes))


def read_record() -> CudaMemory | None:
    """Return the record that the kit contains, or None if it contains none."""
    if not RECORD.exists():
        return None
    kept = json.loads(RECORD.read_text(encoding="utf-8"))
    return CudaMemory(kept["made by"], kept["changes"])


def write_record(folder: Path) -> list[Path]:
    """Train a small network on this machine's GPU, write the record, and return its file, or [] without a GPU."""
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
    trace = torch.cuda.memory._snapshot()["device_traces"][torch.cuda.current_device()]  # noqa: SLF001
    torch.cuda.memory._record_memory_history(enabled=None)  # noqa: SLF001
    changes = [(each["action"], int(each["size"])) for each in trace if each["action"] in ACTIONS]
    made = f"{torch.cuda.get_device_name()}; torch {torch.__version__}; {datetime.now(UTC):%Y-%m-%d}"
    file = folder / RECORD.name
    file.write_text(json.dumps({"made by": made, "changes": changes}) + "\n", encoding="utf-8")
    return [file]
