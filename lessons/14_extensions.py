"""Lesson 14: C and C++ code called from Python.

The steps appear on the screen in the order of this file. The lesson keeps compiled code in the user's cache folder.
"""

import ctypes
import math
import sys
import threading
import time
import timeit
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numba
import numpy as np
import torch
from torch.utils.benchmark import Measurement, Timer
from torch.utils.cpp_extension import load_inline

from harness.charts import plots
from harness.charts.pictures import bar_chart_svg
from harness.compilers.inductor import lacking as lacking_cpp
from harness.errors import MachineError
from harness.extensions import (
    build,
    build_library,
    build_lock,
    build_module,
    build_seconds,
    compiled_before,
    inline_folder,
    lacking,
)
from harness.machine.clocks import BackgroundLoad, watch_background_load
from harness.machine.environment import usable_cores
from harness.rendering import units
from harness.rendering.tables import Table
from harness.rendering.wrapping import waiting
from lessons.engine import Choice, Guess, Interval, Lesson, Page
from lessons.engine.command import main
from lessons.engine.published import QUICK_START_TIMERS
from lessons.engine.words import followed, things, yes_no
from lessons.probes.timer_builds import timer_builds_kept

lesson = Lesson(
    __file__,
    objective="You can write, build, call and time C code from Python, and you know how long each kind of call takes.",
)

# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def longest_run(data: Any) -> int:
    best = run = 0
    previous = -1
    for byte in data:
        run = run + 1 if byte == previous else 1
        best = max(best, run)
        previous = byte
    return best


@lesson.given
def in_c() -> str:
    return """
#include <stddef.h>
long longest_run(const unsigned char *data, size_t size) {
  long best = 0, run = 0;
  for (size_t i = 0; i < size; i++) {
    run = i > 0 && data[i] == data[i - 1] ? run + 1 : 1;
    if (run > best) best = run;
  }
  return best;
}
"""


@lesson.given
def four_parts() -> dict[str, str]:
    parts = {}
    parts["functions"] = """
static PyObject *run_of(PyObject *self, PyObject *data) {
  Py_buffer view;
  if (PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) < 0) return NULL;
  long best = longest_run(view.buf, view.len);
  PyBuffer_Release(&view);
  return PyLong_FromLong(best);
}
static PyObject *nothing(PyObject *self, PyObject *none) {
  Py_RETURN_NONE;
}
"""
    parts["method table"] = """
static PyMethodDef methods[] = {
  {"longest_run", run_of, METH_O, "Length of the longest run of bytes."},
  {"nothing", nothing, METH_NOARGS, "Do nothing."},
  {NULL},
};
"""
    parts["module definition"] = """
static struct PyModuleDef definition = {
  PyModuleDef_HEAD_INIT, "runs", "Runs of bytes.", -1, methods,
};
"""
    parts["init function"] = """
PyMODINIT_FUNC PyInit_runs(void) { return PyModule_Create(&definition); }
"""
    return parts


@lesson.given
def whole_source() -> str:
    parts = "".join(four_parts().values())
    return "#include <Python.h>\n" + in_c() + parts


@lesson.given
class Built(NamedTuple):
    times: dict[str, float]
    differ: int
    gains: list[float]
    kind: str
    has_code: bool


@lesson.step(
    "The four parts of a module",
    predict=Guess(
        "We write a loop over 50 000 bytes in Python and in C. What is the time in Python divided by the time in C?",
        "times",
    ),
    expected="about 150 times",
    wrong_reasoning="Students think that C is a few times as fast. But at each byte, Python executes several "
    "instructions and makes objects.",
)
def a_module_in_c(turns: int = 9) -> Built | None:
    """An extension module is a shared library that Python can import. Four parts turn C code into an extension module.

    The *functions* take and return Python objects. The *method table* lists the names of the functions, and how Python
    calls each function. The *module definition* refers to the method table. The *init function* creates the module.
    Python finds the init function by its name.

    In Python, the loop of `longest_run` executes about 20 opcodes for each byte. In C, it needs a few machine
    instructions.
    """
    if lacking():
        return None
    times = {"compile": build(whole_source(), "runs").seconds}
    began = time.perf_counter()
    runs = build_module(whole_source(), "runs")
    times["import"] = time.perf_counter() - began
    data = bytes(50_000)
    began = time.perf_counter()
    runs.longest_run(data)
    times["first call"] = time.perf_counter() - began
    differ, random = 0, np.random.default_rng(0)
    for n in range(200):
        x = random.integers(0, 3, n).astype(np.uint8)
        differ += longest_run(x) != runs.longest_run(x)
    names = {"python": longest_run, "c": runs.longest_run, "data": data}
    gains = []
    for _ in range(turns):
        plain, quick = (
            min(timeit.repeat(f"{way}(data)", globals=names, number=1))
            for way in ("python", "c")
        )  # fmt: skip
        gains.append(plain / quick)
    kind = type(runs.longest_run).__name__
    has_code = hasattr(runs.longest_run, "__code__")
    return Built(times, differ, gains, kind, has_code)


