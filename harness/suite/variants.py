"""Read the Python and the C++ code of `GroupedVariants`, and match their lines by the labels in comments."""

import re
import textwrap
from typing import Final

from harness.errors import UsageError

_SECTIONS: Final = ("SETUP", "GLOBAL_SETUP")

Cases = dict[tuple[str, ...] | str | None, tuple[str, str]]
"""A Python statement and a C++ statement for each label. One of the two statements may be ""."""


def parse_variants(py_block: str, cpp_block: str) -> tuple[Cases, str, str, str]:
    """Return four values: the statements by label, the Python setup, the C++ setup, and the global C++ setup.

    If a label has several lines, each line gets its own label: `("label", "Case:  0")`, `("label", "Case:  1")` and so
    on. Raise `UsageError` if the Python block has a global setup.
    """
    python, cpp = _by_label(py_block, "#"), _by_label(cpp_block, "//")
    py_setup, py_global = ("\n".join(python.pop(name, [])) for name in _SECTIONS)
    cpp_setup, global_setup = ("\n".join(cpp.pop(name, [])) for name in _SECTIONS)
    if py_global.strip():
        raise UsageError("Only C++ has a global setup; move the lines below `# @Global Setup` to `# @setup`.")
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
            # A comment becomes an empty line, because the Python and C++ lines are matched by line number.
            lines.setdefault(label, []).append("" if line.startswith(comment) else line)
    return lines


def _side_by_side(left: list[str], right: list[str]) -> list[tuple[str, str]]:
    length = max(len(left), len(right))
    left, right = (side + [""] * (length - len(side)) for side in (left, right))
    return list(zip(left, right, strict=True))
