"""Lesson 14: leaving the interpreter.

Read it top to bottom: it is the screen's own order. What is compiled is kept in your cache folder.
"""

import ctypes
import math
import threading
import time
import timeit
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import numba
import numpy as np
import torch
from torch.utils.benchmark import Measurement, Timer
from torch.utils.cpp_extension import load_inline

from harness import plots, units
from harness.bar_chart import bar_chart_svg
from harness.compilers import lacking as lacking_cpp
from harness.compilers.waiting import waiting
from harness.environment import usable_cores
from harness.errors import MachineError
from harness.extensions import (
    build,
    build_library,
    build_module,
    building,
    compiled_before,
    inline_folder,
    lacking,
    timer_folder,
    timer_kept,
    took_s,
)
from harness.others import Others, others_watched
from harness.tables import Table
from lessons.engine import Choice, Guess, Lesson, Page, Standing, middle
from lessons.engine.published import QUICK_START_TIMERS
from lessons.engine.words import followed, things

lesson = Lesson(
    __file__,
    title="Leaving the interpreter",
    objective="Afterwards you can write, build, call and time C from Python, and say what each way in costs.",
    minutes=25,
    longest_s=(90, 30),
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


@lesson.step(
    "Four parts make a module",
    predict=Guess("A loop over 50 000 bytes: how many times as fast is it in C as in Python?", "times"),
    claims={
        "same-answers": "the module gives what the Python function gives",
        "c-is-faster": "it is more than 10 times as fast",
        "nothing-to-look-into": "what it has is no Python function: there is no bytecode in it",
    },
)
def a_module_in_c(
    turns: int = 9,
) -> tuple[dict[str, float], int, list[float], str, bool] | None:
    """An extension module is a shared library that Python knows how to ask. C of any kind becomes one by four parts.

    *Functions* take and give Python objects. A *method table* says their names and how they are called. A *module
    definition* has the table. The *init function*, the only one that is found by its name, makes a module of that.
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
    return times, differ, gains, kind, has_code


@a_module_in_c.observe
def explain_module(page: Page, found: tuple[dict[str, float], int, list[float], str, bool] | None) -> None:
    if found is None:
        page.without(lacking(), "a module of your own in C, compiled and imported, and how much faster its loop is")
        return
    times, differ, gains, kind, has_code = found
    gain, error = middle(gains)
    rows = [(name, seconds) for name, seconds in times.items()]
    page.table(Table.of("One module, from its source to its first answer", {"": None, "time": units.seconds}, rows))
    page.reveal(gain, "Both ways do the same steps.")
    page.claim("same-answers", differ, 0, 0, unit=followed("of 200 differ"))
    page.claim("c-is-faster", gain, low=10, error=error, unit=units.ratio)
    page.claim("nothing-to-look-into", float(has_code), 0, 0, unit=lambda code: "bytecode" if code else "none")
    page.say(
        "Python finds the file by its name, opens it, calls `PyInit_runs`, and has a module. From then on a call of",
        f"`runs.longest_run`, a `{kind}`, goes through the method table: no bytecode runs until it returns.",
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


@lesson.step(
    "One part broken at a time",
    predict=Choice(
        "The init function gets another name, and all else stays. When does that come to light?",
        {"a": "while it is compiled", "b": "at the import", "c": "at the first call"},
    ),
    claims={
        "compiles-all-the-same": "all four broken modules compile",
        "init-by-its-name": "without an init function of the right name there is no import",
        "no-row-no-function": "a function without a row in the table is not there",
        "null-wants-an-error": "NULL without an exception is an error of its own",
    },
)
def one_part_broken() -> dict[str, tuple[str, str]] | None:
    """A C compiler knows nothing of Python: what the four parts promise each other it does not check.

    So each of them is broken once, in a way that a slip of the hand could. Then we import the module and call it.
    """
    if lacking():
        return None
    errors = MachineError, ImportError, AttributeError, SystemError
    said = {}
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
            said[part] = stage, f"{type(e).__name__}: {e}"
    return said


@one_part_broken.observe
def explain_broken(page: Page, said: dict[str, tuple[str, str]] | None) -> None:
    if said is None:
        page.without(lacking(), "what Python says when one of the four parts does not keep its promise")
        return
    rows = [(part, *said.get(part, ("never", ""))) for part in broken()]
    page.table(Table.of("What is broken, and when it shows", {"part": None, "at": None}, [row[:2] for row in rows]))
    words = "\n".join(f"{part}: {shortened(text)}" for part, _, text in rows)
    page.output(words, caption="What Python says, in the same order")
    stage = said.get("init function", ("", ""))[0]
    page.reveal({"compiling": "a", "import": "b", "call": "c"}.get(stage))
    uncompiled = sum(at == "compiling" for at, _ in said.values())
    page.claim("compiles-all-the-same", uncompiled, 0, 0, unit=followed("did not compile"))
    page.claim("init-by-its-name", float(stage == "import"), 1, 1, unit=seen)
    absent = ("method table", "module definition")
    missing = sum("AttributeError" in said.get(part, ("", ""))[1] for part in absent)
    page.claim("no-row-no-function", missing, 2, 2, unit=things("AttributeError"))
    null = "SystemError" in said.get("functions", ("", ""))[1]
    page.claim("null-wants-an-error", float(null), 1, 1, unit=seen)
    page.say(
        "NULL is C's way to say that an exception has been set. A function that gives NULL and sets none breaks the"
        " agreement, and so does one that gives an object and forgets that an exception is set. The interpreter looks"
        " at the first kind after each call. A reference that is counted once too often it never sees: that is a leak."
    )


def shortened(text: str, most: int = 58) -> str:
    """Return a message in one line, its end cut, and without the path of the library."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def seen(value: float) -> str:
    """Return whether something was seen."""
    return "seen" if value else "not seen"


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "An extension is no JIT",
    predict=Choice(
        "100 zeros, as float64 of 8 bytes each: how long is the longest run that the module of step 1 finds?",
        {"a": "100", "b": "800", "c": "none: it raises"},
    ),
    claims={
        "jit-per-type": "numba compiles once for each type it meets",
        "extension-sees-bytes": "the extension has one machine code, and takes 100 numbers for 800 bytes",
        "ready-at-once": "import and first call of the extension take less than a quarter of numba's first call",
    },
)
def an_extension_is_no_jit(
    size: int = 100,
) -> tuple[list[int], float, list[int]] | None:
    """Both give machine code. A JIT makes it from *your Python*, when it has seen the types, while the program runs.

    An extension was machine code before Python started. Nobody looks at types any more: what C was told, it takes.
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
    found = [compiled(zeros), runs.longest_run(zeros)]
    return signatures, first_s, found


@an_extension_is_no_jit.observe
def explain_no_jit(page: Page, found: tuple[list[int], float, list[int]] | None) -> None:
    if found is None:
        page.without(lacking(), "that a JIT looks at the types it is given, and an extension at bytes")
        return
    signatures, first_s, (by_jit, by_extension) = found
    known = page.result(a_module_in_c)
    ready_s = known[0]["import"] + known[0]["first call"] if known else math.nan
    rows = [
        ("compiled", "at the first call, here", "before, by a C compiler"),
        ("from", "the Python function", "another text, in C"),
        ("machine codes", units.count(signatures[-1]), "1"),
        ("ready for its first answer", units.seconds(first_s), units.seconds(ready_s)),
        ("100 zeros of float64", units.count(by_jit), units.count(by_extension)),
    ]
    page.table(Table.of("longest_run, twice", {"": None, "numba": None, "extension": None}, rows))
    page.reveal("a" if by_extension == 100 else "b" if by_extension == 800 else None)
    page.claim("jit-per-type", signatures[-1] - signatures[0], 2, 2, unit=followed("more for two more types"))
    page.claim("extension-sees-bytes", by_extension, 800, 800, unit=units.count)
    page.claim("ready-at-once", ready_s / first_s, high=0.25, unit=units.percent)
    page.say(
        "So they are not the same thing. A JIT needs your Python, a compiler on the user's machine, and time at the",
        "first call; in exchange it knows what it was given. An extension needs a compiler only where it is built, and",
        "it is you who must check every type, every length and every reference.",
    )


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def triple_in_c() -> str:
    return "long long triple(long long x) { return 3 * x; }"


@lesson.step(
    "ctypes: C that knows nothing of Python",
    predict=Choice(
        "`triple(x)` in C takes and gives 64 bits. Called through ctypes with 2 000 000 000, and nothing declared:",
        {"a": "6 000 000 000", "b": "another number", "c": "an exception"},
    ),
    claims={
        "same-by-ctypes": "the C function gives the same without the four parts",
        "nothing-is-checked": "with nothing declared, the answer is wrong, and nobody says so",
        "declared-is-right": "with its types declared it is right",
    },
)
def c_without_python() -> tuple[int, int, int] | None:
    """`ctypes` opens any shared library and calls what is in it. No Python.h, no four parts, not even a header.

    For the library does not say which types its functions take. Either you declare them, `argtypes` and `restype`, or
    ctypes takes everything for an `int`, of 32 bits.
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
    return differ, undeclared, other.triple(2_000_000_000)


