"""Lesson 16: look into a running program with a sampling profiler, and decide how far its shares can be trusted."""

import math
import re
import sys
import time
from collections import Counter
from statistics import mean, median, pstdev

from harness.errors import MachineError
from harness.machine import environment
from harness.profiles.flames import by_function
from harness.sampling.live import live
from harness.sampling.pyspy import StackSamples, dump, lacking, record
from lessons.engine.api import ClaimStanding, Figures, Interval, Lacking, Rows, largest, load
from lessons.engine.command import main
from lessons.probes import sample_figures as sampled
from lessons.probes.live_programs import CALLS, PLACES, RANDOM_WORK, SAFE_POINTS, TRAINING, mean_of_last
from lessons.probes.python_sampler import attach

BUSY = 0.5
"""If the program used less than this share of a core, other programs disturbed it, and a result decides no claim."""

STEADY = 0.65
"""The same limit for claims that need independent samples. In a disturbed program, samples repeat each other."""


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
def one_look() -> str | None:
    if lacking():
        return None
    with live(TRAINING) as program:
        return dump(program.pid)


def one_look_figures(text: str | None) -> Figures | Lacking:
    if text is None:
        return Lacking(lacking())
    found = re.search(r"^ +train \(program\.py:\d+\)$", text, re.MULTILINE) is not None
    return {"dump": sampled.shortened(text), "needs": "c" if found else None, "found": found}


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
Recorded = tuple[StackSamples, list[list[float]], float]
"""Samples of a program, the numbers in the lines that it printed, and the share of a core that it used."""

PARTS = ("load", "forward", "backward", "update")


def a_recording(seconds: float = 1.5) -> Recorded | str:
    if lacking():
        return lacking()
    with live(TRAINING) as program:
        samples = record(program.pid, seconds, rate=200)
        program.wait_for(5)
        return samples, program.rows(), program.busy()


def a_recording_figures(found: Recorded | str) -> Figures | Lacking:
    if isinstance(found, str):
        return Lacking(found)
    samples, own_clock, busy = found
    disturbed = busy < BUSY
    shares = {name: sampled.share_of(samples, name).void_if(disturbed) for name in PARTS}
    clock = sampled.first_share(own_clock)
    difference = sampled.across(samples, lambda part: part.share("load") - clock.middle).widened(clock.half_width)
    return {
        "flames": sampled.flames(samples),
        "parts": Rows([(name, samples.share(name)) for name in PARTS]),
        "samples": len(samples),
        "most": largest(dict(zip("abcd", shares.values(), strict=True))),
        "clock_share": clock.middle,
        "difference": difference.void_if(busy < STEADY),
        "disturbed": disturbed,
    }


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
def costs(turns: int = 5, seconds: float = 0.1) -> list[list[float]] | str:
    if lacking():
        return lacking()
    ways = (0, ""), (100, ""), (1000, ""), (0, "-m cProfile")
    found: list[list[float]] = []
    for _ in range(turns):
        found.append([])
        for rate, options in ways:
            with live(CALLS, *options.split()) as program:
                if rate:
                    record(program.pid, seconds, rate=rate)
                else:
                    time.sleep(seconds)
                program.wait_for(3)
                usual_s = mean_of_last(program.lines(), seconds)
            found[-1].append(usual_s)
    return found


def costs_figures(found: list[list[float]] | str) -> Figures | Lacking:
    if isinstance(found, str):
        return Lacking(found)
    ratios = [[turn[way] / turn[0] for turn in found] for way in (1, 2, 3)]
    return {
        "ratios": Rows([(median(each), min(each), max(each)) for each in ratios]),
        "slowest": largest(dict(zip("abc", map(Interval.median, ratios), strict=True))),
        "cprofile_to_pyspy": Interval.median(turn[3] / turn[1] for turn in found),
    }


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
def threads_and_children(seconds: float = 0.7) -> tuple[StackSamples, StackSamples] | str:
    if lacking():
        return lacking()
    with live(PLACES) as program:
        usual = record(program.pid, seconds)
        return usual, record(program.pid, seconds, "--subprocesses")


WORKPLACES = ("in_main", "in_thread", "in_child")


def threads_and_children_figures(found: tuple[StackSamples, StackSamples] | str) -> Figures | Lacking:
    if isinstance(found, str):
        return Lacking(found)
    usual, with_option = found
    children = with_option.with_function("in_child")
    seen = "".join("01"[usual.with_function(name) > 0] for name in WORKPLACES)
    return {
        "places": Rows(
            [
                ("py-spy record", *map(usual.share, WORKPLACES)),
                ("py-spy record --subprocesses", *map(with_option.share, WORKPLACES)),
            ]
        ),
        "seen": {"100": "a", "110": "b", "111": "c"}.get(seen),
        "children": children if children or len(with_option) >= 30 else Interval.unknown(),
    }


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
def inside_and_outside(seconds: float = 1.2) -> Recorded | str:
    if lacking():
        return lacking()
    with live(SAFE_POINTS) as program:
        samples = record(program.pid, seconds, rate=200)
        program.wait_for(9)
        return samples, program.rows(), program.busy()


def inside_and_outside_figures(found: Recorded | str) -> Figures | Lacking:
    if isinstance(found, str):
        return Lacking(found)
    samples, rows, busy = found
    true = sampled.true_share(rows)
    inner = [sampled.inner_share(rows[0], rows[-1], column) for column in (2, 4)]
    outer = sampled.across(samples.only(sampled.in_the_loop), lambda part: part.share("in_c"))
    by_thread: Interval | Lacking = inner[0].mapped(lambda share: share - true)
    if environment.gil() == environment.GIL_OFF:
        by_thread = Lacking("needs a Python with a GIL. Run the lesson with the usual build of Python")
    return {
        "shares": Rows([(true,), (outer.middle,), *((each.middle,) for each in inner)]),
        "thread_sees": None if isinstance(by_thread, Lacking) else seen_share(by_thread),
        "by_thread": by_thread,
        "from_outside": outer.mapped(lambda share: share - true).void_if(busy < BUSY),
        "disturbed": busy < BUSY,
    }


