"""The program of a worker process, `python -m harness.suite.worker MODE`, which `harness.suite.pool` starts.

The worker imports torch once and forks a child for each benchmark, so that every child starts in the same state. MODE
is "time" or "count". The command has the same length in every run: one more character moves data in memory, and
Python's attribute cache uses memory addresses.
"""

import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, repeat
from typing import Any, Final, TextIO

import torch
from torch.utils.benchmark import Timer

from harness import statements
from harness.processes.channel import Channel, Closed, stdio_channel
from harness.processes.launcher import ended
from harness.suite import models

BENCHMARK: Final = b"b"  # the kind of all messages: a request, or its answer

_NO_REQUEST: Final = "no more requests"

_WARM_UPS: Final = 10

_LOOP: Final = """\
def statement(calls, clock):
    SETUP
    began_s = clock()
    for _ in calls:
        STATEMENT
    return clock() - began_s
"""


def main(mode: str) -> None:
    """Run the requested benchmarks, each in a child process, until standard input ends."""
    channel = stdio_channel()
    torch.set_num_threads(1)
    if mode == "count":
        switch = ["callgrind_control", "-i", "on", str(os.getpid())]
        subprocess.run(switch, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    gc.collect()
    gc.freeze()
    channel.send(BENCHMARK)
    while True:
        with tempfile.TemporaryFile("w+") as written:  # the answer of the child, which may end before it has one
            child = os.fork()
            if not child:
                _serve(mode, channel, written)
                os._exit(0)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            written.seek(0)
            text = written.read()
        if text == _NO_REQUEST:
            os._exit(0)
        channel.send(BENCHMARK, json.loads(text) if text else {"failure": f"Its process {ended(status)}."})


def _serve(mode: str, channel: Channel, written: TextIO) -> None:
    try:
        _, request = channel.receive()
    except Closed:
        text = _NO_REQUEST
    else:
        try:
            answer = (_time if mode == "time" else _count)(request)
        except BaseException as error:  # noqa: BLE001 - a benchmark may raise any exception
            answer = {"failure": statements.sentence(error)}
        text = json.dumps({**answer, "process": os.getpid()})
    written.write(text)
    written.flush()


def _time(request: dict[str, Any]) -> dict[str, Any]:
    names, timer = _prepare(request), Timer(num_threads=request["num_threads"])
    code: _Compiled | _Interpreted = _Compiled(request) if request["library"] else _Interpreted(request, names)
    timer._timer = code  # noqa: SLF001 - Timer calls only its timeit(n)
    measured = timer.blocked_autorange(min_run_time=request["min_run_time_s"])
    return {"times_s": measured.times, "runs_per_sample": measured.number_per_run}


def _count(request: dict[str, Any]) -> dict[str, Any]:
    # The benchmark runs in a new thread, because glibc gives each thread a new heap. In the old heap, the cost of an
    # allocation depends on what was freed before, which changed counts by 1 %.
    names = _prepare(request)
    with ThreadPoolExecutor(1) as fresh_heap:
        return fresh_heap.submit(_count_here, request, names).result()


def _count_here(request: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    torch.set_num_threads(request["num_threads"])
    number, repeats = request["number"], request["repeats"]
    if request["library"]:
        _Compiled(request).call(number, repeats, counting=True)
    else:
        _Interpreted(request, names).timeit(min(number, _WARM_UPS))
        counted = _Interpreted(request, names, _switch())
        for _ in range(repeats):
            gc.collect()
            counted.timeit(number)
    return {"repeats": repeats}


def _prepare(request: dict[str, Any]) -> dict[str, Any]:
    return models.compiled_names(request["compiled"]) if request["compiled"] else {"torch": torch}


def _switch() -> Callable[[], float]:
    # `timeit` reads this clock before and after a loop: it switches counting on, and off again.
    on, off = torch._C._valgrind_toggle, torch._C._valgrind_toggle_and_dump_stats  # noqa: SLF001 - as torch's Timer does
    switches = cycle((on, off))
    return lambda: next(switches)() or 0.0


class _Interpreted:
    def __init__(
        self, request: dict[str, Any], names: dict[str, Any], clock: Callable[[], float] = time.perf_counter
    ) -> None:
        code = {"setup": request["setup"], "statement": request["stmt"]}
        statements.run_once(names, **code)
        self._loop, self._clock = statements.function(_LOOP, names, **code), clock

    def timeit(self, number: int) -> float:
        gc.disable()
        try:
            return float(self._loop(repeat(None, number), self._clock))
        finally:
            gc.enable()


class _Compiled:
    def __init__(self, request: dict[str, Any]) -> None:
        self._function = getattr(ctypes.CDLL(request["library"]), request["function"])
        self._function.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_bool, ctypes.POINTER(ctypes.c_double)]
        self._function.restype = ctypes.c_char_p

    def timeit(self, number: int) -> float:
        return self.call(number, 1, counting=False)  # with a warm-up

    def call(self, number: int, repeats: int, *, counting: bool) -> float:  # the seconds of the last repeat
        seconds = ctypes.c_double()
        if (message := self._function(number, repeats, counting, ctypes.byref(seconds))) is not None:
            raise RuntimeError(message.decode(errors="replace"))
        return seconds.value


if __name__ == "__main__":
    main(sys.argv[1])