@c_without_python.observe
def explain_ctypes(page: Page, found: tuple[int, int, int] | None) -> None:
    if found is None:
        page.without(lacking(python=False), "a C function called without any glue, rightly and wrongly declared")
        return
    differ, undeclared, declared = found
    rows = [("nothing declared", undeclared), ("argtypes and restype declared", declared)]
    page.table(Table.of("triple(2 000 000 000)", {"": None, "answer": units.count}, rows))
    page.reveal("a" if undeclared == 6_000_000_000 else "b")
    page.claim("same-by-ctypes", differ, 0, 0, unit=followed("of 50 differ"))
    page.claim("nothing-is-checked", float(undeclared != 6_000_000_000), 1, 1, unit=wrong_or_right)
    page.claim("declared-is-right", float(declared != 6_000_000_000), 0, 0, unit=wrong_or_right)
    page.say(
        "Half of the answer was cut off. A wrong type for a pointer is worse: the process ends, with no traceback."
        " Declare both, always, next to where the library is opened."
    )


def wrong_or_right(value: float) -> str:
    """Return what an answer was."""
    return "wrong" if value else "right"


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


@lesson.step(
    "The call's own price",
    predict=Guess("How many times as long does it take to call a C function that does nothing by ctypes?", "times"),
    claims={
        "ctypes-is-dearer": "calling by ctypes takes more than 1.5 times as long as calling an extension's function",
        "torch-is-dearest": "an operation of torch on one number takes more than 3 times as long as either",
        "small-gains-less": "with 4 bytes, C gains less than half of what it gains with 4 096",
    },
    fast={"turns": 9},
)
def price_of_a_call(
    turns: int = 15,
) -> tuple[dict[str, list[float]], dict[str, list[float]]] | None:
    """A call has a price of its own, whatever is called: arguments are checked, converted, and the answer made.

    First functions that do nothing; then the loop of step 1 with little to do and with more. All take turns.
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
        "C by ctypes": "empty()",
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
    return idle, loops


@price_of_a_call.observe
def explain_price(page: Page, found: tuple[dict[str, list[float]], dict[str, list[float]]] | None) -> None:
    if found is None:
        page.without(lacking(), "what a call costs before any work is done, by four ways, and when C is worth it")
        return
    idle, loops = found
    caption = "Calls that do nothing, and torch's of one number"
    bars = [(way, median(times)) for way, times in idle.items()]
    drawn = bar_chart_svg(bars, title=caption, unit=units.seconds)
    page.drawing(plots.bars(bars, width=30, unit=units.seconds), drawn, name="calls", caption=caption)
    extension, by_ctypes, by_torch = idle["extension"], idle["C by ctypes"], idle["torch, one + one"]
    dearer, error = quotients(by_ctypes, extension)
    page.reveal(median(by_ctypes) / median(extension), "That is against a function of an extension module.")
    page.claim("ctypes-is-dearer", dearer, low=1.5, error=error, unit=units.ratio)
    dearest, error = quotients(by_torch, [max(pair) for pair in zip(extension, by_ctypes, strict=True)])
    page.claim("torch-is-dearest", dearest, low=3, error=error, unit=units.ratio)
    gains = {n: [p / c for p, c in zip(loops[f"{n} python"], loops[f"{n} c"], strict=True)] for n in (4, 4096)}
    rows = [(n, median(loops[f"{n} python"]), median(loops[f"{n} c"]), median(gains[n])) for n in gains]
    heads = {"bytes": units.count, "Python": units.seconds, "extension": units.seconds, "gain": units.ratio}
    page.table(Table.of("longest_run, with little and with more to do", heads, rows))
    part, error = quotients(gains[4], gains[4096])
    page.claim("small-gains-less", part, high=0.5, error=error, unit=units.percent)
    page.say(
        "ctypes looks at the declared types of each argument, at each call. The method table says once how a function"
        " is called. Neither price depends on the work: move a loop to C, and not the body of a loop."
    )


def quotients(times: list[float], others: list[float]) -> tuple[float, float]:
    """Return how many times the others the ones are, and the doubt, of values taken in turns."""
    return middle([one / other for one, other in zip(times, others, strict=True)])


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
def two_at_once(
    call: Callable[[int], int], n: int
) -> tuple[float, float, Others]:  # fmt: skip
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(call, [1, 1]))  # starts the threads
        with others_watched() as others:
            cpu, wall = time.process_time(), time.perf_counter()
            list(pool.map(call, [n, n]))
            wall = time.perf_counter() - wall
            cpu = time.process_time() - cpu
        return wall, cpu, others


@lesson.step(
    "The lock, held or released",
    predict=Choice(
        "C code spins for a while, and waits for nobody. Another thread of Python meanwhile:",
        {"a": "runs", "b": "waits until C returns", "c": "depends on how C was called"},
    ),
    claims={
        "held-stops-all": "while a function holds the lock, no other thread of Python runs",
        "released-lets-on": "while it has released it, another one does",
        "cdll-releases": "ctypes.CDLL releases it by itself",
        "pydll-holds": "ctypes.PyDLL holds it",
        "held-in-turn": "two threads in C that hold it get no more CPU time than one core has",
        "released-at-once": "released, they get more than 1.4 times that",
    },
    fast={"n": 100_000_000},
)
def held_or_released(
    n: int = 300_000_000,
) -> dict[str, tuple[int, float, float, Others]] | None:
    """One lock, the GIL, says which thread may touch Python objects. C that touches none need not hold it.

    An extension keeps it, unless it says `Py_BEGIN_ALLOW_THREADS`. A thread of Python ticks each millisecond, and C
    that spins says how many ticks have passed meanwhile. Then two threads spin at once: wall time, and CPU time of all.
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
        found[way] = (passed, *two_at_once(call, n))
    return found


