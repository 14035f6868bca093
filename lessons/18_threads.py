"""Lesson 18: threads with and without Python's global lock (the GIL), races, and the threads of torch.

The steps appear on the screen in the order of this file. Some sentences of an explanation depend on the measurements on
this machine. A few steps need a free-threaded build of Python. Without one, they show a recorded run.
"""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package
import torch

from harness.machine.environment import usable_cores
from harness.rendering import units
from harness.rendering.tables import Heads, Table
from harness.threads.accesses import Recorder, ThreadEvent
from harness.threads.builds import (
    PythonBuild,
    free_threaded,
    lacking_free_threaded,
    lacking_interpreters,
    usual,
    with_interpreters,
)
from harness.threads.scaling import ScalingTurn, can_limit, limited_to, serve, take_turns, undisturbed
from lessons.engine import Choice, Claim, Interval, Lesson, Page
from lessons.engine.command import main
from lessons.engine.words import followed

lesson = Lesson(
    __file__,
    objective="You can measure which threads run at the same time, find races, and repair them.",
)

CORES = usable_cores()
"""The number of cores that this process may use."""

AT_ONCE = 0.7
"""From this part of the work of two processes on, two threads count as running at the same time. In turn, it is 0.5."""

BUSY = 0.5
"""If starting threads used less than this part of a core's time, other programs delayed the threads.

Without other programs, it was 0.7 or more, and with four busy programs on two cores 0.02 to 0.27.
"""

TWO_CORES = 1.6
"""If two threads that compute used less than the time of this number of cores, other programs used the rest."""

Turns = dict[str, list[ScalingTurn]]
"""The turns of each function of a program."""


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def programs() -> str:
    return """
import hashlib, time
DATA, TABLE = bytes(300_000), {}

def wait():
    time.sleep(0.001)

def hash_data():
    hashlib.sha256(DATA).digest()

def add_up():
    total = 0
    for i in range(2000):
        total += i * i % 7

def fill_table():
    for i in range(2000):
        TABLE[i % 100] = i
"""


@lesson.given
class Measured(NamedTuple):
    build: str
    turns: dict[str, list[ScalingTurn]]


@lesson.given
def scaling(
    build: PythonBuild, program: str, names: Sequence[str], turns: int
) -> Measured:  # fmt: skip
    with serve(build, program, number=2) as servers:
        found = {
            name: take_turns(servers, name, seconds=0.015, turns=turns)
            for name in names
        }  # fmt: skip
    return Measured(build.name, found)


@lesson.given
def four() -> tuple[str, ...]:
    return "wait", "hash_data", "add_up", "fill_table"


@lesson.step(
    "Four programs on two threads",
    predict=Choice(
        "In the usual build of Python, which of the four functions do two threads call more often per second than one"
        " thread?",
        {"a": "none", "b": "only `wait`", "c": "`wait` and `hash_data`", "d": "all four"},
    ),
    expected="c",
    wrong_reasoning="Students think that the GIL stops all threads but one. But code that waits, and C code that "
    "releases the GIL, runs beside another thread.",
    fast={"turns": 3},
)
def with_the_lock(turns: int = 12) -> Measured | None:
    """The usual build of Python has a global lock, the GIL. Only the thread that holds it executes Python code.

    `serve` starts two interpreters that call the functions of a program on request. `take_turns` counts the calls per
    second in three ways that take turns: on one thread, on two threads of a process, and on two processes. Two
    processes have two GILs, so their speedup shows what this machine can do at this moment. Each thread and each
    process stays on a core of its own. Otherwise, the operating system may leave two new threads on one core.
    """
    build = usual()
    if build is None:
        return None
    return scaling(build, programs(), four(), turns)


WAITS_AT_ONCE = with_the_lock.claim(
    "waits-at-once",
    "on two threads, `wait` reaches at least 70 % of the calls per second of two processes",
    at_least=AT_ONCE,
    unit=units.percent,
)
HASHES_AT_ONCE = with_the_lock.claim(
    "hashes-at-once",
    "on two threads, `hash_data` reaches at least 70 % of the calls per second of two processes",
    at_least=AT_ONCE,
    unit=units.percent,
)
PYTHON_IN_TURN = with_the_lock.claim(
    "python-in-turn",
    "on two threads, `add_up` reaches at most 70 % of the calls per second of two processes",
    at_most=AT_ONCE,
    unit=units.percent,
)

NO_SECOND_CORE = "this claim needs a second core"


