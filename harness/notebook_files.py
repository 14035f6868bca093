"""Notebooks as files: each is written with a stamp, by which a later look tells whether a person has edited it.

The stamp is the SHA-256 of all cells. Jupyter keeps it when it saves or runs the notebook, so only an edited cell
makes a difference. Empty cells count as nothing: Jupyter adds one when the last cell is run.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:  # it is slow to import, and every command loads this module
    from nbformat import NotebookNode

STAMP: Final = "fairclock"
"""The key of the stamp in a notebook's metadata."""

_CELLS: Final = "cells_sha256"
_KERNEL: Final = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: a stable id, whether it holds code or words (Markdown), and its text."""

    id: str
    kind: str
    text: str


def notebook(cells: Sequence[Cell], **stamp: str) -> "NotebookNode":
    """Return a valid notebook of these cells; its metadata holds their SHA-256 and whatever `stamp` names."""
    from nbformat import v4, validate  # noqa: PLC0415 - as above

    make = {"code": v4.new_code_cell, "markdown": v4.new_markdown_cell}
    made = [make[cell.kind](cell.text, id=cell.id) for cell in cells]  # type: ignore[no-untyped-call]
    digest = _digest([(cell.kind, cell.text) for cell in cells])
    metadata = {**_KERNEL, STAMP: {_CELLS: digest, **stamp}}
    whole: NotebookNode = v4.new_notebook(cells=made, metadata=metadata)  # type: ignore[no-untyped-call]
    validate(whole)
    return whole


def as_bytes(made: "NotebookNode") -> bytes:
    """Return a notebook as its file holds it."""
    import nbformat  # noqa: PLC0415 - as above

    text: str = nbformat.writes(made, version=4)  # type: ignore[no-untyped-call]
    return text.encode() + b"\n"


def stamp_of(data: bytes, key: str = _CELLS) -> str:
    """Return one entry of a notebook file's stamp, or "" where the file is not a notebook with such a stamp."""
    metadata = _content(data).get("metadata")
    stamp = metadata.get(STAMP) if isinstance(metadata, dict) else None
    value = stamp.get(key) if isinstance(stamp, dict) else None
    return value if isinstance(value, str) else ""


def is_unedited(path: Path, new: bytes) -> bool:
    """Return whether the notebook file at `path` holds nothing but what this kit wrote into it.

    That is so when its cells are those of its own stamp, or those of the notebook `new`, which is to replace it.
    Raises `OSError` when it cannot be read.
    """
    old = path.read_bytes()
    cells = _cells_digest(old)
    return old == new or (cells != "" and cells in {stamp_of(old), _cells_digest(new)})


def _content(data: bytes) -> dict[str, Any]:
    """Return what a notebook file holds; nothing for a file that is not a JSON object."""
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _cells_digest(data: bytes) -> str:
    """Return the SHA-256 of a notebook file's cells, or "" where it has none."""
    cells = _content(data).get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        return ""
    return _digest([(str(cell.get("cell_type")), _text(cell.get("source"))) for cell in cells])


def _text(source: object) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _digest(cells: Sequence[tuple[str, str]]) -> str:
    kept = [[kind, text.strip()] for kind, text in cells if text.strip()]
    return hashlib.sha256(json.dumps(kept).encode()).hexdigest()
