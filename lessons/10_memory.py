"""Lesson 10: what a line of code takes of memory.

Read it top to bottom: it is the screen's own order. What is asked for here is at most some 400 MiB at once.
"""

import gc
import math
import mmap
import multiprocessing
import sys
import time
import tracemalloc
import weakref
from collections.abc import Callable

import torch
from memory_profiler import memory_usage
from torch import Tensor

from harness import plots, units
from harness.memory import (
    Held,
    Line,
    Timeline,
    line_table,
    looks_during,
    page_faults,
    peak_of,
    resident_bytes,
    timeline,
)
from harness.tables import Table
from lessons.engine import Choice, Guess, Lesson, Page, Standing, every
from lessons.engine.words import followed, signed, yes_no

lesson = Lesson(
    __file__,
    title="What did that line allocate?",
    objective="Afterwards you can say what a line of code takes of memory, who sees it, and how to take less.",
    minutes=20,
)

NUMBERS = 12_500_000
"""The numbers of a large tensor here: in float32 it has 47.7 MiB, more than malloc ever keeps."""


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def traced_bytes(make: Callable[[], object]) -> int:
    tracemalloc.start()
    kept = make()
    now_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return now_bytes


@lesson.step(
    "What a number costs",
    predict=Guess("A Python list of 100 000 different floats: how many bytes for each number?", "bytes"),
    claims={
        "boxed": "a number in a list takes more than 3 times the 8 bytes of its digits",
        "getsizeof-is-shallow": "`sys.getsizeof` of a large tensor says less than 1 % of its bytes",
    },
)
def what_a_number_costs(
    n: int = 100_000,
) -> tuple[dict[str, int], dict[str, float]]:
    """To Python everything is an object: a count of owners, a pointer to its type, and then what it holds.

    `sys.getsizeof` says what an object takes, without what it points at. `tracemalloc` counts what Python's own
    allocator hands out while a list, and everything in it, is made.
    """
    things: dict[str, object] = {"1": 1, "1.0": 1.0, "10**30": 10**30}
    things |= {"[]": [], "torch.zeros(n)": torch.zeros(n).double()}
    sizes = {name: sys.getsizeof(one) for name, one in things.items()}
    each = {
        "list": traced_bytes(lambda: [i + 0.5 for i in range(n)]) / n,
        "tensor": torch.zeros(n, dtype=torch.float64).nbytes / n,
    }
    return sizes, each


@what_a_number_costs.observe
def explain_costs(page: Page, found: tuple[dict[str, int], dict[str, float]]) -> None:
    sizes, each = found
    page.table(Table.of("What sys.getsizeof says", {"object": None, "bytes": units.count}, list(sizes.items())))
    page.reveal(each["list"], f"In a tensor of float64 it is {units.number(each['tensor'])}.")
    page.claim("boxed", each["list"] / 8, low=3, unit=units.ratio)
    shallow = sizes["torch.zeros(n)"] / (8 * 100_000)
    page.claim("getsizeof-is-shallow", shallow, high=0.01, unit=units.percent)
    page.say(
        f"A float is {sizes['1.0']} bytes, and the list holds a pointer to it. A tensor is a small object as well:",
        "its numbers lie elsewhere, side by side, without a count and a type for each. Ask for `nbytes`.",
    )


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
class Node:
    def __init__(self, numbers: int) -> None:
        self.tensor = torch.ones(numbers)
        self.next: Node | None = None


