"""A trace in Chrome's format, read as plain events: what `export_chrome_trace` and `tensorboard_trace_handler` write.

The file is JSON: a list of events, each with a phase `ph`. An "X" is complete, with a beginning and a duration; the
others name threads ("M"), mark moments ("i") and draw arrows ("s" to "f").
"""

import gzip
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import UsageError


@dataclass(frozen=True, slots=True)
class Event:
    """One complete event of one thread. Times are in microseconds, as the file has them."""

    name: str
    category: str
    thread: tuple[str, str]
    start_us: float
    duration_us: float

    @property
    def end_us(self) -> float:
        """When it was over."""
        return self.start_us + self.duration_us


@dataclass(frozen=True, slots=True)
class Trace:
    """The complete events of a file, in the order of their beginnings, and how many of each phase it has in all."""

    events: tuple[Event, ...]
    phases: Counter[str]

    @property
    def arrows(self) -> int:
        """Arrows from one event to another, such as from an operator to the one of the backward pass."""
        return min(self.phases["s"], self.phases["f"])

    def within(self, outer: Event) -> tuple[Event, ...]:
        """Return the events of the same thread that lie within one, itself among them."""
        return tuple(
            each
            for each in self.events
            if each.thread == outer.thread and outer.start_us <= each.start_us and each.end_us <= outer.end_us
        )

    def entangled(self, tolerance_us: float = 0.01) -> int:
        """Return how many pairs of events of one thread overlap in part: none, where calls return in order."""
        pairs = 0
        for thread in {each.thread for each in self.events}:
            mine = [each for each in self.events if each.thread == thread]
            start, end = (np.array([getattr(each, name) for each in mine]) for name in ("start_us", "end_us"))
            began = start[:, None] < start[None, :] - tolerance_us
            open_still = start[None, :] < end[:, None] - tolerance_us
            ended = end[:, None] < end[None, :] - tolerance_us
            pairs += int(np.count_nonzero(began & open_still & ended))
        return pairs


def read_trace(file: Path) -> Trace:
    """Read a trace, plain or gzipped. Raises `UsageError` for what is no trace."""
    try:
        data = file.read_bytes()
        whole = json.loads(gzip.decompress(data) if file.suffix == ".gz" else data)
        found: list[dict[str, Any]] = whole["traceEvents"] if isinstance(whole, dict) else whole
        events = [_event(each) for each in found if each.get("ph") == "X"]
        phases = Counter(str(each.get("ph")) for each in found)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{file} is no trace in Chrome's format ({error}); name one that was exported.") from None
    return Trace(tuple(sorted(events, key=lambda each: (each.start_us, -each.duration_us))), phases)


def _event(found: dict[str, Any]) -> Event:
    thread = str(found["pid"]), str(found["tid"])
    return Event(str(found["name"]), str(found.get("cat", "")), thread, float(found["ts"]), float(found["dur"]))
