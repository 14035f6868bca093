"""First makes a dict of statements by (runtime, language), then the list in one comprehension.

Trade: The table of statements is easy to test. The rules are in two places: the table and the list.
"""

from baseline import row


def expand(benchmark):
    call, output = (benchmark["signature"] or "f() -> None").split(" -> ")
    result = "" if output == "None" else f"{output} = "
    statements = {("Eager", "Python"): benchmark["py"], ("Eager", "C++"): benchmark["cpp"]}
    if benchmark["torchscript"]:
        statements["TorchScript", "Python"] = f"{result}jit_model{call[1:]}"
        statements["TorchScript", "C++"] = f"{'auto ' * bool(result)}{result}jit_model{call[1:]};"
    languages = [name for name, key in (("Python", "py"), ("C++", "cpp")) if benchmark[key] is not None]
    backward = {"Python": f"\n{output}.backward()", "C++": f"\n{output}.backward();"}
    threads = benchmark["num_threads"]
    return [
        row(benchmark, runtime, mode, language, n, statement + backward[language] * (mode != "Forward"))
        for runtime in ("Eager", "TorchScript")
        for mode in ["Forward"] + ["Forward + Backward"] * benchmark["autograd"]
        for language in languages
        if (statement := statements.get((runtime, language)))
        for n in (threads if isinstance(threads, list) else [threads])
    ]
