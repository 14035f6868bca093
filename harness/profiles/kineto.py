"""Settings that make `torch.profiler` behave as its manual describes, and its results: tables and traces.

A trace is in Chrome's format: a list of events in JSON, each with a phase `ph`. "X" is a complete event, "s" and "f"
are the start and the end of an arrow.
"""

import gzip
import json
import math
import os
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch._C._profiler import _ExperimentalConfig

from harness.errors import UsageError
from harness.profiles.stats import expanded
from harness.rendering.texts import shown

# Hide the lines that the profiler prints when it starts and stops: no message has a level as high as this.
os.environ.setdefault("KINETO_LOG_LEVEL", "99")


def keep_stacks() -> _ExperimentalConfig:
    """Return an `experimental_config` with which `with_stack=True` records stacks. torch up to 2.13 has this bug."""
    return _ExperimentalConfig(verbose=True)


@dataclass(frozen=True, slots=True)
class Operator:
    """One row of `key_averages()`. Times are CPU time in seconds, over all calls.

    `own_s` is the operator's own time. `total_s` includes the time of operators that it called. `own_bytes` is the
    memory that the operator itself allocated, minus the memory that it freed (0 unless the profile has
    `profile_memory`). `flops` is PyTorch's estimate of floating-point operations for products and convolutions, over
    all calls. `shapes` are the shapes of the operator's inputs, or "" if rows are not grouped by shape. `stack` has the
    Python frames of the call, the innermost first.
    """

    name: str
    calls: int
    own_s: float
    total_s: float
    own_bytes: int = 0
    flops: int = 0
    shapes: str = ""
    stack: tuple[str, ...] = ()


def operators(averages: Iterable[Any]) -> tuple[Operator, ...]:
    """Return the rows of `key_averages(…)`, sorted by own time with the largest first."""
    found = [
        Operator(
            name=each.key,
            calls=each.count,
            own_s=each.self_cpu_time_total / 1e6,
            total_s=each.cpu_time_total / 1e6,
            own_bytes=each.self_cpu_memory_usage,
            flops=each.flops,
            shapes="×".join(map(str, filter(None, each.input_shapes or ()))),
            stack=tuple(each.stack or ()),
        )
        for each in averages
    ]
    return tuple(sorted(found, key=lambda each: (-each.own_s, each.name)))


@dataclass(frozen=True, slots=True)
class Event:
    """A complete event of a thread, with its start and duration in microseconds."""

    name: str
    category: str
    thread: tuple[str, str]
    start_us: float
    duration_us: float

    @property
    def end_us(self) -> float:
        """The time when the event ended, in microseconds."""
        return self.start_us + self.duration_us


@dataclass(frozen=True, slots=True)
class Trace:
    """The complete events of a trace, sorted by their start."""

    events: tuple[Event, ...]

    def within(self, outer: Event) -> tuple[Event, ...]:
        """Return the event `outer` and all events of the same thread that lie completely within its time."""
        return tuple(
            each
            for each in self.events
            if each.thread == outer.thread and outer.start_us <= each.start_us and each.end_us <= outer.end_us
        )


def read_trace(file: Path) -> Trace:
    """Return the trace in a JSON file, which may be gzipped. Raise `UsageError` if the file is not a whole trace."""
    try:
        data = expanded(file).read_bytes()
        return _trace(json.loads(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data))
    except (OSError, EOFError, zlib.error, RuntimeError, OverflowError, ValueError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else shown(str(error))
        name = shown(str(file), lines=False)
        raise UsageError(
            f"{name} is not a whole trace in Chrome's format ({reason}); name an exported trace."
        ) from None


def _trace(whole: Any) -> Trace:
    found = whole.get("traceEvents") if isinstance(whole, dict) else whole
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ValueError("it has no list of events")
    events = [_event(each) for each in found if each.get("ph") == "X"]
    return Trace(tuple(sorted(events, key=lambda each: (each.start_us, -each.duration_us))))


def _event(found: dict[str, Any]) -> Event:
    if missing := {"pid", "tid", "name", "ts", "dur"} - found.keys():
        raise ValueError(f"an event has no {', '.join(sorted(missing))}")
    start_us, duration_us = float(found["ts"]), float(found["dur"])
    if not math.isfinite(start_us) or not 0 <= duration_us < math.inf:
        raise ValueError(f"an event starts at {start_us:g} µs and takes {duration_us:g} µs")
    thread = str(found["pid"]), str(found["tid"])
    return Event(str(found["name"]), str(found.get("cat", "")), thread, start_us, duration_us)
