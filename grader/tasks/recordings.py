"""Recorded data of tasks: JSON files with one row per line. The `record.py` of a lesson records them again."""

import copy
import json
import platform
import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any


@cache
def read(file: Path) -> dict[str, Any]:
    """Return the recorded rows by name. Callers must not change them."""
    recorded: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))["recorded"]
    return recorded


def as_text(made_by: str, recorded: Mapping[Any, Sequence[object]]) -> str:
    """Return recorded rows by name as JSON."""
    parts = [
        f'"{name}": [\n' + ",\n".join(f" {json.dumps(row)}" for row in rows) + "\n]" for name, rows in recorded.items()
    ]
    return f'{{"made by": {json.dumps(made_by)}, "recorded": {{\n' + ",\n".join(parts) + "\n}}\n"


def write(file: Path, recorded: Mapping[Any, Sequence[object]], *versions: str) -> None:
    """Write recorded rows by name with the versions of Python and other programs, and print the file's path."""
    made_by = (f"Python {platform.python_version()}", *versions, platform.machine(), f"{datetime.now(UTC):%Y-%m-%d}")
    file.write_text(as_text("; ".join(made_by), recorded), encoding="utf-8")
    sys.stdout.write(f"{file}\n")


def library_programs(source: str) -> dict[str, Callable[[], object]]:
    """Return small functions, by name, that call Python code of the standard library. One of them wraps `source`."""
    nested = {str(i): [{"a": (i, [j])} for j in range(4)] for i in range(10)}

    def compiled() -> None:
        re.purge()  # otherwise the compiled pattern would come from the cache
        re.compile(r"(?:(a|b(c|d)*)+e?|[f-h]{2,3}(?=i))*|(?P<name>x(y|z(w|v)))(?(name)p|q)")

    return {
        "copy.deepcopy": lambda: copy.deepcopy(nested),
        "re.compile": compiled,
        "textwrap.fill": lambda: textwrap.fill(source, 60),
    }
