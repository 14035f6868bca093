"""Counting instructions instead of timing them, with Valgrind's Callgrind: exact where times are not.

    from harness.callgrind import Snippet, collect, count_script

    count_script("print(sum(range(1000)))").instructions                # valgrind on a bare script: a second
    collect(Snippet("x * y", setup="x, y = torch.ones(2, 128)")).stats  # torch's collect_callgrind: half a minute, once

`collect` gives torch's own `CallgrindStats`; `denoise`, `by_file` and `picture` take the `FunctionCounts` of either.
"""

from harness.callgrind.collect import Counted, Snippet, collect, collect_all
from harness.callgrind.counts import by_file, denoise, file_of, picture
from harness.callgrind.lookups import is_nameless, searches
from harness.callgrind.script import ScriptCounts, count_script, count_scripts
from harness.callgrind.tools import lacking

__all__ = [
    "Counted",
    "ScriptCounts",
    "Snippet",
    "by_file",
    "collect",
    "collect_all",
    "count_script",
    "count_scripts",
    "denoise",
    "file_of",
    "is_nameless",
    "lacking",
    "picture",
    "searches",
]
