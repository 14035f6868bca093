"""Notebooks as hand-ins: the code cells in their order, as one Python text.

Outputs, metadata, attachments and execution counts are dropped before anything looks at them: what a notebook
claims to have printed is no evidence. The rest must follow the notebook format, which nbformat checks. What
only a notebook can run (a magic, a shell line, a help request) is refused with its cell number.
"""

import io
import json
import re
import tokenize
from collections.abc import Sequence
from typing import Any

from grader.hand_ins.refusal import MAX_NOTEBOOK_BYTES, MAX_SOURCE_BYTES, Refusal

MAX_CELLS = 2_000
"""More cells than any exercise has; checking them stays within a second."""

FORMAT = 4
"""The notebook format that is read: Jupyter has written it since 2015."""

_SHOWN_CHARACTERS = 60
_HEADING = re.compile(r"# cell (\d+)")
_LINE_OF_FILE = re.compile(r"line (\d+) of the file")
_LINE_END = re.compile(r"\r\n|\r|\n")
"""What ends a line of Python. (`str.splitlines` knows more, such as a form feed.)"""


def python_source(data: bytes, name: str) -> str:
    """Return the Python text of a notebook file's bytes. Raises `Refusal` when there is none."""
    cells = _cells(_parsed(data, name), name)
    parts = []
    for number, (kind, source) in enumerate(cells, start=1):
        if kind == "code":
            _refuse_what_is_no_text(source, number, name)
            _refuse_magic(source, number, name)
            parts.append(f"# cell {number}\n{source.rstrip()}\n")
    text = "\n".join(parts)
    if len(text.encode()) > MAX_SOURCE_BYTES:
        raise Refusal(f"{name} holds more than {MAX_SOURCE_BYTES:,} bytes of code; hand in the exercise alone.")
    return text


def by_cell(said: str, source: str) -> str:
    """Return `said` with each "line 31 of the file" told as a line of a cell; `source` is what `python_source` gave."""
    return _LINE_OF_FILE.sub(lambda match: _place(int(match[1]), _LINE_END.split(source)) or match[0], said)


def _place(line: int, lines: Sequence[str]) -> str:
    """Return a line of the whole text as a line of its cell; empty where no cell begins above it."""
    for above in range(min(line, len(lines)), 0, -1):
        heading = _HEADING.fullmatch(lines[above - 1])
        if heading:
            return f"line {line - above} of cell {heading[1]}"
    return ""


def _parsed(data: bytes, name: str) -> dict[str, object]:
    if len(data) > MAX_NOTEBOOK_BYTES:
        raise Refusal(f"{name} is larger than {MAX_NOTEBOOK_BYTES:,} bytes; clear its outputs and hand it in again.")
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise Refusal(f"{name} is not a notebook (it is not JSON); save it in Jupyter and hand it in again.") from None
    if not isinstance(content, dict) or content.get("nbformat") != FORMAT:
        raise Refusal(f"{name} is not a notebook of format {FORMAT}; open it in Jupyter and save it again.")
    return content


def _cells(content: dict[str, object], name: str) -> list[tuple[str, str]]:
    """Return (kind, source) of each cell, once nbformat has found the notebook well-formed."""
    import nbformat  # noqa: PLC0415 - slow to import, and most hand-ins are plain files

    cells = content.get("cells")
    broken = Refusal(f"{name} breaks the notebook format; open it in Jupyter and save it again.")
    if not isinstance(cells, list) or not all(_has_kind(cell) for cell in cells):
        raise broken
    if len(cells) > MAX_CELLS:
        raise Refusal(f"{name} has more than {MAX_CELLS:,} cells; hand in the exercise alone.")
    kept = [_bare(cell) for cell in cells]
    # 4.4 is the last minor version in which a cell needs no id.
    bare = {"nbformat": FORMAT, "nbformat_minor": 4, "metadata": {}, "cells": kept}
    try:
        nbformat.validate(bare)
    except (nbformat.ValidationError, RecursionError):
        raise broken from None
    return [(str(cell["cell_type"]), "".join(cell["source"])) for cell in kept]


def _has_kind(cell: object) -> bool:
    """Tell whether nbformat can check a cell at all: a kind that is no text makes its checker fail."""
    return isinstance(cell, dict) and isinstance(cell.get("cell_type"), str)


def _bare(cell: dict[str, Any]) -> dict[str, Any]:
    """Return what is used of a cell, in a form nbformat can check: its kind and its source."""
    bare: dict[str, Any] = {key: cell[key] for key in ("cell_type", "source") if key in cell}
    bare["metadata"] = {}
    if cell.get("cell_type") == "code":
        bare |= {"outputs": [], "execution_count": None}
    return bare


def _refuse_what_is_no_text(source: str, number: int, name: str) -> None:
    """Refuse a cell that no file can hold; before Python's tokenizer sees it, which may raise anything for it."""
    try:
        source.encode()
    except UnicodeEncodeError:
        raise Refusal(
            f"Cell {number} of {name} holds characters that are no text; retype it and save the notebook again."
        ) from None
    if "\0" in source:
        raise Refusal(f"Cell {number} of {name} holds binary data; hand in a notebook of Python code.")


def _refuse_magic(source: str, number: int, name: str) -> None:
    line = magic_line(source)
    if line:
        lines = source.split("\n")
        shown = lines[min(line, len(lines)) - 1].strip()[:_SHOWN_CHARACTERS]
        raise Refusal(
            f"Cell {number} of {name} has a line that only a notebook can run ({shown}); "
            "take it out, or move it to a cell of its own in a copy that you keep."
        )


def magic_line(source: str) -> int:
    """Return the number of the first line with a magic (`%`, `%%`), shell (`!`) or help (`?`) request, or 0.

    The text is tokenised, never compiled: a `%` that continues an expression or stands in a string is no
    magic, and no text of a student's can overflow a parser here.
    """
    depth = 0
    fresh = True  # at the start of a logical line
    previous = ""
    start = 1
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT}:
                continue
            if token.type == tokenize.NEWLINE:
                fresh, previous = True, ""
                continue
            if not token.string.strip():
                continue
            start = token.start[0] if fresh else start
            asks = token.string in {"%", "!", "?", "%="} and (fresh or (previous == "=" and depth == 0))
            if asks or (token.string == "?" and token.type != tokenize.STRING):
                return token.start[0]
            depth += (token.string in {"(", "[", "{"}) - (token.string in {")", "]", "}"})
            fresh, previous = False, token.string
    except (tokenize.TokenError, SyntaxError, ValueError):  # ValueError: it is not even text
        # No Python from here on, and the grader will say so; newer Pythons stop at the very magic.
        lines = source.split("\n")
        return start if fresh and start <= len(lines) and lines[start - 1].lstrip()[:1] in {"%", "!"} else 0
    return 0
