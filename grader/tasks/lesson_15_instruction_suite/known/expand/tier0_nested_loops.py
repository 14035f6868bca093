"""Uses four nested loops in the required order, and splits the signature."""


def expand(benchmark):
    threads = benchmark["num_threads"]
    if isinstance(threads, int):
        threads = [threads]

    arguments, output = "", None
    if benchmark["signature"] is not None:
        left, right = benchmark["signature"].split("->")
        arguments = left[left.index("(") + 1 : left.rindex(")")].strip()
        output = right.strip()
        if output == "None":
            output = None

    result = []
    for runtime in ["Eager", "TorchScript"] if benchmark["torchscript"] else ["Eager"]:
        for autograd in ["Forward", "Forward + Backward"] if benchmark["autograd"] else ["Forward"]:
            for language, key in (("Python", "py"), ("C++", "cpp")):
                stmt = benchmark[key]
                if stmt is None:
                    continue
                if runtime == "TorchScript":
                    stmt = f"jit_model({arguments})"
                    if output is not None:
                        stmt = f"{output} = {stmt}"
                        if key == "cpp":
                            stmt = "auto " + stmt
                    if key == "cpp":
                        stmt += ";"
                if autograd == "Forward + Backward" and output is not None:
                    end = ";" if key == "cpp" else ""
                    stmt = f"{stmt}\n{output}.backward(){end}"
                for n in threads:
                    result.append(
                        {
                            "label": benchmark["label"],
                            "runtime": runtime,
                            "autograd": autograd,
                            "language": language,
                            "num_threads": n,
                            "stmt": stmt,
                            "setup": benchmark["setup"][key],
                            "global_setup": benchmark["setup"]["global"] if key == "cpp" else "",
                        }
                    )
    return result
