"""The exception for a student's file that cannot be used, and the function that decodes a Python file."""

import codecs
import hashlib
import io
import re
import tokenize
from typing import Final

MAX_SOURCE_BYTES = 1_000_000  # 1000 times the usual size of an exercise, but quick to read
MAX_NOTEBOOK_BYTES = 10_000_000  # plots in the file may be large, but only its code is kept


_KINDS: Final = {
    b"%PDF": "a PDF",
    b"Rar!": "a RAR archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"\x1f\x8b": "a gzip archive",
    b"\xd0\xcf\x11\xe0": "a Word file",
    b"{\\rtf": "a Word file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
}


class Refusal(Exception):  # noqa: N818 - it is a verdict on a file, not an error of the grader
    """A message for the student in one sentence: the problem with the file, and what to hand in instead."""


def digest(data: bytes) -> str:
    """Return the SHA-256 of a student's file, in hexadecimal. It is stored with the grade."""
    return hashlib.sha256(data).hexdigest()


def kind_of(data: bytes) -> str:
    """Return what a file is by its first bytes, such as "a PDF", or "" if it is unknown or a zip."""
    return next((kind for head, kind in _KINDS.items() if data.startswith(head)), "")


LEGACY_ENCODINGS: Final = re.compile(r"ascii|iso8859|cp\d|mac-|koi8|gb|big5|shift_jis|euc_")
"""A pattern for the encodings that a Python file may declare in addition to UTF-8. Others are slow to decode."""


UTF_16: Final = re.compile(rb"\xff\xfe|\xfe\xff|[^\0]\0[^\0]\0|\0[^\0]\0[^\0]", re.DOTALL)
"""A pattern for the first bytes of a text in UTF-16, which some editors and shells of Windows write."""


def refuse_utf_16(data: bytes, name: str) -> None:
    """Raise `Refusal` if the text of a file is in UTF-16."""
    if UTF_16.match(data):
        raise Refusal(f"{name} is saved as UTF-16; save it as UTF-8 in your editor and hand it in again.")


def python_text(data: bytes, name: str) -> str:
    """Return the text of a Python file, decoded as UTF-8 or in the encoding that its first lines declare (PEP 263).

    Raise `Refusal` for a file that is too large or is not text in that encoding.
    """
    if len(data) > MAX_SOURCE_BYTES:
        raise Refusal(f"{name} is larger than {MAX_SOURCE_BYTES:,} bytes; hand in only the exercise.")
    if kind := kind_of(data):
        raise Refusal(f"{name} is {kind} and not Python; hand in the exercise as a Python file.")
    refuse_utf_16(data, name)
    try:
        text = data.decode(_encoding(data))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        how = f"save it as UTF-8 in your editor and hand it in again (see line {line})."
        raise Refusal(f"{name} is not UTF-8 text; {how}") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise Refusal(f"{name} contains binary data in line {line}; hand in the exercise as a Python file.")
    return text


def _encoding(data: bytes) -> str:
    try:
        declared, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except (SyntaxError, LookupError, UnicodeError):  # the encoding is unknown, not for text, or wrong
        return "utf-8-sig"
    return declared if LEGACY_ENCODINGS.match(codecs.lookup(declared).name) else "utf-8-sig"
