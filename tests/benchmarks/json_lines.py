"""Keep the results of a benchmark as one JSON object per line, so that an interrupted run can continue."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any


def read(path: Path) -> list[dict[str, Any]]:
    """Return the results in a file. A last line that was cut off by an interruption is left out."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def append(path: Path, results: Iterable[Any]) -> None:
    """Add results, which are dataclasses, to a file. Replace a last line that an interruption cut off."""
    text = "".join(f"{json.dumps(asdict(one))}\n" for one in results)
    path.touch()
    with path.open("r+b") as file:
        file.seek(file.read().rfind(b"\n") + 1)
        file.truncate()
        file.write(text.encode())
