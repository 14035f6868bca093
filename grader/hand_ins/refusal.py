"""A hand-in that cannot be taken: why, in words for the student, and the bounds that decide it.

A refusal is no fault of the run. It travels as an exception only inside collecting; `collect` turns it into a
`Submission` without source, and the class goes on.
"""

import codecs
import hashlib
import io
import re
import tokenize
from typing import Final

MAX_SOURCE_BYTES = 1_000_000
"""Largest exercise taken, as Python text: a thousand times what an exercise needs, and quick to read."""

MAX_NOTEBOOK_BYTES = 10_000_000
"""Largest notebook file taken: its plots count here, though only its code is kept."""


class Refusal(Exception):  # noqa: N818 - it is a verdict on a file, not an error of ours
    """One sentence that tells the student what is wrong with the file and what to hand in instead."""


def digest(data: bytes) -> str:
    """SHA-256 of a file's bytes, in hexadecimal: what a grade belongs to."""
    return hashlib.sha256(data).hexdigest()


OLDER: Final = re.compile(r"ascii|iso8859|cp\d|mac-|koi8|gb|big5|shift_jis|euc_")
"""How Python's names of those encodings begin that a file may declare. Others are slow to decode, or hold no text."""


def python_text(data: bytes, name: str) -> str:
    """Decode the bytes of a Python file: UTF-8, or what its first lines declare (PEP 263).

    Raises `Refusal` for what is too large or is no such text.
    """
    if len(data) > MAX_SOURCE_BYTES:
        raise Refusal(f"{name} is larger than {MAX_SOURCE_BYTES:,} bytes; hand in the exercise alone.")
    try:
        text = data.decode(_encoding(data))
    except UnicodeDecodeError:
        raise Refusal(f"{name} is not UTF-8 text; save it as UTF-8 in your editor and hand it in again.") from None
    if "\0" in text:
        raise Refusal(f"{name} holds binary data; hand in the exercise as a Python file.")
    return text


def _encoding(data: bytes) -> str:
    """Return the encoding that a file declares, if it is one of the `OLDER` ones; else UTF-8."""
    try:
        declared, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError:  # it declares one that does not exist, or begins with bytes of another
        return "utf-8-sig"
    return declared if OLDER.match(codecs.lookup(declared).name) else "utf-8-sig"
