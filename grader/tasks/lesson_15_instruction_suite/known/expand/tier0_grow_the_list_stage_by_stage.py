"""Starts with a list of the runtimes, and multiplies it by autograd modes, languages and threads. Makes the statements
at the end.
"""

import copy


def expand(benchmark):
    arguments = result = None
    if benchmark["signature"] is not None:
        head, result = (part.strip() for part in benchmark["signature"].split("->"))
        arguments = head[head.index("(") + 1 : -1]

    stages = [{"label": copy.deepcopy(benchmark["label"])}]

    def multiply(items, key, values):
        return [{**item, key: value} for item in items for value in values]

    stages = multiply(stages, "runtime", ["Eager", "TorchScript"][: 1 + bool(benchmark["torchscript"] and result)])
    stages = multiply(
        stages,
        "autograd",
        ["Forward", "Forward + Backward"][: 1 + bool(benchmark["autograd"] and result not in (None, "None"))],
    )
    languages = []
    if benchmark["py"] is not None:
        languages.append("Python")
    if benchmark["cpp"] is not None:
        languages.append("C++")
    stages = multiply(stages, "language", languages)
    threads = benchmark["num_threads"]
    stages = multiply(stages, "num_threads", [threads] if isinstance(threads, int) else threads)

    for item in stages:
        cpp = item["language"] == "C++"
        short = "cpp" if cpp else "py"
        semicolon = ";" if cpp else ""
        if item["runtime"] == "Eager":
            stmt = benchmark[short]
        elif result == "None":
            stmt = f"jit_model({arguments}){semicolon}"
        else:
            stmt = f"{'auto ' if cpp else ''}{result} = jit_model({arguments}){semicolon}"
        if item["autograd"] == "Forward + Backward":
            stmt += f"\n{result}.backward(){semicolon}"
        item["stmt"] = stmt
        item["setup"] = benchmark["setup"][short]
        item["global_setup"] = benchmark["setup"]["global"] if cpp else ""
    return stages
