"""Goes through every combination of the options, and leaves out combinations that are not requested."""

from itertools import product


def expand(benchmark):
    return flat_list(benchmark)


def flat_list(benchmark):
    flat = []
    threads = benchmark["num_threads"]
    threads = threads if isinstance(threads, list) else [threads]
    kinds = product(("Eager", "TorchScript"), ("Forward", "Forward + Backward"), ("Python", "C++"), threads)
    for runtime, autograd, language, number in kinds:
        cpp = language == "C++"
        stmt = benchmark["cpp" if cpp else "py"]
        if stmt is None:
            continue
        if runtime == "TorchScript" and not benchmark["torchscript"]:
            continue
        if autograd != "Forward" and not benchmark["autograd"]:
            continue
        call, output = (benchmark["signature"] or "f() -> None").split(" -> ")
        if runtime == "TorchScript":
            stmt = "jit_model" + call[1:] + (";" if cpp else "")
            if output != "None":
                stmt = ("auto " if cpp else "") + output + " = " + stmt
        if autograd != "Forward":
            stmt = stmt + "\n" + output + ".backward()" + (";" if cpp else "")
        flat.append(row(benchmark, runtime, autograd, language, number, stmt))
    return flat


def row(benchmark, runtime, autograd, language, number, stmt):
    cpp = language == "C++"
    return {
        "label": benchmark["label"],
        "runtime": runtime,
        "autograd": autograd,
        "language": language,
        "num_threads": number,
        "stmt": stmt,
        "setup": benchmark["setup"]["cpp" if cpp else "py"],
        "global_setup": benchmark["setup"]["global"] if cpp else "",
    }