@lesson.step(
    "Who lets go",
    predict=Choice(
        "An object that refers to itself holds a large tensor, and you `del` its last name. When is the memory free?",
        {"a": "at once", "b": "when the collector looks for cycles", "c": "when the program ends"},
    ),
    claims={
        "count-frees-at-once": "an object goes as soon as its last owner does",
        "cycle-stays": "one in a cycle stays when its last name goes",
        "collector-frees": "after `gc.collect()` nine tenths of its memory or more have gone back",
        "by-hand": "memory taken by hand stays until it is given back by hand",
    },
)
def who_lets_go(numbers: int = 12_500_000) -> dict[str, float]:
    """A call's own names lie on the stack and go when it returns; what they name lies on the heap and may stay.

    In C you give memory back yourself, as with the `mmap` below. Python counts owners (`sys.getrefcount`, which owns
    one itself) and frees at zero. Two objects that own each other never come to zero: for those there is a collector.
    """
    gc.disable()  # so that it runs when we say
    plain = Node(1)
    owners, ghost = sys.getrefcount(plain), weakref.ref(plain)
    del plain
    freed = ghost() is None
    cycle = Node(numbers)
    cycle.next, ghost = cycle, weakref.ref(cycle)
    held_bytes = resident_bytes()
    del cycle
    stays = ghost() is not None
    gc.collect()
    after_bytes = resident_bytes()
    gc.enable()
    by_hand = mmap.mmap(-1, 4 * numbers)
    by_hand.write(bytes(4 * numbers))
    taken_bytes = resident_bytes()
    by_hand.close()
    returned_bytes = taken_bytes - resident_bytes()
    return {
        "owners": owners,
        "freed": freed,
        "stays": stays,
        "cycle": held_bytes - after_bytes,
        "by hand": returned_bytes,
    }


@who_lets_go.observe
def explain_letting_go(page: Page, found: dict[str, float]) -> None:
    whole = 4 * NUMBERS
    stays = found["stays"] and found["cycle"] > whole / 2
    page.reveal("b" if stays else "a", f"{units.size(found['cycle'])} went back when it looked.")
    page.claim("count-frees-at-once", found["freed"], 1, 1, unit=yes_no)
    page.claim("cycle-stays", found["stays"], 1, 1, unit=yes_no)
    page.claim("collector-frees", found["cycle"] / whole, low=0.9, unit=units.percent)
    page.claim("by-hand", found["by hand"] / whole, low=0.9, unit=followed("went back", units.percent))
    page.say(
        f"`sys.getrefcount` said {found['owners']:g} for an object with one name"
        + (": the call itself owns it meanwhile." if found["owners"] > 1 else "; before Python 3.14 it said 2."),
        "The collector runs now and then by itself, when many objects were made; a large tensor in a cycle is one",
        "object to it, however large. Exceptions kept in variables, and closures that name themselves, make cycles.",
    )


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "Two witnesses",
    predict=Choice(
        "A tensor of 47.7 MiB is made. How much of it does `tracemalloc` see?",
        {"a": "all of it", "b": "about half", "c": "next to nothing"},
    ),
    claims={
        "tracemalloc-is-blind": "`tracemalloc` sees less than 1 % of a tensor",
        "resident-sees": "resident memory grows by the tensor's bytes, to a tenth",
        "bytes-are-traced": "`tracemalloc` sees all of a `bytes` object",
        "empty-is-not-there": "a tensor that nobody has written to is not resident",
    },
)
def two_witnesses(
    numbers: int = 12_500_000,
) -> dict[str, tuple[int, int]]:
    """`tracemalloc` asks Python's allocator. The system counts pages that lie in the machine's memory.

    That is resident memory, or RSS. We make the same number of bytes in three ways, and ask both.
    """
    n_bytes = 4 * numbers
    ways: dict[str, Callable[[], object]] = {
        "bytes": lambda: bytearray(b"x") * n_bytes,
        "tensor": lambda: torch.ones(numbers),
        "empty tensor": lambda: torch.empty(numbers),
    }
    return {
        name: (traced_bytes(make), peak_of(make).kept_bytes)
        for name, make in ways.items()
    }  # fmt: skip


