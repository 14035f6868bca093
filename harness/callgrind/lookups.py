"""Which functions of a count search dictionaries: by their names, or by an experiment where Python has lost the names.

Debian ships Python without the names of its inner functions. Callgrind then writes an address, such as
"???:0x0000000000530910", and no list of names finds the search. So two scripts are counted that differ only in the key
which they look up: the first key of a dictionary is found at once, the last one after several probes. The function that
takes longer is the search.
"""

import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final

from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import FunctionCounts

from harness import disk_cache
from harness.callgrind import tools
from harness.callgrind.script import count_scripts
from harness.errors import FairclockError

DICTIONARY_LOOKUPS: Final = re.compile(
    r":(lookdict\w*|(unicode|generic|dict)keys_\w*lookup\w*|_Py_dict_lookup\w*)(\.\w+)*( \[|$)"
)
"""CPython's searches in dictionaries, by every name since 3.7. How many steps one takes depends on hashes and luck.

`FunctionCounts.denoise` of torch knows `lookdict_unicode` alone, which Python 3.11 renamed.
"""

_NAMELESS: Final = re.compile(r"(?P<address>[^:]*:0x[0-9a-f]+)(?:'\d+)?(?: \[(?P<object>[^\]]*)\])?")
"""A function without a name; a recursive one may have a number after its address."""

LOOKS: Final = 2000
"""How often each script looks up its key, in each of several ways."""

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
"""Five keys in a table of eight places, all of which want the same place."""


def searches(counts: FunctionCounts) -> FunctionCounts:
    """Return the searches in dictionaries among these counts, as `search_names` finds them."""
    found = search_names([function for _, function in counts])
    return counts.filter(lambda function: function in found)


def search_names(functions: Iterable[str]) -> frozenset[str]:
    """Return those of the functions of one count that search dictionaries.

    Empty where neither a name nor the experiment finds one. The experiment takes about two seconds, once for each
    Python, and needs valgrind; it is made only for functions of Python without a name.
    """
    functions = list(functions)
    named = frozenset(function for function in functions if DICTIONARY_LOOKUPS.search(function))
    if named or not any(map(_of_python, functions)):
        return named
    found = nameless()
    return frozenset(function for function in functions if _address(function) in found)


def is_nameless(function: str) -> bool:
    """Return whether Callgrind knows this function only by its address."""
    return _NAMELESS.fullmatch(function) is not None


@cache
def nameless() -> frozenset[str]:
    """Return the addresses of this Python's nameless functions that search dictionaries, found by the experiment.

    Empty where nothing can be counted. The answer is kept in the cache folder.
    """
    if tools.lacking():
        return frozenset()
    python = Path(sys.executable).resolve()
    built = {"python": sys.version, "executable": str(python), "size": python.stat().st_size}
    key = disk_cache.digest({**built, "valgrind": tools.version(), "script": _SCRIPT, "looks": LOOKS})
    kept = disk_cache.load("lookups", key)
    if isinstance(kept, list):
        return frozenset(map(str, kept))
    found = _experiment()
    disk_cache.keep("lookups", key, sorted(found))
    return found


def _experiment() -> frozenset[str]:
    scripts = [_SCRIPT.replace("LOOKS", str(LOOKS)).replace("PLACE", place) for place in ("0", "-1")]
    try:
        at_once, late = (each.exclusive for each in count_scripts(scripts))
    except FairclockError:
        return frozenset()
    return longer_in(late, at_once)


def longer_in(late: FunctionCounts, at_once: FunctionCounts) -> frozenset[str]:
    """Return the addresses of nameless functions that took an instruction more for each look, or still more. Pure."""
    return frozenset(
        address for more, function in late - at_once if more >= LOOKS and (address := _address(function)) is not None
    )


def _address(function: str) -> str | None:
    match = _NAMELESS.fullmatch(function)
    return match["address"] if match else None


def _of_python(function: str) -> bool:
    match = _NAMELESS.fullmatch(function)
    library = PurePosixPath(match["object"] or "python").name if match else ""
    return library.startswith(("python", "libpython"))
