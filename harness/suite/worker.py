"""What runs benchmarks: `python -m harness.suite.worker MODE`, started by `harness.suite.pool`.

It imports torch once, and then forks a child for each benchmark. So every child begins in the same state, whatever was
run before it: that is what makes counts repeat. One that crashes ends itself alone. Requests come on standard input,
one JSON line each, and are read by the child that serves them; answers are what comes out on standard output, one JSON
line each. What benchmarks print goes to standard error, which is a file: nobody waits for it to be read.

Nothing in its command differs between two runs in as much as its length: Python finds attributes by the addresses of
their names, so one more character moved counts by up to half a per cent.

MODE is "time", or "count" under valgrind. There the import is not instrumented: it would take fifty times as long.
"""

import ctypes
import gc
import json
import os
import subprocess
import sys
import timeit
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import torch
from torch.utils.benchmark import Timer

from harness.compilers import deprecated
from harness.suite import compiled, scripted

ENDED: Final = 86
"""A child's exit status when there is nothing more to do."""

_WARM_UPS: Final = 10
_LINE: Final = 1 << 16


def main(mode: str) -> None:
    """Serve until standard input ends."""
    answers = os.dup(1)
    os.dup2(2, 1)
    torch.set_num_threads(1)
    if mode == "count":
        switch = ["callgrind_control", "-i", "on", str(os.getpid())]
        subprocess.run(switch, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    gc.collect()
    gc.freeze()
    _tell(answers, {"ready": True})
    while True:
        child = os.fork()
        if not child:
            os._exit(_serve(mode, answers))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status == ENDED:
            os._exit(0)
        if status:
            ended = f"signal {-status}" if status < 0 else f"exit status {status}"
            _tell(answers, {"failure": f"ended its process with {ended}"})


def _serve(mode: str, answers: int) -> int:
    line = b""
    while not line.endswith(b"\n"):
        part = os.read(0, _LINE)
        if not part:
            return ENDED
        line += part
    request = json.loads(line)
    try:
        with deprecated():
            answer = (_time if mode == "time" else _count)(request)
    except Exception as error:  # noqa: BLE001 - a benchmark may raise whatever it likes
        answer = {"failure": f"{type(error).__name__}: {error}"}
    sys.stdout.flush()
    _tell(answers, {**answer, "process": os.getpid()})
    return 0


def _tell(answers: int, answer: dict[str, Any]) -> None:
    told = f"{json.dumps(answer)}\n".encode()
    while told:
        told = told[os.write(answers, told) :]


def _time(request: dict[str, Any]) -> dict[str, Any]:
    """Take wall times, as `Timer.blocked_autorange` does."""
    names = _prepare(request)
    if request["library"]:
        timer = Timer(num_threads=request["num_threads"])
        timer._timer = _Compiled(request)  # noqa: SLF001 - it needs nothing but timeit(n)
    else:
        timer = Timer(request["stmt"], request["setup"], globals=names, num_threads=request["num_threads"])
    measured = timer.blocked_autorange(min_run_time=request["min_run_time_s"])
    return {"times_s": measured.times, "runs_per_sample": measured.number_per_run}


def _count(request: dict[str, Any]) -> dict[str, Any]:
    """Let Callgrind count; its dumps lie where valgrind was told to write, under the number of this process.

    In a thread of its own: glibc gives each thread a heap of its own, and a fresh one is the same each time. How much
    work an allocation is depends on what has been freed before, and in the old heap that moved counts by 1 %.
    """
    names = _prepare(request)
    with ThreadPoolExecutor(1) as fresh_heap:
        return fresh_heap.submit(_count_here, request, names).result()


def _count_here(request: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    torch.set_num_threads(request["num_threads"])
    number, repeats = request["number"], request["repeats"]
    if request["library"]:
        _Compiled(request).call(number, repeats, counting=True)
    else:
        timeit.Timer(request["stmt"], request["setup"], globals=names).timeit(min(number, _WARM_UPS))
        counted = timeit.Timer(request["stmt"], request["setup"], timer=_switch(), globals=names)
        for _ in range(repeats):
            gc.collect()
            counted.timeit(number)
    return {"repeats": repeats}


def _prepare(request: dict[str, Any]) -> dict[str, Any]:
    """Make the benchmark's model, if it has one to make, and return the names that setup and statement need."""
    if request["scripted"]:
        scripted.make(request["scripted"])
    return compiled.names(request["compiled"]) if request["compiled"] else {"torch": torch}


def _switch() -> Callable[[], float]:
    """A clock for `timeit` that tells no time: read before the loop it starts counting, and after it, it stops."""
    counting = False

    def read() -> float:
        nonlocal counting
        counting = not counting
        if counting:
            torch._C._valgrind_toggle()  # noqa: SLF001 - what `Timer.collect_callgrind` calls
        else:
            torch._C._valgrind_toggle_and_dump_stats()  # noqa: SLF001 - as above
        return 0.0

    return read


class _Compiled:
    """A benchmark of a library that `harness.suite.cpp` has built."""

    def __init__(self, request: dict[str, Any]) -> None:
        self._function = getattr(ctypes.CDLL(request["library"]), request["function"])
        self._function.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_bool, ctypes.POINTER(ctypes.c_double)]
        self._function.restype = ctypes.c_char_p

    def timeit(self, number: int) -> float:
        """Seconds that so many runs take, after a warm-up."""
        return self.call(number, 1, counting=False)

    def call(self, number: int, repeats: int, *, counting: bool) -> float:
        """Run it, and return the seconds that the last repeat took. Raises `RuntimeError` for what C++ throws."""
        seconds = ctypes.c_double()
        if (said := self._function(number, repeats, counting, ctypes.byref(seconds))) is not None:
            raise RuntimeError(said.decode(errors="replace"))
        return seconds.value


if __name__ == "__main__":
    main(sys.argv[1])
