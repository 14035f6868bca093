"""Lesson 18: threads with and without Python's global lock (the GIL), races, and the threads of torch.

Without a free-threaded build of Python, a step that needs it shows a recorded run.
"""

import math
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import mean, median
from time import perf_counter, process_time
from typing import Any

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package
import torch

from harness.threads.accesses import Recorder, ThreadEvent
from harness.threads.builds import free_threaded, lacking_free_threaded, usual
from harness.threads.scaling import can_limit, limited_to
from lessons.engine.api import Figures, Interval, Lacking, Rows, load
from lessons.engine.command import main
from lessons.probes.shared_counts import Counts, lost_counts, two_threads
from lessons.probes.speedups import CORES, NO_SECOND_CORE, Scaled, against, letter_of, scaling, speeds

TWO_CORES = 1.6
"""If two threads that compute used less than the time of this number of cores, other programs used the rest."""

NO_GIL_BUILD = Lacking("needs a build of Python with the GIL: install the usual build, and put it on the search path")


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
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


def with_the_lock(turns: int = 12) -> Scaled | None:
    names = "wait", "hash_data", "add_up", "fill_table"
    return scaling(usual(), programs(), names, turns)


def with_the_lock_figures(found: Scaled | None) -> Figures | Lacking:
    if found is None:
        return NO_GIL_BUILD
    letters = {"": "a", "wait": "b", "wait hash_data": "c", "wait hash_data add_up fill_table": "d"}
    return {**speeds(found), "at_once": letter_of(found[1], letters), **against(found, "hash_data", "add_up")}


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
def without_the_lock(turns: int = 12) -> Scaled | None:
    names = "wait", "hash_data", "add_up", "fill_table"
    return scaling(free_threaded(), programs(), names, turns)


def without_the_lock_figures(found: Scaled | None) -> Figures | Lacking:
    if found is None:
        return Lacking(lacking_free_threaded())
    chosen = {name: found[1][name] for name in ("add_up", "fill_table")}
    letter = letter_of(chosen, {"add_up": "c", "add_up fill_table": "d", "fill_table": "b"})
    return {**speeds(found), "in_turn": letter, **against(found, "add_up", "fill_table")}


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
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

def read():
    return hits
"""


def lost_updates(turns: int = 20) -> dict[str, Counts]:
    names = "in_one_line", "through_a_call"
    builds = usual(), free_threaded()
    return two_threads(builds, counting(), names, turns)


def lost_updates_figures(found: dict[str, Counts]) -> Figures:
    lost = {build: lost_counts(counts, 200_000) for build, counts in found.items()}
    rows = [
        (build, name, max(each) / 200_000, mean(each) / 200_000)
        for build, functions in lost.items()
        for name, each in functions.items()
    ]
    figures: Figures = dict.fromkeys(("which", "by_call", "by_line"), NO_GIL_BUILD)
    figures |= {"lost": Rows(rows), "free_line": Lacking(lacking_free_threaded() or "needs two builds of Python")}
    for build, functions in lost.items():
        line, call = sum(functions["in_one_line"]), sum(functions["through_a_call"])
        if not build.endswith("t"):
            figures["which"] = {(False, True): "b", (True, True): "c"}.get((line > 0, call > 0))
            # In a few short runs, the threads may never lose the GIL at the wrong moment.
            figures |= {"by_call": Interval.exact(call).void_if(not call), "by_line": line}
        elif CORES < 2:
            figures["free_line"] = NO_SECOND_CORE
        else:
            overlapped = max(run.cpu_s / run.wall_s for _, run, _ in found[build]) >= 1.4
            most = max(functions["in_one_line"]) / 200_000
            figures["free_line"] = Interval.exact(most).void_if(not overlapped)
    return figures


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
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

def read():
    return hits
"""


def two_repairs(turns: int = 12) -> dict[str, Counts]:
    names = "with_lock", "own_count"
    builds = usual(), free_threaded()
    return two_threads(builds, repaired(), names, turns)


