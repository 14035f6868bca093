"""Lesson 17: find short peaks of memory, memory that is never freed, and the memory of a training step.

The steps appear on the screen in the order of this file. Some sentences of an explanation depend on the measurements on
this machine. The lesson uses at most about 250 MiB at a time. The steps with memray are skipped if it is not installed.
"""

import gc
import math
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from statistics import median
from typing import Any, NamedTuple

import torch
from memory_profiler import memory_usage
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint_sequential

from harness.charts import plots
from harness.memory.allocations import Allocated, Recording, lacking_memray, of_function, record_allocations
from harness.memory.resident import MemoryUse, page_faults, peak_of, traced_peak
from harness.memory.tensors import TensorMemory, tensor_memory
from harness.rendering import units
from harness.rendering.tables import Table
from lessons.engine import Choice, Interval, Lesson, Page, smallest
from lessons.engine.command import main
from lessons.engine.words import followed
from lessons.probes.live_memory import CudaMemory, LiveStage, live_stages, read_record, write_record

lesson = Lesson(
    __file__,
    objective="You can find a short peak of memory, a memory leak, and the memory that a training step needs.",
)

NUMBERS = 10_000_000
"""The number of elements of a large tensor in this lesson. In float32 they take 38.1 MiB.

glibc's `free` returns each block of more than 32 MiB to the system (mallopt(3), M_MMAP_THRESHOLD)."""

LARGE_BYTES = 4 * NUMBERS


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def make_texts(number: int) -> list[str]:
    return [str(each) * 20 for each in range(number)]


@lesson.given
def program(peaks: int) -> list[float]:
    texts = make_texts(50_000)
    lengths_s = []
    for _ in range(peaks):
        time.sleep(0.03)
        began_s = time.perf_counter()
        torch.ones(10_000_000)
        lengths_s.append(time.perf_counter() - began_s)
    del texts
    return lengths_s


@lesson.given
class Sampled(NamedTuple):
    samples_mib: list[float]
    lengths_s: list[float]
    traced_bytes: int


@lesson.step(
    "Short peaks between two samples",
    predict=Choice(
        "The program makes a tensor of 38.1 MiB 20 times, and frees each tensor after a few milliseconds. Between two"
        " tensors, it waits 30 ms. memory_profiler takes a sample every 0.1 s. How many of the 20 tensors do the"
        " samples show?",
        {"a": "fewer than 5", "b": "5 to 15", "c": "16 or more"},
        limits=(5, 16),
    ),
    expected="a",
    wrong_reasoning="Students think that many samples show each tensor. But each tensor exists for a few "
    "milliseconds, much shorter than the time between two samples.",
    fast={"peaks": 10},
)
def between_two_samples(peaks: int = 20) -> Sampled:
    """The program keeps 50 000 strings. Beside them, it makes one large tensor after the other.

    `memory_usage` of memory_profiler measures resident memory every 0.1 s, while the program runs in a thread. Then
    `tracemalloc` measures the peak of another run. `traced_peak` starts `tracemalloc`, calls a function, and returns
    the second number of `tracemalloc.get_traced_memory()`.
    """
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(program, peaks)
        samples = memory_usage(-1, interval=0.1, timeout=0.04 * peaks)
        lengths_s = running.result()
    return Sampled(samples, lengths_s, traced_peak(lambda: program(1)))


SAMPLES_MISS = between_two_samples.claim(
    "samples-miss",
    "the samples show at most half of the short peaks",
    at_most=0.5,
    unit=units.percent,
)
TRACED_MISSES = between_two_samples.claim(
    "tracemalloc-misses",
    "the peak of `tracemalloc` is less than half of the size of the tensor",
    at_most=0.5,
    unit=units.percent,
)


@between_two_samples.explain
def _(page: Page, found: Sampled) -> None:
    peaks, length_s = len(found.lengths_s), median(found.lengths_s)
    low = min(found.samples_mib)
    seen = sum(mib - low > LARGE_BYTES / 2**21 for mib in found.samples_mib)
    shown = f"{low:.0f} MiB {plots.sparkline(found.samples_mib)} {max(found.samples_mib):.0f} MiB"
    page.output(shown, caption=f"{units.some(len(found.samples_mib), 'sample')} of memory_profiler")
    # If other programs make the peaks long, more samples find one.
    long = length_s > 0.025
    remark = f"The samples showed {seen} of {units.some(peaks, 'tensor')}."
    page.reveal(Interval.exact(seen * 20 / peaks).void_if(long), remark)
    page.settle(SAMPLES_MISS, Interval.exact(seen / peaks).void_if(long))
    page.settle(TRACED_MISSES, found.traced_bytes / LARGE_BYTES)
    page.say(
        f"A tensor existed for {units.seconds(length_s)} (median). A sample shows it only if the sample falls into",
        "this time. The share of the time in which a peak exists is the probability that a sample finds the peak.",
        SAMPLES_MISS.words(
            held="So most of the peaks in this run are between two samples.",
            refuted="In this run, more than half of the peaks happened to contain a sample.",
            unclear="In this run, the peaks were so long that the samples could find many of them.",
        ),
    )
    page.say(
        f"The peak of `tracemalloc` is {units.size(found.traced_bytes)}.",
        TRACED_MISSES.words(
            held="It contains the strings, because Python's allocator made them. torch takes memory from the C library,"
            " so `tracemalloc` does not count it.",
            refuted="In this run, it contains a large part of the tensor, so this torch reports memory to Python.",
            unclear="This run does not show whether it contains the tensor.",
        ),
    )


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Recorded(NamedTuple):
    program: Recording
    empty: Recording
    empty_resident: MemoryUse
    peaks: int