@held_or_released.observe
def explain_lock(page: Page, found: dict[str, tuple[int, float, float, Others]] | None) -> None:
    if found is None:
        page.without(lacking(), "two threads in C, one after the other or at once, by what is done about the lock")
        return
    rows = [(way, ticks, wall, cpu, cpu / wall) for way, (ticks, wall, cpu, _) in found.items()]
    heads = {"": None, "ticks": units.count, "wall": units.seconds, "CPU": units.seconds, "CPU ÷ wall": units.ratio}
    page.table(Table.of("Ticks beside one call; then two threads at once", heads, rows))
    held, released = found["extension"], found["extension, released"]
    by_cdll, by_pydll = found["ctypes.CDLL"][0], found["ctypes.PyDLL"][0]
    page.reveal("a" if held[0] else "c" if released[0] else "b")
    page.claim("held-stops-all", held[0], high=0, unit=things("tick"))
    page.claim("released-lets-on", released[0], low=LIVELY, unit=things("tick"))
    page.claim("cdll-releases", by_cdll, low=LIVELY, unit=things("tick"))
    page.claim("pydll-holds", by_pydll, high=0, unit=things("tick"))
    page.claim("held-in-turn", held[2] / held[1], high=1.2, unit=units.ratio)
    if CORES < 2:
        page.skip("released-at-once", "it takes a second core")
    else:
        _, wall_s, cpu_s, others = released
        at_once = math.nan if others.crowd else cpu_s / wall_s
        page.claim("released-at-once", at_once, low=1.4, unit=units.ratio)
    page.say(
        "So a wait in C, or a long computation, is worth the two lines that release the lock, and nothing between them",
        "may touch an object of Python's: not even count a reference.",
        "CDLL does it for you, for it knows that the library was not made for Python. PyDLL is for calling Python's own"
        " C functions, which need the lock.",
    )


