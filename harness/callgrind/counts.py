"""Remove noise from torch's `FunctionCounts`, add up the counts by source file, or draw them."""

import re
from pathlib import PurePosixPath
from typing import Final

from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import FunctionCounts

from harness.callgrind.lookups import searches
from harness.charts.pictures import bar_chart_svg
from harness.rendering.units import count

_PLACE: Final = re.compile(r"(?P<file>[^:]*):(?P<function>.*?)(?: \[(?P<object>[^\]]*)\])?")
UNKNOWN_FILE: Final = "???"
"""The name that Callgrind writes instead of a source file if there is no debug information."""


def denoise(counts: FunctionCounts) -> FunctionCounts:
    """Return the counts without dictionary lookups, whose counts are noisy.

    torch's `FunctionCounts.denoise` does not remove the lookups of new Python versions.
    """
    noise = {function for _, function in searches(counts)}
    return counts.denoise().filter(lambda function: function not in noise)


def file_of(function: str) -> str:
    """Return the source file of a counted function. If it is unknown, return the name of the library in brackets."""
    match = _PLACE.fullmatch(function)
    if match is None:
        return function
    if match["file"] != UNKNOWN_FILE or not match["object"]:
        return match["file"]
    return f"[{PurePosixPath(match['object']).name}]"


def by_file(counts: FunctionCounts) -> FunctionCounts:
    """Return the counts added up by source file."""
    return counts.transform(file_of)


def picture(counts: FunctionCounts, *, title: str, rows: int = 15) -> str:
    """Return an SVG picture of the functions with the largest counts.

    If `counts` is a difference of two counts, the picture shows the largest changes.
    """
    largest = sorted(counts, key=lambda each: -abs(each.count))[:rows]
    ordered = sorted(largest, key=lambda each: -each.count)
    total = f"{counts.sum():,} instructions in all.".replace(",", " ")
    return bar_chart_svg([(each.function, each.count) for each in ordered], title=title, description=total, unit=count)