SAME_ANSWERS = a_module_in_c.claim(
    "same-answers",
    "the C function returns the same answers as the Python function",
    equals=0,
    unit=followed("of 200 differ"),
)
C_FASTER = a_module_in_c.claim(
    "c-is-faster",
    "the loop in C is more than 10 times as fast as the loop in Python",
    at_least=10,
    unit=units.ratio,
)
NO_BYTECODE = a_module_in_c.claim(
    "nothing-to-look-into",
    "the C function `longest_run` of the module has no bytecode",
    equals=False,
    unit=lambda code: f"bytecode: {yes_no(code)}",
)


@a_module_in_c.explain
def _(page: Page, built: Built | None) -> None:
    if built is None:
        page.skip_step(lacking(), shows="how to compile and import a module in C, and how much faster its loop is")
        return
    rows = list(built.times.items())
    caption = "One module, from its source to its first answer. The compiler ran in this run or in an earlier run"
    page.table(Table.of(caption, {"": None, "time": units.seconds}, rows))
    page.reveal(Interval.median(built.gains), "Both loops compare each byte with the byte before it.")
    page.settle(SAME_ANSWERS, built.differ)
    page.settle(C_FASTER, Interval.median(built.gains))
    page.settle(NO_BYTECODE, built.has_code)
    page.say(
        "At the import, Python opens the compiled file and calls `PyInit_runs`, which returns the module.",
        f"`runs.longest_run` has the type `{built.kind}`. Python finds its C function in the method table.",
    )


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def broken() -> dict[str, tuple[str, str]]:
    return {
        "functions": ("Py_RETURN_NONE;", "return NULL;"),
        "method table": ('{"nothing", nothing', '{"other", nothing'),
        "module definition": ("-1, methods", "-1, NULL"),
        "init function": ("PyInit_runs", "PyInit_other"),
    }


@lesson.given
class Failure(NamedTuple):
    stage: str
    message: str


@lesson.step(
    "One broken part at a time",
    predict=Choice(
        "We change only the name of the init function. At which stage does the wrong name cause an error?",
        {"a": "when the module is compiled", "b": "at the import", "c": "at the first call"},
    ),
    expected="b",
    wrong_reasoning="Students think that the compiler checks the name. But the name is only a function in the "
    "library, and Python searches for it at the import.",
)
def one_part_broken() -> dict[str, Failure] | None:
    """A C compiler does not check the rules of Python.

    For example, a C compiler does not check that the four parts of a module fit together. We make four copies of the
    module of step 1. Each copy has a small mistake in one of the four parts. We import each copy and call its function
    `nothing`.
    """
    if lacking():
        return None
    errors = MachineError, ImportError, AttributeError, SystemError
    failures = {}
    for part, (right, slip) in broken().items():
        source = whole_source().replace(right, slip)
        stage = "compiling"
        try:
            build(source, "runs")
            stage = "import"
            runs = build_module(source, "runs")
            stage = "call"
            runs.nothing()
        except errors as e:
            text = f"{type(e).__name__}: {e}"
            failures[part] = Failure(stage, text)
    return failures


ALL_COMPILE = one_part_broken.claim(
    "compiles-all-the-same", "all four broken modules compile", equals=0, unit=followed("did not compile")
)
INIT_NAME = one_part_broken.claim(
    "init-by-its-name",
    "a module whose init function has a wrong name raises an error at the import",
    equals=True,
    unit=yes_no,
)
NO_ROW = one_part_broken.claim(
    "no-row-no-function",
    "without a row in the method table, a C function is not an attribute of the module",
    equals=2,
    unit=things("AttributeError"),
)
NULL_ERROR = one_part_broken.claim(
    "null-wants-an-error",
    "a function that returns NULL without setting an exception causes a `SystemError`",
    equals=True,
    unit=yes_no,
)


@one_part_broken.explain
def _(page: Page, failures: dict[str, Failure] | None) -> None:
    if failures is None:
        page.skip_step(lacking(), shows="which error Python raises if one of the four parts is wrong")
        return
    found = {part: failures.get(part, Failure("never", "")) for part in broken()}
    rows = [(part, failure.stage) for part, failure in found.items()]
    page.table(Table.of("The broken part, and the stage of its error", {"part": None, "stage": None}, rows))
    messages = "\n".join(f"{part}: {shortened(failure.message)}" for part, failure in found.items())
    page.output(messages, caption="The error messages, in the same order")
    stage = found["init function"].stage
    page.reveal({"compiling": "a", "import": "b", "call": "c"}.get(stage))
    page.settle(ALL_COMPILE, sum(failure.stage == "compiling" for failure in found.values()))
    page.settle(INIT_NAME, stage == "import")
    absent = ("method table", "module definition")
    page.settle(NO_ROW, sum("AttributeError" in found[part].message for part in absent))
    page.settle(NULL_ERROR, "SystemError" in found["functions"].message)
    page.say(
        "A C function returns NULL to report that it has set an exception. A function must not return NULL if no "
        "exception is set, or an object if an exception is set. The interpreter checks this after many calls, but not "
        "after all. It does not check whether C code counts references correctly. If C code counts a reference once "
        "too often, the object is never freed, which is a memory leak."
    )


