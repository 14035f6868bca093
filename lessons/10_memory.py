"""Lesson 10: measure how much memory a line of code allocates. The lesson uses at most about 400 MiB at a time."""

import ctypes
import gc
import math
import sys
import time
import tracemalloc
import weakref
from collections.abc import Callable

import torch
from memory_profiler import memory_usage
from torch import Tensor

from harness.charts import plots
from harness.extensions import build_library, lacking
from harness.memory.lines import Line, line_table
from harness.memory.resident import (
    MemoryUse,
    Timeline,
    memory_samples,
    page_faults,
    peak_of,
    resident_bytes,
    timeline,
)
from harness.rendering import units
from lessons.engine.api import Drawing, Figures, Interval, Lacking, Rows, load
from lessons.engine.command import main

WHOLE = 4 * 12_500_000
"""The bytes of a large tensor in this lesson, 47.7 MiB.

glibc's `free` returns each block of more than 32 MiB to the system (mallopt(3), M_MMAP_THRESHOLD)."""


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
def traced_bytes(make: Callable[[], object]) -> int:
    tracemalloc.start()
    kept = make()
    now_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return now_bytes


def memory_of_a_number(n: int = 100_000) -> tuple[dict[str, int], float]:
    things: dict[str, object] = {"1": 1, "1.0": 1.0, "10**30": 10**30}
    things |= {"[]": [], "torch.zeros(n)": torch.zeros(n).double()}
    sizes = {name: sys.getsizeof(one) for name, one in things.items()}
    list_bytes = traced_bytes(lambda: [i + 0.5 for i in range(n)])
    return sizes, list_bytes / n


def memory_of_a_number_figures(found: tuple[dict[str, int], float]) -> Figures:
    sizes, list_bytes = found
    return {
        "sizes": Rows(list(sizes.items())),
        "list_bytes": list_bytes,
        "float_bytes": sizes["1.0"],
        "shallow": sizes["torch.zeros(n)"] / (8 * 100_000),
    }


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
class Node:
    def __init__(self, numbers: int) -> None:
        self.tensor = torch.ones(numbers)
        self.next: Node | None = None


def reference_counts(numbers: int = 12_500_000) -> tuple[int, bool, bool, int]:
    gc.disable()  # so that only gc.collect() frees cycles
    plain = Node(1)
    count, ghost = sys.getrefcount(plain), weakref.ref(plain)
    del plain
    freed = ghost() is None
    cycle = Node(numbers)
    cycle.next, ghost = cycle, weakref.ref(cycle)
    held_bytes = resident_bytes()
    del cycle
    stays = ghost() is not None
    gc.collect()
    cycle_bytes = held_bytes - resident_bytes()
    gc.enable()
    return count, freed, stays, cycle_bytes


def reference_counts_figures(found: tuple[int, bool, bool, int]) -> Figures:
    count, freed, stays, cycle_bytes = found
    by_collector = "b" if cycle_bytes > WHOLE / 2 else None
    return {"when": by_collector if stays else "a", "count": count, "freed": freed, "cycle_bytes": cycle_bytes}


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
def array_on_the_stack() -> str:
    return """
__attribute__((noinline))
long long address(void) {
  volatile char array[1000];
  volatile long long start = (long long)array;
  return start;
}
"""


def heap_and_stack(n_bytes: int = 50_000_000) -> tuple[int, list[int]]:
    c = ctypes.CDLL(None)
    c.malloc.restype = ctypes.c_void_p
    gc.collect()
    before_bytes = resident_bytes()
    pointer = c.malloc(ctypes.c_size_t(n_bytes))
    ctypes.memset(pointer, 1, n_bytes)
    note = hex(pointer)
    del pointer
    gc.collect()
    more_bytes = resident_bytes() - before_bytes
    c.free(ctypes.c_void_p(int(note, 16)))
    if lacking(python=False):  # no C compiler
        return more_bytes, []
    address = ctypes.CDLL(build_library(array_on_the_stack())).address
    address.restype = ctypes.c_longlong
    return more_bytes, [address(), address()]


def heap_and_stack_figures(found: tuple[int, list[int]]) -> Figures:
    more_bytes, addresses = found
    apart = abs(addresses[1] - addresses[0]) if addresses else Lacking(lacking(python=False))
    return {"returned": 1 - more_bytes / WHOLE, "apart": apart}


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
def traced_and_resident(numbers: int = 12_500_000) -> dict[str, tuple[int, int]]:
    ways: dict[str, Callable[[], object]] = {
        "bytearray": lambda: bytearray(b"x") * (4 * numbers),
        "torch.ones": lambda: torch.ones(numbers),
    }
    return {
        name: (traced_bytes(make), peak_of(make).kept_bytes)
        for name, make in ways.items()
    }  # fmt: skip


def traced_and_resident_figures(found: dict[str, tuple[int, int]]) -> Figures:
    return {
        "objects": Rows([(name, traced, resident) for name, (traced, resident) in found.items()]),
        "traced": found["torch.ones"][0] / WHOLE,
    }


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
def after_freeing(numbers: int = 12_500_000) -> tuple[MemoryUse, int, int, int]:
    large = peak_of(lambda: torch.ones(numbers).sum())
    before_bytes = resident_bytes()
    strings = [str(i) * 40 for i in range(100_000, 300_000)]
    all_bytes = resident_bytes() - before_bytes
    strings = strings[::1000]
    left_bytes = resident_bytes() - before_bytes
    return large, all_bytes, left_bytes, sum(map(sys.getsizeof, strings))


