"""Record a training step for both tasks of lesson 11: `python -m grader.tasks.lesson_11_torch_profiler.record`.

A small network is trained for one step under torch.profiler, once for its events and once for its stacks.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

from grader.tasks import recordings
from harness.profiles.flames import read_stacks
from harness.profiles.kineto import Trace, keep_stacks, read_trace

from .self_times import STEP, Node

MOST_STACKS: Final = 90
"""At most this number of different stacks is recorded."""


class Step:
    """A training step of a network with two convolutions."""

    def __init__(self) -> None:
        self.network = nn.Sequential(
            *(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU()),
            *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4)),
        )
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.1)
        self.images, self.kinds = torch.randn(8, 3, 16, 16), torch.randint(4, (8,))

    def __call__(self) -> None:
        """Train for one step. Each part of the step has a named range in the profile."""
        with record_function("forward"):
            loss = nn.functional.cross_entropy(self.network(self.images), self.kinds)
        with record_function("backward"):
            self.optimizer.zero_grad()
            torch.autograd.backward(loss)
        with record_function("update"):
            self.optimizer.step()


def nodes(trace: Trace) -> list[Node]:
    """Return the depth, name and own nanoseconds of each operator event and named range of a trace."""
    found: list[Node] = []
    ends_us: list[tuple[float, int]] = []
    for event in trace.events:
        if event.category not in ("cpu_op", "user_annotation"):
            continue
        while ends_us and ends_us[-1][0] <= event.start_us:
            ends_us.pop()
        took_ns = round(1000 * event.duration_us)
        if ends_us:
            depth, name, own_ns = found[ends_us[-1][1]]
            found[ends_us[-1][1]] = depth, name, own_ns - took_ns
        ends_us.append((event.end_us, len(found)))
        found.append((len(ends_us) - 1, event.name, took_ns))
    return found


def record() -> dict[str, Sequence[object]]:
    """Profile a training step twice. Return the events of the first run and the stacks of the second."""
    torch.manual_seed(11)
    torch.set_num_threads(1)
    step, watch = Step(), [ProfilerActivity.CPU]
    step()
    with TemporaryDirectory() as folder:
        with profile(activities=watch) as plain:
            step()
        plain.export_chrome_trace(str(Path(folder) / "step.json"))
        trace = read_trace(Path(folder) / "step.json")
        with profile(activities=watch, with_stack=True, experimental_config=keep_stacks()) as stacked:
            step()
        stacked.export_stacks(str(Path(folder) / "stacks.txt"))
        stacks = read_stacks((Path(folder) / "stacks.txt").read_text(encoding="utf-8"))
    different = [
        frames for frames in dict.fromkeys(frames for frames, _ in stacks) if "/profiler.py" not in str(frames)
    ]
    return {"events": nodes(trace), "stacks": different[:MOST_STACKS]}


if __name__ == "__main__":
    recordings.write(STEP, record(), f"torch {torch.__version__}")
