"""First makes a dict of statements by (runtime, language), then the list in one comprehension.

Trade: The table of statements is easy to test. The rules are in two places: the table and the list.
"""

from baseline import row


def parse(signature):
    if signature is None:
        return None, None
    call, _, output = signature.partition("->")
    names = call.strip().removeprefix("f").strip()[1:-1]
    arguments = [name.strip() for name in names.split(",") if name.strip()]
    output = output.strip()
    return arguments, None if output == "None" else output


def expand(benchmark):
    arguments, output = parse(benchmark["signature"])
    statements = {}
    for language, key in (("Python", "py"), ("C++", "cpp")):
        if benchmark[key] is not None:
            statements["Eager", language] = benchmark[key]
    if benchmark["torchscript"] and arguments is not None:
        call = "jit_model(" + ", ".join(arguments) + ")"
        if ("Eager", "Python") in statements:
            statements["TorchScript", "Python"] = f"{output} = {call}" if output else call
        if ("Eager", "C++") in statements:
            statements["TorchScript", "C++"] = (f"auto {output} = {call}" if output else call) + ";"

    modes = ["Forward"] + ["Forward + Backward"] * bool(benchmark["autograd"] and output)
    threads = benchmark["num_threads"]
    if not isinstance(threads, list):
        threads = [threads]
    backward = {"Python": f"\n{output}.backward()", "C++": f"\n{output}.backward();"}
    return [
        row(
            benchmark,
            runtime,
            mode,
            language,
            n,
            statements[runtime, language] + backward[language] * (mode != "Forward"),
        )
        for runtime in ("Eager", "TorchScript")
        for mode in modes
        for language in ("Python", "C++")
        if (runtime, language) in statements
        for n in threads
    ]
