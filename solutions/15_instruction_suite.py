"""Exercises of lesson 15: expand a grouped benchmark to a flat list, and assign cores to jobs.

(a) `expand` works on texts. One grouped definition describes up to eight benchmarks for each number of threads.
(b) `schedule` plans a run. Every benchmark gets its own cores, and the whole run ends early.

Check your work with      fairclock check 15_instruction_suite
"""

from typing import Any

Benchmark = dict[str, Any]


def expand(benchmark: Benchmark) -> list[Benchmark]:
    """Return the flat list of benchmarks that a grouped benchmark describes.

    benchmark is a dict:

    "label"           a list of names, such as ["Pointwise", "add"]
    "py", "cpp"       the statement in Python and in C++, such as "z = x + y" and "auto z = x + y;", or None
    "setup"           a dict of three texts: "py", "cpp", and "global", which only C++ has
    "signature"       inputs and output of the statement, such as "f(x, y) -> z", or None
    "torchscript"     True to run the statement scripted too
    "autograd"        True to run the statement with a backward pass too
    "num_threads"     a whole number, or a list of whole numbers

    Each item of the list is a dict with these keys:

    "label"           the same list of names
    "runtime"         "Eager" or "TorchScript"
    "autograd"        "Forward" or "Forward + Backward"
    "language"        "Python" or "C++"
    "num_threads"     one whole number
    "stmt"            the statement; with a backward pass, a second line: "z.backward()", in C++ "z.backward();"
    "setup"           the setup of the language
    "global_setup"    the global setup in C++, and "" in Python

    A scripted statement is a call of jit_model: "z = jit_model(x, y)" in Python, and "auto z = jit_model(x, y);" in
    C++. A signature may have no arguments, as in "f() -> z". A signature may have no output, as in "f(x, y) -> None".
    Then the statement is only the call, without an assignment. A language whose statement is None has no benchmarks,
    also no scripted benchmarks.

    Order the list by runtime (eager first). Among equal runtimes, order by autograd mode (forward first), then by
    language (Python first), then by the numbers of threads as given.

    Points: 10 if the list is right for every grouped benchmark that the grader tries.
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
    """Return the statement of a benchmark, or None if the language has no statement."""
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
    """Return a row [start, [core, ...]] for each job, in the order of the jobs.

    `start` is the second in which the job begins, and the list holds the numbers of its cores. A job is [width,
    seconds]: it takes `width` cores, from 1 to `cores`, for a whole number of seconds, and keeps these cores. The cores
    are numbered 0 to `cores` - 1. A job may use any cores. No core may have two jobs at a time. A job may begin in the
    same second in which another job ends. The first second is 0.

    For an empty list of jobs, return an empty list.

    Points: 4 of 10 for a plan that keeps the rules. The baseline runs one job after the other. You get 7 points if your
    plan takes 1/1.25 of the baseline's time, and all 10 if it takes 1/3 of this time.
    """
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Return when each job begins, and on which cores.")
    plan: list[list[Any]] = [[0, []] for _ in jobs]
    free_from = [0] * cores
    now, waiting = 0, sorted(range(len(jobs)), key=lambda job: -jobs[job][0] * jobs[job][1])
    while waiting:
        free = [core for core in range(cores) if free_from[core] <= now]
        # The largest job that fits begins first. A small job may begin before a large job that must wait.
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
