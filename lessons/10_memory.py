"""Lesson 10: measure how much memory a line of code allocates.

The steps appear on the screen in the order of this file. Some sentences of an explanation depend on the measurements on
this machine. The lesson uses at most about 400 MiB at a time.
"""

import ctypes
import gc
import math
import mmap
import multiprocessing
import sys
import time
import tracemalloc
import weakref
from collections.abc import Callable
from typing import NamedTuple

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
from harness.rendering.tables import Table
from lessons.engine import Choice, Guess, Interval, Lesson, Page, largest
from lessons.engine.command import main
from lessons.engine.words import followed, signed, yes_no

lesson = Lesson(
    __file__,
    objective="You can measure how much memory a line of code allocates, and make it allocate less.",
)

NUMBERS = 12_500_000
"""The number of elements of a large tensor in this lesson. In float32 they take 47.7 MiB.

glibc's `free` returns each block of more than 32 MiB to the system (mallopt(3), M_MMAP_THRESHOLD)."""


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def traced_bytes(make: Callable[[], object]) -> int:
    tracemalloc.start()
    kept = make()
    now_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return now_bytes


@lesson.given
class Costs(NamedTuple):
    sizes: dict[str, int]
    list_bytes: float
    tensor_bytes: float


@lesson.step(
    "The memory of one number",
    predict=Guess(
        "A Python list contains 100 000 different floats. How many bytes per number do the list and its floats need "
        "together?",
        "bytes",
    ),
    expected="32 bytes",
    wrong_reasoning="Students think of the 8 bytes of a float. But Python keeps each number in an object with a type "
    "and a reference count, and the list keeps a reference to it.",
)
def what_a_number_costs(n: int = 100_000) -> Costs:
    """In Python, each number is an object, which consists of a reference count, a pointer to its type, and its value.

    `sys.getsizeof` returns the size of an object, without the objects that it refers to. `tracemalloc` counts the bytes
    that this code requests from Python's own allocator for a list and the numbers in it.
    """
    things: dict[str, object] = {"1": 1, "1.0": 1.0, "10**30": 10**30}
    things |= {"[]": [], "torch.zeros(n)": torch.zeros(n).double()}
    sizes = {name: sys.getsizeof(one) for name, one in things.items()}
    list_bytes = traced_bytes(lambda: [i + 0.5 for i in range(n)])
    tensor_bytes = torch.zeros(n, dtype=torch.float64).nbytes
    return Costs(sizes, list_bytes / n, tensor_bytes / n)


BOXED = what_a_number_costs.claim(
    "boxed",
    "a float in a list takes more than 3 times the 8 bytes of its value",
    at_least=3,
    unit=units.ratio,
)
SHALLOW = what_a_number_costs.claim(
    "getsizeof-is-shallow",
    "`sys.getsizeof` of a large tensor returns less than 1 % of the bytes of its numbers",
    at_most=0.01,
    unit=units.percent,
)


@what_a_number_costs.explain
def _(page: Page, found: Costs) -> None:
    columns = {"object": None, "bytes": units.count}
    page.table(Table.of("The results of `sys.getsizeof`", columns, list(found.sizes.items())))
    page.reveal(found.list_bytes, f"A tensor of float64 needs {units.number(found.tensor_bytes)} bytes per number.")
    page.settle(BOXED, found.list_bytes / 8)
    page.settle(SHALLOW, found.sizes["torch.zeros(n)"] / (8 * 100_000))
    page.say(
        f"A float takes {found.sizes['1.0']} bytes. For each float, the list also contains a pointer.",
        "A tensor is a small object with a pointer to one block of memory. The block contains the numbers side by",
        "side, without a reference count and a type for each number. For this tensor, the attribute `nbytes` is the",
        "size of the block.",
    )


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Node:
    def __init__(self, numbers: int) -> None:
        self.tensor = torch.ones(numbers)
        self.next: Node | None = None


@lesson.given
class LetGo(NamedTuple):
    owners: int
    freed: bool
    stays: bool
    cycle_bytes: int
    by_hand_bytes: int


@lesson.step(
    "When memory is freed",
    predict=Choice(
        "An object refers to itself and to a large tensor. You delete the object's last name with `del`. When is the "
        "memory of the tensor freed?",
        {"a": "at once", "b": "when the garbage collector looks for cycles", "c": "when the program ends"},
    ),
    expected="b",
    wrong_reasoning="Students think that `del` frees the object. But `del` only deletes a name, and the object still "
    "refers to itself.",
)
def who_lets_go(numbers: int = 12_500_000) -> LetGo:
    """When a function returns, its local names disappear. The named objects are on the heap and can exist longer.

    In C, a program frees its memory explicitly, as this code does with `mmap`. Python counts the references to an
    object (`sys.getrefcount`) and frees the object when the count is zero. In a cycle, objects refer to each other, so
    their counts stay above zero. The garbage collector frees the cycles that the program can no longer reach.
    """
    gc.disable()  # so that only gc.collect() frees cycles
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
    cycle_bytes = held_bytes - resident_bytes()
    gc.enable()
    by_hand = mmap.mmap(-1, 4 * numbers)
    by_hand.write(bytes(4 * numbers))
    taken_bytes = resident_bytes()
    by_hand.close()
    by_hand_bytes = taken_bytes - resident_bytes()
    return LetGo(owners, freed, stays, cycle_bytes, by_hand_bytes)