def shortened(text: str, most: int = 72) -> str:
    """Return a message as one line, shortened to at most `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
class Versions(NamedTuple):
    signatures: list[int]
    first_s: float
    by_jit: int
    by_extension: int


@lesson.step(
    "The difference from a JIT compiler",
    predict=Choice(
        "An array contains 100 zeros of float64, which take 8 bytes each. What does `longest_run` of the C module of "
        "step 1 return for this array?",
        {"a": "100", "b": "800", "c": "nothing: it raises an exception"},
    ),
    expected="b",
    wrong_reasoning="Students think that the function sees numbers, as a numba function does. But the extension reads "
    "the bytes of the memory, and each number has 8 bytes.",
)
def an_extension_is_no_jit(size: int = 100) -> Versions | None:
    """The JIT compiler numba translates a *Python* function to machine code. The source of our extension is *C*.

    The JIT compiler works while the program runs, when the types of the arguments are known. In contrast, an extension
    is compiled before Python imports the extension. The C code of the extension treats the data as the types that its
    author wrote.
    """
    if lacking():
        return None
    compiled = numba.njit(longest_run)
    runs = build_module(whole_source(), "runs")
    began = time.perf_counter()
    compiled(np.zeros(size, np.uint8))
    first_s = time.perf_counter() - began
    signatures = [len(compiled.signatures)]
    for data in (np.ones(7, np.uint8), bytes(size), np.zeros(size)):
        compiled(data)
        signatures.append(len(compiled.signatures))
    zeros = np.zeros(size)
    by_jit, by_extension = compiled(zeros), runs.longest_run(zeros)
    return Versions(signatures, first_s, by_jit, by_extension)


PER_TYPE = an_extension_is_no_jit.claim(
    "jit-per-type",
    "numba compiles `longest_run` once for each type of argument",
    equals=2,
    unit=followed("more versions for two more types"),
)
SEES_BYTES = an_extension_is_no_jit.claim(
    "extension-sees-bytes", "the extension reads 100 numbers of float64 as 800 bytes", equals=800, unit=units.count
)
READY = an_extension_is_no_jit.claim(
    "ready-at-once",
    "the import and the first call of the extension together take less than 25 % of the time of numba's first call",
    at_most=0.25,
    unit=units.percent,
)


@an_extension_is_no_jit.explain
def _(page: Page, found: Versions | None) -> None:
    if found is None:
        page.skip_step(
            lacking(), shows="that a JIT compiler uses the types of the arguments, and that an extension reads bytes"
        )
        return
    built = page.result(a_module_in_c)
    ready_s = built.times["import"] + built.times["first call"] if built else math.nan
    rows = [
        ("compiled", "at the first call", "before the import, by a C compiler"),
        ("source", "the Python function", "a second text, in C"),
        ("compiled versions", units.count(found.signatures[-1]), "1"),
        ("time to the first answer", units.seconds(found.first_s), units.seconds(ready_s)),
        ("answer for 100 zeros of float64", units.count(found.by_jit), units.count(found.by_extension)),
    ]
    page.table(Table.of("`longest_run`, compiled in two ways", {"": None, "numba": None, "extension": None}, rows))
    page.reveal({100: "a", 800: "b"}.get(found.by_extension))
    page.settle(PER_TYPE, found.signatures[-1] - found.signatures[0])
    page.settle(SEES_BYTES, found.by_extension)
    page.settle(READY, ready_s / found.first_s)
    page.say(
        "A JIT compiler needs the Python function, a compiler on the user's machine, and time at the first call. Its",
        "machine code fits the types of the arguments. An extension needs a compiler only on the machine where it is",
        "built. Its author must check all types, lengths and references, or use a tool such as pybind11 (step 7).",
    )


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def triple_in_c() -> str:
    return "long long triple(long long x) { return 3 * x; }"


@lesson.given
class Answers(NamedTuple):
    differ: int
    undeclared: int
    declared: int


@lesson.step(
    "ctypes: plain C without Python.h",
    predict=Choice(
        "The C function `triple(x)` returns 3 * x. The function takes and returns an integer of 64 bits. We call "
        "`triple` through ctypes with 2 000 000 000, without declaring its types. What is the result?",
        {"a": "6 000 000 000", "b": "a different number", "c": "an exception"},
    ),
    expected="b",
    wrong_reasoning="Students expect the right number or an error. But without declared types, ctypes assumes a C int "
    "of 32 bits and checks nothing.",
)
def c_without_python() -> Answers | None:
    """`ctypes` opens a shared library and calls its functions.

    C code for ctypes needs neither `Python.h` nor the four parts of an extension. A shared library does not contain the
    types of its functions. So you declare the types as `argtypes` and `restype`. Without a declaration, ctypes passes a
    Python integer as a C `int` of 32 bits, and reads the result as a C `int`.
    """
    if lacking(python=False):
        return None
    library = ctypes.CDLL(build_library(in_c()))
    library.longest_run.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.longest_run.restype = ctypes.c_long
    texts = [bytes(n) + b"abba" for n in range(50)]
    differ = sum(
        longest_run(x) != library.longest_run(x, len(x)) for x in texts
    )  # fmt: skip
    other = ctypes.CDLL(build_library(triple_in_c()))
    undeclared = other.triple(2_000_000_000)
    other.triple.argtypes = [ctypes.c_longlong]
    other.triple.restype = ctypes.c_longlong
    declared = other.triple(2_000_000_000)
    return Answers(differ, undeclared, declared)


SAME_BY_CTYPES = c_without_python.claim(
    "same-by-ctypes",
    "through ctypes, the C function returns the same answers as the Python function",
    equals=0,
    unit=followed("of 50 differ"),
)
NOT_CHECKED = c_without_python.claim(
    "nothing-is-checked",
    "without declared types, ctypes returns a wrong answer and raises no exception",
    equals=True,
    unit=yes_no,
)
DECLARED_RIGHT = c_without_python.claim(
    "declared-is-right", "with declared types, ctypes returns the right answer", equals=True, unit=yes_no
)


@c_without_python.explain
def _(page: Page, found: Answers | None) -> None:
    if found is None:
        page.skip_step(lacking(python=False), shows="a C function called by ctypes, with and without declared types")
        return
    rows = [("no types declared", found.undeclared), ("argtypes and restype declared", found.declared)]
    page.table(Table.of("triple(2 000 000 000)", {"": None, "answer": units.count}, rows))
    page.reveal({6_000_000_000: "a"}.get(found.undeclared, "b"))
    page.settle(SAME_BY_CTYPES, found.differ)
    page.settle(NOT_CHECKED, found.undeclared != 6_000_000_000)
    page.settle(DECLARED_RIGHT, found.declared == 6_000_000_000)
    page.say(
        NOT_CHECKED.words(
            held="ctypes read the answer as a C `int`, although the function returns a larger type.",
            refuted="On this machine, the call without declared types returned the right answer. On a different "
            "machine, the same call can return a wrong answer.",
            unclear="This run does not show what a call without declared types returns.",
        ),
        "A wrong type for a pointer can end the process without a traceback. Always declare `argtypes` and `restype`,"
        " next to the line that opens the library.",
    )


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def nothing() -> None:
    pass


@lesson.given
def in_turns(
    statements: dict[str, str],
    names: dict[str, Any],
    turns: int,
    calls: int = 2000,
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in statements}
    for _ in range(turns):
        for name, statement in statements.items():
            timer = timeit.Timer(statement, globals=names)
            fastest = min(timer.repeat(number=calls, repeat=3))
            times[name].append(fastest / calls)
    return times


@lesson.given
class Prices(NamedTuple):
    idle: dict[str, list[float]]
    loops: dict[str, list[float]]


@lesson.step(
    "The cost of a call",
    predict=Guess(
        "We call a C function that does nothing, through ctypes and through an extension. What is the time of the "
        "call through ctypes divided by the time of the call through the extension?",
        "times",
    ),
    expected="about 5 times",
    wrong_reasoning="Students think that both ways only call C. But ctypes converts each argument at run time, and an "
    "extension does this in compiled code.",
    fast={"turns": 9},
)
def price_of_a_call(turns: int = 15) -> Prices | None:
    """Each call of C code takes time to check and convert the arguments, and to create the result.

    An extension states once, in its method table, how to call a function. In contrast, ctypes prepares each call from
    the declared types while the program runs. `ctypes.CDLL` also releases a lock before each call, and takes it again
    after the call (step 6).

    We first time functions that do nothing, and a torch operation on one number. Then we time the loops of step 1 on 4
    bytes and on 4096 bytes. We time the functions alternately.
    """
    if lacking():
        return None
    runs = build_module(whole_source(), "runs")
    empty = ctypes.CDLL(build_library("void nothing(void) {}")).nothing
    empty.argtypes, empty.restype = [], None
    one = torch.ones(1)
    ways = {
        "Python function": "nothing()",
        "extension": "runs.nothing()",
        "C through ctypes": "empty()",
        "torch, one + one": "one + one",
    }
    names: dict[str, Any] = {"runs": runs, "empty": empty, "one": one}
    idle = in_turns(ways, {**names, "nothing": nothing}, turns)
    names = {"python": longest_run, "c": runs.longest_run}
    loops: dict[str, list[float]] = {}
    for n, calls in ((4, 500), (4096, 3)):
        each = {f"{n} {way}": f"{way}(data)" for way in ("python", "c")}
        names["data"] = bytes(n)
        loops |= in_turns(each, names, turns, calls)
    return Prices(idle, loops)


CTYPES_SLOWER = price_of_a_call.claim(
    "ctypes-is-dearer",
    "an empty call through ctypes takes more than 1.5 times as long as an empty call of an extension",
    at_least=1.5,
    unit=units.ratio,
)
TORCH_SLOWEST = price_of_a_call.claim(
    "torch-is-dearest",
    "a torch operation on one number takes more than 5 times as long as an empty call of an extension",
    at_least=5,
    unit=units.ratio,
)
SMALL_GAINS = price_of_a_call.claim(
    "small-gains-less",
    "the speedup from C on 4 bytes is less than half of the speedup on 4096 bytes",
    at_most=0.5,
    unit=units.percent,
)


@price_of_a_call.explain
def _(page: Page, found: Prices | None) -> None:
    if found is None:
        page.skip_step(
            lacking(), shows="the time of four kinds of calls, and the speedup from C on few and on many bytes"
        )
        return
    idle, loops = found
    caption = "Calls that do nothing, and a torch operation on one number"
    bars = [(way, median(times)) for way, times in idle.items()]
    drawn = bar_chart_svg(bars, title=caption, unit=units.seconds)
    page.drawing(plots.bars(bars, width=30, unit=units.seconds), drawn, name="calls", caption=caption)
    extension, by_ctypes, by_torch = idle["extension"], idle["C through ctypes"], idle["torch, one + one"]
    page.reveal(quotients(by_ctypes, extension), "Both functions do nothing.")
    page.settle(CTYPES_SLOWER, quotients(by_ctypes, extension))
    page.settle(TORCH_SLOWEST, quotients(by_torch, extension))
    gains = {n: [p / c for p, c in zip(loops[f"{n} python"], loops[f"{n} c"], strict=True)] for n in (4, 4096)}
    rows = [(n, median(loops[f"{n} python"]), median(loops[f"{n} c"]), median(gains[n])) for n in gains]
    heads = {"bytes": units.count, "Python": units.seconds, "extension": units.seconds, "speedup": units.ratio}
    page.table(Table.of("`longest_run` on few and on many bytes", heads, rows))
    page.settle(SMALL_GAINS, quotients(gains[4], gains[4096]))
    page.say(
        "The empty function has no arguments and no result. But ctypes prepares its call each time, and releases the"
        " lock each time. Each call takes time, so move a whole loop to C, and not only the body of the loop."
    )


def quotients(times: list[float], others: list[float]) -> Interval:
    """Return the median of the ratios `times / others`, with its interval. The two lists were measured alternately."""
    return Interval.median([one / other for one, other in zip(times, others, strict=True)])


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def spinning() -> str:
    return """
