"""Foreign text in a form that every file, journal and stream can hold: text that UTF-8 can encode.

Python holds texts that UTF-8 cannot: those with a lone surrogate, which is half of a character. A notebook may contain
one, a submission may print one, and a file name whose bytes are not UTF-8 is read as some.
"""

import os
import re

_ESCAPE = re.compile(r"\\x[0-9a-f]{2}")


def storable(text: str) -> str:
    r"""Return text that UTF-8 can encode: each lone surrogate as its escape, such as `\ud800`."""
    return text.encode("utf-8", "backslashreplace").decode()


def file_name(name: str) -> str:
    r"""Return a file name as text that UTF-8 can encode: each byte that is not UTF-8 as its escape, such as `\xe9`.

    Two different names never give the same text, because students are known by it. So a name that has an escape, or
    looks as if it had one, gets its own backslashes doubled.
    """
    data = os.fsencode(name)
    text = data.decode("utf-8", "backslashreplace")
    if _ESCAPE.search(text):
        text = data.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    return text