@with_the_lock.explain
def _(page: Page, found: Measured | None) -> None:
    if found is None:
        page.skip_step(
            "needs a build of Python with the GIL: install the usual build, and put it on the search path",
            shows="which functions two threads run at the same time with the GIL",
        )
        return
    page.table(speed_table(found))
    settle_scaling(page, found.turns, {WAITS_AT_ONCE: "wait", HASHES_AT_ONCE: "hash_data", PYTHON_IN_TURN: "add_up"})
    page.reveal(letter_of(found.turns, {"": "a", "wait": "b", "wait hash_data": "c", " ".join(four()): "d"}))
    page.say(
        WAITS_AT_ONCE.words(
            held="`time.sleep` releases the GIL, so the other thread can run.",
            refuted="In this run, two threads wait less often than two processes do.",
            unclear="This run does not show whether two threads wait at the same time.",
        ),
        HASHES_AT_ONCE.words(
            held="`hashlib` releases the GIL for large data, because the C code then uses no Python objects.",
            refuted="In this run, the two threads hash the data one after the other.",
            unclear="This run does not show whether two threads hash data at the same time.",
        ),
        PYTHON_IN_TURN.words(
            held="`add_up` is Python code. Its two threads take turns, so they do about the work of one thread.",
            refuted="In this run, two threads execute Python code at the same time.",
            unclear="This run does not show whether two threads execute Python code at the same time.",
        ),
    )
    page.say(
        "So threads help programs that wait for a network or a disk, and programs that compute in C, such as torch.",
        "Compare threads with processes at the same moment. If other programs use the second core, two processes have",
        "no speedup either, and a slow thread then shows nothing about the GIL.",
    )


def against(turns: Sequence[ScalingTurn]) -> Interval:
    """Return the calls of the threads divided by those of the processes, or an unknown interval for too few turns."""
    return Interval.median(turn.against_processes for turn in undisturbed(turns))


def against_of(turns: Turns, name: str) -> Interval:
    """Return the interval of `against` for a function. A function that waits counts only on an undisturbed machine."""
    if name != "wait":
        return against(turns[name])
    steady = bool(undisturbed(turns["add_up"]))
    return Interval.median(turn.against_processes for turn in turns[name]).void_if(not steady)


def settle_scaling(page: Page, turns: Turns, claims: Mapping[Claim, str]) -> None:
    """Settle each claim about a function with the interval of `against_of`. Skip it on a machine with one core."""
    for claim, name in claims.items():
        if CORES < 2:
            page.skip(claim, NO_SECOND_CORE)
        else:
            page.settle(claim, against_of(turns, name))


def letter_of(turns: Turns, letters: Mapping[str, str]) -> str | None:
    """Return the letter of the functions that two threads run at the same time, or None if this is not clear."""
    at_once = []
    for name in turns:
        found = against_of(turns, name)
        if found.lowest >= AT_ONCE:
            at_once.append(name)
        elif not found.highest <= AT_ONCE:
            return None
    return letters.get(" ".join(at_once))


def speed_table(found: Measured) -> Table:
    """Return a table with the calls per second of one thread, and the speedups of two threads and two processes."""
    rows = [
        (
            name,
            median(turn.one for turn in turns),
            median(turn.by_threads for turn in turns),
            median(turn.by_processes for turn in turns),
        )
        for name, turns in found.turns.items()
    ]
    heads: Heads = {
        "function": None,
        "calls per second": units.number,
        "2 threads": units.ratio,
        "2 processes": units.ratio,
    }
    return Table.of(f"{found.build}: one thread, and the speedups (medians)", heads, rows)


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.step(
    "The same four programs without the GIL",
    predict=Choice(
        "A free-threaded build of Python runs without the GIL. Which of the four functions still does not run on two"
        " threads at the same time?",
        {"a": "`hash_data`", "b": "`add_up`", "c": "`fill_table`", "d": "none: all four run at the same time"},
    ),
    expected="c",
    wrong_reasoning="Students think that without the GIL, nothing makes threads wait. But each dict has a lock of its "
    "own, and both threads change the same dict.",
    fast={"turns": 3},
)
def without_the_lock(turns: int = 12) -> Measured | None:
    """From version 3.13 on, Python has a second build without the GIL, the free-threaded build. Its name ends in t.

    This step looks for such a build: `python3.15t`, `python3.14t`, `python3.13t`, or the file in the environment
    variable `FAIRCLOCK_FREE_THREADED`. It asks the build with `sys._is_gil_enabled()` whether the GIL is off. The
    free-threaded build can also run with the GIL: with `PYTHON_GIL=1`, and after the import of an extension that needs
    it.
    """
    build = free_threaded()
    if build is None:
        return None
    return scaling(build, programs(), four(), turns)


PYTHON_AT_ONCE = without_the_lock.claim(
    "python-at-once",
    "without the GIL, `add_up` on two threads reaches at least 70 % of the calls per second of two processes",
    at_least=AT_ONCE,
    unit=units.percent,
)
TABLE_IN_TURN = without_the_lock.claim(
    "table-in-turn",
    "without the GIL, `fill_table` on two threads reaches at most 70 % of the calls per second of two processes",
    at_most=AT_ONCE,
    unit=units.percent,
)


@without_the_lock.explain
def _(page: Page, found: Measured | None) -> None:
    if found is None:
        page.skip_step(
            lacking_free_threaded(),
            shows="which of the four functions two threads run at the same time without the GIL",
        )
        return
    page.table(speed_table(found))
    settle_scaling(page, found.turns, {PYTHON_AT_ONCE: "add_up", TABLE_IN_TURN: "fill_table"})
    page.reveal(table_letter(found.turns))
    page.say(
        PYTHON_AT_ONCE.words(
            held="Now both threads of `add_up` execute Python code at the same time.",
            refuted="In this run, the two threads of `add_up` do not run at the same time.",
            unclear="This run does not show whether two threads execute Python code at the same time.",
        ),
        TABLE_IN_TURN.words(
            held="`fill_table` changes one dict in both threads. Each dict has its own lock, and each change takes it."
            " The threads wait for each other, and pass the lock from core to core.",
            refuted="In this run, both threads change one dict without waiting long for each other.",
            unclear="This run does not show whether two threads can change one dict at the same time.",
        ),
    )
    page.say(
        "Without the GIL, reference counts, dicts and lists need protection of their own. This costs time, even on one",
        "thread: about 40 % in Python 3.13, and about 5 to 10 % in Python 3.14 (their documentation, on suites of",
        "programs). In Python 3.13, this build was an experiment. Since Python 3.14, it is officially supported.",
    )


