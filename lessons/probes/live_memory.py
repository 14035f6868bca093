"""The memory of a script while it runs under memray, and the recorded memory of a training loop on a GPU."""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Any, NamedTuple

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package
import torch
from torch import nn

from harness.errors import MachineError
from harness.profiles.servers import free_port

RECORD = Path(__file__).parents[1] / "recorded" / "17_peaks_and_leaks" / "cuda_memory.json"
ACTIONS = {"alloc", "free_completed", "segment_alloc", "segment_free"}

PAUSE = """
def pause(name):
    print("at", name, flush=True)
    input()

"""


class LiveStage(NamedTuple):
    """The allocated bytes of each function at one stage of the script, while the script waited."""

    name: str
    n_bytes: dict[str, int]


def live_stages(script: str, functions: Sequence[str]) -> list[LiveStage]:
    """Run a script under memray, and return the bytes of `functions` at each call of `pause` in the script."""
    port, stages = free_port(), list[LiveStage]()
    with TemporaryDirectory(prefix="fairclock-live-") as folder:
        path = Path(folder, "script.py")
        path.write_text(PAUSE + script, encoding="utf-8")
        command = [sys.executable, "-m", "memray", "run", "-q", "--live-remote", "--live-port", str(port), str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
            (limit := Timer(60, process.kill)).start()
            try:
                with connected(process, port) as reader:
                    for line in process.stdout or ():
                        if line.startswith("at "):
                            stages.append(LiveStage(line[3:].strip(), settled(reader, functions)))
                            print(file=process.stdin, flush=True)
                if process.wait():
                    raise MachineError("The script failed under memray's live tracking. Run the lesson again.")
            finally:
                limit.cancel()
                process.kill()
    return stages


def connected(process: "subprocess.Popen[str]", port: int) -> Any:
    """Return memray's reader for the script. It would wait for ever for a script that never listens."""
    from memray import SocketReader  # noqa: PLC0415 - an optional package

    while process.poll() is None:
        seen = psutil.Process(process.pid)
        connections = getattr(seen, "net_connections", None) or seen.connections  # psutil before version 6
        if any(each.laddr.port == port for each in connections("tcp") if each.status == psutil.CONN_LISTEN):
            return SocketReader(port=port)
        time.sleep(0.05)
    raise MachineError("The script ended before memray's live tracking began. Run the lesson again.")


def settled(reader: Any, functions: Sequence[str]) -> dict[str, int]:
    """Return the bytes of each function when several snapshots agree, or after 5 s, because memray sends data late."""
    seen: list[dict[str, int]] = []
    while len(seen) < 100 and (len(seen) < 7 or any(each != seen[-1] for each in seen[-7:])):
        found = dict.fromkeys(functions, 0)
        for record in reader.get_current_snapshot(merge_threads=True):
            for name, _, _ in record.stack_trace(max_stacks=1):
                if name in found:
                    found[name] += record.size
        seen.append(found)
        time.sleep(0.05)
    return seen[-1]


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
