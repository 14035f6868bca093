"""Uses itertools.product over runtime, mode, language and threads, and a regular expression for the signature.

Trade: One line states the order of all options. It makes combinations that it then leaves out.
"""

import re
from itertools import product

SIGNATURE = re.compile(r"^\s*\w+\s*\((?P<args>.*)\)\s*->\s*(?P<out>.+?)\s*$", re.DOTALL)


def expand(benchmark):
    match = SIGNATURE.match(benchmark.get("signature") or "")
    args = match["args"].strip() if match else ""
    out = match["out"] if match and match["out"] != "None" else None

    runtimes = ("Eager", "TorchScript") if benchmark.get("torchscript") else ("Eager",)
    modes = ("Forward", "Forward + Backward") if benchmark.get("autograd") else ("Forward",)
    threads = benchmark["num_threads"]
    threads = list(threads) if isinstance(threads, (list, tuple)) else [threads]
    setup = benchmark["setup"]

    flat = []
    for runtime, mode, language, n in product(runtimes, modes, ("Python", "C++"), threads):
        cpp = language == "C++"
        stmt = benchmark["cpp" if cpp else "py"]
        if stmt is None:
            continue
        if runtime == "TorchScript":
            call = f"jit_model({args})"
            if out:
                call = f"{'auto ' if cpp else ''}{out} = {call}"
            stmt = call + ";" * cpp
        if mode != "Forward":
            if out is None:
                continue  # without an output there is no backward pass
            stmt += f"\n{out}.backward()" + ";" * cpp
        flat.append(
            dict(
                label=list(benchmark["label"]),
                runtime=runtime,
                autograd=mode,
                language=language,
                num_threads=n,
                stmt=stmt,
                setup=setup["cpp" if cpp else "py"],
                global_setup=setup["global"] if cpp else "",
            )
        )
    return flat
