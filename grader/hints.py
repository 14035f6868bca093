"""Which hint comes next: three a task, shown one at a time, remembered between calls."""

import json
from pathlib import Path

from grader.files import write_atomically
from grader.task import Task
from harness.state import state_folder


def next_hint(task: Task) -> str:
    """The next hint of a task, numbered; after the last one, the last one again."""
    seen = _seen()
    number = min(seen.get(task.full_name, 0) + 1, len(task.hints))
    text = json.dumps({**seen, task.full_name: number}, indent=1)
    path = _file()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text.encode())
    return spoken(task, number)


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
