"""Lesson 14: C and C++ code called from Python. Compiled code is kept in the user's cache folder."""

import ctypes
import sys
import timeit
from ctypes import c_char_p, c_long, c_longlong
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numba
import numpy as np
import torch
from torch.utils.benchmark import Measurement, Timer
from torch.utils.cpp_extension import load_inline

from harness.compilers.capture import refusal
from harness.extensions import (
    build,
    build_library,
    build_lock,
    build_module,
    build_seconds,
    inline_folder,
    lacking,
)
from harness.machine.environment import usable_cores
from harness.rendering import units
from harness.rendering.wrapping import waiting
from lessons.engine.api import Figures, Interval, Lacking, Rows, Run, load
from lessons.engine.command import main
from lessons.engine.published import QUICK_START_TIMERS
from lessons.probes.spins import Spins, spins_of, spins_source
from lessons.probes.timer_builds import lacking_headers, timer_builds_kept
from lessons.probes.turns import Times, in_turns


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
def longest_run(data: Any) -> int:
    best, run, previous = 0, 0, -1
    for byte in data:
        run = run + 1 if byte == previous else 1
        best = max(best, run)
        previous = byte
    return best


def in_c() -> str:
    return """
long long triple(long long x) { return 3 * x; }
long longest_run(const unsigned char *data, long size) {
  long best = 0, run = 0;
  for (long i = 0; i < size; i++) {
    run = i > 0 && data[i] == data[i - 1] ? run + 1 : 1;
    if (run > best) best = run;
  }
  return best;
}
"""


def c_without_python() -> tuple[int, int, int] | None:
    if lacking(python=False):
        return None
    library = ctypes.CDLL(build_library(in_c()))
    longest, triple = library.longest_run, library.triple
    longest.argtypes, longest.restype = [c_char_p, c_long], c_long
    texts = [bytes(n) + b"abba" for n in range(50)]
    differ = sum(longest_run(x) != longest(x, len(x)) for x in texts)
    undeclared = triple(2_000_000_000)
    triple.argtypes, triple.restype = [c_longlong], c_longlong
    return differ, undeclared, triple(2_000_000_000)


def c_without_python_figures(found: tuple[int, int, int] | None) -> Figures | Lacking:
    if found is None:
        return Lacking(lacking(python=False))
    differ, undeclared, declared = found
    return {
        "differ": differ,
        "answers": Rows([(undeclared,), (declared,)]),
        "letter": "a" if undeclared == declared else "b",
    }


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
def module_source() -> str:
    return f"#include <Python.h>\n{in_c()}" + """
/* 1. functions */
static PyObject *run_of(PyObject *self, PyObject *data) {
  Py_buffer view;
  if (PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) < 0) return NULL;
  long best = longest_run(view.buf, view.len);
  PyBuffer_Release(&view);
  return PyLong_FromLong(best);
}
static PyObject *nothing(PyObject *self, PyObject *x) { Py_RETURN_NONE; }
/* 2. method table */
static PyMethodDef methods[] = {
  {"longest_run", run_of, METH_O}, {"nothing", nothing, METH_NOARGS},
  {NULL},
};
/* 3. module definition */
static struct PyModuleDef definition = {
  PyModuleDef_HEAD_INIT, "runs", "Runs of bytes.", -1, methods,
};
/* 4. init function */
PyMODINIT_FUNC PyInit_runs(void) { return PyModule_Create(&definition); }
"""  # fmt: skip


def a_module_in_c(turns: int = 9) -> Times | None:
    if lacking():
        return None
    runs = build_module(module_source(), "runs")
    names = {"python": longest_run, "runs": runs, "data": bytes(50_000)}
    calls = {"python(data)": 1, "runs.longest_run(data)": 1}
    return in_turns(calls, names, turns)


def a_module_in_c_figures(times: Times | None) -> Figures | Lacking:
    if times is None:
        return Lacking(lacking())
    python, c = times.values()
    return {"gain": quotients(python, c)}


