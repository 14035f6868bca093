"""A hand-in that cannot be taken: why, in words for the student, and the bounds that decide it.

A refusal is no fault of the run. It travels as an exception only inside collecting; `collect` turns it into a
`Submission` without source, and the class goes on.
"""

import hashlib

MAX_SOURCE_BYTES = 1_000_000
"""Largest exercise taken, as Python text: a thousand times what an exercise needs, and quick to read."""

MAX_NOTEBOOK_BYTES = 10_000_000
"""Largest notebook file taken: its plots count here, though only its code is kept."""


class Refusal(Exception):  # noqa: N818 - it is a verdict on a file, not an error of ours
    """One sentence that tells the student what is wrong with the file and what to hand in instead."""


def digest(data: bytes) -> str:
    """SHA-256 of a file's bytes, in hexadecimal: what a grade belongs to."""
    return hashlib.sha256(data).hexdigest()


def python_text(data: bytes, name: str) -> str:
    """Decode the bytes of a Python file. Raises `Refusal` for what is too large or is not UTF-8 text."""
    if len(data) > MAX_SOURCE_BYTES:
        raise Refusal(f"{name} is larger than {MAX_SOURCE_BYTES:,} bytes; hand in the exercise alone.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refusal(f"{name} is not UTF-8 text; save it as UTF-8 in your editor and hand it in again.") from None
    if "\0" in text:
        raise Refusal(f"{name} holds binary data; hand in the exercise as a Python file.")
    return text