#include <Python.h>
volatile long ticks;
long spin(long n) {
  long before = ticks;
  for (volatile long i = 0; i < n; i++) {}
  return ticks - before;
}
static PyObject *held(PyObject *self, PyObject *n) {
  return PyLong_FromLong(spin(PyLong_AsLong(n)));
}
static PyObject *released(PyObject *self, PyObject *n) {
  long steps = PyLong_AsLong(n), passed;
  Py_BEGIN_ALLOW_THREADS
  passed = spin(steps);
  Py_END_ALLOW_THREADS
  return PyLong_FromLong(passed);
}
static PyMethodDef methods[] = {
  {"held", held, METH_O}, {"released", released, METH_O}, {NULL},
};
static struct PyModuleDef definition = {
  PyModuleDef_HEAD_INIT, "spins", "", -1, methods,
};
PyMODINIT_FUNC PyInit_spins(void) {
  return PyModule_Create(&definition);
}
"""


@lesson.given
def ticks_beside(
    call: Callable[[int], int], n: int, ticks: ctypes.c_long
) -> int:  # fmt: skip
    over = threading.Event()

    def tick() -> None:
        while not over.wait(0.001):
            ticks.value += 1

    beside = threading.Thread(target=tick)
    beside.start()
    passed = call(n)
    over.set()
    beside.join()
    return passed


@lesson.given
class Spins(NamedTuple):
    ticks: int
    wall_s: float
    cpu_s: float
    others: BackgroundLoad


@lesson.given
def two_at_once(
    call: Callable[[int], int], n: int
) -> tuple[float, float, BackgroundLoad]:  # fmt: skip
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(call, [1, 1]))  # starts the threads
        with watch_background_load() as others:
            cpu, wall = time.process_time(), time.perf_counter()
            list(pool.map(call, [n, n]))
            wall = time.perf_counter() - wall
            cpu = time.process_time() - cpu
        return wall, cpu, others


@lesson.step(
    "The lock, held or released",
    predict=Choice(
        "A thread runs a long loop in C in four ways: `held` and `released` of an extension, and `spin` through "
        "`PyDLL` and through `CDLL`. In which of the four ways does a second Python thread run at the same time?",
        {"a": "in none", "b": "only `released`", "c": "`released` and `CDLL`", "d": "in all four"},
    ),
    expected="c",
    wrong_reasoning="Students think that C code never needs the lock. But a C function keeps the lock, unless its own "
    "code or `CDLL` releases it.",
    fast={"n": 100_000_000},
)
def held_or_released(n: int = 300_000_000) -> dict[str, Spins] | None:
    """In the usual build of Python, only the thread that holds a lock, the GIL, may use Python objects.

    C code that uses no Python objects may release the GIL. An extension releases the GIL with `Py_BEGIN_ALLOW_THREADS`.
    ctypes opens a library in two ways. `CDLL` is for functions that use no Python objects, and `PyDLL` is for functions
    of Python itself. Free-threaded builds of Python, such as 3.13t, can run without the GIL.

    A Python thread increases the number `ticks` about once per millisecond. At the same time, C code runs a loop and
    returns by how much `ticks` increased. Then two Python threads start the C loop at the same time. We measure the
    wall time and the CPU time of the two threads.
    """
    if lacking():
        return None
    spins = build_module(spinning(), "spins")
    path = str(build(spinning(), "spins").path)
    ways: dict[str, Callable[[int], int]] = {
        "extension": spins.held,
        "extension, released": spins.released,
    }
    for kind in (ctypes.PyDLL, ctypes.CDLL):
        spin = kind(path).spin
        spin.argtypes, spin.restype = [ctypes.c_long], ctypes.c_long
        ways[f"ctypes.{kind.__name__}"] = spin
    ticks = ctypes.c_long.in_dll(ctypes.CDLL(path), "ticks")
    found = {}
    for way, call in ways.items():
        passed = ticks_beside(call, n, ticks)
        found[way] = Spins(passed, *two_at_once(call, n))
    return found


HELD_STOPS = held_or_released.claim(
    "held-stops-all",
    "while a C function holds the GIL, no other Python thread runs",
    at_most=0,
    unit=things("tick"),
)
LIVELY = 10
"""The number of ticks that shows that the second thread ran. About 100 are possible. A busy machine reaches 10."""
RELEASED_LETS = held_or_released.claim(
    "released-lets-on",
    "while a C function has released the GIL, a second Python thread runs",
    at_least=LIVELY,
    unit=things("tick"),
)
CDLL_RELEASES = held_or_released.claim(
    "cdll-releases", "`ctypes.CDLL` releases the GIL during a call", at_least=LIVELY, unit=things("tick")
)
PYDLL_HOLDS = held_or_released.claim(
    "pydll-holds", "`ctypes.PyDLL` holds the GIL during a call", at_most=0, unit=things("tick")
)
HELD_IN_TURN = held_or_released.claim(
    "held-in-turn",
    "two threads that run C code and hold the GIL use at most 1.2 seconds of CPU time per second of wall time",
    at_most=1.2,
    unit=units.ratio,
)
RELEASED_AT_ONCE = held_or_released.claim(
    "released-at-once",
    "two threads that run C code without the GIL use more than 1.4 seconds of CPU time per second of wall time",
    at_least=1.4,
    unit=units.ratio,
)

CORES = usable_cores()
"""The number of cores that this process may use."""


def has_gil() -> bool:
    """Return whether this Python runs with the GIL. Versions before 3.13 always run with the GIL."""
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


@held_or_released.explain
def _(page: Page, found: dict[str, Spins] | None) -> None:
    shows = "whether a second thread runs while C code holds the GIL, and while C code has released the GIL"
    if found is None:
        page.skip_step(lacking(), shows=shows)
        return
    if not has_gil():
        page.skip_step("this Python runs without the GIL, so use a build with the GIL", shows=shows)
        return
    rows = [(way, each.ticks, each.wall_s, each.cpu_s, each.cpu_s / each.wall_s) for way, each in found.items()]
    heads = {"": None, "ticks": units.count, "wall": units.seconds, "CPU": units.seconds, "CPU ÷ wall": units.ratio}
    page.table(Table.of("Ticks during one call, and the times of two threads that start at the same time", heads, rows))
    held, released = found["extension"], found["extension, released"]
    page.reveal(thread_answer(found))
    page.settle(HELD_STOPS, held.ticks)
    page.settle(RELEASED_LETS, released.ticks)
    page.settle(CDLL_RELEASES, found["ctypes.CDLL"].ticks)
    page.settle(PYDLL_HOLDS, found["ctypes.PyDLL"].ticks)
    page.settle(HELD_IN_TURN, Interval.exact(held.cpu_s / held.wall_s).void_if(held.others.is_high))
    if CORES < 2:
        page.skip(RELEASED_AT_ONCE, "this claim needs a second core")
    else:
        at_once = Interval.exact(released.cpu_s / released.wall_s).void_if(released.others.is_high)
        page.settle(RELEASED_AT_ONCE, at_once)
    page.say(
        "Release the GIL around a long wait or a long computation in C. Code between `Py_BEGIN_ALLOW_THREADS` and"
        " `Py_END_ALLOW_THREADS` must not use Python objects, and must not change their reference counts.",
        "ctypes releases the GIL for a function of a `CDLL`. Most C functions of Python need the GIL, so ctypes holds"
        " it for a function of a `PyDLL`.",
    )


def thread_answer(found: dict[str, Spins]) -> str | None:
    """Return the letter of the ways in which the second thread ran, or None if these ways are not an option."""
    ran = frozenset(way for way, each in found.items() if each.ticks)
    released = "extension, released"
    options = {frozenset(): "a", frozenset({released}): "b", frozenset({released, "ctypes.CDLL"}): "c"}
    return options.get(ran, "d" if len(ran) == len(found) else None)


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def in_cpp() -> str:
    return """
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>

