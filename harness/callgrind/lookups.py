"""Draw torch's `FunctionCounts`, and remove the noise of dictionary lookups, by function name or by an experiment.

In Debian's Python, static functions have no names, only an address. So an experiment counts two scripts, which look up
the first and the last key of a dictionary. The function that needs more instructions for the last key is the lookup.
"""

import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final

from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import FunctionCounts

from harness.callgrind import tools
from harness.callgrind.script import count_scripts
from harness.charts.pictures import bar_chart_svg
from harness.errors import FairclockError
from harness.rendering.units import count
from harness.storage import disk_cache

DICTIONARY_LOOKUPS: Final = re.compile(
    r":(lookdict\w*|(unicode|generic|dict)keys_\w*lookup\w*|_Py_dict_lookup\w*)(\.\w+)*( \[|$)"
)
"""The names of these functions of CPython. `FunctionCounts.denoise` knows only the name before Python 3.11."""

# Callgrind's text for a function without a name. A recursive function may have a number after its address.
_NAMELESS: Final = re.compile(r"(?P<address>[^:]*:0x[0-9a-f]+)(?:'\d+)?(?: \[(?P<object>[^\]]*)\])?")

LOOKS: Final = 2000  # repetitions of each kind of dictionary lookup in the counted scripts

# Five keys have the same preferred slot in a hash table of eight slots.
_SCRIPT: Final = """
def crowded(keys):
    keys = list(keys)
    return [key for key in keys if hash(key) & 7 == hash(keys[0]) & 7][:5]

words = dict.fromkeys(crowded(f"key{n}" for n in range(1000)), 1)
numbers = dict.fromkeys(crowded(range(1, 1000)), 1)
for table in (words, numbers):
    key = list(table)[PLACE]
    for _ in range(LOOKS):
        table[key], table.get(key), key in table
name = compile(list(words)[PLACE], "", "eval")
for _ in range(LOOKS):
    eval(name, {}, words), eval(name, words, {})
"""


def denoise(counts: FunctionCounts) -> FunctionCounts:
    """Return the counts without dictionary lookups. torch's `denoise` keeps the lookups of new Python versions."""
    noise = search_names(function for _, function in counts)
    return counts.denoise().filter(lambda function: function not in noise)


def picture(counts: FunctionCounts, *, title: str) -> str:
    """Return an SVG picture of the 15 functions with the largest counts, or the largest changes of a difference."""
    largest = sorted(counts, key=lambda each: -abs(each.count))[:15]
    ordered = sorted(largest, key=lambda each: -each.count)
    total = f"{counts.sum():,} instructions in all.".replace(",", " ")
    return bar_chart_svg([(each.function, each.count) for each in ordered], title=title, description=total, unit=count)


def search_names(functions: Iterable[str]) -> frozenset[str]:
    """Return the names of all `functions` that look up keys in dictionaries.

    If the functions of Python have no names, an experiment with valgrind finds them, once for each version of Python.
    """
    functions = list(functions)
    named = frozenset(function for function in functions if DICTIONARY_LOOKUPS.search(function))
    if named or not any(map(_of_python, functions)):
        return named
    found = nameless()
    return frozenset(function for function in functions if address(function) in found)


@cache
def nameless() -> frozenset[str]:
    """Find CPython's functions for dictionary lookups by an experiment, and return their addresses.

    The result is stored in the cache folder. It is empty if instructions cannot be counted.
    """
    if tools.lacking():
        return frozenset()
    python = Path(sys.executable).resolve()
    built: dict[str, object] = {"python": sys.version, "executable": str(python), "size": python.stat().st_size}
    built["valgrind"] = tools.compiler_version("valgrind")
    key = disk_cache.digest({**built, "script": _SCRIPT, "looks": LOOKS})
    kept = disk_cache.load("lookups", key)
    if isinstance(kept, list):
        return frozenset(map(str, kept))
    found = _experiment()
    disk_cache.keep("lookups", key, sorted(found))
    return found


def _experiment() -> frozenset[str]:
    scripts = [_SCRIPT.replace("LOOKS", str(LOOKS)).replace("PLACE", place) for place in ("0", "-1")]
    try:
        first_key, last_key = (each.exclusive for each in count_scripts(scripts))
    except FairclockError:
        return frozenset()
    # A lookup of the last key takes at least one instruction more.
    return frozenset(address(function) for more, function in last_key - first_key if more >= LOOKS) - {""}


def address(function: str) -> str:
    """Return the address of a function for which Callgrind has no name, or ""."""
    match = _NAMELESS.fullmatch(function)
    return match["address"] if match else ""


def _of_python(function: str) -> bool:
    match = _NAMELESS.fullmatch(function)
    return match is not None and PurePosixPath(match["object"] or "python").name.startswith(("python", "libpython"))
