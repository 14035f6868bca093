"""Which hint comes next: three a task, shown one at a time, remembered between calls, and shown again on request."""

import json
from collections.abc import Iterator
from pathlib import Path

from grader.files import write_atomically
from grader.task import Task
from harness.state import state_folder


def following(task: Task) -> Iterator[str]:
    """Yield the next hint of a task; after the last one, the last one again, and how to read all of them again."""
    seen = _seen()
    before = seen.get(task.full_name, 0)
    number = min(before + 1, len(task.hints))
    text = json.dumps({**seen, task.full_name: number}, indent=1)
    path = _file()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text.encode())
    yield spoken(task, number)
    if number == len(task.hints):
        again = f"python -m grader check {task.full_name} --hints"
        yield f"That {'was' if before >= number else 'is'} the last hint. To read all of them again: {again}"


def past(task: Task) -> Iterator[str]:
    """Yield the hints of a task that were shown already, or how to get the first."""
    number = min(_seen().get(task.full_name, 0), len(task.hints))
    if not number:
        yield f"You have read no hint yet. The first: python -m grader check {task.full_name} --hint"
    yield from (spoken(task, each + 1) for each in range(number))


def spoken(task: Task, number: int) -> str:
    """Hint `number` of a task, counted from 1, as it is shown."""
    return f"Hint {number} of {len(task.hints)}: {task.hints[number - 1]}"


def _seen() -> dict[str, int]:
    try:
        seen = json.loads(_file().read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    if not isinstance(seen, dict):
        return {}
    return {name: number for name, number in seen.items() if isinstance(number, int) and number >= 0}


def _file() -> Path:
    return state_folder() / "hints.json"
