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
    raise NotImplementedError("Return one dict for each runtime, autograd mode, language, threads.")


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
    raise NotImplementedError("Return when each job begins, and on which cores.")