def table_letter(turns: Turns) -> str | None:
    """Return the letter of the function that two threads do not run at the same time, or None if it is not clear."""
    chosen = {name: turns[name] for name in ("add_up", "fill_table")}
    return letter_of(chosen, {"add_up": "c", "add_up fill_table": "d", "fill_table": "b"})


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def meetings() -> str:
    return """
import json
OBJECT, ITEMS = object(), []

def own_list():
    items = []
    for i in range(1000):
        items.append(i)

def one_list():
    for i in range(1000):
        ITEMS.append(i)
        ITEMS.pop()

def one_object():
    for _ in range(1000):
        found = OBJECT

def imports():
    for _ in range(300):
        import json
"""


@lesson.given
def shared() -> tuple[str, ...]:
    return "own_list", "imports", "one_list", "one_object"


@lesson.step(
    "Objects that two threads share",
    predict=Choice(
        "Without the GIL: which of `own_list`, `one_list` and `one_object` are slow on two threads?",
        {
            "a": "all three, because memory comes from one allocator",
            "b": "only `one_list`, because both threads change it",
            "c": "`one_list`, and also `one_object`, which only reads",
            "d": "none, because there is no GIL",
        },
    ),
    expected="c",
    wrong_reasoning="Students think that reading needs no protection. But each read of a shared object changes its "
    "reference count, and the threads pass this count from core to core.",
    fast={"turns": 3},
)
def what_is_in_turn(turns: int = 12) -> Measured | None:
    """Threads without the GIL still meet where they use the same object. Four functions meet at different places.

    `own_list` fills a list of its own. `imports` executes `import json`, although the module is imported already.
    `one_list` changes a list that both threads use. `one_object` gets an object that both threads use, and does not
    change it.
    """
    build = free_threaded()
    if build is None:
        return None
    return scaling(build, meetings(), shared(), turns)


OWN_LIST_AT_ONCE = what_is_in_turn.claim(
    "own-list-at-once",
    "without the GIL, `own_list` on two threads reaches at least 70 % of the calls per second of two processes",
    at_least=AT_ONCE,
    unit=units.percent,
)
ONE_LIST_IN_TURN = what_is_in_turn.claim(
    "one-list-in-turn",
    "without the GIL, `one_list` on two threads reaches at most 70 % of the calls per second of two processes",
    at_most=AT_ONCE,
    unit=units.percent,
)
ONE_OBJECT_IN_TURN = what_is_in_turn.claim(
    "one-object-in-turn",
    "without the GIL, `one_object` on two threads reaches at most 70 % of the calls per second of two processes",
    at_most=AT_ONCE,
    unit=units.percent,
)


@what_is_in_turn.explain
def _(page: Page, found: Measured | None) -> None:
    if found is None:
        page.skip_step(
            lacking_free_threaded(), shows="which functions slow each other down on two threads without the GIL"
        )
        return
    page.table(speed_table(found))
    claims = {OWN_LIST_AT_ONCE: "own_list", ONE_LIST_IN_TURN: "one_list", ONE_OBJECT_IN_TURN: "one_object"}
    settle_scaling(page, found.turns, claims)
    page.reveal(meeting_letter(found.turns))
    page.say(
        OWN_LIST_AT_ONCE.words(
            held="The threads of `own_list` do not meet. Each thread also has its own heap, so memory for a new object"
            " needs no common lock.",
            refuted="In this run, two threads slow each other down although each has a list of its own.",
            unclear="This run does not show whether two threads with a list each slow each other down.",
        ),
        ONE_LIST_IN_TURN.words(
            held="`append` and `pop` lock the list, so the threads of `one_list` wait for each other.",
            refuted="In this run, both threads change one list without waiting long for each other.",
            unclear="This run does not show whether both threads can change one list at the same time.",
        ),
        ONE_OBJECT_IN_TURN.words(
            held="`one_object` needs no lock. But each use of an object changes its reference count, and two threads"
            " must change the same number in memory. The cores pass this part of their caches to each other.",
            refuted="In this run, two threads use one object without slowing each other down.",
            unclear="This run does not show whether two threads slow each other down when they use one object.",
        ),
    )
    page.say(
        "Some objects need no exact count: numbers and strings in the code, functions, modules and classes. `imports`",
        "also uses objects that both threads share. The first import of a module has a lock: other threads wait until",
        "the module is complete.",
    )
    page.say("Give each thread its own objects, and put the results together at the end.")