def quotients(times: list[float], others: list[float]) -> Interval:
    """Return the median of the ratios `times / others`, with its interval. The two lists were measured alternately."""
    return Interval.median(one / other for one, other in zip(times, others, strict=True))


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
class Versions(NamedTuple):
    signatures: list[int]
    answers: list[int]
    first_s: list[float]


def an_extension_is_no_jit() -> Versions | None:
    if lacking():
        return None
    zeros, few = np.zeros(100), np.zeros(100, np.uint8)
    stamps = [perf_counter()]
    compiled = numba.njit(longest_run)
    compiled(few)
    stamps.append(perf_counter())
    runs = build_module(module_source(), "runs")
    runs.longest_run(few)
    stamps.append(perf_counter())

    signatures = [len(compiled.signatures)]
    for data in (few[:7], bytes(100), zeros):
        compiled(data)
        signatures.append(len(compiled.signatures))
    answers = [compiled(zeros), runs.longest_run(zeros)]
    return Versions(signatures, answers, list(np.diff(stamps)))


def an_extension_is_no_jit_figures(found: Versions | None) -> Figures | Lacking:
    if found is None:
        return Lacking(lacking())
    jit_s, extension_s = map(float, found.first_s)
    rows = [
        (units.count(found.signatures[-1]), "1"),
        (units.seconds(jit_s), units.seconds(extension_s)),
        tuple(map(units.count, found.answers)),
    ]
    return {
        "ways": Rows(rows),
        "letter": {100: "a", 800: "b"}.get(found.answers[1]),
        "more_versions": found.signatures[-1] - found.signatures[0],
    }


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
def nothing() -> None:
    pass


def price_of_a_call(turns: int = 15) -> Times | None:
    if lacking():
        return None
    runs = build_module(module_source(), "runs")
    empty = ctypes.CDLL(build_library("void nothing(void) {}")).nothing
    empty.argtypes, empty.restype = [], None
    names = {"nothing": nothing, "runs": runs, "empty": empty}
    names |= {"one": torch.ones(1), "python": longest_run}
    names |= {"few": bytes(4), "many": bytes(4096)}
    calls = {
        "runs.nothing()": 2000,
        "nothing()": 2000,
        "empty()": 2000,
        "one + one": 2000,
        "python(few)": 500,
        "runs.longest_run(few)": 500,
        "python(many)": 3,
        "runs.longest_run(many)": 30,
    }
    return in_turns(calls, names, turns)


def price_of_a_call_figures(times: Times | None, run: Run) -> Figures | Lacking:
    if times is None:
        return Lacking(lacking())
    extension, python, by_ctypes, by_torch, *loops = times.values()
    gains = [(p / c) / (q / d) for p, c, q, d in zip(*loops, strict=True)]
    return {
        "empty": Rows([(median(each),) for each in (extension, python, by_ctypes, by_torch)]),
        "by_ctypes": quotients(by_ctypes, extension).with_factor(run.noise),
        "few_to_many": Interval.median(gains),
    }


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
def released_in_c() -> str:
    return """
static PyObject *released(PyObject *self, PyObject *n) {
  long steps = PyLong_AsLong(n), passed;
  Py_BEGIN_ALLOW_THREADS
  passed = spin(steps);
  Py_END_ALLOW_THREADS
  return PyLong_FromLong(passed);
}
"""


def held_or_released(n: int = 300_000_000) -> dict[str, Spins] | None:
    if lacking():
        return None
    source = spins_source(released_in_c())
    path = build(source, "spins").path
    spins = build_module(source, "spins")
    ways = {"held": spins.held, "released": spins.released}
    for kind in (ctypes.PyDLL, ctypes.CDLL):
        spin = kind(str(path)).spin
        spin.argtypes, spin.restype = [c_long], c_long
        ways[kind.__name__] = spin
    return {way: spins_of(call, n, path) for way, call in ways.items()}


