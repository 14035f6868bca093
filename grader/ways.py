"""Other ways to solve a task, about which students can read after full marks.

The student kit does not contain these example submissions, only texts that `grader.authoring.task_texts` writes.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Final

from grader import paths
from grader.task import Task
from harness.rendering import units

FILE: Final = paths.TASKS / "ways.json"
"""The file with the ways of all tasks, by the task's full name."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to solve a task: its file's name without the tier, its idea, what it gains and loses, and its ratio."""

    name: str
    idea: str
    trade: str
    ratio: float | None

    @property
    def line(self) -> str:
        """The ratio, the idea and the trade in one line."""
        ratio = "" if self.ratio is None else f"{units.ratio(self.ratio)}: "
        return f"{ratio}{self.idea} {self.trade}"


@dataclass(frozen=True, slots=True)
class TaskWays:
    """The other ways to solve one task.

    `reference` is the ratio of the reference solution, recorded together with the other ratios, or None if there are no
    ratios. `place` names the machine and the date of the recorded ratios, or is "in the simulated scenarios".
    """

    place: str = ""
    reference: float | None = None
    ways: tuple[Way, ...] = ()

    @property
    def heading(self) -> str:
        """The sentence above the list of ways. It is empty if there are none."""
        if not self.ways:
            return ""
        if self.reference is None:
            return "Other right ways:"
        elsewhere = self.place.startswith("on ")
        made = f"recorded {self.place}, and not on this machine" if elsewhere else f"computed {self.place}"
        reference = units.ratio(self.reference)
        return f"Other right ways. Their ratios were {made}. There, the reference solution has the ratio {reference}."

    def lines(self) -> Iterator[str]:
        """Yield the heading and one line for each way. Yield nothing if there are no ways."""
        if self.ways:
            yield self.heading
            yield from (f"- {way.line}" for way in self.ways)


def read() -> dict[str, TaskWays]:
    """Return the ways of all tasks by the task's full name. A task without ways is left out."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    return {
        name: TaskWays(each["place"], each["reference"], tuple(Way(**way) for way in each["ways"]))
        for name, each in found.items()
    }


def as_bytes(ways: Mapping[str, TaskWays]) -> bytes:
    """Return the content of the file for these ways. Each task with ways has one line."""
    found = {name: asdict(each) for name, each in ways.items() if each.ways}
    rows = ",\n".join(f" {json.dumps(name)}: {json.dumps(each, ensure_ascii=False)}" for name, each in found.items())
    return f"{{\n{rows}\n}}\n".encode()


def ways_of(task: Task) -> TaskWays:
    """Return the other ways to solve a task. A task may have none."""
    return read().get(task.full_name, TaskWays())
