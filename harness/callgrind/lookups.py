"""Find the C functions of Python that look up keys in dictionaries, by their names or by an experiment.

In Debian's Python, static functions have no names. Callgrind then writes an address, such as "???:0x0000000000530910",
and a list of names does not help. So an experiment counts two scripts that differ only in the key that they look up.
The first key of a dictionary is found immediately, the last key after several steps. The function that needs more
instructions for the last key is the lookup.
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
from harness.errors import FairclockError
from harness.storage import disk_cache

DICTIONARY_LOOKUPS: Final = re.compile(
    r":(lookdict\w*|(unicode|generic|dict)keys_\w*lookup\w*|_Py_dict_lookup\w*)(\.\w+)*( \[|$)"
)
"""The names of CPython's functions for dictionary lookups since Python 3.7.

torch's `FunctionCounts.denoise` removes only `lookdict_unicode`, which has another name since Python 3.11.
"""

# The text that Callgrind writes for a function without a name. A recursive function may have a number after its
# address.
_NAMELESS: Final = re.compile(r"(?P<address>[^:]*:0x[0-9a-f]+)(?:'\d+)?(?: \[(?P<object>[^\]]*)\])?")

LOOKS: Final = 2000
"""The number of repetitions of each kind of dictionary lookup in the counted scripts."""

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


def searches(counts: FunctionCounts) -> FunctionCounts:
    """Return only the counts of functions that look up keys in dictionaries. `search_names` finds these functions."""
    found = search_names([function for _, function in counts])
    return counts.filter(lambda function: function in found)


def search_names(functions: Iterable[str]) -> frozenset[str]:
    """Return the names of all `functions` that look up keys in dictionaries.

    If the functions of Python have no names, an experiment finds them by their instruction counts. It needs valgrind
    and takes about two seconds, once for each version of Python. The result is empty if no function is found.
    """
    functions = list(functions)
    named = frozenset(function for function in functions if DICTIONARY_LOOKUPS.search(function))
    if named or not any(map(_of_python, functions)):
        return named
    found = nameless()
    return frozenset(function for function in functions if _address(function) in found)


def is_nameless(function: str) -> bool:
    """Return whether Callgrind has only the address of this function, and no name."""
    return _NAMELESS.fullmatch(function) is not None


@cache
def nameless() -> frozenset[str]:
    """Find CPython's functions for dictionary lookups by an experiment, and return their addresses.

    The experiment counts the instructions of two scripts whose lookups take different numbers of steps. If instructions
    cannot be counted, the result is empty. It is stored in the cache folder.
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
        first_key, last_key = (each.exclusive for each in count_scripts(scripts))
    except FairclockError:
        return frozenset()
    return longer_in(last_key, first_key)


def longer_in(last_key: FunctionCounts, first_key: FunctionCounts) -> frozenset[str]:
    """Return the addresses of nameless functions that need more instructions in `last_key` than in `first_key`.

    The arguments are the counts of scripts that look up the last and the first key of a dictionary. The difference must
    be at least one instruction per lookup.
    """
    return frozenset(
        address
        for more, function in last_key - first_key
        if more >= LOOKS and (address := _address(function)) is not None
    )


def _address(function: str) -> str | None:
    match = _NAMELESS.fullmatch(function)
    return match["address"] if match else None


def _of_python(function: str) -> bool:
    match = _NAMELESS.fullmatch(function)
    library = PurePosixPath(match["object"] or "python").name if match else ""
    return library.startswith(("python", "libpython"))
