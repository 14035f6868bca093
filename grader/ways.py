"""Other ways to solve a task, about which students can read after full marks.

The student kit does not contain these example submissions, only texts that `grader.authoring.task_texts` writes.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from grader import paths
from grader.task import Task

FILE: Final = paths.TASKS / "ways.json"
"""The file with the ways of all tasks, by the task's full name."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to solve a task: the tier that it reaches, its idea, and what it gains and loses."""

    tier: int
    idea: str
    trade: str

    @property
    def line(self) -> str:
        """The tier, if the way reaches one, the idea and the trade in one line."""
        return f"{f'Tier {self.tier}: ' if self.tier else ''}{self.idea} {self.trade}"


def as_bytes(ways: Mapping[str, Sequence[Way]]) -> bytes:
    """Return the content of the file for these ways. Each task with ways has one line."""
    found = {name: [*map(asdict, each)] for name, each in ways.items() if each}
    rows = ",\n".join(f" {json.dumps(name)}: {json.dumps(each, ensure_ascii=False)}" for name, each in found.items())
    return f"{{\n{rows}\n}}\n".encode()


def read() -> dict[str, tuple[Way, ...]]:
    """Return the ways of all tasks by the task's full name. A task without ways is left out."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: tuple(Way(**way) for way in each) for name, each in found.items()}


def ways_of(task: Task) -> tuple[Way, ...]:
    """Return the other ways to solve a task. A task may have none."""
    return read().get(task.full_name, ())
