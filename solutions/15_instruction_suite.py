"""Exercises of lesson 15: make a flat list of a grouped benchmark, and share out cores.

(a) `expand` is text in, text out: one grouped definition stands for up to eight benchmarks on each number of threads.
(b) `schedule` plans a run: every benchmark gets cores of its own, and nobody waits longer than need be.

Check your work with      python -m grader check 15_instruction_suite
"""

from typing import Any

Benchmark = dict[str, Any]


def expand(benchmark: Benchmark) -> list[Benchmark]:
    """Return the flat list of benchmarks that a grouped one stands for.

    benchmark is a dict:

    "label"           a list of names, such as ["Pointwise", "add"]
    "py", "cpp"       the statement in Python and in C++, such as "z = x + y" and "auto z = x + y;"; None where missing
    "setup"           a dict of three texts: "py", "cpp", and "global", which only C++ has
    "signature"       such as "f(x, y) -> z": what the statement takes and what it leaves behind; None where missing
    "torchscript"     True to run it scripted as well
    "autograd"        True to run it with a backward pass as well
    "num_threads"     a whole number, or a list of them

    Each of the list is a dict with these keys:

    "label"           as it was given
    "runtime"         "Eager" or "TorchScript"
    "autograd"        "Forward" or "Forward + Backward"
    "language"        "Python" or "C++"
    "num_threads"     one whole number
    "stmt"            the statement; with a backward pass, one more line: "z.backward()", in C++ "z.backward();"
    "setup"           the setup of its language
    "global_setup"    the global setup in C++, and "" in Python

    Scripted, the statement is a call of jit_model: "z = jit_model(x, y)", and in C++, where we take it for a function
    as well, "auto z = jit_model(x, y);". A signature may have no arguments, "f() -> z", or leave nothing behind,
    "f(x, y) -> None": then nothing is assigned, and the call stands alone. A language whose statement is None has no
    benchmarks, scripted ones included.

    In order: eager before scripted, each forward before forward and backward, each Python before C++, each with its
    numbers of threads as given.

    Points: 10 for the right list for every benchmark that we try.
    """
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Return one dict for each runtime, autograd mode, language, threads.")
    threads = benchmark["num_threads"]
    flat = []
    for runtime in ("Eager", "TorchScript")[: 1 + benchmark["torchscript"]]:
        for autograd in ("Forward", "Forward + Backward")[: 1 + benchmark["autograd"]]:
            for language in ("Python", "C++"):
                stmt = statement(benchmark, runtime, autograd, language)
                if stmt is None:
                    continue
                is_cpp = language == "C++"
                flat += [
                    {
                        "label": benchmark["label"],
                        "runtime": runtime,
                        "autograd": autograd,
                        "language": language,
                        "num_threads": number,
                        "stmt": stmt,
                        "setup": benchmark["setup"]["cpp" if is_cpp else "py"],
                        "global_setup": benchmark["setup"]["global"] if is_cpp else "",
                    }
                    for number in (threads if isinstance(threads, list) else [threads])
                ]
    return flat
    # END SOLUTION


# BEGIN SOLUTION
def statement(benchmark: Benchmark, runtime: str, autograd: str, language: str) -> str | None:
    """Return what is run again and again; None where the language has no statement."""
    is_cpp = language == "C++"
    stmt: str | None = benchmark["cpp" if is_cpp else "py"]
    if stmt is None or benchmark["signature"] is None:
        return stmt
    call, output = benchmark["signature"].split(" -> ")
    end = ";" if is_cpp else ""
    if runtime == "TorchScript":
        assigned = "" if output == "None" else f"auto {output} = " if is_cpp else f"{output} = "
        stmt = f"{assigned}jit_model{call[1:]}{end}"
    if autograd == "Forward + Backward":
        stmt = f"{stmt}\n{output}.backward(){end}"
    return stmt


# END SOLUTION
def schedule(jobs: list[list[int]], cores: int) -> list[list[Any]]:
    """Return when each job begins, and on which cores: rows [start, [core, ...]], in the order of the jobs.

    A job is [width, seconds]: it takes `width` cores, 1 to `cores`, for so many whole seconds, and does not move
    meanwhile. The cores are numbered 0 to `cores` - 1; which of them a job gets does not matter. No core may have two
    jobs at a time; one may begin in the very second in which another ends. The first second is 0.

    No jobs, no rows.

    Points: 4 of 10 for a plan that keeps the rules. The sooner the last job ends, the more: 7 for 1.25 times sooner
    than one job after the other, all 10 for 3 times.
    """
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Return when each job begins, and on which cores.")
    plan: list[list[Any]] = [[0, []] for _ in jobs]
    free_from = [0] * cores
    now, waiting = 0, sorted(range(len(jobs)), key=lambda job: -jobs[job][0] * jobs[job][1])
    while waiting:
        free = [core for core in range(cores) if free_from[core] <= now]
        # The largest that fits goes first; a small one may pass a large one that has to wait.
        for job in [job for job in waiting if jobs[job][0] <= len(free)]:
            width, seconds = jobs[job]
            if width <= len(free):
                taken, free = free[:width], free[width:]
                plan[job] = [now, taken]
                waiting.remove(job)
                for core in taken:
                    free_from[core] = now + seconds
        now = min((end for end in free_from if end > now), default=now)
    return plan
    # END SOLUTION
