"""Read traces in Chrome's format, which `export_chrome_trace` and `tensorboard_trace_handler` write.

The file is JSON: a list of events, each with a phase `ph`. A complete event ("X") has a start and a duration. Other
events name a thread ("M"), mark a time ("i"), or are the start or the end of an arrow ("s" and "f").
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
    """The complete events of a trace, sorted by their start, and the number of events of each phase."""

    events: tuple[Event, ...]
    phases: Counter[str]

    @property
    def arrows(self) -> int:
        """The number of arrows between events, for example from an operator to its backward operator."""
        return min(self.phases["s"], self.phases["f"])

    def within(self, outer: Event) -> tuple[Event, ...]:
        """Return the event `outer` and all events of the same thread that lie completely within its time."""
        return tuple(
            each
            for each in self.events
            if each.thread == outer.thread and outer.start_us <= each.start_us and each.end_us <= outer.end_us
        )

    def partial_overlaps(self, tolerance_us: float = 0.01) -> int:
        """Return the number of pairs of events of one thread that overlap only in part. Nested calls give 0."""
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
    """Return the trace in a JSON file, which may be gzipped. Raise `UsageError` if the file is not a trace."""
    try:
        data = file.read_bytes()
        whole = json.loads(gzip.decompress(data) if file.suffix == ".gz" else data)
        found: list[dict[str, Any]] = whole["traceEvents"] if isinstance(whole, dict) else whole
        events = [_event(each) for each in found if each.get("ph") == "X"]
        phases = Counter(str(each.get("ph")) for each in found)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{file} is not a trace in Chrome's format ({error}); name an exported trace.") from None
    return Trace(tuple(sorted(events, key=lambda each: (each.start_us, -each.duration_us))), phases)


def _event(found: dict[str, Any]) -> Event:
    thread = str(found["pid"]), str(found["tid"])
    return Event(str(found["name"]), str(found.get("cat", "")), thread, float(found["ts"]), float(found["dur"]))