def after_freeing_figures(found: tuple[MemoryUse, int, int, int]) -> Figures:
    large, all_bytes, left_bytes, used_bytes = found
    # An object adds nothing if it fits into memory that the process has freed before.
    stays = left_bytes / all_bytes if all_bytes else math.nan
    return {
        "growth": Rows([(large.added_bytes, large.kept_bytes), (all_bytes, left_bytes)]),
        "stays": stays,
        "returned": 1 - stays,
        "used_bytes": used_bytes,
    }


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
def script(numbers: int) -> str:
    return f"""
import time
import numpy as np

@profile
def work():
    a = np.ones({numbers})
    b = a * 2
    c = (a + b) * (a - b)
    del a
    time.sleep(0.1)
    return c.sum()

work()
"""


def line_by_line(numbers: int = 5_000_000) -> tuple[Line, ...]:
    return line_table(script(numbers))


def line_by_line_figures(lines: tuple[Line, ...]) -> Figures:
    arrays = {each.text.strip(): (each.more_bytes or 0.0) / (8 * 5_000_000) for each in lines}
    rows = [(each.number, each.text, each.resident_bytes, each.more_bytes) for each in lines]
    return {"lines": Rows(rows), "product": arrays["c = (a + b) * (a - b)"]}


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
def spike() -> None:
    time.sleep(0.02)
    torch.ones(12_500_000)
    time.sleep(0.02)


def over_time(plotted: int = 1) -> tuple[Timeline, list[int], MemoryUse, float]:
    curve = timeline(
        script(5_000_000),
        title="Memory of the script, measured by mprof",
        plotted=bool(plotted),
    )
    samples = memory_samples(spike, interval_s=0.5)
    return curve, samples, peak_of(spike), memory_usage(-1)[-1]


def over_time_figures(found: tuple[Timeline, list[int], MemoryUse, float]) -> Figures:
    curve, samples, peak, now_mib = found
    stored: float | Lacking = peak.added_bytes / WHOLE
    if not peak.exact:
        stored = Lacking("this system does not store a peak that a process can reset: run the lesson on Linux")
    return {
        "curve": Drawing(sparkline(curve), curve.svg),
        "curve_s": curve.samples[-1][0],
        "seen": (max(samples) - min(samples)) / WHOLE,
        "samples": len(samples),
        "stored": stored,
        "now_bytes": now_mib * 2**20,
    }


def sparkline(curve: Timeline) -> str:
    """Return a curve of the memory over time in one line. Each character shows the largest of its samples."""
    sizes = [bytes_ for _, bytes_ in curve.samples]
    step = -(-len(sizes) // 60)
    high = [max(sizes[at : at + step]) for at in range(0, len(sizes), step)]
    return f"{units.size(min(sizes))} {plots.sparkline(high)} {units.size(curve.peak_bytes)}"


# ── 8 ─────────────────────────────────────────────────────────────────────────────────────────
def with_names(x: Tensor) -> Tensor:
    scaled = x * 1.5
    shifted = scaled - 0.25
    bounded = shifted.clamp(0, 1)
    return bounded * bounded


def one_line(x: Tensor) -> Tensor:
    return (x * 1.5 - 0.25).clamp(0, 1).square()


def in_place(x: Tensor) -> Tensor:
    return (x * 1.5).sub_(0.25).clamp_(0, 1).square_()


def sum_in_blocks(x: Tensor) -> float:
    parts = torch.split(x, 1 << 16)
    return sum(float(in_place(part).sum()) for part in parts)


def fewer_lines(numbers: int = 12_500_000) -> dict[str, MemoryUse]:
    x = torch.rand(numbers)
    return {
        "with_names": peak_of(lambda: with_names(x)),
        "one_line": peak_of(lambda: one_line(x)),
        "in_place": peak_of(lambda: in_place(x)),
        "sum_in_blocks": peak_of(lambda: sum_in_blocks(x)),
    }


def fewer_lines_figures(found: dict[str, MemoryUse]) -> Figures:
    peaks = {name: use.added_bytes / WHOLE for name, use in found.items()}
    return {
        "peaks": Rows(list(peaks.items())),
        "saved": 1 - peaks["one_line"] / peaks["with_names"],
        "blocks": peaks["sum_in_blocks"],
    }


# ── 9 ─────────────────────────────────────────────────────────────────────────────────────────
def timed(call: Callable[[], object]) -> tuple[float, int]:
    faults, began_s = page_faults() or 0, time.thread_time()
    call()
    seconds = time.thread_time() - began_s
    return seconds, (page_faults() or 0) - faults


def new_memory(turns: int = 7, numbers: int = 12_500_000) -> list[dict[str, tuple[float, int]]]:
    x, out = torch.rand(numbers), torch.ones(numbers)
    ways: dict[str, Callable[[], object]] = {
        "x * 2": lambda: x * 2,
        "torch.mul(x, 2, out=out)": lambda: torch.mul(x, 2, out=out),
        "out.mul_(0.5)": lambda: out.mul_(0.5),
    }
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    found = [
        {name: timed(call) for name, call in ways.items()}
        for _ in range(turns)
    ]  # fmt: skip
    torch.set_num_threads(threads)
    return found


def new_memory_figures(turns: list[dict[str, tuple[float, int]]]) -> Figures:
    new, out, _ = turns[0]
    counted = page_faults() is not None
    rows = [(way, min(turn[way][0] for turn in turns), turns[-1][way][1] if counted else None) for way in turns[0]]
    return {
        "ways": Rows(rows),
        "to_out": Interval.every(turn[new][0] / turn[out][0] for turn in turns),
    }


lesson = load(__name__)

if __name__ == "__main__":
    main(lesson)