@lesson.step(
    "Each allocation: memray",
    predict=Choice(
        "memray records the same program. Its report shows the functions that hold the memory at the peak. Which part"
        " of this memory belongs to the line `torch.ones(10_000_000)`?",
        {"a": "less than a tenth", "b": "a tenth to a half", "c": "more than a half"},
        limits=(0.1, 0.5),
    ),
    expected="c",
    wrong_reasoning="Students think that the imports hold most memory, as at the start of a program. But at the peak, "
    "the tensor is larger than everything else.",
    fast={"peaks": 5},
)
def each_allocation(peaks: int = 20) -> Recorded | None:
    """To record a program, memray replaces `malloc`, `free` and the other functions of the C library for memory.

    It records the size and the stack of each call. `record_allocations` of `harness.memory` calls a function within
    `with memray.Tracker(FILE):`, and reads the file with `memray.FileReader`. On the command line, `python -m memray
    run -o FILE script.py` records a script, and `python -m memray flamegraph FILE` draws the memory at the peak.

    We also record `torch.empty`, and measure its resident memory.
    """
    if lacking_memray():
        return None
    found = record_allocations(lambda: program(peaks))
    empty = record_allocations(lambda: torch.empty(10_000_000))
    resident = peak_of(lambda: torch.empty(10_000_000))
    return Recorded(found, empty, resident, peaks)


PEAK_IS_SEEN = each_allocation.claim(
    "memray-sees-the-peak",
    "at the peak, `program` holds 95 % to 110 % of the bytes of a tensor, according to memray",
    at_least=0.95,
    at_most=1.1,
    unit=units.percent,
)
ALL_ARE_COUNTED = each_allocation.claim(
    "memray-sees-all",
    "the sum of all allocations contains the bytes of all the short tensors",
    at_least=1,
    unit=units.ratio,
)
RESERVED_COUNTS = each_allocation.claim(
    "memray-counts-requests",
    "for `torch.empty`, memray counts at least 99 % of the bytes of the tensor",
    at_least=0.99,
    unit=units.percent,
)
NOT_RESIDENT = each_allocation.claim(
    "empty-is-not-resident",
    "for `torch.empty`, resident memory grows by at most 10 % of the bytes of the tensor",
    at_most=0.1,
    unit=units.percent,
)


@each_allocation.explain
def _(page: Page, found: Recorded | None) -> None:
    if found is None:
        page.skip_step(lacking_memray(), shows="the memory at the peak of a program, with the function of each block")
        return
    page.table(of_blocks(found.program.at_peak[:4], "The memory at the peak, recorded by memray"))
    held = of_function(found.program.at_peak, "program")
    page.reveal(
        held / found.program.peak_bytes,
        f"The peak is {units.size(found.program.peak_bytes)}, of which the line holds {units.size(held)}.",
    )
    page.settle(PEAK_IS_SEEN, held / LARGE_BYTES)
    page.settle(ALL_ARE_COUNTED, found.program.all_bytes / (found.peaks * LARGE_BYTES))
    page.settle(RESERVED_COUNTS, found.empty.peak_bytes / LARGE_BYTES)
    page.settle(NOT_RESIDENT, found.empty_resident.added_bytes / LARGE_BYTES)
    page.say(
        PEAK_IS_SEEN.words(
            held="memray records the peak although it was short, because it does not take samples.",
            refuted="In this run, memray gives the bytes of the tensor to another function.",
            unclear="This run does not show whether memray records the short peak.",
        ),
        "memray's file grows with the number of allocations. The option `--aggregate` of `memray run` keeps only sums.",
    )
    page.say(
        "memray counts the bytes that a program requests. Resident memory contains only the pages that the program has",
        "used. Therefore, the two sizes of a tensor from `torch.empty` can differ.",
    )


def of_blocks(blocks: tuple[Allocated, ...], title: str) -> Table:
    """Return a table of allocations that memray recorded, with their innermost function."""
    heads = {"function:line": None, "allocator": None, "allocations": units.count, "size": units.size}
    return Table.of(
        title, heads, [(next(iter(each.stack), "?"), each.allocator, each.times, each.n_bytes) for each in blocks]
    )


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class TwoLevels(NamedTuple):
    texts: int
    from_c: Recording
    from_python: Recording


@lesson.step(
    "Two allocators, one on top of the other",
    predict=Choice(
        "We make 100 000 strings. Without further options, memray does not record Python's own allocator, but only the"
        " functions of the C library. How many allocations does it record?",
        {"a": "fewer than 10 000", "b": "10 000 to 99 999", "c": "100 000 or more"},
        limits=(10_000, 100_000),
    ),
    expected="a",
    wrong_reasoning="Students think that each string is an allocation of the C library. But Python's allocator asks "
    "for large pieces and divides them itself.",
    fast={"texts": 20_000},
)
def two_levels(texts: int = 100_000) -> TwoLevels | None:
    """Python has an allocator of its own for small objects, `pymalloc`. It gets large pieces of memory from the system.

    It divides the pieces into small blocks. The option `trace_python_allocators` of memray's `Tracker` (on the command
    line: `--trace-python-allocators`) also records each block of `pymalloc`.
    """
    if lacking_memray():
        return None
    make = partial(make_texts, texts)
    return TwoLevels(
        texts,
        record_allocations(make),
        record_allocations(make, python_allocator=True),
    )