LIVELY = 10
"""Ticks, of a hundred or so, from which on another thread is said to run: on a crowded machine, too."""

CORES = usable_cores()
"""Cores that this process may use."""


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
    with timer_kept():  # what Timer compiles stays in your cache folder
        return Timer(
            "x * y;",
            setup="auto x = torch::ones({128}), y = torch::ones({128});",
            language="c++",
        ).blocked_autorange(min_run_time=0.1)


@lesson.given
def unready(folder: Path, compiling: int) -> str:
    """Why C++ cannot be run here, or should not be compiled now; "" when it can."""
    if compiling or compiled_before(folder):
        return lacking_cpp()
    without_fast = "take the lesson without --fast once"
    return f"the short run leaves torch's headers alone: {without_fast}"


@lesson.given
def price_of_binding(made: Any) -> dict[str, list[float]]:
    ways, names = {"pybind11": "made.nothing()"}, {"made": made}
    if not lacking():
        ways["method table"] = "runs.nothing()"
        names["runs"] = build_module(whole_source(), "runs")
    return in_turns(ways, names, 9)


@lesson.step(
    "load_inline: C++ that knows tensors",
    predict=Guess("How many times as long as the C module of step 1 does it take to compile?", "times"),
    claims={
        "same-by-torch": "it gives the same answers, of tensors that are strided, too",
        "headers-take-long": "compiling takes more than 10 times as long as the C module of step 1",
        "wrong-type-is-told": "a tensor of another dtype is an exception, and no wrong answer",
        "binding-has-a-price": "an empty call takes more than 1.5 times as long as one through a method table",
    },
    fast={"compiling": 0},
)
def from_cpp(
    compiling: int = 1,
) -> tuple[float, int, str, dict[str, list[float]]] | str:
    """`torch.utils.cpp_extension.load_inline` writes the four parts for you, with pybind11, compiles and imports.

    Torch's headers take a compiler long to read; these two are the least that will do (`no_implicit_headers`). What the
    next step needs is compiled meanwhile, on another core.
    """
    names, flags = ["longest_run", "nothing"], ["-O2"]
    folder = inline_folder(in_cpp(), names + flags)
    if why := unready(folder, compiling):
        return why
    with waiting("compiling for torch"), ThreadPoolExecutor(1) as pool:
        other = pool.submit(timed_in_cpp)
        with building(folder):
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
        told = str(made.longest_run(torch.zeros(3)))
    except RuntimeError as error:
        told = f"RuntimeError: {error}"
    return took_s(folder), differ, told, price_of_binding(made)