FREED_AT_ONCE = who_lets_go.claim(
    "count-frees-at-once", "Python frees an object as soon as its last reference is deleted", equals=True, unit=yes_no
)
CYCLE_STAYS = who_lets_go.claim(
    "cycle-stays", "an object in a cycle stays in memory when its last name is deleted", equals=True, unit=yes_no
)
COLLECTOR_FREES = who_lets_go.claim(
    "collector-frees",
    "`gc.collect()` returns at least 90 % of the memory of a cycle to the system",
    at_least=0.9,
    unit=units.percent,
)
BY_HAND = who_lets_go.claim(
    "by-hand",
    "closing an `mmap` returns at least 90 % of its memory to the system",
    at_least=0.9,
    unit=followed("returned", units.percent),
)


@who_lets_go.explain
def _(page: Page, found: LetGo) -> None:
    whole = 4 * NUMBERS
    page.reveal(
        when_freed(found), f"After `gc.collect()`, resident memory was {units.size(found.cycle_bytes)} smaller."
    )
    page.settle(FREED_AT_ONCE, found.freed)
    page.settle(CYCLE_STAYS, found.stays)
    page.settle(COLLECTOR_FREES, found.cycle_bytes / whole)
    page.settle(BY_HAND, found.by_hand_bytes / whole)
    page.say(
        f"`sys.getrefcount` returned {found.owners} for an object with one name.",
        owners_text(found.owners),
        "Without `gc.disable()`, Python also runs the collector when many new objects exist. Python counts the objects",
        "and not their bytes, so a large tensor in a cycle is not freed earlier. Typical cycles come from exceptions",
        "that are kept in variables, and from closures that refer to themselves.",
    )


def when_freed(found: LetGo) -> str | None:
    """Return the letter of the right option, or None if the cycle's memory stayed even after `gc.collect()`."""
    if not found.stays:
        return "a"
    return "b" if found.cycle_bytes > 2 * NUMBERS else None


def owners_text(owners: int) -> str:
    """Return a sentence about why `sys.getrefcount` returned `owners` for an object with one name."""
    if owners > 1:
        return "The second reference is the argument of this call."
    return "Before Python 3.14 it returned 2, because it also counted the argument of this call."


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def c_library() -> ctypes.CDLL:
    c = ctypes.CDLL(None)
    c.malloc.argtypes = [ctypes.c_size_t]
    c.malloc.restype = ctypes.c_void_p
    c.free.argtypes = [ctypes.c_void_p]
    return c


@lesson.given
def array_on_the_stack() -> str:
    return """
__attribute__((noinline))
long long address(long long depth) {
  volatile char array[1000];
  array[0] = 0;
  volatile long long deepest = (long long)array;
  if (depth) deepest = address(depth - 1);
  return deepest;
}
"""


@lesson.given
class StackAndHeap(NamedTuple):
    growth: dict[str, int]
    again: int
    deeper: int


@lesson.step(
    "Stack and heap: malloc and free",
    predict=Choice(
        "`malloc` returns the address of 47.7 MiB, and we fill them. Then we delete the only Python name of the address"
        " and run the garbage collector. Which part of the 47.7 MiB returns to the system?",
        {"a": "less than a tenth", "b": "a tenth to nine tenths", "c": "nine tenths or more"},
        limits=(0.1, 0.9),
    ),
    expected="a",
    wrong_reasoning="Students think that Python frees everything that has no name. But Python does not manage memory "
    "from `malloc`, so only `free` returns it.",
)
def stack_and_heap(n_bytes: int = 50_000_000) -> StackAndHeap:
    """In C, a function has two places for new data. Its local variables are on the *stack* until the function returns.

    `malloc` reserves a block on the *heap* and returns its address. The block exists until the program passes the
    address to `free`, or ends. With `ctypes`, Python can call both functions. The address is then only a number for
    Python. We write the address into a note (a string) before we delete its name.

    The C function `address` has an array of 1000 bytes on the stack. It calls itself `depth` times, and returns the
    address of the array in the last call.
    """
    gc.collect()
    c, before = c_library(), resident_bytes()
    growth = {}
    pointer = c.malloc(n_bytes)
    growth["malloc"] = resident_bytes() - before
    ctypes.memset(pointer, 1, n_bytes)
    growth["writing"] = resident_bytes() - before
    note = hex(pointer)
    del pointer
    gc.collect()
    growth["del and gc.collect"] = resident_bytes() - before
    c.free(int(note, 16))
    growth["free"] = resident_bytes() - before
    if lacking(python=False):
        return StackAndHeap(growth, 0, 0)
    address = ctypes.CDLL(build_library(array_on_the_stack())).address
    address.argtypes = [ctypes.c_longlong]
    address.restype = ctypes.c_longlong
    at, below, at_again = address(0), address(10), address(0)
    return StackAndHeap(growth, at_again - at, at - below)