FEW_PIECES = two_levels.claim(
    "few-pieces",
    "without the option, memray records fewer than one allocation for ten strings",
    at_most=0.1,
    unit=followed("per string", units.number),
)
EACH_BLOCK = two_levels.claim(
    "each-block",
    "with the option, memray records at least one allocation for each string",
    at_least=1,
    unit=followed("per string", units.number),
)


@two_levels.explain
def _(page: Page, found: TwoLevels | None) -> None:
    if found is None:
        page.skip_step(lacking_memray(), shows="how many allocations 100 000 strings need, at two levels")
        return
    levels = {"of the C library": found.from_c, "and of `pymalloc`": found.from_python}
    rows = [(name, each.allocations, each.peak_bytes) for name, each in levels.items()]
    columns = {"recorded allocations": None, "number": units.count, "peak": units.size}
    page.table(Table.of(f"{units.some(found.texts, 'string')}, recorded twice", columns, rows))
    page.reveal(Interval.exact(found.from_c.allocations * 100_000 / found.texts))
    page.settle(FEW_PIECES, found.from_c.allocations / found.texts)
    page.settle(EACH_BLOCK, found.from_python.allocations / found.texts)
    page.say(
        FEW_PIECES.words(
            held="The C library sees only the large pieces. They are large enough for thousands of strings.",
            refuted="In this run, the C library sees an allocation for most strings, so this Python does not use"
            " `pymalloc`.",
            unclear="This run does not show how many strings are in one piece.",
        ),
        "The sizes at the peak are similar at both levels, so you seldom need the option. With it, a recording is",
        "larger and slower. It shows which line made a small object, even if the line did not need a new piece.",
    )


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.step(
    "Native frames",
    predict=Choice(
        "Which function asks the C library for the memory of a tensor's numbers?",
        {
            "a": "Python's allocator",
            "b": "a function of torch in C++",
            "c": "the compiled bytecode of `torch.ones`",
        },
    ),
    expected="b",
    wrong_reasoning="Students think that Python allocates everything that a Python program uses. But torch's C++ code "
    "asks the C library directly.",
    fast={"native": 0},
)
def native_frames(native: int = 1) -> Allocated | None:
    """A stack of Python functions ends where C or C++ code begins. `native_traces` records the frames below, too.

    On the command line, the option is `--native`. memray needs the symbols of the libraries, which are the names of
    their functions. Looking up the names takes seconds. The result is the largest block at the peak.
    """
    if lacking_memray() or not native:
        return None
    make = partial(torch.ones, 10_000_000)
    return record_allocations(make, native=True).at_peak[0]


CPP_BELOW = native_frames.claim(
    "cpp-below",
    "at least three of the innermost functions are C++ functions, which have `::` in their names",
    at_least=3,
    unit=followed("C++ functions"),
)


@native_frames.explain
def _(page: Page, found: Allocated | None) -> None:
    if found is None:
        reason = lacking_memray() or "a short run does not look up the names of C++ functions"
        page.skip_step(reason, shows="the C++ functions of torch that allocate the memory of a tensor")
        return
    names = [short_name(frame) for frame in found.stack]
    caption = f"The innermost functions of the stack of {units.size(found.n_bytes)} ({found.allocator})"
    page.output("\n".join(names[:6]), caption=caption)
    page.reveal("b" if names and names[0].startswith(("c10::", "at::")) else None)
    page.settle(CPP_BELOW, sum("::" in name for name in names))
    page.say(
        CPP_BELOW.words(
            held="The namespaces `c10` and `at` belong to torch's C++ libraries.",
            refuted="In this run, memray found no names of C++ functions.",
            unclear="This run does not show the C++ functions.",
        ),
        "Use native frames if a Python line calls a library, and you want to know which part of the library allocates.",
    )


def short_name(frame: str) -> str:
    """Return the name of a function without its arguments and template parameters."""
    name = frame.partition("(")[0].partition("<")[0]
    return name[:60] or frame[:60]


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def joined(blocks: list[Tensor]) -> Tensor:
    whole = torch.empty(0)
    for block in blocks:
        whole = torch.cat([whole, block])
    return whole


@lesson.given
def filled(blocks: list[Tensor]) -> Tensor:
    whole = torch.empty(sum(len(block) for block in blocks))
    start = 0
    for block in blocks:
        whole[start : start + len(block)] = block
        start += len(block)
    return whole


@lesson.step(
    "Temporary allocations",
    predict=Choice.ranges(
        "`joined` appends 100 blocks of the same size, one at a time. What is the sum of all its allocations divided by"
        " the size of its result?",
        (3, 20, 80),
        units.ratio,
    ),
    expected="c",
    wrong_reasoning="Students count each appended block once. But each append makes a new, longer result and copies "
    "the old one.",
)
def temporary_allocations(length: int = 10_000) -> dict[str, Recording] | None:
    """An allocation is temporary if the program frees it soon. Temporary allocations take time, but raise no peak.

    In memray's reports, the option `--temporary-allocation-threshold=100` shows the blocks that were freed before 100
    further allocations. We use the same threshold.
    """
    if lacking_memray():
        return None
    blocks = [torch.ones(length) for _ in range(100)]
    return {
        "joined": record_allocations(lambda: joined(blocks)),
        "filled": record_allocations(lambda: filled(blocks)),
    }


