"""The blocks of `GroupedVariants`: lines in two languages, put side by side by the labels in their comments."""

import re
import textwrap
from typing import Final

from harness.errors import UsageError

_SECTIONS: Final = ("SETUP", "GLOBAL_SETUP")

Cases = dict[tuple[str, ...] | str | None, tuple[str, str]]
"""By label, a Python and a C++ statement; either may be empty."""


def parse_variants(py_block: str, cpp_block: str) -> tuple[Cases, str, str, str]:
    """Read both blocks: the cases by label, and the setup in Python, in C++, and the global one.

    A label with several lines has a case for each, `("label", "Case:  0")` and so on.
    """
    python, cpp = _by_label(py_block, "#"), _by_label(cpp_block, "//")
    py_setup, py_global = ("\n".join(python.pop(name, [])) for name in _SECTIONS)
    cpp_setup, global_setup = ("\n".join(cpp.pop(name, [])) for name in _SECTIONS)
    if py_global.strip():
        raise UsageError("Only C++ has a global setup; put the lines below `# @Global Setup` under `# @setup`.")
    cases: Cases = {}
    for label in {**python, **cpp}:
        pairs = [pair for pair in _side_by_side(python.get(label, []), cpp.get(label, [])) if any(pair)]
        for number, pair in enumerate(pairs):
            cases[(label, f"Case: {number:>2}") if len(pairs) > 1 else (label,)] = pair
    return cases, py_setup, cpp_setup, global_setup


def _by_label(block: str, comment: str) -> dict[str, list[str]]:
    label = ""
    lines: dict[str, list[str]] = {}
    for line in textwrap.dedent(block).strip().splitlines():
        if marked := re.search(rf"{comment} @(.+)$", line.strip()):
            label = marked[1]
            section = label.replace(" ", "_").upper()
            label = section if section in _SECTIONS else label
        else:
            # A comment keeps its place: the lines of both languages are matched by number.
            lines.setdefault(label, []).append("" if line.startswith(comment) else line)
    return lines


def _side_by_side(left: list[str], right: list[str]) -> list[tuple[str, str]]:
    length = max(len(left), len(right))
    left, right = (side + [""] * (length - len(side)) for side in (left, right))
    return list(zip(left, right, strict=True))