PAGES_LATER = stack_and_heap.claim(
    "malloc-gives-no-pages",
    "after `malloc`, at most 10 % of the block is in resident memory",
    at_most=0.1,
    unit=units.percent,
)
LEAKS = stack_and_heap.claim(
    "del-does-not-free",
    "`del` and the garbage collector leave at least 90 % of the block in memory",
    at_least=0.9,
    unit=units.percent,
)
FREE_RETURNS = stack_and_heap.claim(
    "free-returns",
    "after `free`, at most 10 % of the block is in resident memory",
    at_most=0.1,
    unit=units.percent,
)
SAME_PLACE = stack_and_heap.claim(
    "stack-is-reused",
    "two calls of `address`, one after the other, have their array at the same address",
    equals=0,
    unit=followed("bytes apart"),
)
DEEPER_IS_LOWER = stack_and_heap.claim(
    "deeper-is-lower",
    "ten calls inside each other take at least 10 000 bytes of the stack",
    at_least=10_000,
    unit=followed("bytes"),
)


@stack_and_heap.explain
def _(page: Page, found: StackAndHeap) -> None:
    growth = found.growth
    columns = {"after": None, "growth of resident memory": units.size}
    page.table(Table.of("A block of 47.7 MiB on the heap", columns, list(growth.items())))
    whole = 4 * NUMBERS
    returned = 1 - growth["del and gc.collect"] / whole
    page.reveal(Interval.exact(returned))
    page.settle(PAGES_LATER, growth["malloc"] / whole)
    page.settle(LEAKS, growth["del and gc.collect"] / whole)
    page.settle(FREE_RETURNS, growth["free"] / whole)
    if missing := lacking(python=False):
        page.skip(SAME_PLACE, missing)
        page.skip(DEEPER_IS_LOWER, missing)
    else:
        page.settle(SAME_PLACE, found.again)
        page.settle(DEEPER_IS_LOWER, found.deeper)
    page.say(
        LEAKS.words(
            held="Python counts references to Python objects, and does not know that a number is an address. A block"
            " whose address is lost stays until the program ends: a *memory leak*.",
            refuted="In this run, the memory returned without a call of `free`.",
            unclear="This run does not show whether the memory stays.",
        ),
        "A block that is freed too early is worse: other data can replace its content while it is still used. torch",
        "reserves and frees the memory of tensors for you. Reference counts decide when.",
    )
    page.say(
        SAME_PLACE.words(
            held="The stack needs no `free`. When a function returns, the next call uses the same bytes again.",
            refuted="In this run, the second call used other bytes of the stack.",
            unclear="This run does not show whether the second call uses the same bytes.",
        ),
        "So never use the address of a local variable after its function has returned. Python does not put its objects",
        "on this stack.",
    )


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Seen(NamedTuple):
    traced_bytes: int
    resident_bytes: int


@lesson.step(
    "Two ways to measure memory",
    predict=Choice(
        "We make a tensor of 47.7 MiB. Which part of these 47.7 MiB does `tracemalloc` count?",
        {"a": "less than a tenth", "b": "a tenth to nine tenths", "c": "nine tenths or more"},
        limits=(0.1, 0.9),
    ),
    expected="a",
    wrong_reasoning="Students think that `tracemalloc` sees all memory of the process. But it counts only memory that "
    "is allocated through Python, and torch allocates its own.",
)
def two_witnesses(numbers: int = 12_500_000) -> dict[str, Seen]:
    """`tracemalloc` counts bytes from Python's allocator. The system counts the pages of a process that are in RAM.

    The memory in these pages is called resident memory, or RSS. We make three objects of the same size, and measure
    each object in both ways.
    """
    n_bytes = 4 * numbers
    ways: dict[str, Callable[[], object]] = {
        "bytearray": lambda: bytearray(b"x") * n_bytes,
        "tensor": lambda: torch.ones(numbers),
        "empty tensor": lambda: torch.empty(numbers),
    }
    return {
        name: Seen(traced_bytes(make), peak_of(make).kept_bytes)
        for name, make in ways.items()
    }  # fmt: skip


BLIND = two_witnesses.claim(
    "tracemalloc-is-blind", "`tracemalloc` counts less than 1 % of a tensor's bytes", at_most=0.01, unit=units.percent
)
RESIDENT_SEES = two_witnesses.claim(
    "resident-sees",
    "if we make a tensor, resident memory grows by 90 % to 110 % of the tensor's bytes",
    at_least=0.9,
    at_most=1.1,
    unit=units.percent,
)
BYTES_TRACED = two_witnesses.claim(
    "bytes-are-traced",
    "`tracemalloc` counts 99 % to 101 % of the bytes of a `bytearray`",
    at_least=0.99,
    at_most=1.01,
    unit=units.percent,
)
EMPTY_NOT_THERE = two_witnesses.claim(
    "empty-is-not-there",
    "at most 10 % of the bytes of a tensor from `torch.empty` are in resident memory",
    at_most=0.1,
    unit=units.percent,
)