@two_witnesses.observe
def explain_witnesses(page: Page, seen: dict[str, tuple[int, int]]) -> None:
    whole = 4 * NUMBERS
    rows = [(name, whole, *each) for name, each in seen.items()]
    heads = {"made": None, "bytes": units.size, "tracemalloc": units.size, "resident": units.size}
    page.table(Table.of("One size, two witnesses", heads, rows))
    traced = seen["tensor"][0] / whole
    page.reveal("a" if traced > 0.9 else "b" if traced > 0.1 else "c", f"It saw {units.size(seen['tensor'][0])}.")
    page.claim("tracemalloc-is-blind", traced, high=0.01, unit=units.percent)
    page.claim("resident-sees", seen["tensor"][1] / whole, 0.9, 1.1, unit=units.percent)
    page.claim("bytes-are-traced", seen["bytes"][0] / whole, 0.99, 1.01, unit=units.percent)
    page.claim("empty-is-not-there", seen["empty tensor"][1] / whole, high=0.1, unit=units.percent)
    page.say(
        "torch asks the C library for memory, past Python's allocator; what it holds is no business of `tracemalloc`.",
        "The system, for its part, gives a page only when it is first written to: an empty tensor is a promise.",
    )


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "Freed, and still there",
    predict=Choice(
        "200 000 small strings are made, and all but every thousandth are freed. How much memory goes back?",
        {"a": "nearly all", "b": "about half", "c": "hardly any"},
    ),
    claims={
        "large-goes-back": "a large tensor's memory goes back to the system when it is freed",
        "small-stays": "of freed small objects more than half stays, held by the few among them that live",
    },
)
def freed_and_still_there(
    numbers: int = 12_500_000,
) -> dict[str, float]:
    """Freed is not the same as given back. What is large has pages of its own; what is small shares them.

    Python takes memory for small objects in large pieces, cuts them up, and gives one back when nothing in it is used.
    """
    large = peak_of(lambda: torch.ones(numbers).sum())
    before_bytes = resident_bytes()
    strings = [str(i) * 40 for i in range(100_000, 300_000)]
    held_bytes = resident_bytes() - before_bytes
    strings = strings[::1000]
    kept_bytes = resident_bytes() - before_bytes
    return {
        "large": large.added_bytes,
        "large, freed": large.kept_bytes,
        "small": held_bytes,
        "small, freed": kept_bytes,
        "small, in use": sum(map(sys.getsizeof, strings)),
    }


@freed_and_still_there.observe
def explain_freed(page: Page, found: dict[str, float]) -> None:
    rows = [
        ("one tensor", found["large"], found["large, freed"]),
        ("200 000 strings", found["small"], found["small, freed"]),
    ]
    heads = {"": None, "resident while in use": units.size, "and when freed": units.size}
    page.table(Table.of("Beyond what was resident before", heads, rows))
    stays = found["small, freed"] / found["small"]
    page.reveal("a" if stays < 0.25 else "b" if stays < 0.75 else "c", f"{units.percent(1 - stays)} of it did.")
    page.claim(
        "large-goes-back", found["large, freed"] / found["large"], high=0.1, unit=followed("stays", units.percent)
    )
    stayed = page.claim("small-stays", stays, low=0.5, unit=followed("stays", units.percent))
    page.say(
        f"{units.size(found['small, in use'])} of strings are still in use, one in nearly every piece of memory, and"
        " each keeps all of its piece. The memory is not lost: the next small objects go there."
        if stayed.standing is Standing.HELD
        else "Here most of it went back: this Python's allocator cuts its memory otherwise.",
        "But a process that was large once often stays so.",
    )


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
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


@lesson.step(
    "Line by line",
    predict=Choice(
        "a, b and c have 38.1 MiB each. What does the table say for the line `c = (a + b) * (a - b)`?",
        {"a": "38.1 MiB", "b": "76.3 MiB", "c": "114.4 MiB"},
    ),
    claims={
        "line-is-named": "the line that makes one array grows by its 38.1 MiB",
        "del-is-named": "the line that deletes one shrinks by as much",
        "between-is-not-seen": "what a line takes and gives back itself is not in the table",
    },
)
def line_by_line(numbers: int = 5_000_000) -> tuple[Line, ...]:
    """`python -m memory_profiler script.py` runs a script and looks at resident memory after each line.

    It does so in the functions that you have decorated with `@profile`, and prints a table.
    """
    return line_table(script(numbers))


