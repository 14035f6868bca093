"""Makes the benchmarks language by language, then sorts them into the required order. A stable sort keeps the threads
in order.

Trade: Each language has its own part of the code. The sort key must state the order again.
"""

import re

from baseline import row


def expand(benchmark):
    arguments, output = "", "None"
    signature = benchmark["signature"]
    if signature:
        arguments, output = re.fullmatch(r"\s*f\s*\((.*?)\)\s*->\s*(.*?)\s*", signature).groups()
    assigned = output != "None"

    threads = benchmark["num_threads"]
    threads = threads if isinstance(threads, list) else [threads]

    found = []
    for place, (key, language, prefix, end) in enumerate((("py", "Python", "", ""), ("cpp", "C++", "auto ", ";"))):
        if benchmark[key] is None:
            continue
        versions = [("Eager", benchmark[key])]
        if benchmark["torchscript"]:
            assignment = f"{prefix}{output} = " if assigned else ""
            versions.append(("TorchScript", f"{assignment}jit_model({arguments}){end}"))
        for i, (runtime, stmt) in enumerate(versions):
            modes = [("Forward", stmt)]
            if benchmark["autograd"] and assigned:
                modes.append(("Forward + Backward", f"{stmt}\n{output}.backward(){end}"))
            for j, (mode, text) in enumerate(modes):
                found += [((i, j, place), row(benchmark, runtime, mode, language, n, text)) for n in threads]
    found.sort(key=lambda entry: entry[0])
    return [entry for _, entry in found]