@two_witnesses.explain
def _(page: Page, seen: dict[str, Seen]) -> None:
    whole = 4 * NUMBERS
    rows = [(name, whole, *each) for name, each in seen.items()]
    columns = {"object": None, "size": units.size, "`tracemalloc`": units.size, "resident": units.size}
    page.table(Table.of("Three objects of the same size, measured in two ways", columns, rows))
    traced = seen["tensor"].traced_bytes
    page.reveal(Interval.exact(traced / whole), f"`tracemalloc` counted {units.size(traced)}.")
    page.settle(BLIND, traced / whole)
    page.settle(RESIDENT_SEES, seen["tensor"].resident_bytes / whole)
    page.settle(BYTES_TRACED, seen["bytearray"].traced_bytes / whole)
    page.settle(EMPTY_NOT_THERE, seen["empty tensor"].resident_bytes / whole)
    page.say(
        BLIND.words(
            held="torch takes memory from the C library and not from Python's allocator, so `tracemalloc` does not"
            " count it.",
            refuted="In this run `tracemalloc` counted a part of the tensor, so this torch reports memory to Python.",
            unclear="This run does not show how much of the tensor `tracemalloc` counts.",
        ),
        EMPTY_NOT_THERE.words(
            held="The system provides a page only when the program first uses this page. No code has written to the"
            " empty tensor, so most of its pages do not exist yet.",
            refuted="In this run the system provided the pages of the empty tensor before the program wrote to them.",
            unclear="This run does not show whether the empty tensor has pages.",
        ),
    )


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Freed(NamedTuple):
    large_bytes: int
    large_freed_bytes: int
    small_bytes: int
    small_freed_bytes: int
    in_use_bytes: int


@lesson.step(
    "Freed, but still resident",
    predict=Choice(
        "We make 200 000 small strings. Then we keep each thousandth string and free all other strings. How much of "
        "the memory of all strings returns to the system?",
        {"a": "less than a quarter", "b": "a quarter to three quarters", "c": "three quarters or more"},
        limits=(0.25, 0.75),
    ),
    expected="a",
    wrong_reasoning="Students think that freed memory returns to the system. But Python's allocator returns only "
    "large pieces in which nothing is used, and the kept strings are spread over them.",
)
def freed_and_still_there(numbers: int = 12_500_000) -> Freed:
    """If a program frees an object, its memory does not always return to the system.

    A large object has its own pages. Small objects share pages: Python takes large pieces of memory from the system,
    and puts many small objects into each piece. Python returns a piece only when it contains no object that is in use.
    """
    large = peak_of(lambda: torch.ones(numbers).sum())
    before_bytes = resident_bytes()
    strings = [str(i) * 40 for i in range(100_000, 300_000)]
    held_bytes = resident_bytes() - before_bytes
    strings = strings[::1000]
    kept_bytes = resident_bytes() - before_bytes
    return Freed(
        large.added_bytes,
        large.kept_bytes,
        held_bytes,
        kept_bytes,
        sum(map(sys.getsizeof, strings)),
    )


LARGE_GOES_BACK = freed_and_still_there.claim(
    "large-goes-back",
    "at most 10 % of a large tensor's memory stays resident after it is freed",
    at_most=0.1,
    unit=followed("stays", units.percent),
)
SMALL_STAYS = freed_and_still_there.claim(
    "small-stays",
    "more than half of the strings' memory stays resident after most strings are freed",
    at_least=0.5,
    unit=followed("stays", units.percent),
)