@from_cpp.observe
def explain_cpp(page: Page, found: tuple[float, int, str, dict[str, list[float]]] | str) -> None:
    if isinstance(found, str):
        page.without(found, "a function of tensors in C++, compiled from a string, and what its binding costs")
        return
    compile_s, differ, told, calls = found
    known = page.result(a_module_in_c)
    plain_s = known[0]["compile"] if known else math.nan
    rows = [("C, Python.h", plain_s), ("C++, torch's headers", compile_s)]
    page.table(Table.of("Compiling, when it was done", {"": None, "time": units.seconds}, rows))
    page.output(shortened(told.partition("\n")[0], 76), caption="What it says of a tensor of float32")
    page.reveal(compile_s / plain_s if known else None)
    page.claim("same-by-torch", differ, 0, 0, unit=followed("of 50 differ"))
    if known:
        page.claim("headers-take-long", compile_s / plain_s, low=10, unit=units.ratio)
    else:
        page.skip("headers-take-long", lacking())
    page.claim("wrong-type-is-told", float("takes uint8" in told), 1, 1, unit=seen)
    if "method table" in calls:
        dearer, error = quotients(calls["pybind11"], calls["method table"])
        page.claim("binding-has-a-price", dearer, low=1.5, error=error, unit=units.ratio)
    else:
        page.skip("binding-has-a-price", lacking())
    page.say(
        "pybind11 reads your function's types, and writes the glue that checks and converts them: this is what each"
        " call pays for, and why nobody had to write a Py_buffer. For a kernel on tensors that is next to nothing."
    )


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "The same statement, timed in C++",
    predict=Guess("`x * y` on 128 numbers: how many times as long does it take from Python as from C++?", "times"),
    claims={
        "python-on-top": "timed from Python, the statement takes more than 1.1 times as long",
        "work-is-the-same": "and less than 10 times: most of it is torch's",
    },
    fast={"compiling": 0, "turns": 5},
)
def timed_in_both(
    compiling: int = 1,
    turns: int = 9,
) -> list[tuple[Measurement, Measurement]] | str:
    """`Timer(language="c++")` compiles statement, setup and loop to a program's code: no Python runs in between.

    What the Timer of Python has on top is Python: reading the statement's bytecode, unpacking two tensors, wrapping the
    answer. The two take turns.
    """
    setup = "auto x = torch::ones({128}), y = torch::ones({128});"
    if why := unready(timer_folder("x * y;", setup), compiling):
        return why
    with waiting("compiling the loop of a Timer"):
        timed_in_cpp()
    python = Timer("x * y", setup="x, y = torch.ones(2, 128)")
    return [
        (python.blocked_autorange(min_run_time=0.1), timed_in_cpp())
        for _ in range(turns)
    ]  # fmt: skip


