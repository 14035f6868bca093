"""Read a notebook that a student handed in: its code cells, which IPython's own functions transform to Python."""

import json
import re
from collections.abc import Iterator

from grader.hand_ins.refusal import MAX_NOTEBOOK_BYTES, MAX_SOURCE_BYTES, Refusal, refuse_utf_16
from grader.source import CodeCell, Notebook
from harness.rendering.texts import shown

MAX_CELLS = 2_000  # checking this many cells takes less than a second
FORMATS = [3, 4]  # Jupyter has written format 4 since 2015
_KINDS = ["code", "markdown", "raw", "heading", "html"]  # a list, because a forged kind may not be hashable
_TITLE_CHARACTERS = 60
_MOST_NAMED = 8


def read_notebook(data: bytes, name: str) -> Notebook:
    """Return the code cells of a notebook, given the file's bytes. Raise `Refusal` if the notebook cannot be used."""
    from grader.hand_ins.ipython_cells import CellTransformer, TooManyMagicsError  # noqa: PLC0415 - slow to import

    transformer, cells, skipped, size = CellTransformer(), list[CodeCell](), list[str](), 0
    for number, (source, tags) in _code_cells(_parsed(data, name), name):
        size += len(source.encode())
        if size > MAX_SOURCE_BYTES:
            raise Refusal(f"{name} contains more than {MAX_SOURCE_BYTES:,} bytes of code; hand in only the exercise.")
        lines = source.strip().splitlines()
        code = next((line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")), lines[0])
        title = shown(code[:_TITLE_CHARACTERS])
        if "skip-execution" in tags:
            skipped.append(f'"{title}"')
            continue
        try:
            python = transformer.python(source)
        except TooManyMagicsError:
            few = "use fewer of them in one cell, and hand in the notebook again."
            raise Refusal(f'Cell "{title}" of {name} has too many magics and shell lines; {few}') from None
        cells.append(CodeCell(number, python, title, may_raise="raises-exception" in tags))
    more = [f"{len(skipped) - _MOST_NAMED} more"] if len(skipped) > _MOST_NAMED else []
    named = ", ".join(skipped[:_MOST_NAMED] + more)
    remark = f"These cells have the tag skip-execution, so they were not run: {named}."
    return Notebook(tuple(cells), (remark,) if skipped else ())


def _parsed(data: bytes, name: str) -> dict[str, object]:
    if len(data) > MAX_NOTEBOOK_BYTES:
        raise Refusal(f"{name} is larger than {MAX_NOTEBOOK_BYTES:,} bytes; clear its outputs and hand it in again.")
    refuse_utf_16(data, name)
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        if b"\n<<<<<<< " in data:
            why = "has marks of a merge conflict of git; keep one version, delete the marks and hand it in again."
            raise Refusal(f"{name} {why}") from None
        raise Refusal(f"{name} is not a notebook (it is not JSON); save it in Jupyter and hand it in again.") from None
    if not isinstance(content, dict) or content.get("nbformat") not in FORMATS:
        raise Refusal(f"{name} is not a notebook of format 3 or 4; open it in Jupyter and save it again.")
    language = _within(content, "metadata", "language_info", "name") or _within(
        content, "metadata", "kernelspec", "language"
    )
    if isinstance(language, str) and "py" not in language.lower():
        raise Refusal(f"{name} is a notebook for {shown(language[:30])}; choose a Python kernel and hand it in again.")
    return content


def _within(value: object, *names: str) -> object:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _code_cells(content: dict[str, object], name: str) -> Iterator[tuple[int, tuple[str, list[object]]]]:
    for number, cell in enumerate(_cells(content, name), start=1):
        kind = cell.get("cell_type")
        text = cell.get("input" if kind == "code" and content["nbformat"] == 3 else "source")
        lines: list[object] = text if isinstance(text, list) else [text]
        texts = [line for line in lines if isinstance(line, str)]
        if kind not in _KINDS or texts != lines:
            raise _broken(name)
        source = re.sub("\r\n?", "\n", "".join(texts).encode(errors="backslashreplace").decode())
        tags = _within(cell, "metadata", "tags")
        if kind == "code" and source.strip():
            yield number, (source, tags if isinstance(tags, list) else [])


def _cells(content: dict[str, object], name: str) -> list[dict[str, object]]:
    sheets = content.get("worksheets") if content["nbformat"] == 3 else [content]
    parts = [_within(sheet, "cells") for sheet in sheets] if isinstance(sheets, list) else [None]
    cells = [cell for part in parts if isinstance(part, list) for cell in part]
    if not all(isinstance(part, list) for part in parts) or not all(isinstance(cell, dict) for cell in cells):
        raise _broken(name)
    if len(cells) > MAX_CELLS:
        raise Refusal(f"{name} has more than {MAX_CELLS:,} cells; hand in only the exercise.")
    return cells


def _broken(name: str) -> Refusal:
    return Refusal(f"{name} breaks the notebook format; open it in Jupyter and save it again.")
