"""What to do with counts: take the noise out, group by file, draw. All take and give torch's `FunctionCounts`."""

import re
from pathlib import PurePosixPath
from typing import Final

from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import FunctionCounts

from harness.bar_chart import bar_chart_svg
from harness.callgrind.lookups import DICTIONARY_LOOKUPS, searches
from harness.units import count

__all__ = ["DICTIONARY_LOOKUPS", "UNKNOWN_FILE", "by_file", "denoise", "file_of", "picture"]

_PLACE: Final = re.compile(r"(?P<file>[^:]*):(?P<function>.*?)(?: \[(?P<object>[^\]]*)\])?")
UNKNOWN_FILE: Final = "???"
"""What Callgrind writes for a file that no debug information names."""


def denoise(counts: FunctionCounts) -> FunctionCounts:
    """Leave out searches in dictionaries, as torch's `denoise` means to; see `searches`."""
    noise = {function for _, function in searches(counts)}
    return counts.denoise().filter(lambda function: function not in noise)


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