JOINED_COPIES = temporary_allocations.claim(
    "joined-copies",
    "the allocations of `joined` have 45 to 60 times the size of its result",
    at_least=45,
    at_most=60,
    unit=units.ratio,
)
FILLED_ONCE = temporary_allocations.claim(
    "filled-once",
    "the allocations of `filled` have at most twice the size of its result",
    at_most=2,
    unit=units.ratio,
)
MOST_TEMPORARY = temporary_allocations.claim(
    "most-is-temporary",
    "at least 80 % of the bytes that `joined` allocates are temporary",
    at_least=0.8,
    unit=units.percent,
)
PEAK_HIDES_IT = temporary_allocations.claim(
    "peak-hides-it",
    "the peak of `joined` is at most 2.5 times the size of its result",
    at_most=2.5,
    unit=units.ratio,
)


@temporary_allocations.explain
def _(page: Page, found: dict[str, Recording] | None) -> None:
    if found is None:
        page.skip_step(lacking_memray(), shows="how many bytes a loop with `torch.cat` allocates and frees again")
        return
    whole = 4 * 10_000 * 100
    temporary = {name: sum(block.n_bytes for block in each.temporary) for name, each in found.items()}
    rows = [(name, each.all_bytes, temporary[name], each.peak_bytes) for name, each in found.items()]
    columns = {"function": None, "all allocations": units.size, "temporary": units.size, "peak": units.size}
    page.table(Table.of(f"Two ways to a result of {units.size(whole)}", columns, rows))
    joined_, filled_ = found["joined"], found["filled"]
    page.reveal(joined_.all_bytes / whole)
    page.settle(JOINED_COPIES, joined_.all_bytes / whole)
    page.settle(FILLED_ONCE, filled_.all_bytes / whole)
    page.settle(MOST_TEMPORARY, temporary["joined"] / joined_.all_bytes)
    page.settle(PEAK_HIDES_IT, joined_.peak_bytes / whole)
    page.say(
        JOINED_COPIES.words(
            held="Each `torch.cat` copies all earlier blocks: 1 + 2 + … + 100 = 5050 blocks for a result of 100"
            " blocks, which is a factor of 50.5. With twice as many blocks, the factor is twice as large.",
            refuted="In this run, `torch.cat` does not copy the earlier blocks each time.",
            unclear="This run does not show how often `joined` copies the blocks.",
        ),
        "The peak does not show this work. Allocate the result once and fill it, or collect the blocks in a list and",
        "call `torch.cat` once.",
    )


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def script() -> str:
    return """
def load():
    return bytearray(20_000_000)

def prepare():
    return bytearray(30_000_000)

data = load()
pause("loaded")
batch = prepare()
del data
pause("prepared")
"""


@lesson.step(
    "Live: a program that still runs",
    predict=Choice(
        "memray's live view shows the memory of a running program. At the end of this script, which functions does the"
        " view list with at least 1 MB?",
        {"a": "`load` and `prepare`", "b": "only `prepare`", "c": "none, because the program has not ended"},
    ),
    expected="b",
    wrong_reasoning="Students think that a profile exists only after the end of the program. But the live view shows "
    "what is allocated now, and `load` has freed its memory.",
)
def live_view() -> list[LiveStage] | None:
    """A recording on disk is read after the program. A server runs for weeks, so you want to look into it before.

    `python -m memray run --live script.py` shows a table in the terminal. With `--live-remote`, the script waits for
    `python -m memray live PORT` in another terminal. `python -m memray attach PID` starts the table for a process that
    already runs. Before Python 3.14, it needs a debugger, gdb or lldb.

    `live_stages` starts this script with `--live-remote`, and reads the same data with `memray.SocketReader`. `pause`
    waits until the memory has been read.
    """
    if lacking_memray():
        return None
    return live_stages(script(), ["load", "prepare"])


LIVE_SEES = live_view.claim(
    "live-sees",
    "while the script waits at `loaded`, the live view shows 99 % to 101 % of the bytes of `load`",
    at_least=0.99,
    at_most=1.01,
    unit=units.percent,
)
LIVE_FORGETS = live_view.claim(
    "live-forgets",
    "at `prepared`, the live view shows at most 1 % of the bytes of `load`",
    at_most=0.01,
    unit=units.percent,
)


@live_view.explain
def _(page: Page, found: list[LiveStage] | None) -> None:
    if found is None:
        page.skip_step(lacking_memray(), shows="the memory of each function of a script that is still running")
        return
    rows = [(each.name, each.n_bytes["load"], each.n_bytes["prepare"]) for each in found]
    page.table(Table.of("Live tracking", {"stage": None, "`load`": units.size, "`prepare`": units.size}, rows))
    first, last = found[0].n_bytes, found[-1].n_bytes
    listed = tuple(name for name in ("load", "prepare") if last[name] >= 1e6)
    page.reveal({("load", "prepare"): "a", ("prepare",): "b", (): "c"}.get(listed))
    page.settle(LIVE_SEES, first["load"] / 20e6)
    page.settle(LIVE_FORGETS, last["load"] / 20e6)
    page.say(
        "The live view contains only memory that is in use now. If the memory of one function grows from minute to",
        "minute, this function may leak. The next two steps show two causes.",
    )


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Batch:
    def __init__(self) -> None:
        numbers = torch.ones(2_000_000)
        self.numbers = numbers
        self.mean = lambda: self.numbers.mean()  # noqa: PLW0108


@lesson.given
class PlainBatch:
    def __init__(self) -> None:
        numbers = torch.ones(2_000_000)
        self.numbers = numbers

    def mean(self) -> Tensor:
        return self.numbers.mean()


@lesson.given
def means(kind: type[Any], batches: int) -> float:
    return sum(float(kind().mean()) for _ in range(batches))


@lesson.given
class Leaks(NamedTuple):
    leaking: TensorMemory
    freed: TensorMemory
    plain: TensorMemory
    recorded: Recording | None