@freed_and_still_there.explain
def _(page: Page, found: Freed) -> None:
    rows = [
        ("one tensor", found.large_bytes, found.large_freed_bytes),
        ("200 000 strings", found.small_bytes, found.small_freed_bytes),
    ]
    columns = {"object": None, "growth while in use": units.size, "growth after freeing": units.size}
    page.table(Table.of("The growth of resident memory", columns, rows))
    # An object adds nothing if it fits into memory that the process has freed before.
    large_stays = found.large_freed_bytes / found.large_bytes if found.large_bytes else math.nan
    stays = found.small_freed_bytes / found.small_bytes if found.small_bytes else math.nan
    page.reveal(Interval.exact(1 - stays), f"{units.percent(1 - stays)} of the strings' memory returned to the system.")
    page.settle(LARGE_GOES_BACK, large_stays)
    page.settle(SMALL_STAYS, stays)
    page.say(
        f"The strings that are still in use take {units.size(found.in_use_bytes)}.",
        SMALL_STAYS.words(
            held="Nearly every piece of memory contains one of these strings, so Python cannot return the piece."
            " Python uses the free memory in the pieces for the next small objects. Resident memory can therefore stay"
            " large after a program has freed most of its objects.",
            refuted="In this run most of the memory returned to the system, so the allocator of this Python works in a"
            " different way.",
            unclear="This run does not show how much memory stays resident because of these strings.",
        ),
    )


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
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
        "The arrays a, b and c take 38.1 MiB each. memory_profiler prints a table of the memory that each line adds. "
        "Which growth does this table show for the line `c = (a + b) * (a - b)`?",
        {"a": "38.1 MiB", "b": "76.3 MiB", "c": "114.4 MiB"},
        limits=(1.5, 2.5),
    ),
    expected="a",
    wrong_reasoning="Students add the two temporary arrays to the result. But the table compares the memory before "
    "and after the line, when the temporary arrays are freed.",
)
def line_by_line(numbers: int = 5_000_000) -> tuple[Line, ...]:
    """`python -m memory_profiler script.py` runs a script, and prints a table of its resident memory after each line.

    The table contains the lines of functions that are decorated with `@profile`.
    """
    return line_table(script(numbers))


LINE_NAMED = line_by_line.claim(
    "line-is-named",
    "in the table, memory grows by the size of 0.9 to 1.1 arrays in the line that makes one array",
    at_least=0.9,
    at_most=1.1,
    unit=followed("arrays", units.number),
)
DEL_NAMED = line_by_line.claim(
    "del-is-named",
    "in the table, memory shrinks by the size of 0.9 to 1.1 arrays in the line that deletes one array",
    at_least=-1.1,
    at_most=-0.9,
    unit=followed("arrays", units.number),
)
BETWEEN_NOT_SEEN = line_by_line.claim(
    "between-is-not-seen",
    "in the table, memory grows by 0.9 to 1.1 arrays in the line that makes c, without its temporary arrays",
    at_least=0.9,
    at_most=1.1,
    unit=followed("arrays", units.number),
)


@line_by_line.explain
def _(page: Page, lines: tuple[Line, ...]) -> None:
    page.table(of_lines(lines, "The table of memory_profiler"))
    more = {each.text.strip(): (each.more_bytes or 0.0) / (8 * 5_000_000) for each in lines}
    three = more["c = (a + b) * (a - b)"]
    page.reveal(
        Interval.exact(three),
        "The line also needs temporary arrays for a + b and a - b. Before the line ends, it frees the temporary arrays"
        " whose memory c does not reuse.",
    )
    page.settle(LINE_NAMED, more["b = a * 2"])
    page.settle(DEL_NAMED, more["del a"])
    page.settle(BETWEEN_NOT_SEEN, three)


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def training_script(steps: int) -> str:
    return f"""
import torch
from torch import nn
from torch.autograd import grad
from torch.nn.functional import cross_entropy

@profile
def train(network, x, y):
    weights = list(network.parameters())
    for _ in range({steps}):
        loss = cross_entropy(network(x), y)
        slopes = grad(loss, weights)
        with torch.no_grad():
            for w, slope in zip(weights, slopes):
                w.sub_(slope, alpha=0.5)

layers = nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)
x = torch.randn(75_000, 64)
y = (x @ torch.randn(64, 10)).argmax(1)
torch.set_num_threads(1)
train(nn.Sequential(*layers), x, y)
"""


@lesson.step(
    "Line by line: a training loop",
    predict=Choice(
        "memory_profiler prints a table for the training loop of lesson 09, with a batch of 75 000 rows. In which line"
        " of the loop does the memory grow most?",
        {
            "a": "the forward pass, `loss = …`",
            "b": "the backward pass, `slopes = …`",
            "c": "the change of the weights, `w.sub_`",
        },
    ),
    expected="a",
    wrong_reasoning="Students choose the backward pass, because it computes the gradients. But the forward pass keeps "
    "its results for the backward pass, and the backward pass frees them.",
    fast={"steps": 2},
)
def memory_of_training(steps: int = 5) -> tuple[Line, ...]:
    """The network has a hidden layer of 128 numbers per row, so its output takes 36.6 MiB for the whole batch.

    The backward pass needs some of the numbers that the forward pass computes. A line in a loop runs several times. Its
    growth in the table is the sum over all repetitions. For each repetition, memory_profiler subtracts the largest
    memory that the line before has had so far. So a line that frees nothing can show a decrease.
    """
    return line_table(training_script(steps))


FORWARD_KEEPS = memory_of_training.claim(
    "forward-keeps",
    "per training step, the forward pass adds on average more than half of the memory of the hidden layer's output",
    at_least=0.5,
    unit=followed("outputs", units.number),
)
BACKWARD_FREES = memory_of_training.claim(
    "backward-frees",
    "per training step, the line of the backward pass frees on average more than half of the memory of this output",
    at_most=-0.5,
    unit=followed("outputs", units.number),
)