def meeting_letter(turns: Turns) -> str | None:
    """Return the letter of the functions that slow each other down on two threads, or None if it is not clear."""
    chosen = {name: turns[name] for name in ("own_list", "one_list", "one_object")}
    letters = {"": "a", "own_list one_object": "b", "own_list": "c", "own_list one_list one_object": "d"}
    return letter_of(chosen, letters)


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def counting() -> str:
    return """
hits = 0

def in_one_line():
    global hits
    for _ in range(100_000):
        hits += 1

def through_a_call():
    global hits
    for _ in range(100_000):
        hits = sum((hits, 1))

def take():
    global hits
    counted, hits = hits, 0
    return counted
"""


@lesson.given
class Counted(NamedTuple):
    lost: dict[str, list[int]]
    cores: float


@lesson.given
def lost_by(build: PythonBuild | None, turns: int) -> Counted | None:
    if build is None:
        return None
    names = "in_one_line", "through_a_call"
    lost: dict[str, list[int]] = {name: [] for name in names}
    cores = 0.0
    with serve(build, counting()) as (server,):
        for _ in range(turns):
            for name, counts in lost.items():
                run = server.run(name, threads=2)
                counted = server.run("take").results[0]
                counts.append(200_000 - counted)
                cores = max(cores, run.cpu_s / run.wall_s)
    return Counted(lost, cores)


@lesson.given
class Lost(NamedTuple):
    usual: Counted | None
    free: Counted | None


@lesson.step(
    "Updates that get lost",
    predict=Choice(
        "In the usual build with the GIL, two threads count to 100 000 each in the same variable. Which of the two"
        " functions loses some of the counts?",
        {
            "a": "none, because of the GIL",
            "b": "only `through_a_call`",
            "c": "both",
        },
    ),
    expected="b",
    wrong_reasoning="Students think that the GIL protects a program's own variables. But a thread can lose the GIL "
    "between the read and the write.",
    fast={"turns": 5},
)
def lost_updates(turns: int = 20) -> Lost:
    """`hits += 1` reads `hits`, adds 1, and writes the result. If another thread writes in between, its update is lost.

    This is a race: the result depends on which thread is faster. `in_one_line` counts with `hits += 1`.
    `through_a_call` calls the function `sum` between the read and the write. We count with two threads, and compare the
    result with 200 000.
    """
    return Lost(lost_by(usual(), turns), lost_by(free_threaded(), turns))


CALL_LOSES = lost_updates.claim(
    "call-loses",
    "with the GIL, `through_a_call` loses counts",
    at_least=1,
    unit=followed("lost counts"),
)
LINE_IS_LUCKY = lost_updates.claim(
    "line-is-lucky",
    "with the GIL, `in_one_line` loses no counts in CPython",
    at_most=0,
    unit=followed("lost counts"),
)
LINE_LOSES = lost_updates.claim(
    "line-loses",
    "without the GIL, `in_one_line` loses at least 1 % of the counts in one of the runs",
    at_least=0.01,
    unit=units.percent,
)


@lost_updates.explain
def _(page: Page, found: Lost) -> None:
    ways = {"with the GIL": found.usual, "without the GIL": found.free}
    page.table(lost_table(ways))
    if found.usual is None:
        page.reveal(None)
        for claim in (CALL_LOSES, LINE_IS_LUCKY):
            page.skip(claim, "needs a build of Python with the GIL")
    else:
        line, call = (sum(found.usual.lost[name]) for name in ("in_one_line", "through_a_call"))
        page.reveal({(False, True): "b", (True, True): "c"}.get((line > 0, call > 0)))
        # In a few short runs, the threads may never lose the GIL at the wrong moment.
        page.settle(CALL_LOSES, Interval.exact(call).void_if(not call))
        page.settle(LINE_IS_LUCKY, line)
    if found.free is None:
        page.skip(LINE_LOSES, lacking_free_threaded())
    elif CORES < 2:
        page.skip(LINE_LOSES, NO_SECOND_CORE)
    else:
        counts = found.free.lost["in_one_line"]
        overlapped = found.free.cores >= 1.4
        page.settle(LINE_LOSES, Interval.exact(max(counts) / 200_000).void_if(not overlapped))
    page.say(
        CALL_LOSES.words(
            held="The GIL protects Python's own objects, and not your program. A thread can lose the GIL between the"
            " read and the write, and each update of the other thread is then overwritten.",
            refuted="In this run, no thread lost the GIL between the read and the write.",
            unclear="This run does not show whether a thread can lose the GIL between the read and the write.",
        ),
        LINE_IS_LUCKY.words(
            held="CPython gives up the GIL only at certain places: at the end of a loop's round and around calls, but"
            " not within `hits += 1`. This is not a promise of the language.",
            refuted="In this run, `hits += 1` also lost counts.",
            unclear="This run does not show whether `hits += 1` loses counts.",
        ),
    )
    luck_ends = LINE_LOSES.words(
        held="Without the GIL, this luck ends: both threads read the same number at the same time.",
        refuted="In this run, `hits += 1` lost few counts even without the GIL.",
        unclear="This run does not show how many counts `hits += 1` loses without the GIL.",
    )
    page.say(
        luck_ends if found.free else luck_ends.held,
        "So a free-threaded build does not create races. It shows races that were in the program before.",
    )


