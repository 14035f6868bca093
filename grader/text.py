"""Turn text from submissions and file names into text that UTF-8 can encode, so that it can be written anywhere.

A Python string may contain lone surrogates: halves of a character, which UTF-8 cannot encode. A notebook may contain
them, and a submission may print them. Python also uses them for the bytes of a file name that are not UTF-8.
"""

import os
import re

_ESCAPE = re.compile(r"\\x[0-9a-f]{2}")


def storable(text: str) -> str:
    r"""Return text that UTF-8 can encode. Each lone surrogate is replaced by an escape such as `\ud800`."""
    return text.encode("utf-8", "backslashreplace").decode()


def file_name(name: str) -> str:
    r"""Return a file name as text that UTF-8 can encode. Each byte that is not UTF-8 becomes an escape such as `\xe9`.

    Different names give different texts, because they identify students. So if the text contains an escape, the name's
    own backslashes are doubled. This also happens if the name itself contains text such as `\xe9`.
    """
    data = os.fsencode(name)
    text = data.decode("utf-8", "backslashreplace")
    if _ESCAPE.search(text):
        text = data.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    return text