int64_t longest_run(const at::Tensor& x) {
  TORCH_CHECK(x.dtype() == at::kByte, "longest_run takes uint8");
  auto data = x.contiguous();
  auto p = data.const_data_ptr<uint8_t>();
  int64_t best = 0, run = 0;
  for (int64_t i = 0; i < data.numel(); i++) {
    run = i > 0 && p[i] == p[i - 1] ? run + 1 : 1;
    best = std::max(best, run);
  }
  return best;
}
void nothing() {}
"""


@lesson.given
def timed_in_cpp() -> Measurement:
    with timer_builds_kept():  # keeps the code that Timer compiles
        return Timer(
            "x * y;",
            setup="auto x = torch::ones({128}), y = torch::ones({128});",
            language="c++",
            timer=timeit.default_timer,  # waits for no GPU
        ).blocked_autorange(min_run_time=0.1)


@lesson.given
def unready(folder: Path, compiling: int) -> str:
    """Return the reason why this step cannot run, or "" if it can. With --fast, `compiling` is 0."""
    if compiling or compiled_before(folder):
        return lacking_cpp()
    without_fast = "run the lesson once without --fast"
    return f"--fast does not compile torch's headers: {without_fast}"


@lesson.given
def price_of_binding(made: Any) -> dict[str, list[float]]:
    ways, names = {"pybind11": "made.nothing()"}, {"made": made}
    if not lacking():
        ways["method table"] = "runs.nothing()"
        names["runs"] = build_module(whole_source(), "runs")
    return in_turns(ways, names, 9)


@lesson.given
class FromCpp(NamedTuple):
    compile_s: float
    differ: int
    message: str
    calls: dict[str, list[float]]


@lesson.step(
    "load_inline: C++ functions of tensors",
    predict=Guess(
        "We compile the C module of step 1, and a C++ module with torch's headers. What is the time to compile the C++ "
        "module divided by the time to compile the C module?",
        "times",
    ),
    expected="about 30 times",
    wrong_reasoning="Students compare the lengths of the two files. But the compiler also reads torch's headers, "
    "which are far longer than the function.",
    fast={"compiling": 0},
)
def from_cpp(compiling: int = 1) -> FromCpp | str:
    """`torch.utils.cpp_extension.load_inline` compiles C++ code and imports it. pybind11 generates the four parts.

    We include only the two headers that the C++ function needs (`no_implicit_headers`). They include other headers of
    torch and of C++. Altogether, the compiler reads far more lines than for `Python.h`. At the same time, a second
    thread compiles the code of the next step.
    """
    names, flags = ["longest_run", "nothing"], ["-O2"]
    folder = inline_folder([in_cpp(), *names, *flags])
    if why := unready(folder, compiling):
        return why
    with waiting("compiling for torch"), ThreadPoolExecutor(1) as pool:
        other = pool.submit(timed_in_cpp)
        with build_lock(folder):
            made: Any = load_inline(  # type: ignore[no-untyped-call]
                "runs_of_torch",
                in_cpp(),
                functions=names,
                extra_cflags=flags,
                no_implicit_headers=True,
                build_directory=str(folder),
            )
        other.result()
    differ = 0
    for n in range(50):
        x = torch.randint(0, 2, (2 * n,), dtype=torch.uint8)[::2]
        differ += made.longest_run(x) != longest_run(x.tolist())
    try:
        message = str(made.longest_run(torch.zeros(3)))
    except RuntimeError as error:
        message = f"RuntimeError: {error}"
    calls = price_of_binding(made)
    return FromCpp(build_seconds(folder), differ, message, calls)


SAME_BY_TORCH = from_cpp.claim(
    "same-by-torch",
    "for strided tensors, the C++ function returns the same answers as the Python function",
    equals=0,
    unit=followed("of 50 differ"),
)
HEADERS_SLOW = from_cpp.claim(
    "headers-take-long",
    "C++ with torch's headers takes more than 10 times as long to compile as the C module of step 1",
    at_least=10,
    unit=units.ratio,
)
WRONG_TYPE = from_cpp.claim(
    "wrong-type-is-told",
    "for a tensor of float32, the C++ function raises an exception",
    equals=True,
    unit=yes_no,
)
BINDING_COSTS = from_cpp.claim(
    "binding-has-a-price",
    "an empty call through pybind11 takes more than 1.5 times as long as an empty call through a method table",
    at_least=1.5,
    unit=units.ratio,
)


@from_cpp.explain
def _(page: Page, found: FromCpp | str) -> None:
    if isinstance(found, str):
        page.skip_step(
            found, shows="a C++ function of tensors, compiled from a string, and the time of a call through pybind11"
        )
        return
    built = page.result(a_module_in_c)
    plain_s = built.times["compile"] if built else math.nan
    rows = [("C, Python.h", plain_s), ("C++, torch's headers", found.compile_s)]
    page.table(
        Table.of("Time to compile, measured in the run that compiled the code", {"": None, "time": units.seconds}, rows)
    )
    page.output(shortened(found.message.partition("\n")[0], 76), caption="The message for a tensor of float32")
    page.reveal(Interval.exact(found.compile_s / plain_s))
    page.settle(SAME_BY_TORCH, found.differ)
    if built:
        page.settle(HEADERS_SLOW, found.compile_s / plain_s)
    else:
        page.skip(HEADERS_SLOW, lacking())
    page.settle(WRONG_TYPE, "takes uint8" in found.message)
    if "method table" in found.calls:
        page.settle(BINDING_COSTS, quotients(found.calls["pybind11"], found.calls["method table"]))
    else:
        page.skip(BINDING_COSTS, lacking())
    page.say(
        "From the types of the C++ function, pybind11 generates the code that checks and converts the arguments. The "
        "code that pybind11 generates takes time at each call. For large tensors, this time is short compared with the "
        "work of the function."
    )


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
class Turn(NamedTuple):
    python: Measurement
    cpp: Measurement


@lesson.step(
    "One statement, timed from Python and from C++",
    predict=Guess(
        "We time `x * y` on 128 numbers from Python and from C++. What is the time from Python divided by the time "
        "from C++?",
        "times",
    ),
    expected="about 2 times",
    wrong_reasoning="Students think that Python makes each call many times slower. But both versions run the same "
    "operator of torch, so only the call differs.",
    fast={"compiling": 0, "turns": 5},
)
def timed_in_both(compiling: int = 1, turns: int = 9) -> list[Turn] | str:
    """`Timer(language="c++")` compiles the statement, its setup and the loop into a library.

    The loop of the C++ Timer runs no Python code. The Python Timer also measures additional work. Python runs bytecode,
    converts two tensors to C++, and creates a Python object for the result. Step 5 shows the time of an empty call from
    Python, and of a torch operation on one number. We measure alternately with the Python Timer and the C++ Timer.
    """
    setup = "auto x = torch::ones({128}), y = torch::ones({128});"
    if why := unready(inline_folder(["x * y;", setup, ""]), compiling):
        return why
    with waiting("compiling the loop of a Timer"):
        timed_in_cpp()
    python = Timer("x * y", setup="x, y = torch.ones(2, 128)")
    return [
        Turn(python.blocked_autorange(min_run_time=0.1), timed_in_cpp())
        for _ in range(turns)
    ]  # fmt: skip


PYTHON_ADDS = timed_in_both.claim(
    "python-on-top",
    "`x * y` on 128 numbers takes more than 1.1 times as long from Python as from C++",
    at_least=1.1,
    unit=units.ratio,
)
SAME_WORK = timed_in_both.claim(
    "work-is-the-same",
    "`x * y` on 128 numbers takes less than 10 times as long from Python as from C++",
    at_most=10,
    unit=units.ratio,
)


@timed_in_both.explain
def _(page: Page, turns: list[Turn] | str) -> None:
    if isinstance(turns, str):
        page.skip_step(turns, shows="how much Python adds to the time of one statement")
        return
    here = {"Python": [turn.python for turn in turns], "C++": [turn.cpp for turn in turns]}
    rows = [
        (f"{name}, this machine", median(each.median for each in all_), median(each.iqr for each in all_))
        for name, all_ in here.items()
    ]
    rows += [(f"{name}, published", median_s, iqr_s) for name, median_s, iqr_s in QUICK_START_TIMERS]
    heads = {"x * y on 128 numbers": None, "median": units.seconds, "IQR": units.seconds}
    page.table(Table.of("The same statement, timed from Python and from C++", heads, rows))
    more = Interval.median([turn.python.median / turn.cpp.median for turn in turns])
    page.reveal(more)
    page.settle(PYTHON_ADDS, more)
    page.settle(SAME_WORK, more)
    page.say(
        "The published figures are from PyTorch's Timer quick start, with a different machine and an older torch. In",
        "these figures, the C++ Timer has a smaller IQR than the Python Timer. Compare the published IQRs with the",
        "IQRs of this machine.",
    )
    page.say(
        PYTHON_ADDS.words(
            held="To measure the time of torch alone, time the statement from C++. To measure the time in your program,"
            " time the statement in the language of your program.",
            refuted="On this machine, Python adds less than a tenth to the time of the statement.",
            unclear="This run does not show whether Python adds more than a tenth to the time of the statement.",
        )
    )


lesson.key_points = (
    (
        "An extension is compiled before its import. Its author writes the four parts and all type checks, or lets a "
        "tool such as pybind11 generate them."
    ),
    "Each call of C code takes time, and some ways to call it take longer. Move whole loops to C.",
    (
        "C code that uses no Python objects may release the GIL. In a Python with the GIL, two threads can run at the "
        "same time only while one of them has released it."
    ),
)
lesson.references = (
    "Python, Extending and Embedding the Python Interpreter: docs.python.org/3/extending",
    "Python, ctypes, A foreign function library: docs.python.org/3/library/ctypes.html",
    "PyTorch Timer quick start, C++ snippets: docs.pytorch.org/tutorials/recipes/recipes/timer_quick_start.html",
)

if __name__ == "__main__":
    main(lesson)