@memory_of_training.explain
def _(page: Page, lines: tuple[Line, ...]) -> None:
    page.table(of_lines(lines, "The training loop in the table of memory_profiler"))
    growth = {
        letter: sum((each.more_bytes or 0.0) / max(each.times, 1) for each in lines if start in each.text)
        for letter, start in (("a", "loss ="), ("b", "slopes ="), ("c", "w.sub_"))
    }
    hidden_bytes = 4 * 75_000 * 128
    page.reveal(largest({letter: Interval.exact(bytes_) for letter, bytes_ in growth.items()}))
    page.settle(FORWARD_KEEPS, growth["a"] / hidden_bytes)
    page.settle(BACKWARD_FREES, growth["b"] / hidden_bytes)
    page.say(
        FORWARD_KEEPS.words(
            held="The forward pass keeps numbers for the backward pass (the graph of autograd). The peak memory of"
            " training therefore depends on the size of the batch.",
            refuted="In this run, the forward pass keeps little memory.",
            unclear="This run does not show how much memory the forward pass keeps.",
        ),
        BACKWARD_FREES.words(
            held="The backward pass frees them. It also needs memory of its own, but frees most of it before the line"
            " ends.",
            refuted="In this run, the backward pass frees little memory.",
            unclear="This run does not show how much memory the backward pass frees.",
        ),
        "If you do not need gradients, put `torch.no_grad` around the forward pass. Then torch keeps no numbers for a",
        "backward pass.",
    )
    page.say(
        "A lecture on high-performance machine learning shows a table of memory_profiler for a training loop: 85.0 MiB",
        "before the loop, 91.2 MiB in the loop, +2.2 MiB for the forward call, and +3.2 MiB for the backward call. The",
        "first call of a function may also load code and allocate buffers that later calls use again.",
    )


def of_lines(lines: tuple[Line, ...], title: str) -> Table:
    """Return a table of memory_profiler with the resident memory and the growth of each line."""
    rows = [(each.number, each.text, each.resident_bytes, each.more_bytes) for each in lines]
    return Table.of(title, {"line": units.count, "": None, "resident": units.size, "growth": signed(units.size)}, rows)


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def spike() -> None:
    time.sleep(0.02)
    torch.ones(12_500_000)
    time.sleep(0.02)


@lesson.given
class OverTime(NamedTuple):
    curve: Timeline
    samples: list[int]
    peak: MemoryUse
    now_mib: list[float]


@lesson.step(
    "Memory over time",
    predict=Choice(
        "A tensor of 47.7 MiB exists for a few milliseconds. We measure resident memory before, every 0.1 s, and after."
        " Which part of the 47.7 MiB do these samples show?",
        {"a": "less than a tenth", "b": "a tenth to nine tenths", "c": "nine tenths or more"},
        limits=(0.1, 0.9),
    ),
    expected="a",
    wrong_reasoning="Students think that a short interval sees everything. But the tensor exists only between two "
    "samples, so no sample contains it.",
    fast={"plotted": 0},
)
def over_time(plotted: int = 1) -> OverTime:
    """`mprof run -T 0.01 script.py` measures the memory of a script every 10 ms. `mprof plot` draws the samples.

    `memory_usage(-1)` takes one sample of this process, in MiB. `memory_samples` of `harness.memory` takes samples
    during a call. Its thread measures every 0.1 s, and can miss a short peak. Linux also stores the highest resident
    memory of a process (`VmHWM` in proc(5)), and `peak_of` reads this value.
    """
    curve = timeline(
        script(5_000_000),
        title="Memory of the script of step 6, measured by mprof",
        plotted=bool(plotted),
    )
    samples = memory_samples(spike, interval_s=0.1)
    return OverTime(curve, samples, peak_of(spike), memory_usage(-1))


MPROF_SEES = over_time.claim(
    "mprof-sees-the-peak",
    "with a sample every 10 ms, `mprof` shows that the script's memory grows by at least 1.8 arrays",
    at_least=1.8,
    unit=followed("arrays", units.number),
)
MARK_SEES_ALL = over_time.claim(
    "mark-sees-all",
    "the peak that Linux stored grew by 90 % to 120 % of the size of the tensor that existed for milliseconds",
    at_least=0.9,
    at_most=1.2,
    unit=units.percent,
)


@over_time.explain
def _(page: Page, found: OverTime) -> None:
    show_curve(page, found.curve)
    seen = max(found.samples) - min(found.samples)
    whole = 4 * NUMBERS
    page.reveal(
        Interval.exact(seen / whole),
        f"{units.some(len(found.samples), 'sample')} showed a growth of {units.size(seen)}.",
    )
    page.settle(MPROF_SEES, growth_in_call(found.curve) / 40e6)
    if found.peak.exact:
        page.settle(MARK_SEES_ALL, found.peak.added_bytes / whole)
    else:
        page.skip(MARK_SEES_ALL, "this system does not store a peak that a process can reset, as Linux does")
    page.say(
        "Samples take little time, work for programs in any language, and show when the memory grew.",
        "The peak that Linux stores shows only the largest size of the memory, but it includes short peaks.",
    )
    page.say(
        "At the end of the step, `memory_usage(-1)` of memory_profiler measured",
        f"{units.size(found.now_mib[-1] * 2**20)} in this process.",
        "`memory_usage((call,))` starts a process that takes samples during a call.",
        how_it_starts(multiprocessing.get_all_start_methods()[0], sys.version_info[:2]),
        "This lesson therefore takes its samples in a thread.",
    )