@lesson.step(
    "A leak through cycles",
    predict=Choice(
        "The loop in `means` makes eight objects of the class `Batch`, one after the other, and keeps none of them. How"
        " many of the eight tensors are in memory after the loop, before the garbage collector runs?",
        {"a": "0", "b": "1", "c": "8"},
        limits=(0.5, 4.5),
    ),
    expected="c",
    wrong_reasoning="Students think that the loop keeps only the last object. But each object refers to itself, so "
    "only the garbage collector can free it.",
)
def leak_through_cycles() -> Leaks:
    """Each `Batch` has a lambda function as an attribute, which uses `self`. `PlainBatch` has a method instead.

    `tensor_memory` of `harness.memory` calls a function under `torch.profiler` with `profile_memory=True`. It adds up
    the blocks that torch allocates and frees. The garbage collector is off meanwhile.
    memray's leak report (`python -m memray flamegraph --leaks FILE`) shows memory that is still allocated at the end.
    """
    gc.disable()
    leaking = tensor_memory(lambda: means(Batch, 8))
    freed = tensor_memory(gc.collect)
    plain = tensor_memory(lambda: means(PlainBatch, 8))
    recorded = None
    if not lacking_memray():
        recorded = record_allocations(lambda: means(Batch, 8))
    gc.enable()
    gc.collect()
    return Leaks(leaking, freed, plain, recorded)


CYCLES_LEAK = leak_through_cycles.claim(
    "cycles-leak",
    "after the loop, 7.9 to 8.1 tensors of the class `Batch` are in memory",
    at_least=7.9,
    at_most=8.1,
    unit=followed("tensors", units.number),
)
COLLECTED = leak_through_cycles.claim(
    "cycles-are-collected",
    "`gc.collect()` frees at least 7.9 of these tensors",
    at_least=7.9,
    unit=followed("tensors", units.number),
)
PLAIN_IS_FREED = leak_through_cycles.claim(
    "plain-is-freed",
    "of the class `PlainBatch`, at most 0.1 tensors are in memory after the loop",
    at_most=0.1,
    unit=followed("tensors", units.number),
)
LEAK_IS_NAMED = leak_through_cycles.claim(
    "leak-is-named",
    "memray gives at least 90 % of the memory that is still allocated to `__init__`",
    at_least=0.9,
    unit=units.percent,
)


@leak_through_cycles.explain
def _(page: Page, found: Leaks) -> None:
    tensor = 4 * 2_000_000
    kept = {"Batch": found.leaking.kept_bytes, "Batch, after `gc.collect()`": found.leaking.kept_bytes}
    kept["Batch, after `gc.collect()`"] += found.freed.kept_bytes
    kept["PlainBatch"] = found.plain.kept_bytes
    columns = {"class": None, "memory of tensors": units.size}
    page.table(Table.of("The memory of torch's tensors after the loop", columns, list(kept.items())))
    page.reveal(Interval.exact(found.leaking.kept_bytes / tensor))
    page.settle(CYCLES_LEAK, found.leaking.kept_bytes / tensor)
    page.settle(COLLECTED, -found.freed.kept_bytes / tensor)
    page.settle(PLAIN_IS_FREED, found.plain.kept_bytes / tensor)
    if found.recorded is None:
        page.skip(LEAK_IS_NAMED, lacking_memray())
    else:
        all_kept = sum(block.n_bytes for block in found.recorded.kept)
        page.settle(LEAK_IS_NAMED, of_function(found.recorded.kept, "__init__") / (all_kept or math.nan))
    page.say(
        CYCLES_LEAK.words(
            held="The object refers to the lambda function, and the lambda function to the object, which it uses as"
            " `self`. So the reference counts of the two never become zero.",
            refuted="In this run, the objects were freed, although they refer to themselves.",
            unclear="This run does not show whether the objects were freed.",
        ),
        "Python's collector starts after many new objects, and not after many bytes. A few large tensors can fill the",
        "memory before. Remove the cycle, for example with a method or with `weakref`, instead of calling the",
        "collector often.",
    )
    page.say(
        "A report of leaks names the line that allocated the memory. It does not show what still refers to the memory.",
        "`gc.get_referrers(OBJECT)` lists the objects that do.",
    )


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def double(x: Tensor) -> Tensor:
    return x * 2


@lesson.given
def six_calls(function: Callable[[Tensor], Tensor]) -> None:
    x = torch.ones(2_000_000)
    for _ in range(6):
        function(x.clone())


@lesson.given
class Cached(NamedTuple):
    unbounded: TensorMemory
    hits: int
    bounded: TensorMemory


@lesson.step(
    "A leak through a cache",
    predict=Choice(
        "`cached` is `double` with `lru_cache`. We call `cached` six times, each time with a new copy of the same"
        " tensor. How many tensors does the cache keep in memory?",
        {"a": "1", "b": "2", "c": "6", "d": "12"},
        limits=(1.5, 4, 9),
    ),
    expected="d",
    wrong_reasoning="Students think that equal tensors share one entry. But a cache recognizes a tensor by its "
    "identity, and it keeps the argument and the result.",
)
def leak_through_a_cache() -> Cached:
    """`lru_cache` stores the result of each call. The arguments are the key under which it finds the result.

    Two tensors with equal numbers are different keys, because torch computes the hash of a tensor from its identity.
    With `maxsize=None`, the cache has no limit.
    """
    cached = lru_cache(maxsize=None)(double)
    bounded = lru_cache(maxsize=2)(double)
    unbounded = tensor_memory(lambda: six_calls(cached))
    few = tensor_memory(lambda: six_calls(bounded))
    return Cached(unbounded, cached.cache_info().hits, few)


