"""What to do with counts: take the noise out, group by file, draw. All take and give torch's `FunctionCounts`."""

import re
from pathlib import PurePosixPath
from typing import Final

from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import FunctionCounts

from harness.bar_chart import bar_chart_svg
from harness.units import count

DICTIONARY_LOOKUPS: Final = re.compile(
    r":(lookdict\w*|(unicode|generic|dict)keys_\w*lookup\w*|_Py_dict_lookup\w*)(\.\w+)*( \[|$)"
)
"""CPython's searches in dictionaries, by every name since 3.7. How many steps one takes depends on hashes and luck.

`FunctionCounts.denoise` of torch 2.13 knows `lookdict_unicode` alone, which Python 3.11 renamed.
"""

_PLACE: Final = re.compile(r"(?P<file>[^:]*):(?P<function>.*?)(?: \[(?P<object>[^\]]*)\])?")
UNKNOWN_FILE: Final = "???"
"""What Callgrind writes for a file that no debug information names."""


def denoise(counts: FunctionCounts) -> FunctionCounts:
    """Leave out searches in dictionaries, as torch's `denoise` means to; works for Python 3.11 and later too."""
    return counts.denoise().filter(lambda function: DICTIONARY_LOOKUPS.search(function) is None)


def file_of(function: str) -> str:
    """The file that a function of a count was compiled from, or the library in brackets where that is not known."""
    match = _PLACE.fullmatch(function)
    if match is None:
        return function
    if match["file"] != UNKNOWN_FILE or not match["object"]:
        return match["file"]
    return f"[{PurePosixPath(match['object']).name}]"


def by_file(counts: FunctionCounts) -> FunctionCounts:
    """Add up all functions of a file."""
    return counts.transform(file_of)


def picture(counts: FunctionCounts, *, title: str, rows: int = 15) -> str:
    """The functions with the largest counts, or for a difference the largest changes, as an SVG."""
    largest = sorted(counts, key=lambda each: -abs(each.count))[:rows]
    ordered = sorted(largest, key=lambda each: -each.count)
    unit = f"{counts.sum():,} instructions in all.".replace(",", " ")
    return bar_chart_svg([(each.function, each.count) for each in ordered], title=title, description=unit, unit=count)
