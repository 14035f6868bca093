"""A loop in C, and what other Python threads can do while the loop runs."""

import ctypes
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from harness.machine.clocks import BackgroundLoad, watch_background_load

_LOOP = """
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
"""
_MODULE = """
static PyMethodDef methods[] = {{"held", held, METH_O}, {"released", released, METH_O}, {NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "spins", "", -1, methods};
PyMODINIT_FUNC PyInit_spins(void) { return PyModule_Create(&definition); }
"""

Spin = Callable[[int], int]
"""A function that runs a loop of n steps, and returns by how much `ticks` has increased."""


class Spins(NamedTuple):
    """What other threads do during a loop in C.

    `ticks` is the number of times that a second thread ran during one call. `wall_s` and `cpu_s` are the times of two
    threads that make the call at the same time, and `others` is the background load during these two calls.
    """

    ticks: int
    wall_s: float
    cpu_s: float
    others: BackgroundLoad


def spins_source(released: str) -> str:
    """Return the C source of the module `spins`. `released` is the source of its function of this name."""
    return _LOOP + released + _MODULE


def spins_of(call: Spin, n: int, library: Path) -> Spins:
    """Return what other threads do during `call(n)`. `library` is the compiled module, which contains `ticks`."""
    ticks = ticks_beside(call, n, ctypes.c_long.in_dll(ctypes.CDLL(str(library)), "ticks"))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(call, [1, 1]))  # starts the threads
        with watch_background_load() as others:
            cpu_s, wall_s = time.process_time(), time.perf_counter()
            list(pool.map(call, [n, n]))
            wall_s = time.perf_counter() - wall_s
            cpu_s = time.process_time() - cpu_s
    return Spins(ticks, wall_s, cpu_s, others)


def ticks_beside(call: Spin, n: int, ticks: ctypes.c_long) -> int:
    """Return the result of `call(n)` while a second thread increases `ticks` about once per millisecond."""
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