NO_HITS = leak_through_a_cache.claim(
    "no-hits", "the cache finds no result of an earlier call", equals=0, unit=followed("hits")
)
KEEPS_BOTH = leak_through_a_cache.claim(
    "keeps-both",
    "after six calls, the cache keeps 11.9 to 12.1 tensors",
    at_least=11.9,
    at_most=12.1,
    unit=followed("tensors", units.number),
)
BOUNDED = leak_through_a_cache.claim(
    "bounded",
    "with `maxsize=2`, the cache keeps at most 4.1 tensors",
    at_most=4.1,
    unit=followed("tensors", units.number),
)


@leak_through_a_cache.explain
def _(page: Page, found: Cached) -> None:
    tensor = 4 * 2_000_000
    kept = {"None": found.unbounded, "2": found.bounded}
    rows = [(name, each.kept_bytes, each.peak_bytes) for name, each in kept.items()]
    columns = {"`maxsize`": None, "kept": units.size, "peak": units.size}
    page.table(Table.of(f"Six calls, with tensors of {units.size(tensor)}", columns, rows))
    page.reveal(Interval.exact(found.unbounded.kept_bytes / tensor))
    page.settle(NO_HITS, found.hits)
    page.settle(KEEPS_BOTH, found.unbounded.kept_bytes / tensor)
    page.settle(BOUNDED, found.bounded.kept_bytes / tensor)
    page.say(
        KEEPS_BOTH.words(
            held="The cache keeps each argument and each result. No call finds a result, so the cache saves no time.",
            refuted="In this run, the cache keeps fewer tensors, or more tensors.",
            unclear="This run does not show how many tensors the cache keeps.",
        ),
        "Use small keys, such as the number of a batch or the name of a file, and always set `maxsize`.",
        "The garbage collector does not help here, because the cache still refers to the tensors.",
    )


# ── 9 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def faults_of(numbers: int, times: int) -> list[int]:
    faults = []
    for _ in range(times):
        before = page_faults() or 0
        torch.ones(numbers)
        faults.append((page_faults() or 0) - before)
    return faults


@lesson.given
class Faults(NamedTuple):
    small: list[int]
    large: list[int]


@lesson.step(
    "Memory that is used again",
    predict=Choice(
        "We make and free a tensor of 3.8 MiB twenty times. 3.8 MiB are 977 pages of 4 KiB. How many page faults does"
        " one of these tensors cause, in the median?",
        {"a": "fewer than 100", "b": "100 to 600", "c": "more than 600"},
        limits=(100, 600),
    ),
    expected="a",
    wrong_reasoning="Students think that each new tensor gets new pages. But the allocator keeps freed memory of this "
    "size and uses it again.",
)
def used_again() -> Faults:
    """For the CPU, torch has no store of free blocks. It calls the C library's `malloc` and `free` for each tensor.

    The C library keeps freed blocks up to a limit, and gives them to later calls of `malloc`. The first use of a page
    causes a page fault, so a block that is used again causes none. We compare tensors of 3.8 MiB and of 122 MiB.
    Earlier steps may have left large gaps, in which a tensor of 122 MiB has room. Before we measure, tensors of
    `torch.empty` fill these gaps. They cost no memory, because nothing uses their pages.
    """
    small = faults_of(1_000_000, 20)
    fillers = [torch.empty(32_000_000) for _ in range(4)]
    large = faults_of(32_000_000, 3)
    del fillers
    return Faults(small, large)


SMALL_AGAIN = used_again.claim(
    "small-is-used-again",
    "a tensor of 3.8 MiB causes at most 100 page faults, in the median",
    at_most=100,
    unit=followed("page faults"),
)
LARGE_IS_NEW = used_again.claim(
    "large-is-new",
    "a tensor of 122 MiB causes at least 16 page faults, in the median",
    at_least=16,
    unit=followed("page faults"),
)


@used_again.explain
def _(page: Page, found: Faults) -> None:
    if page_faults() is None:
        page.skip_step("a system that reports the page faults of a process", shows="which tensors use memory again")
        return
    rows = [(name, faults[0], median(faults)) for name, faults in (("3.8 MiB", found.small), ("122 MiB", found.large))]
    columns = {"tensor": None, "page faults, first": units.count, "median": units.count}
    page.table(Table.of("Page faults of a new tensor", columns, rows))
    page.reveal(Interval.exact(median(found.small)))
    page.settle(SMALL_AGAIN, median(found.small))
    page.settle(LARGE_IS_NEW, median(found.large))
    page.say(
        SMALL_AGAIN.words(
            held="The C library gives the same block to the next tensor.",
            refuted="In this run, each small tensor gets new pages.",
            unclear="This run does not show whether small tensors use the same block.",
        ),
        LARGE_IS_NEW.words(
            held="A large block goes back to the system at once (mallopt(3), M_MMAP_THRESHOLD), so the next tensor"
            " needs new pages. If the system uses large pages, a tensor has fewer page faults.",
            refuted="In this run, large tensors use their memory again, so the process has another allocator.",
            unclear="This run does not show whether large tensors use the same block.",
        ),
        "For a GPU, torch keeps freed blocks itself. Step 12 shows this.",
    )


# ── 10 ─────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def network() -> nn.Sequential:
    layers = [(nn.Linear(64, 64), nn.Tanh()) for _ in range(16)]
    return nn.Sequential(*(nn.Sequential(*layer) for layer in layers))