def show_curve(page: Page, curve: Timeline) -> None:
    """Print a curve of the script's memory over time. Each column shows the largest of its samples."""
    sizes = [bytes_ for _, bytes_ in curve.samples]
    step = -(-len(sizes) // 60)
    high = [max(sizes[at : at + step]) for at in range(0, len(sizes), step)]
    shown = f"{units.size(min(sizes))} {plots.sparkline(high)} {units.size(curve.peak_bytes)}"
    number = units.some(len(sizes), "sample")
    page.output(shown, caption=f"Memory of the script during {units.seconds(curve.samples[-1][0])}, {number}")
    if curve.svg:
        page.save("mprof", curve.svg)


def growth_in_call(curve: Timeline) -> float:
    """Return the growth in bytes from the first profiled call to the peak, or NaN if no call was profiled."""
    began_s = min((times[0] for times in curve.functions.values()), default=math.nan)
    before = max((bytes_ for at_s, bytes_ in curve.samples if at_s <= began_s), default=math.nan)
    return curve.peak_bytes - before


def how_it_starts(method: str, version: tuple[int, ...]) -> str:
    """Return sentences about the process of `memory_usage((call,))`, for a start method and a version of Python."""
    if method != "fork":
        return (
            "In this version of Python, the new process imports your program again (on Linux since Python 3.14). With"
            " torch, this takes seconds."
        )
    return (
        "This Python starts the process with a fork. The fork of a process with torch's threads can wait for a lock for"
        " ever. "
    ) + (
        "Python has a warning about this risk since version 3.12, but hides it by default."
        if version >= (3, 12)
        else "This Python does not warn about this risk."
    )


# ── 9 ──────────────────────────────────────────────────────────────────────────────────────────
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
    "Do fewer lines need less memory?",
    predict=Choice(
        "We write four operations in four lines with a name for each result, or in one line. "
        "By how much is the peak memory of the one line lower than that of the four lines?",
        {"a": "less than 20 %", "b": "20 % to 75 %", "c": "75 % or more"},
        limits=(0.2, 0.75),
    ),
    expected="b",
    wrong_reasoning="Students think that fewer lines save only names. But a name keeps its tensor alive, and without "
    "names each temporary tensor is freed early.",
)
def fewer_lines(numbers: int = 12_500_000) -> dict[str, MemoryUse]:
    """The peak memory depends on how many tensors exist at the same time, and not on the number of lines.

    An operation needs memory for its input and its output. A tensor with a name exists until the function ends, or
    until the name is deleted or gets a new value. An in-place operation writes its output into the memory of its input.
    """
    x = torch.rand(numbers)
    return {
        "with names": peak_of(lambda: with_names(x)),
        "one line": peak_of(lambda: one_line(x)),
        "in place": peak_of(lambda: in_place(x)),
        "in blocks, the sum": peak_of(lambda: in_blocks(x)),
    }


NAMES_KEEP = fewer_lines.claim(
    "names-keep",
    "with a name for each result, the peak memory is at least 4/3 times that of the one line",
    at_least=4 / 3,
    unit=units.ratio,
)
ONE_LINE_IS_TWO = fewer_lines.claim(
    "one-line-is-two",
    "at its peak, the one line needs the memory of 1.8 to 2.3 tensors",
    at_least=1.8,
    at_most=2.3,
    unit=followed("tensors", units.number),
)
IN_PLACE_IS_ONE = fewer_lines.claim(
    "in-place-is-one",
    "at its peak, the in-place version needs the memory of 0.9 to 1.3 tensors",
    at_least=0.9,
    at_most=1.3,
    unit=followed("tensors", units.number),
)
BLOCKS_ARE_LEAST = fewer_lines.claim(
    "blocks-are-least",
    "at its peak, the sum in blocks needs less than a tenth of the memory of one tensor",
    at_most=0.1,
    unit=followed("tensors", units.number),
)