def two_repairs_figures(found: dict[str, Counts]) -> Figures:
    rows, ratios = [], []
    for build, counts in found.items():
        lost = lost_counts(counts, 40_000)
        cpu_s = {name: [run.cpu_s for each, run, _ in counts if each == name] for name in lost}
        rows += [(build, name, median(cpu_s[name]), sum(lost[name])) for name in lost]
        ratios.append(Interval.median(one / other for one, other in zip(*cpu_s.values(), strict=True) if other))
    return {"repairs": Rows(rows), "cost": ratios[0], "lost": sum(abs(row[-1]) for row in rows)}


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
def two_counters(recorder: Recorder) -> Any:
    shared = recorder.shared(hits=0, total=0)
    lock = recorder.lock("lock")

    def work() -> None:
        for _ in range(2):
            shared.hits = shared.hits + 1
            with lock:
                shared.total = shared.total + 1

    threads = [recorder.thread(n, work) for n in ("first", "second")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return shared


def lost_nothing() -> tuple[list[ThreadEvent], int]:
    recorder = Recorder()
    shared = two_counters(recorder)
    return list(recorder.events), shared.hits


def lost_nothing_figures(found: tuple[list[ThreadEvent], int]) -> Figures:
    events, hits = found
    unlocked = locked_share(events, "hits")
    of_first = [each for each in events if each.thread == "first"]
    return {
        "events": Rows([(each.action, each.name, ", ".join(each.locks)) for each in of_first[: len(of_first) // 2]]),
        "race": "c" if unlocked == 0 else None,
        "hits": hits,
        "hits_locked": unlocked,
        "total_locked": locked_share(events, "total"),
    }


def locked_share(events: Sequence[ThreadEvent], name: str) -> float:
    """Return the share of the reads and writes of a variable at which the thread held a lock. NaN without any."""
    held = [bool(each.locks) for each in events if each.name == name and each.action in {"read", "write"}]
    return sum(held) / len(held) if held else math.nan


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
def sums(barrier: threading.Barrier, x: torch.Tensor) -> set[int]:
    torch.exp(x)
    barrier.wait()
    running = {each.id for each in psutil.Process().threads()}
    barrier.wait()
    return running


def threads_of_torch() -> dict[int, int]:
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


def threads_of_torch_figures(found: dict[int, int]) -> Figures:
    return {
        "threads": Rows(list(found.items())),
        "which": {2: "a", 4: "b", 5: "c", 8: "d"}.get(found[4]),
        "with_4": found[4],
    }


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
Rates = dict[tuple[int, int], tuple[float, float]]
"""Calls per second and cores used, by the numbers of Python threads and of torch's threads for each of them."""


def calls_until(end: float, x: torch.Tensor) -> int:
    done = 0
    while perf_counter() < end:
        torch.sigmoid(x)
        done += 1
    return done


def calls_per_second(own: int, of_torch: int, seconds: float) -> tuple[float, float]:
    torch.set_num_threads(of_torch)
    x = torch.rand(400_000)
    with ThreadPoolExecutor(own) as pool:
        list(pool.map(torch.sigmoid, [x] * own))  # starts the threads
        began, cpu = perf_counter(), process_time()
        end = began + seconds
        total = sum(pool.map(calls_until, [end] * own, [x] * own))
        passed, used = perf_counter() - began, process_time() - cpu
    return total / passed, used / passed


def too_many_threads(turns: int = 9) -> list[Rates]:
    before = torch.get_num_threads()
    ways = ((1, 1), (1, 2), (2, 1), (2, 2), (2, 32))
    with limited_to(2):
        found = [
            {way: calls_per_second(*way, seconds=0.03) for way in ways}
            for _ in range(turns)
        ]  # fmt: skip
    torch.set_num_threads(before)
    return found


def too_many_threads_figures(found: list[Rates]) -> Figures:
    rates = {way: [median(turn[way][part] for turn in found) for part in (0, 1)] for way in found[0]}
    part = Interval.median(turn[2, 32][0] / turn[2, 1][0] for turn in found)
    limited = can_limit() or CORES == 2
    # The system gives 64 threads a larger share of busy cores than 2 threads.
    disturbed = rates[2, 1][1] < TWO_CORES
    return {
        "rates": Rows([(*way, calls) for way, (calls, _) in rates.items()]),
        "disturbed": disturbed,
        "part": part.void_if(disturbed) if limited else Lacking("this system cannot limit threads to cores: use Linux"),
    }


lesson = load(__name__)

if __name__ == "__main__":
    main(lesson)