def seen_share(difference: Interval) -> str | None:
    """Return the letter of the option for a share that differs by `difference` from the true share."""
    return {ClaimStanding.HELD: "b", ClaimStanding.REFUTED: "a"}.get(difference.compare(at_most=-0.2))


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
def interval(count: int, total: int) -> tuple[float, float]:
    z = 1.96
    middle = (count + z * z / 2) / (total + z * z)
    spread = count * (total - count) / total + z * z / 4
    width = z * spread**0.5 / (total + z * z)
    return middle - width, middle + width


Groups = tuple[float, dict[int, list[int]], float]
"""The share of `rare`, its samples in each group by the group's size, and the share of a core that the program used."""


def how_many(seconds: float = 2.2) -> Groups | str:
    if lacking():
        return lacking()
    with live(RANDOM_WORK) as program:
        samples = record(program.pid, seconds, rate=500)
        busy = program.busy()
    hits = ["rare" in sample.names for sample in samples.taken]
    groups = {}
    for size in (10, 40):
        starts = range(0, len(hits) - size + 1, size)
        groups[size] = [sum(hits[at : at + size]) for at in starts]
    return sum(hits) / max(len(hits), 1), groups, busy


def how_many_figures(found: Groups | str) -> Figures | Lacking:
    if isinstance(found, str):
        return Lacking(found)
    share, groups, busy = found
    disturbed = busy < STEADY
    rows = []
    for size, counts in groups.items():
        ends = [interval(count, size) for count in counts]
        contained = sum(low <= share <= high for low, high in ends)
        measured = pstdev(count / size for count in counts) if counts else math.nan
        rows.append((size, len(ends), 2 * measured, 2 * math.sqrt(share * (1 - share) / size), contained))
    return {
        "groups": Rows(rows),
        "share": share,
        "margin_ratio": Interval.exact(math.sqrt(rows[1][0] / rows[0][0])).void_if(disturbed),
        "contained": Interval.share(rows[0][-1], len(groups[10])).void_if(disturbed),
        "disturbed": disturbed,
    }


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
def pipeline(words: int) -> str:
    return f"""
import time

def parse(words):
    return [int(word) for word in words]

def total(numbers):
    result = 0
    for number in numbers:
        result += number * number
    return result

while True:
    begin = time.thread_time()
    numbers = parse(["12345"] * {words})
    total(range(100_000))
    print(time.thread_time() - begin, flush=True)
"""


Version = tuple[StackSamples, float, float]
"""Samples of a version of the program, its CPU time per round, and the share of a core that it used."""


def two_runs(seconds: float = 1.2) -> list[Version] | str:
    if lacking():
        return lacking()
    found = []
    for words in (80_000, 8_000):
        with live(pipeline(words)) as program:
            samples = record(program.pid, seconds, rate=200)
            program.wait_for(5)
            busy, times = program.busy(), map(float, program.lines())
            found.append((samples, mean(times), busy))
    return found


def two_runs_figures(found: list[Version] | str) -> Figures | Lacking:
    if isinstance(found, str):
        return Lacking(found)
    disturbed = min(busy for *_, busy in found) < BUSY
    stacks = [sampled.per_round(samples, round_s) for samples, round_s, _ in found]
    per_round = [by_function(each) for each in stacks]
    before, after = (sampled.across(samples, lambda part: part.share("total")) for samples, *_ in found)
    times = Interval.unknown()
    if before.low > 0 and after.low > 0:
        times = Interval(after.middle / before.middle, after.low / before.high, after.high / before.low)
    return {
        "functions": Rows(
            [
                (name, *(samples.share(name) for samples, *_ in found), *(each.get(name, 0.0) for each in per_round))
                for name in ("parse", "total")
            ]
        ),
        "difference": sampled.difference(*stacks) if all(stacks) else sampled.NO_SAMPLE,
        "times": times.mapped(lambda ratio: ratio * found[1][1] / found[0][1]).void_if(disturbed),
        "disturbed": disturbed,
    }


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────
Standard = tuple[Counter[tuple[str, ...]], list[list[float]], float]
"""Samples by stack, the lines of the program, and the share of a core that it used."""


def from_the_standard_library(seconds: int = 2) -> Standard | str:
    if sys.version_info < (3, 15):
        return "needs Python 3.15 or newer: uv python install 3.15"
    with live(SAFE_POINTS) as program:
        try:
            stacks = attach(program.pid, seconds)
        except MachineError as error:
            return str(error)
        program.wait_for(9)
        return stacks, program.rows(), program.busy()


def from_the_standard_library_figures(found: Standard | str) -> Figures | Lacking:
    if isinstance(found, str):
        return Lacking(found)
    stacks, rows, busy = found
    python, c = (sum(count for stack, count in stacks.items() if name in stack) for name in ("in_python", "in_c"))
    in_c = Interval.plus_minus(c / (python + c), 0.05) if python + c else Interval.unknown()
    true = sampled.true_share(rows)
    return {
        "samples": python + c,
        "difference": in_c.mapped(lambda share: share - true).void_if(busy < BUSY),
    }


lesson = load(__name__)

if __name__ == "__main__":
    main(lesson)