@lesson.given
def in_segments(model: nn.Sequential, x: Tensor, segments: int) -> Tensor:
    checkpointed: Callable[..., Tensor] = checkpoint_sequential
    return checkpointed(model, segments, x, use_reentrant=False)


@lesson.given
def train_step(model: nn.Sequential, x: Tensor, segments: int = 0) -> None:
    y = in_segments(model, x, segments) if segments else model(x)
    y.square().mean().backward()


@lesson.given
class StepMemory(NamedTuple):
    output_bytes: int
    training: TensorMemory
    inference: TensorMemory


@lesson.step(
    "The peak of a training step",
    predict=Choice(
        "A network has 16 layers, each of them a `Linear` followed by a `Tanh`. Each of these 32 operations returns a"
        " tensor of 2 MiB. The weights are small. How many tensors of 2 MiB does a training step need at its peak?",
        {"a": "fewer than 8", "b": "8 to 26", "c": "more than 26"},
        limits=(8, 26),
    ),
    expected="b",
    wrong_reasoning="Students count each output of the 32 operations. But a `Linear` does not need its own output for "
    "the backward pass, so only some outputs are kept.",
    fast={"rows": 2048},
)
def peak_of_a_step(rows: int = 8192) -> StepMemory:
    """The backward pass computes the gradients from the last layer to the first. It needs results of the forward pass.

    For the gradient of `Linear`, autograd saves its input. For the gradient of `Tanh`, autograd saves its output. We
    measure a training step, and a forward pass under `torch.no_grad`.
    """
    model, x = network(), torch.ones(rows, 64)
    training = tensor_memory(lambda: train_step(model, x))
    with torch.no_grad():
        inference = tensor_memory(lambda: model(x))
    return StepMemory(x.nbytes, training, inference)


ONE_PER_LAYER = peak_of_a_step.claim(
    "one-per-layer",
    "at its peak, the training step needs 16 to 26 tensors of the size of an output",
    at_least=16,
    at_most=26,
    unit=followed("tensors", units.number),
)
INFERENCE_IS_SMALL = peak_of_a_step.claim(
    "inference-is-small",
    "at its peak, the forward pass under `torch.no_grad` needs at most 4 tensors of this size",
    at_most=4,
    unit=followed("tensors", units.number),
)


@peak_of_a_step.explain
def _(page: Page, found: StepMemory) -> None:
    training, inference = (each.peak_bytes / found.output_bytes for each in (found.training, found.inference))
    for name, each in (("A training step", found.training), ("A forward pass under `torch.no_grad`", found.inference)):
        page.output(curve_line(each.curve), caption=f"{name}: the memory of tensors over time")
    page.reveal(training)
    page.settle(ONE_PER_LAYER, training)
    page.settle(INFERENCE_IS_SMALL, inference)
    page.say(
        ONE_PER_LAYER.words(
            held="The output of a `Tanh` is also the input of the next `Linear`, so autograd saves one tensor per layer"
            " and not two. The output of a `Linear` is freed when `Tanh` has used it.",
            refuted="In this run, autograd saves another number of tensors.",
            unclear="This run does not show how many tensors autograd saves.",
        ),
        "The memory grows in the forward pass, is largest where the backward pass begins, and then shrinks. What",
        "remains are the gradients of the weights.",
    )
    page.say(
        INFERENCE_IS_SMALL.words(
            held="Without gradients, a layer's input is freed as soon as the next layer has its output.",
            refuted="In this run, the forward pass keeps many tensors, although it needs no gradients.",
            unclear="This run does not show how many tensors the forward pass needs.",
        ),
    )