@line_by_line.observe
def explain_lines(page: Page, lines: tuple[Line, ...]) -> None:
    rows = [(each.number, each.text, each.resident_bytes, each.more_bytes) for each in lines]
    heads = {"line": units.count, "": None, "resident": units.size, "more": signed(units.size)}
    page.table(Table.of("What memory_profiler said", heads, rows))
    more = {each.text.strip(): each.more_bytes or 0.0 for each in lines}
    whole = 8 * 5_000_000
    three = more["c = (a + b) * (a - b)"] / whole
    page.reveal("a" if three < 1.5 else "b" if three < 2.5 else "c", "Two more came and went within the line.")
    page.claim("line-is-named", more["b = a * 2"] / whole, 0.9, 1.1, unit=units.ratio)
    page.claim("del-is-named", more["del a"] / whole, -1.1, -0.9, unit=units.ratio)
    page.claim("between-is-not-seen", three, 0.9, 1.1, unit=units.ratio)
    page.say(
        "A lecture on high-performance machine learning shows such a table of a training loop: 85.0 MiB before it,",
        "91.2 MiB in it, the forward call +2.2 MiB, the backward one +3.2 MiB.",
        "A first call brings code and buffers along that a second one does not: look at both.",
    )


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def spike() -> None:
    time.sleep(0.02)
    torch.ones(12_500_000)
    time.sleep(0.02)


@lesson.step(
    "Over time",
    predict=Choice(
        "A tensor of 47.7 MiB lives for some milliseconds, and we look every 0.1 s. Do we see it?",
        {"a": "yes", "b": "no"},
    ),
    claims={
        "mprof-sees-the-peak": "looking every 10 ms, `mprof` sees the script rise by two arrays and more",
        "mark-sees-all": "the kernel's own mark sees the short one, all of it",
    },
    fast={"plotted": 0},
)
def over_time(
    plotted: int = 1,
) -> tuple[Timeline, list[int], Held, list[float]]:
    """`mprof run script.py` looks at a process every few milliseconds, and `mprof plot` draws what it saw.

    `memory_usage(-1)` is one such look at this process, in MiB.
    `looks_during` of `harness.memory` does the same for a call: a thread looks every 0.1 s, and can miss something.
    Linux also keeps a mark of the most there was, and `peak_of` reads that.
    """
    curve = timeline(
        script(5_000_000),
        title="the script of step 5, as mprof saw it",
        plotted=bool(plotted),
    )
    looks = looks_during(spike, interval_s=0.1)
    return curve, looks, peak_of(spike), memory_usage(-1)