def held_or_released_figures(found: dict[str, Spins] | None) -> Figures | Lacking:
    if found is None:
        return Lacking(lacking())
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return Lacking("this Python runs without the GIL: use a build with the GIL")
    at_once = found["released"]
    used = Interval.exact(at_once.cpu_s / at_once.wall_s).void_if(at_once.others.is_high)
    return {
        "ways": Rows([(way, e.ticks, None if e.others.is_high else e.wall_s, e.cpu_s) for way, e in found.items()]),
        "letter": running_beside(found),
        "at_once": used if usable_cores() > 1 else Lacking("a second core is missing: use a machine with two cores"),
    }


def running_beside(found: dict[str, Spins]) -> str | None:
    """Return the letter of the ways in which the second thread ran, or None if these ways are not an option."""
    ran = frozenset(way for way, each in found.items() if each.ticks)
    options = {frozenset(): "a", frozenset({"released"}): "b", frozenset({"released", "CDLL"}): "c"}
    return options.get(ran, "d" if len(ran) == len(found) else None)


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
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
"""


def from_cpp(compiling: int = 1) -> tuple[float, int, str] | str:
    folder = inline_folder([in_cpp()])
    if why := lacking_headers(folder, compiling):
        return why
    with waiting("compiling for torch"), build_lock(folder):
        made: Any = load_inline(  # type: ignore[no-untyped-call]
            "runs_of_torch", in_cpp(), functions="longest_run",
            no_implicit_headers=True, build_directory=str(folder),
        )  # fmt: skip
    x = torch.randint(0, 2, (50, 200), dtype=torch.uint8)[:, ::2]
    wrong = [made.longest_run(y) != longest_run(y.tolist()) for y in x]
    message = refusal(lambda: made.longest_run(torch.zeros(3)))
    return build_seconds(folder), sum(wrong), message


def from_cpp_figures(found: tuple[float, int, str] | str) -> Figures | Lacking:
    if isinstance(found, str):
        return Lacking(found)
    cpp_s, differ, message = found
    c_s = Lacking(lacking()) if lacking() else build(module_source(), "runs").seconds
    return {
        "c_s": c_s,
        "cpp_s": cpp_s,
        "cpp_to_c": c_s if isinstance(c_s, Lacking) else cpp_s / c_s,
        "differ": differ,
        "refused": "takes uint8" in message,
    }


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
Pairs = list[tuple[Measurement, Measurement]]
"""Measurements that were taken alternately with the Python Timer and the C++ Timer."""


def timed_in_both(compiling: int = 1, turns: int = 9) -> Pairs | str:
    setup = "auto x = torch::ones({128}), y = torch::ones({128});"
    folder = inline_folder(["x * y;", setup, ""])
    if why := lacking_headers(folder, compiling):
        return why
    python = Timer("x * y", "x, y = torch.ones(2, 128)")
    clock = timeit.default_timer  # waits for no GPU
    cpp = Timer("x * y;", setup, timer=clock, language="c++")
    pairs = []
    with waiting("compiling the loop of a Timer"), timer_builds_kept():
        for _ in range(turns):
            one = python.blocked_autorange(min_run_time=0.1)
            other = cpp.blocked_autorange(min_run_time=0.1)
            pairs.append((one, other))
    return pairs


def timed_in_both_figures(turns: Pairs | str) -> Figures | Lacking:
    if isinstance(turns, str):
        return Lacking(turns)
    here = [(median(e.median for e in some), median(e.iqr for e in some)) for some in zip(*turns, strict=True)]
    return {
        "times": Rows([*here, *(published[1:] for published in QUICK_START_TIMERS)]),
        "python_to_cpp": Interval.median(python.median / cpp.median for python, cpp in turns),
    }


lesson = load(__name__)

if __name__ == "__main__":
    main(lesson)