def lost_table(ways: Mapping[str, Counted | None]) -> Table:
    """Return a table of the lost counts of each function in each build."""
    rows = [
        (way, name, max(counts) / 200_000, sum(counts) / (200_000 * len(counts)))
        for way, each in ways.items()
        if each
        for name, counts in each.lost.items()
    ]
    heads: Heads = {"": None, "function": None, "most in one run": units.percent, "mean": units.percent}
    return Table.of("Lost counts, as a part of 200 000", heads, rows)


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def repaired() -> str:
    return """
import threading
hits, lock = 0, threading.Lock()

def with_lock():
    global hits
    for _ in range(20_000):
        with lock:
            hits += 1

def own_count():
    global hits
    own = 0
    for _ in range(20_000):
        own += 1
    with lock:
        hits += own

def take():
    global hits
    counted, hits = hits, 0
    return counted
"""


@lesson.given
class Repaired(NamedTuple):
    build: str
    lost: dict[str, list[int]]
    cpu_s: dict[str, list[float]]


@lesson.step(
    "Two repairs",
    predict=Choice.ranges(
        "With a lock around each update, all counts are right. They are also right if each thread counts in a variable "
        "of its own and adds its result at the end. How many times as much CPU time does the lock take?",
        (1.3, 2),
        units.ratio,
    ),
    expected="c",
    wrong_reasoning="Students think that a lock costs nothing if the result is right. But taking and releasing the "
    "lock takes longer than the update that it protects.",
    fast={"turns": 3},
)
def two_repairs(turns: int = 12) -> list[Repaired]:
    """`with_lock` holds a lock from the read to the write. So no other thread can write in between.

    `own_count` counts in a local variable, which no other thread uses. It needs the lock once, for the sum. Two threads
    count to 20 000 each, in each build of Python that this machine has.
    """
    found = []
    for build in filter(None, (usual(), free_threaded())):
        names = "with_lock", "own_count"
        lost: dict[str, list[int]] = {name: [] for name in names}
        cpu_s: dict[str, list[float]] = {name: [] for name in names}
        with serve(build, repaired()) as (server,):
            for _ in range(turns):
                for name, counts in lost.items():
                    run = server.run(name, threads=2)
                    cpu_s[name].append(run.cpu_s)
                    counted = server.run("take").results[0]
                    counts.append(40_000 - counted)
        found.append(Repaired(build.name, lost, cpu_s))
    return found


NOTHING_LOST = two_repairs.claim("nothing-lost", "both repairs lose no counts", equals=0, unit=followed("lost counts"))
LOCK_COSTS = two_repairs.claim(
    "lock-costs",
    "the lock around each update takes at least 1.5 times the CPU time of own counts",
    at_least=1.5,
    unit=units.ratio,
)