@over_time.observe
def explain_time(page: Page, found: tuple[Timeline, list[int], Held, list[float]]) -> None:
    curve, looks, held, now_mib = found
    bytes_ = [bytes_ for _, bytes_ in curve.looks]
    step = -(-len(bytes_) // 60)
    high = [max(bytes_[at : at + step]) for at in range(0, len(bytes_), step)]
    shown = f"{units.size(min(bytes_))} {plots.sparkline(high)} {units.size(curve.peak_bytes)}"
    page.output(shown, caption=f"The script over {units.seconds(curve.looks[-1][0])}, {len(bytes_)} looks")
    if curve.svg:
        page.save("mprof", curve.svg)
    seen = max(looks) - min(looks)
    whole = 4 * NUMBERS
    page.reveal("a" if seen > whole / 2 else "b", f"{units.size(seen)} of it, in {len(looks)} looks.")
    began_s = min((times[0] for times in curve.functions.values()), default=math.nan)
    before = max((each for at_s, each in curve.looks if at_s <= began_s), default=math.nan)
    page.claim(
        "mprof-sees-the-peak", (curve.peak_bytes - before) / 40e6, low=1.8, unit=followed("arrays", units.number)
    )
    if held.exact:
        page.claim("mark-sees-all", held.added_bytes / whole, 0.9, 1.2, unit=units.percent)
    else:
        page.skip("mark-sees-all", "this system keeps no such mark that can be lowered: Linux does")
    page.say(
        "Looks are cheap, know no language, and show when it was. The mark shows how much it was, and nothing else.",
        "The exercise is graded by the mark: it is read from outside, and nothing is too short for it.",
    )
    page.say(
        f"`memory_usage(-1)` of memory_profiler saw {units.size(now_mib[-1] * 2**20)} in this process at the end.",
        "`memory_usage((call,))` starts a process that looks during a call.",
        how_it_starts(multiprocessing.get_all_start_methods()[0], sys.version_info[:2]),
        "So we look from a thread.",
    )


def how_it_starts(method: str, version: tuple[int, ...]) -> str:
    """Return what a Python of this version, whose processes start by this method, does to start one beside threads."""
    if method != "fork":
        return (
            "On this Python, that process imports your program again (on Linux since Python 3.14), which takes seconds."
        )
    warned = "warns of that" if version >= (3, 12) else "does not warn of that, as Python 3.12 does"
    return f"This Python forks for it. A fork beside the threads of torch may never return, and this Python {warned}."


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def with_names(x: Tensor) -> Tensor:
    scaled = x * 1.5
    shifted = scaled - 0.25
    bounded = shifted.clamp(0, 1)
    return bounded * bounded


@lesson.given
def one_line(x: Tensor) -> Tensor:
    return (x * 1.5 - 0.25).clamp(0, 1).square()


@lesson.given
def in_place(x: Tensor) -> Tensor:
    return (x * 1.5).sub_(0.25).clamp_(0, 1).square_()


@lesson.given
def in_blocks(x: Tensor) -> float:
    parts = torch.split(x, 1 << 16)
    return sum(float(in_place(part).sum()) for part in parts)


@lesson.step(
    "Fewer lines, less memory?",
    predict=Choice(
        "Four steps in one line, against the same four with a name for each. Whose peak is lower, by how much?",
        {"a": "the same", "b": "one line's, by about half", "c": "one line's, by more than three quarters"},
    ),
    claims={
        "names-keep": "names hold what nobody needs any more: their peak is a third higher, or more",
        "one-line-is-two": "the one line still has two tensors at once",
        "in-place-is-one": "in place there is one",
        "blocks-are-least": "where only a sum is wanted, blocks have less than a tenth of one tensor",
    },
)
def fewer_lines(numbers: int = 12_500_000) -> dict[str, Held]:
    """Not lines are what memory is taken by, but tensors that are alive at once. A step needs its input and its output.

    A name keeps its tensor until the function ends. A step in place writes its output over its input.
    """
    x = torch.rand(numbers)
    return {
        "a name each": peak_of(lambda: with_names(x)),
        "one line": peak_of(lambda: one_line(x)),
        "in place": peak_of(lambda: in_place(x)),
        "in blocks, the sum": peak_of(lambda: in_blocks(x)),
    }


@fewer_lines.observe
def explain_fewer(page: Page, found: dict[str, Held]) -> None:
    whole = 4 * NUMBERS
    peaks = {name: held.added_bytes / whole for name, held in found.items()}
    bars = list(peaks.items())
    page.output(plots.bars(bars, width=40, unit=units.number), caption="Tensors alive at once, at the peak")
    names, line, place, blocks = peaks.values()
    part = 1 - line / names
    page.reveal("a" if part < 0.2 else "b" if part < 0.75 else "c", f"It is lower by {units.percent(part)}.")
    page.claim("names-keep", names / line, low=4 / 3, unit=units.ratio)
    page.claim("one-line-is-two", line, 1.8, 2.3, unit=followed("tensors", units.number))
    page.claim("in-place-is-one", place, 0.9, 1.3, unit=followed("tensors", units.number))
    page.claim("blocks-are-least", blocks, high=0.1, unit=followed("tensors", units.number))
    page.say(
        "It is not the line: a function with as many lines that uses one name again has no more than the one line.",
        "And when the answer is smaller than what lies between, that need not be there in one piece at all.",
    )


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def timed(call: Callable[[], object]) -> tuple[float, int]:
    faults, began_s = page_faults() or 0, time.thread_time()
    call()
    seconds = time.thread_time() - began_s
    return seconds, (page_faults() or 0) - faults


@lesson.step(
    "Asking takes time",
    predict=Guess(
        "`x * 2` for 47.7 MiB, against the same written into a tensor that is there: how much longer?", "times"
    ),
    claims={
        "out-is-faster": "with `out=` it takes less than two thirds of the time",
        "in-place-is-faster": "in place it does, too",
        "faults-tell": "new memory makes more page faults than memory that is there",
    },
    fast={"turns": 3},
)
def asking_takes_time(
    turns: int = 7,
    numbers: int = 12_500_000,
) -> list[dict[str, tuple[float, int]]]:
    """A large tensor that was freed has gone back, so the next one is new memory.

    Page by page the system finds it and clears it, so that nobody reads what others left there. Each such interruption
    is a page fault. `out=` and the methods whose names end in `_` write into memory that is there. Time is CPU time, in
    turns.
    """
    x, out = torch.rand(numbers), torch.ones(numbers)
    ways: dict[str, Callable[[], object]] = {
        "new": lambda: x * 2,
        "out=": lambda: torch.mul(x, 2, out=out),
        "in place": lambda: out.mul_(0.5),
    }
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    found = [
        {name: timed(call) for name, call in ways.items()}
        for _ in range(turns)
    ]  # fmt: skip
    torch.set_num_threads(threads)
    return found


@asking_takes_time.observe
def explain_asking(page: Page, turns: list[dict[str, tuple[float, int]]]) -> None:
    rows = [(name, min(each[name][0] for each in turns), turns[-1][name][1]) for name in turns[0]]
    heads = {"": None, "shortest": units.seconds, "page faults": units.count}
    page.table(Table.of(f"47.7 MiB, {len(turns)} turns", heads, rows))
    gains = {name: every([each["new"][0] / each[name][0] for each in turns]) for name in ("out=", "in place")}
    page.reveal(rows[0][1] / rows[1][1])
    outs = page.claim("out-is-faster", gains["out="][0], low=1.5, error=gains["out="][1], unit=units.ratio)
    place, error = gains["in place"]
    page.claim("in-place-is-faster", place, low=1.5, error=error, unit=units.ratio)
    if page_faults() is None:
        page.skip("faults-tell", "this system does not tell a process its page faults")
    else:
        more = [each["new"][1] - each["out="][1] for each in turns]
        page.claim("faults-tell", min(more), low=1, unit=followed("more"))
    page.say(
        "The multiplication is the same. What is paid for is memory that nobody has used before, and that every `+`"
        " and `*` asks for anew."
        if outs.standing is Standing.HELD
        else "Here new memory is cheap: this system gives it in large pages, or the allocator keeps what was freed.",
        "Smaller tensors get memory that the C library has kept, and gain less.",
    )
    page.say(
        "In place is not free of charge: whoever shares the tensor sees it change, and autograd may need what it held.",
        "Work in place on what is yours alone.",
    )


lesson.take_along(
    "Ask the system for resident memory; Python's own tools do not see what tensors hold.",
    "The peak is what is alive at once: names keep, steps in place reuse, blocks never have it all.",
    "New memory costs time as well, page by page: `out=` and in-place methods ask for none.",
)
lesson.read_on(
    "memory_profiler: pypi.org/project/memory-profiler",
    "Python, `tracemalloc` and `gc`: docs.python.org/3/library/tracemalloc.html, docs.python.org/3/library/gc.html",
    "Linux, proc(5) on VmHWM and clear_refs: man7.org/linux/man-pages/man5/proc.5.html",
)

if __name__ == "__main__":
    lesson.main()