@fewer_lines.explain
def _(page: Page, found: dict[str, MemoryUse]) -> None:
    whole = 4 * NUMBERS
    peaks = {name: use.added_bytes / whole for name, use in found.items()}
    caption = "Peak memory, in tensors of 47.7 MiB"
    page.output(plots.bars(list(peaks.items()), width=40, unit=units.number), caption=caption)
    names, line, place, blocks = peaks.values()
    part = 1 - line / names
    page.reveal(Interval.exact(part), f"The difference is {units.percent(part)} of the peak with names.")
    page.settle(NAMES_KEEP, names / line)
    page.settle(ONE_LINE_IS_TWO, line)
    page.settle(IN_PLACE_IS_ONE, place)
    page.settle(BLOCKS_ARE_LEAST, blocks)
    page.say(
        "The names cause the difference. If a function has four lines, but uses the same name for each result, it does",
        "not need more memory than the one line.",
        "If the result is small, such as a sum, the intermediate tensors can be computed block by block.",
    )


# ── 10 ─────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Timing(NamedTuple):
    seconds: float
    faults: int


@lesson.given
def timed(call: Callable[[], object]) -> Timing:
    faults, began_s = page_faults() or 0, time.thread_time()
    call()
    seconds = time.thread_time() - began_s
    return Timing(seconds, (page_faults() or 0) - faults)


@lesson.step(
    "New memory takes time",
    predict=Guess(
        "We compute `x * 2` for a tensor of 47.7 MiB. What is the time with a new output tensor divided by the time "
        "with an existing output tensor?",
        "times",
    ),
    expected="about 7 times",
    wrong_reasoning="Students think that new memory costs nothing. But the system must provide and clear each page of "
    "it when it is first written.",
    fast={"turns": 3},
)
def asking_takes_time(
    turns: int = 7,
    numbers: int = 12_500_000,
) -> list[dict[str, Timing]]:
    """On Linux, the memory of a large freed tensor returns to the system. So the next large tensor gets new memory.

    The first use of each page of new memory causes a page fault. The program stops until the system has found a page
    and filled it with zeros. The zeros replace old data, possibly of other programs. With `out=`, and in methods whose
    names end in `_`, torch writes into existing memory. We measure the CPU time several times.
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


OUT_IS_FASTER = asking_takes_time.claim(
    "out-is-faster",
    "the product takes at least 1.5 times as long with a new output tensor as with `out=`",
    at_least=1.5,
    unit=units.ratio,
)
IN_PLACE_IS_FASTER = asking_takes_time.claim(
    "in-place-is-faster",
    "the product takes at least 1.5 times as long with a new output tensor as in place",
    at_least=1.5,
    unit=units.ratio,
)
FAULTS_TELL = asking_takes_time.claim(
    "faults-tell",
    "a new output tensor causes more page faults than `out=`, in each repetition",
    at_least=1,
    unit=followed("more"),
)


@asking_takes_time.explain
def _(page: Page, turns: list[dict[str, Timing]]) -> None:
    rows = [(name, min(turn[name].seconds for turn in turns), turns[-1][name].faults) for name in turns[0]]
    columns = {"output": None, "shortest time": units.seconds, "page faults, last repetition": units.count}
    page.table(Table.of(f"A product of 47.7 MiB, {units.some(len(turns), 'repetition')}", columns, rows))
    by_out, in_place_ = (
        Interval.every(turn["new"].seconds / turn[way].seconds for turn in turns) for way in ("out=", "in place")
    )
    page.reveal(by_out)
    page.settle(OUT_IS_FASTER, by_out)
    page.settle(IN_PLACE_IS_FASTER, in_place_)
    if page_faults() is None:
        page.skip(FAULTS_TELL, "this system does not report the page faults of a process")
    else:
        page.settle(FAULTS_TELL, min(turn["new"].faults - turn["out="].faults for turn in turns))
    page.say(
        "Each row has the same number of products.",
        OUT_IS_FASTER.words(
            held="The time with `out=` does not contain the cost of new memory. Each `+` and `*` on a large tensor has"
            " this cost.",
            refuted="On this machine, new memory adds less than half of the time with `out=`. Possible reasons are"
            " large pages, or an allocator that keeps freed memory.",
            unclear="The repetitions do not agree, so this run does not show how much new memory costs.",
        ),
        "The product in place reads and writes only one tensor. The other two read one tensor and write another.",
        "For smaller tensors, the C library often reuses memory that was freed before. `out=` then saves less time.",
    )
    page.say(
        "An in-place operation changes the tensor for all other parts of the program that use it. For example,",
        "autograd may need the old values. Use in-place operations only on tensors that no other code uses.",
    )


lesson.key_points = (
    "Measure resident memory, because `tracemalloc` and `sys.getsizeof` do not count the memory of tensors.",
    (
        "Peak memory depends on which tensors exist at the same time. A tensor with a name exists until the function"
        " ends, or until you delete the name."
    ),
    "New memory also costs time for each page. `out=` and in-place methods reuse existing memory.",
)
lesson.references = (
    "memory_profiler: pypi.org/project/memory-profiler",
    "Python, `tracemalloc` and `gc`: docs.python.org/3/library/tracemalloc.html, docs.python.org/3/library/gc.html",
    "Linux, proc(5) on VmHWM and clear_refs: man7.org/linux/man-pages/man5/proc.5.html",
)

if __name__ == "__main__":
    main(lesson)
