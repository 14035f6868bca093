"""Read a notebook that a student handed in: its code cells, in order, become one Python text.

A cell with a magic, a shell line or a help request is refused, because such code only runs in a notebook.
"""

import io
import json
import re
import tokenize
from collections.abc import Iterator, Sequence

from grader.hand_ins.refusal import MAX_NOTEBOOK_BYTES, MAX_SOURCE_BYTES, Refusal

MAX_CELLS = 2_000  # checking this many cells takes less than a second
FORMAT = 4  # Jupyter has written this notebook format since 2015
_KINDS = ["code", "markdown", "raw"]  # a list, because a forged kind may not be hashable
_SHOWN_CHARACTERS = 60
_HEADING = re.compile(r"# cell (\d+)")
_LINE_OF_FILE = re.compile(r"line (\d+) of the file")
_LINE_END = re.compile(r"\r\n|\r|\n")  # str.splitlines also splits at form feeds and other characters


def python_source(data: bytes, name: str) -> str:
    """Return the Python text of a notebook, given the file's bytes. Raise `Refusal` if the notebook cannot be used."""
    parts = []
    for number, (kind, source) in enumerate(_cells(_parsed(data, name), name), start=1):
        if kind == "code":
            _refuse_what_is_no_text(source, number, name)
            _refuse_magic(source, number, name)
            parts.append(f"# cell {number}\n{source.rstrip()}\n")
    text = "\n".join(parts)
    if len(text.encode()) > MAX_SOURCE_BYTES:
        raise Refusal(f"{name} contains more than {MAX_SOURCE_BYTES:,} bytes of code; hand in only the exercise.")
    return text


def with_cell_lines(said: str, source: str) -> str:
    """Return the message `said` with each "line 31 of the file" replaced, such as by "line 3 of cell 2".

    `source` is the text that `python_source` returned for the notebook.
    """
    return _LINE_OF_FILE.sub(lambda match: _place(int(match[1]), _LINE_END.split(source)) or match[0], said)


def _place(line: int, lines: Sequence[str]) -> str:
    for above in range(min(line, len(lines)), 0, -1):
        if heading := _HEADING.fullmatch(lines[above - 1]):
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


def _cells(content: dict[str, object], name: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each cell. A text is a string or a list of lines."""
    cells = content.get("cells")
    broken = Refusal(f"{name} breaks the notebook format; open it in Jupyter and save it again.")
    if not isinstance(cells, list):
        raise broken
    if len(cells) > MAX_CELLS:
        raise Refusal(f"{name} has more than {MAX_CELLS:,} cells; hand in only the exercise.")
    for cell in cells:
        kind, source = (cell.get("cell_type"), cell.get("source")) if isinstance(cell, dict) else (None, None)
        lines: list[object] = source if isinstance(source, list) else [source]
        texts = [line for line in lines if isinstance(line, str)]
        if kind not in _KINDS or texts != lines:
            raise broken
        yield kind, "".join(texts)


def _refuse_what_is_no_text(source: str, number: int, name: str) -> None:
    try:
        source.encode()  # for other text, the tokenizer may raise any exception
    except UnicodeEncodeError:
        raise Refusal(
            f"Cell {number} of {name} contains invalid characters; type its text again and save the notebook."
        ) from None
    if "\0" in source:
        raise Refusal(f"Cell {number} of {name} contains binary data; hand in a notebook of Python code.")


def _refuse_magic(source: str, number: int, name: str) -> None:
    if line := magic_line(source):
        lines = source.split("\n")
        shown = lines[min(line, len(lines)) - 1].strip()[:_SHOWN_CHARACTERS]
        raise Refusal(
            f"Cell {number} of {name} has a line that only a notebook can run ({shown}); "
            "delete that line and hand in the notebook again."
        )


def magic_line(source: str) -> int:
    """Return the number of the first line of a cell with a magic (`%`), shell (`!`) or help (`?`) request, or 0.

    The text is split into tokens but not parsed, because some texts make Python's parser crash. A `%` that continues an
    expression or is in a string is not a magic.
    """
    depth, previous, start = 0, "", 1
    fresh = True  # at the start of a logical line
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
    except (tokenize.TokenError, SyntaxError, ValueError):  # ValueError: the source is not valid text
        # The rest is not Python, which the grader reports later. In newer Python versions, the magic raises the error.
        lines = source.split("\n")
        return start if fresh and start <= len(lines) and lines[start - 1].lstrip()[:1] in {"%", "!"} else 0
    return 0
