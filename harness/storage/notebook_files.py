"""Write notebook files with a stamp, which shows later whether a person has edited the notebook.

It holds the SHA-256 of the cells as fairclock wrote them, without the empty cells that Jupyter adds.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

STAMP: Final = "fairclock"
"""The key of the stamp in a notebook's metadata."""

_CELLS: Final = "cells_sha256"
_SPEC: Final = {"display_name": "fairclock", "language": "python", "name": "python3"}
_KERNEL: Final = {"kernelspec": _SPEC, "language_info": {"name": "python"}}


_FIRST: Final = """\
try:
    import sys
    sys.path[:] = [path for path in sys.path if path]  # a file of yours, such as grader.py, must not hide the kit
    {code}
    sys.path.append("")
except ImportError:
    lacking = (
        "This kernel does not have fairclock: choose the kernel fairclock in the menu Kernel, Change Kernel. "
        "If the menu does not list it, type this in the folder of the kit: "
        ".venv/bin/python -m ipykernel install --user --name fairclock"
    )
    print(lacking)"""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a notebook: an id that stays the same, its kind ("code" or "markdown"), and its text."""

    id: str
    kind: str
    text: str


def kernel_cell(code: str) -> Cell:
    """Return a notebook's first code cell. It runs `code`, which imports the kit, or names the kernel to choose."""
    return Cell("kernel", "code", _FIRST.format(code=code.replace("\n", "\n    ")))


def notebook(cells: Sequence[Cell], **stamp: str) -> bytes:
    """Return the file of a notebook with these cells, as nbformat writes it, but without the slow import of nbformat.

    Its metadata holds the SHA-256 of the cells and the values in `stamp`.
    """
    only_code: dict[str, Any] = {"execution_count": None, "outputs": []}
    made = [
        {"id": cell.id, "cell_type": cell.kind, "metadata": {}, "source": cell.text.splitlines(keepends=True)}
        | (only_code if cell.kind == "code" else {})
        for cell in cells
    ]
    metadata = {**_KERNEL, STAMP: {_CELLS: _digest([(cell.kind, cell.text) for cell in cells]), **stamp}}
    whole = {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": made}
    return f"{json.dumps(whole, ensure_ascii=False, indent=1, sort_keys=True)}\n".encode()


def stamp_of(data: bytes, key: str = _CELLS) -> str:
    """Return the entry `key` of a notebook file's stamp, or "" if the file has no such entry."""
    metadata = _content(data).get("metadata")
    stamp = metadata.get(STAMP) if isinstance(metadata, dict) else None
    value = stamp.get(key) if isinstance(stamp, dict) else None
    return value if isinstance(value, str) else ""


def code_texts(data: bytes) -> set[str]:
    """Return the text of each code cell of a notebook file, without the white space around it."""
    cells = _content(data).get("cells")
    code = [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []
    return {_text(cell.get("source")).strip() for cell in code if cell.get("cell_type") == "code"}


def is_unedited(path: Path, new: bytes) -> bool:
    """Return whether all cells of the notebook file at `path` match the file's stamp, or the cells of `new`.

    `new` is the notebook that will replace the file. Raise `OSError` if the file cannot be read.
    """
    old = path.read_bytes()
    cells = _cells_digest(old)
    return old == new or (cells != "" and cells in {stamp_of(old), _cells_digest(new)})


def _content(data: bytes) -> dict[str, Any]:
    """Return the JSON object in a notebook file. For a file without a JSON object, return an empty dict."""
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _cells_digest(data: bytes) -> str:
    """Return the SHA-256 of a notebook file's cells, or "" if it has none."""
    cells = _content(data).get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        return ""
    return _digest([(str(cell.get("cell_type")), _text(cell.get("source"))) for cell in cells])


def _text(source: object) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _digest(cells: Sequence[tuple[str, str]]) -> str:
    kept = [[kind, text.strip()] for kind, text in cells if text.strip()]
    return hashlib.sha256(json.dumps(kept).encode()).hexdigest()
