"""Count instructions with Valgrind's tool Callgrind. Unlike times, repeated counts of the same code are equal.

    from harness.callgrind import Snippet, collect, count_script

    count_script("print(sum(range(1000)))").instructions                # runs valgrind on a script; takes a second
    collect(Snippet("x * y", setup="x, y = torch.ones(2, 128)")).stats  # runs torch's collect_callgrind; half a minute

`count_script` returns `ScriptCounts`, and `collect` returns torch's `CallgrindStats`. Both results contain torch's
`FunctionCounts`, which `denoise` and `picture` take as their argument.
"""

from harness.callgrind.collect import Snippet, SnippetCounts, collect, collect_all
from harness.callgrind.lookups import denoise, is_nameless, picture, searches
from harness.callgrind.script import ScriptCounts, count_script, count_scripts
from harness.callgrind.tools import lacking