def curve_line(curve: tuple[int, ...]) -> str:
    """Return a curve of memory over time as one line of at most 60 columns, with its largest value."""
    if not curve:
        return "torch recorded no memory"
    step = -(-len(curve) // 60)
    return (
        f"{plots.sparkline([max(curve[at : at + step]) for at in range(0, len(curve), step)])} {units.size(max(curve))}"
    )


# ── 11 ─────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def calls_of_layers(model: nn.Sequential) -> list[nn.Module]:
    calls: list[nn.Module] = []
    for layer in model:
        layer.register_forward_hook(lambda one, *_: calls.append(one))
    return calls


@lesson.given
class Checkpointed(NamedTuple):
    segments: int
    memory: TensorMemory
    calls: int


@lesson.step(
    "Less memory for more time: checkpointing",
    predict=Choice(
        "Activation checkpointing divides the 16 layers into segments, and keeps only the inputs of the segments. The"
        " backward pass computes the layers of one segment at a time again. Which number of segments has the lowest"
        " peak?",
        {"a": "2 segments", "b": "4 segments", "c": "16 segments"},
    ),
    expected="b",
    wrong_reasoning="Students think that more segments always save more. But the inputs of all segments are kept, "
    "and more segments have more inputs.",
    fast={"rows": 2048},
)
def checkpointing(rows: int = 8192) -> list[Checkpointed]:
    """`checkpoint_sequential` of torch runs the layers of a segment without saving their results for gradients.

    When the backward pass reaches the segment, torch runs the segment again, this time with saving. The last segment
    does not run twice. A forward hook counts the calls of layers.
    """
    x, found = torch.ones(rows, 64), []
    for segments in (0, 2, 4, 16):
        model = network()
        calls = calls_of_layers(model)
        memory = tensor_memory(partial(train_step, model, x, segments))
        found.append(Checkpointed(segments, memory, len(calls)))
    return found


FOUR_SAVE = checkpointing.claim(
    "four-save",
    "with 4 segments, the peak is at most 0.75 times the peak without checkpointing",
    at_most=0.75,
    unit=units.ratio,
)
MORE_IS_NOT_LESS = checkpointing.claim(
    "more-is-not-less",
    "with 16 segments, the peak is at least 1.2 times the peak with 4 segments",
    at_least=1.2,
    unit=units.ratio,
)
RUNS_AGAIN = checkpointing.claim(
    "runs-again",
    "with 4 segments, a training step calls at least 1.4 times as many layers",
    at_least=1.4,
    unit=units.ratio,
)


@checkpointing.explain
def _(page: Page, found: list[Checkpointed]) -> None:
    rows = [(str(each.segments or "none"), each.memory.peak_bytes, each.calls) for each in found]
    columns = {"segments": None, "peak of tensors": units.size, "calls of layers": units.count}
    page.table(Table.of("A training step of 16 layers", columns, rows))
    peaks = {each.segments: each.memory.peak_bytes for each in found}
    calls = {each.segments: each.calls for each in found}
    letters = {"a": peaks[2], "b": peaks[4], "c": peaks[16]}
    page.reveal(smallest({letter: Interval.exact(peak) for letter, peak in letters.items()}))
    page.settle(FOUR_SAVE, peaks[4] / peaks[0])
    page.settle(MORE_IS_NOT_LESS, peaks[16] / peaks[4])
    page.settle(RUNS_AGAIN, calls[4] / calls[0])
    page.say(
        FOUR_SAVE.words(
            held="The step keeps the inputs of the segments, and the layers of only one segment at a time.",
            refuted="In this run, checkpointing saves little memory.",
            unclear="This run does not show how much memory checkpointing saves.",
        ),
        MORE_IS_NOT_LESS.words(
            held="With 16 segments, a segment is one layer, and the step keeps as many inputs as without checkpointing."
            " With few segments, each segment is long. For n equal layers, about √n segments are best.",
            refuted="In this run, many segments need no more memory than four segments.",
            unclear="This run does not show whether many segments need more memory.",
        ),
    )
    page.say(
        RUNS_AGAIN.words(
            held="The price is time, because torch computes most layers of the forward pass twice.",
            refuted="In this run, torch calls hardly any layer twice.",
            unclear="This run does not show how many layers torch calls twice.",
        ),
        "torch stops the second run of a segment as soon as it has all saved tensors. A layer that torch stops in this",
        "way is missing in the count.",
    )


# ── 12 ─────────────────────────────────────────────────────────────────────────────────────────
@lesson.step("A snapshot of a GPU's memory")
def a_snapshot() -> CudaMemory | None:
    """For a GPU, torch has an allocator of its own. It asks CUDA for large segments, and divides them into blocks.

    `torch.cuda.memory._record_memory_history()` starts to record each block. `torch.cuda.memory._dump_snapshot(FILE)`
    saves the record, and the page docs.pytorch.org/memory_viz draws it. `read_record` returns the record of a
    training loop on a GPU.
    """
    return read_record()


FEW_SEGMENTS = a_snapshot.claim(
    "few-segments",
    "torch asks CUDA for memory at most once for ten new tensors",
    at_most=0.1,
    unit=units.percent,
)
RESERVED_STAYS = a_snapshot.claim(
    "reserved-stays",
    "at the end, the segments are at least 90 % of the largest size that they had",
    at_least=0.9,
    unit=units.percent,
)


@a_snapshot.explain
def _(page: Page, found: CudaMemory | None) -> None:
    if found is None:
        page.skip_step(
            "needs a record of a GPU's memory. On a machine with a GPU, run"
            " python -m lessons.17_peaks_and_leaks --record",
            shows="how torch uses its blocks on a GPU again, and why `nvidia-smi` shows more memory than the tensors"
            " need",
        )
        return
    tensors = found.bytes_after_each("alloc", "free_completed")
    segments = found.bytes_after_each("segment_alloc", "segment_free")
    events = Counter(name for name, _ in found.changes)
    page.output(curve_line(tensors), caption=f"The memory of tensors, recorded on {found.made_by}")
    page.output(curve_line(segments), caption="The memory of segments, which torch got from CUDA")
    page.settle(FEW_SEGMENTS, events["segment_alloc"] / max(events["alloc"], 1))
    page.settle(RESERVED_STAYS, segments[-1] / max(*segments, 1))
    page.say(
        FEW_SEGMENTS.words(
            held="Most new tensors use a block that an earlier tensor has freed.",
            refuted="In this record, torch asks CUDA for memory for many tensors.",
            unclear="This record does not show how often torch asks CUDA for memory.",
        ),
        "`torch.cuda.memory_allocated()` shows the tensors, and `torch.cuda.memory_reserved()` the segments.",
        "`nvidia-smi` shows the segments, and also the memory that CUDA itself needs.",
    )


lesson.recorder = write_record

lesson.key_points = (
    "Samples miss short peaks. A recording of each allocation shows the peak, and the line that caused it.",
    "Memory that is freed late is a leak, too: look for cycles and for caches without a limit.",
    "A training step keeps tensors for the backward pass. Checkpointing keeps fewer tensors, and computes them twice.",
)
lesson.references = (
    "memray: bloomberg.github.io/memray",
    "PyTorch, activation checkpointing: docs.pytorch.org/docs/stable/checkpoint.html",
    "PyTorch, CUDA memory usage: docs.pytorch.org/docs/stable/torch_cuda_memory.html",
    "T. Chen et al., Training Deep Nets with Sublinear Memory Cost: arxiv.org/abs/1604.06174",
)

if __name__ == "__main__":
    main(lesson)
