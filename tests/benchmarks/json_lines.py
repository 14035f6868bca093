"""Keep results as one JSON object per line, so that an interrupted measurement can continue."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def read(path: Path) -> list[dict[str, Any]]:
    """Return the objects in a file. A last line that was cut off by an interruption is left out."""
    lines = path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []
    return [json.loads(line) for line in lines]


def append(path: Path, objects: Iterable[dict[str, Any]]) -> None:
    """Add objects to a file. Replace a last line that an interruption cut off."""
    path.touch()
    with path.open("r+b") as file:
        file.seek(file.read().rfind(b"\n") + 1)
        file.truncate()
        file.write("".join(f"{json.dumps(one)}\n" for one in objects).encode())