@timed_in_both.observe
def explain_timers(page: Page, found: list[tuple[Measurement, Measurement]] | str) -> None:
    if isinstance(found, str):
        page.without(found, "the price of Python in one statement: the same product timed from either language")
        return
    rows = [(f"{name}, published", median_s, iqr_s) for name, median_s, iqr_s in QUICK_START_TIMERS]
    here = {"Python": [turn[0] for turn in found], "C++": [turn[1] for turn in found]}
    spreads = {name: median(each.iqr for each in all_) for name, all_ in here.items()}
    rows = [
        (f"{name}, here", median(each.median for each in all_), spreads[name]) for name, all_ in here.items()
    ] + rows
    heads = {"x * y on 128 numbers": None, "median": units.seconds, "IQR": units.seconds}
    page.table(Table.of("One statement, two Timers", heads, rows))
    more, error = middle([python.median / cpp.median for python, cpp in found])
    page.reveal(more)
    dearer = page.claim("python-on-top", more, low=1.1, error=error, unit=units.ratio)
    page.claim("work-is-the-same", more, high=10, error=error, unit=units.ratio)
    page.say(
        "The published figures are those of PyTorch's quick start, on another machine with an older torch.",
        "There the C++ Timer also spread less."
        + (" Here, too." if spreads["C++"] < spreads["Python"] else " Here it did not: what spreads is the machine."),
    )
    page.say(
        "To know what torch itself takes, time it from C++. To know what your program takes, time it as your program"
        " calls it."
        if dearer.standing is Standing.HELD
        else "Here Python's part was too small to be told from the rest.",
    )


lesson.take_along(
    "An extension is machine code before Python starts: four parts, no types seen, no check that you did not write.",
    "A call has its price, and each way in another one: move whole loops to C, and not what is in them.",
    "C that touches no Python object may release the lock; only then do two threads run at once.",
)
lesson.read_on(
    "Python, Extending and Embedding the Python Interpreter: docs.python.org/3/extending",
    "Python, ctypes, A foreign function library: docs.python.org/3/library/ctypes.html",
    "PyTorch Timer quick start, C++ snippets: docs.pytorch.org/tutorials/recipes/recipes/timer_quick_start.html",
)

if __name__ == "__main__":
    lesson.main()