@two_repairs.explain
def _(page: Page, found: list[Repaired]) -> None:
    rows = [(each.build, name, median(each.cpu_s[name]), sum(each.lost[name])) for each in found for name in each.lost]
    heads: Heads = {"build": None, "function": None, "CPU time": units.seconds, "lost": units.count}
    page.table(Table.of("40 000 counts on two threads (median time)", heads, rows))
    ratios = [
        lock / own for lock, own in zip(found[0].cpu_s["with_lock"], found[0].cpu_s["own_count"], strict=True) if own
    ]
    cost = Interval.median(ratios)
    page.reveal(cost)
    page.settle(NOTHING_LOST, sum(sum(counts) for each in found for counts in each.lost.values()))
    page.settle(LOCK_COSTS, cost)
    page.say(
        NOTHING_LOST.words(
            held="Both repairs are right with and without the GIL.",
            refuted="In this run, a repair lost counts.",
            unclear="This run does not show whether the repairs are right.",
        ),
        LOCK_COSTS.words(
            held="`with lock` takes longer than the update that it protects. If two threads want the lock at the same"
            " moment, one of them also waits.",
            refuted="In this run, the lock costs little.",
            unclear="This run does not show how much the lock costs.",
        ),
        "Hold a lock for a short time, and seldom. First compute everything that does not need the shared object.",
    )


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def two_counters(recorder: Recorder) -> Any:
    shared = recorder.shared(hits=0, total=0)
    lock = recorder.lock("lock")

    def work() -> None:
        for _ in range(2):
            shared.hits = shared.hits + 1
            with lock:
                shared.total = shared.total + 1

    names = ("first", "second")
    threads = [recorder.thread(name, work) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return shared


@lesson.given
class Watched(NamedTuple):
    events: list[ThreadEvent]
    hits: int
    total: int


@lesson.step(
    "A race that lost nothing",
    predict=Choice(
        "Two threads count to 2 each, and all counts are right. The recorded accesses show that no thread holds a lock"
        " when it changes `hits`. Does the program have a race?",
        {
            "a": "no, because the result is right",
            "b": "only if the recorded threads ran at the same time",
            "c": "yes, whatever the result is",
        },
    ),
    expected="c",
    wrong_reasoning="Students think that a right result shows that there is no race. But in another run, the two "
    "updates can overlap.",
)
def lost_nothing() -> Watched:
    """A race need not show itself in a test. So tools look at each access instead of the result.

    `Recorder` writes down which thread reads and writes a variable, and which locks it holds at this moment. Two
    accesses of different threads are a race if one is a write, no lock is held at both, and nothing else orders them.
    For programs in C and C++, the tool ThreadSanitizer finds races.
    """
    recorder = Recorder()
    shared = two_counters(recorder)
    events = list(recorder.events)
    return Watched(events, shared.hits, shared.total)


HITS_UNPROTECTED = lost_nothing.claim(
    "hits-unprotected", "none of the accesses of `hits` has a lock", equals=0, unit=units.percent
)
TOTAL_PROTECTED = lost_nothing.claim(
    "total-protected", "all accesses of `total` have a lock", equals=1, unit=units.percent
)


@lost_nothing.explain
def _(page: Page, found: Watched) -> None:
    rows = [(each.thread, each.action, each.name, ", ".join(each.locks) or "none") for each in found.events]
    heads: Heads = dict.fromkeys(("thread", "action", "name", "locks held"))
    page.table(Table.of("The events in order of time", heads, rows))
    page.settle(HITS_UNPROTECTED, locked_share(found.events, "hits"))
    page.settle(TOTAL_PROTECTED, locked_share(found.events, "total"))
    page.reveal(HITS_UNPROTECTED.answer(held="c", refuted=""))
    page.say(
        f"At the end, `hits` is {found.hits} and `total` is {found.total}, and both should be 4.",
        "The threads are short, so they seldom run at the same time here." if found.hits == 4 else "",
        "But nothing orders the accesses of `hits` in the two threads. In another run, they can overlap.",
    )
    page.say(
        "The accesses of `total` all have the same lock. The main thread needs no lock for its accesses before it",
        "starts the threads and after it joins them, because no other thread runs then.",
        "In the exercise, you find the races in a list of events.",
    )


def locked_share(events: Sequence[ThreadEvent], name: str) -> float:
    """Return the share of the reads and writes of a variable at which the thread held a lock. NaN without any."""
    held = [bool(each.locks) for each in events if each.name == name and each.action in {"read", "write"}]
    return sum(held) / len(held) if held else float("nan")


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def workers() -> str:
    return """
import subprocess, sys, threading
try:
    from concurrent.interpreters import Interpreter, create
    run, close = Interpreter.exec, Interpreter.close
except ImportError:  # Python 3.13
    from _interpreters import create, destroy as close, exec as run

PYTHON = [sys.executable, "-I", "-S", "-c", "pass"]
ADD_UP = '''
def add_up():
    total = 0
    for i in range(20_000):
        total += i * i % 7
add_up()
'''
POOL = [create(), create()]

def nothing():
    pass

def thread():
    one = threading.Thread(target=nothing)
    one.start()
    one.join()

def interpreter():
    one = create()
    run(one, "pass")
    close(one)

def process():
    subprocess.run(PYTHON)

def add_up():
    one = POOL.pop()
    run(one, ADD_UP)
    POOL.append(one)
"""


@lesson.given
class Beside(NamedTuple):
    build: str
    start_s: dict[str, list[float]]
    busy: list[float]
    turns: list[ScalingTurn]


@lesson.given
def measure_workers(build: PythonBuild, turns: int) -> Beside:
    start_s: dict[str, list[float]] = {}
    busy = []
    with serve(build, workers(), number=2) as servers:
        for _ in range(turns):
            for name in ("thread", "interpreter", "process"):
                run = servers[0].run(name, seconds=0.02)
                each_s = run.wall_s / max(run.results[0], 1)
                start_s.setdefault(name, []).append(each_s)
                if name == "thread":
                    busy.append(run.cpu_s / run.wall_s)
        scaled = take_turns(servers, "add_up", seconds=0.02, turns=turns)
    return Beside(build.name, start_s, busy, scaled)


@lesson.step(
    "Processes and sub-interpreters",
    predict=Choice(
        "A worker can be a thread, a sub-interpreter in the same process, or a process. How long does it take to start"
        " and end a sub-interpreter, divided by the time for a thread?",
        {"a": "less than 3", "b": "3 to 15", "c": "15 or more"},
        limits=(3, 15),
    ),
    expected="c",
    wrong_reasoning="Students think that a sub-interpreter is nearly a thread, because it is in the same process. But "
    "it starts as a whole interpreter with modules of its own.",
    fast={"turns": 3},
)
def other_workers(turns: int = 8) -> Beside | None:
    """A process can contain several interpreters. Since Python 3.12, a sub-interpreter can have a GIL of its own.

    Python 3.14 has the module `concurrent.interpreters` for this. Each sub-interpreter imports its own modules, and
    shares almost no objects with the others. We measure how long each kind of worker takes to start and end. Then two
    threads of the usual build, each with a sub-interpreter, add up numbers.
    """
    build = with_interpreters()
    if build is None:
        return None
    return measure_workers(build, turns)


INTERPRETER_COSTS = other_workers.claim(
    "interpreter-costs",
    "starting and ending a sub-interpreter takes at least 10 times as long as a thread",
    at_least=10,
    unit=units.ratio,
)
OWN_LOCKS = other_workers.claim(
    "own-locks",
    "two threads with a sub-interpreter each reach at least 70 % of the calls per second of two processes",
    at_least=AT_ONCE,
    unit=units.percent,
)


@other_workers.explain
def _(page: Page, found: Beside | None) -> None:
    if found is None:
        page.skip_step(lacking_interpreters(), shows="how long sub-interpreters and processes take to start")
        return
    times = {name: median(each) for name, each in found.start_s.items()}
    heads: Heads = {"worker": None, "start and end (median)": units.seconds}
    page.table(Table.of(found.build, heads, list(times.items())))
    cost = Interval.median(
        one / other for one, other in zip(found.start_s["interpreter"], found.start_s["thread"], strict=True)
    )
    disturbed = median(found.busy) < BUSY
    page.reveal(cost.void_if(disturbed))
    page.settle(INTERPRETER_COSTS, cost, disturbed=disturbed)
    if CORES < 2:
        page.skip(OWN_LOCKS, NO_SECOND_CORE)
    else:
        page.settle(OWN_LOCKS, against(found.turns))
    speedup = median(turn.by_threads for turn in found.turns)
    page.say(
        f"With a sub-interpreter each, two threads of {found.build} had a speedup of {units.ratio(speedup)}.",
        OWN_LOCKS.words(
            held="So both threads execute Python code at the same time, although this build has a GIL.",
            refuted="In this run, they do not execute Python code at the same time.",
            unclear="This run does not show whether they execute Python code at the same time.",
        ),
    )
    page.say(
        "Threads share all objects, so they need locks. Processes and sub-interpreters share almost nothing, so most",
        "objects are copied with `pickle` on their way from one to the other. An extension must support",
        "sub-interpreters, or the import fails there. torch's `DataLoader` uses processes for its workers.",
    )


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def sums(barrier: threading.Barrier, x: torch.Tensor) -> set[int]:
    torch.exp(x)
    barrier.wait()
    running = {each.id for each in psutil.Process().threads()}
    barrier.wait()
    return running


@lesson.step(
    "torch has threads of its own",
    predict=Choice(
        "After `torch.set_num_threads(4)`, two Python threads call `torch.exp` on a large tensor. How many new threads"
        " does the operating system see in this process?",
        {"a": "2", "b": "4", "c": "5", "d": "8"},
    ),
    expected="d",
    wrong_reasoning="Students think that the number holds for the whole process. But each Python thread that calls "
    "torch gets a team of its own.",
)
def threads_of_torch() -> dict[int, int]:
    """For a large tensor, one call of torch computes on several threads. `torch.set_num_threads` sets their number.

    These threads come from OpenMP, a library for loops in C and C++. We start two Python threads that call `torch.exp`,
    and list the threads of the process before and after the calls. The calling thread computes too, so one thread of
    torch means that no other thread is needed.
    """
    x, before_all = torch.rand(1_000_000), torch.get_num_threads()
    found = {}
    for number in (1, 2, 4):
        torch.set_num_threads(number)
        before = {each.id for each in psutil.Process().threads()}
        barrier = threading.Barrier(2)
        with ThreadPoolExecutor(2) as pool:
            seen = list(pool.map(sums, [barrier] * 2, [x] * 2))
        found[number] = len(set().union(*seen) - before)
    torch.set_num_threads(before_all)
    return found


TEAMS = threads_of_torch.claim(
    "a-team-each",
    "with 4 threads of torch, two Python threads make at least 7 new threads",
    at_least=7,
    unit=followed("new threads"),
)
NO_TEAMS = threads_of_torch.claim(
    "no-team",
    "with 1 thread of torch, two Python threads make at most 3 new threads",
    at_most=3,
    unit=followed("new threads"),
)


@threads_of_torch.explain
def _(page: Page, found: dict[int, int]) -> None:
    heads: Heads = {"set_num_threads": units.count, "new threads": units.count}
    page.table(Table.of("Two Python threads that call torch", heads, list(found.items())))
    page.settle(TEAMS, found[4])
    page.settle(NO_TEAMS, found[1])
    page.reveal({2: "a", 4: "b", 5: "c", 8: "d"}.get(found[4]))
    page.say(
        TEAMS.words(
            held="Each Python thread that calls torch gets its own team of threads. So the number of threads is the"
            " product of both numbers.",
            refuted="In this torch, the two Python threads share the threads of torch.",
            unclear="This run does not show how many threads torch makes.",
        ),
        "The number of `torch.set_num_threads` holds for the calling thread, and for threads that call torch for the",
        "first time later. The environment variable `OMP_NUM_THREADS` sets it before the start.",
    )


# ── 9 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def calls_until(end: float, x: torch.Tensor) -> int:
    done = 0
    while perf_counter() < end:
        torch.sigmoid(x)
        done += 1
    return done


@lesson.given
class Rate(NamedTuple):
    calls: float
    cores: float


@lesson.given
def calls_per_second(own: int, of_torch: int, seconds: float) -> Rate:
    torch.set_num_threads(of_torch)
    x = torch.rand(400_000)
    with ThreadPoolExecutor(own) as pool:
        list(pool.map(calls_until, [0.0] * own, [x] * own))
        list(pool.map(torch.sigmoid, [x] * own))  # starts the threads
        began, cpu = perf_counter(), process_time()
        end = began + seconds
        counts = pool.map(calls_until, [end] * own, [x] * own)
        total = sum(counts)
        passed, used = perf_counter() - began, process_time() - cpu
    return Rate(total / passed, used / passed)


@lesson.step(
    "Too many threads",
    predict=Choice.ranges(
        "Two Python threads on two cores call `torch.sigmoid`. How many calls per second are possible if torch uses 32"
        " threads in each of them, divided by those with one thread of torch in each?",
        (0.5, 0.9),
        units.number,
    ),
    expected="a",
    wrong_reasoning="Students think that additional threads only wait and cost little. But a call waits for its "
    "slowest thread, and some threads have no core.",
    fast={"turns": 3},
)
def too_many_threads(turns: int = 9) -> list[dict[tuple[int, int], Rate]]:
    """Which threads should compute: those of Python, those of torch, or both? We count calls of `torch.sigmoid`.

    torch releases the GIL while it computes, so Python threads can call torch at the same time. The first number is
    that of the Python threads, and the second number that of torch's threads for each of them. `limited_to` lets all
    these threads run on two cores only. If there are more threads than cores, they must share the cores. This is called
    *oversubscription*.
    """
    before = torch.get_num_threads()
    ways = ((1, 1), (1, 2), (2, 1), (2, 2), (2, 32))
    with limited_to(2):
        found = [
            {way: calls_per_second(*way, seconds=0.03) for way in ways}
            for _ in range(turns)
        ]  # fmt: skip
    torch.set_num_threads(before)
    return found


TOO_MANY_SLOW = too_many_threads.claim(
    "too-many-slow",
    "with 32 threads of torch each, two Python threads on two cores reach at most 90 % of their calls with one",
    at_most=0.9,
    unit=units.percent,
)


@too_many_threads.explain
def _(page: Page, found: list[dict[tuple[int, int], Rate]]) -> None:
    ways = list(found[0])
    rates = {way: Rate(*(median(turn[way][part] for turn in found) for part in (0, 1))) for way in ways}
    rows = [(*way, rate.calls, rate.cores) for way, rate in rates.items()]
    heads: Heads = {
        "Python threads": units.count,
        "torch's threads": units.count,
        "calls per second": units.number,
        "cores used": units.number,
    }
    page.table(Table.of("`torch.sigmoid` of 400 000 numbers (medians)", heads, rows))
    part = Interval.median(turn[ways[-1]].calls / turn[2, 1].calls for turn in found)
    # The system gives 64 threads a larger share of busy cores than 2 threads.
    disturbed = rates[2, 1].cores < TWO_CORES
    if can_limit() or CORES == 2:
        page.reveal(part.void_if(disturbed))
        page.settle(TOO_MANY_SLOW, part, disturbed=disturbed)
    else:
        page.reveal(None)
        page.skip(TOO_MANY_SLOW, "this system cannot limit threads to two cores; use Linux")
    page.say(
        TOO_MANY_SLOW.words(
            held="The threads of a team wait for each other at the end of each call. If one of them has no core, the"
            " whole team waits for it.",
            refuted="On this machine, too many threads cost little.",
            unclear="This run does not show how much too many threads cost.",
        ),
        "Choose one level. If several Python threads or processes call torch, use `torch.set_num_threads(1)` before",
        "their first call. If one thread calls torch with large tensors, let torch use all cores, and measure whether",
        "this is really faster.",
        team_of_two(rates[1, 1], rates[1, 2]),
    )
    page.say(
        "The same happens with processes: each worker of a test program or of a server has a team of its own. torch's",
        "`DataLoader` sets one thread of torch in each of its worker processes.",
    )


def team_of_two(alone: Rate, team: Rate) -> str:
    """Return a sentence about one Python thread with two threads of torch, if this is slower than one, or else ""."""
    if team.calls >= alone.calls:
        return ""
    slower = f"Here, one Python thread with two threads of torch made only {units.percent(team.calls / alone.calls)} of"
    calls = f"{slower} the calls that it made with one thread."
    if team.cores >= TWO_CORES:
        return calls
    return f"{calls} The system often kept both threads on the same core, so one waited while the other computed."


lesson.key_points = (
    "With the GIL, threads help where they wait or run C code. Without it, they also execute Python code at once.",
    "A race is in the program, and not in the run: two threads, one write, and no common lock.",
    "Give each thread its own objects, and divide the cores only once: by your threads, or by those of torch.",
)
lesson.references = (
    "Python, free threading: docs.python.org/3/howto/free-threading-python.html",
    "PEP 703, Making the Global Interpreter Lock Optional in CPython: peps.python.org/pep-0703",
    "PEP 779, Criteria for supported status for free-threaded Python: peps.python.org/pep-0779",
    "Python 3.14, `concurrent.interpreters`: docs.python.org/3/library/concurrent.interpreters.html",
    "PyTorch, CPU threading: docs.pytorch.org/docs/stable/notes/cpu_threading_torchscript_inference.html",
    "Savage et al.: Eraser: A Dynamic Data Race Detector for Multithreaded Programs (1997)",
)

if __name__ == "__main__":
    main(lesson)
