"""Lesson 16: look into a running program with a sampling profiler, and decide how far its shares can be trusted."""

import math
import re
import sys
import time
from collections import Counter
from statistics import mean, median

from harness.errors import MachineError
from harness.machine import environment
from harness.profiles.flames import by_function
from harness.profiles.stats import ProfiledScript, run_script
from harness.rendering import units
from harness.sampling.live import live
from harness.sampling.pyspy import Samples, dump, lacking, record
from lessons.engine.api import Figures, Interval, Lacking, Rows, Standing, largest, load
from lessons.engine.command import main
from lessons.probes import sample_figures as sampled
from lessons.probes.live_programs import CALLS, OWN_SAMPLER, PLACES, RANDOM_WORK, SAFE_POINTS, TRAINING, mean_of_last
from lessons.probes.python_sampler import attach

BUSY = 0.5
"""If the program used less than this share of a core, other programs disturbed it, and a result decides no claim."""

STEADY = 0.65
"""The same limit for the step that needs independent samples. In a disturbed program, samples repeat each other."""


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
def one_look(lines: int = 10) -> tuple[str, int] | str:
    if lacking():
        return lacking()
    with live(TRAINING) as program:
        text = dump(program.pid)
        before = len(program.lines())
        program.wait_for(before + lines)
        after = len(program.lines())
    return text, after - before


def one_look_figures(found: tuple[str, int] | str) -> Figures | Lacking:
    if isinstance(found, str):
        return Lacking(found)
    text, lines_after = found
    there = re.search(r"^ +train \(program\.py:(\d+)\)$", text, re.MULTILINE)
    return {
        "dump": sampled.shortened(text),
        "needs": "c" if there else None,
        "found": there is not None,
        "line": int(there[1]) if there else None,
        "lines_after": lines_after,
    }


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
Recorded = tuple[Samples, list[list[float]], float]
"""Samples of the training loop, its own times in each step, and the share of a core that it used."""

PARTS = ("load", "forward", "backward", "update")


def a_recording(seconds: float = 1.5) -> Recorded | str:
    if lacking():
        return lacking()
    with live(TRAINING) as program:
        samples = record(program.pid, seconds, rate=200)
        program.wait_for(5)
        busy, lines = program.busy(), program.lines()
    rows = [[float(number) for number in line.split()] for line in lines]
    return samples, rows, busy


def a_recording_figures(found: Recorded | str) -> Figures | Lacking:
    if isinstance(found, str):
        return Lacking(found)
    samples, own_clock, busy = found
    disturbed = busy < BUSY
    shares = {name: sampled.share_of(samples, name).void_if(disturbed) for name in PARTS}
    loads, rest = samples.with_function("load"), sum(samples.with_function(name) for name in PARTS[1:])
    load_s, rest_s = (sum(each) for each in zip(*own_clock, strict=True))
    clock = load_s / (load_s + rest_s)
    return {
        "flames": sampled.flames(samples),
        "parts": Rows([(name, samples.with_function(name), samples.share(name)) for name in PARTS]),
        "samples": len(samples),
        "most": largest(dict(zip("abcd", shares.values(), strict=True))),
        "load_to_rest": Interval.share(loads, loads + rest)
        .mapped(lambda share: share / max(1 - share, 1e-3))
        .void_if(disturbed),
        "clock_share": clock,
        "difference": sampled.across(samples, lambda part: part.share("load") - clock).void_if(disturbed),
    }


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
def costs(turns: int = 5, seconds: float = 0.1) -> list[list[float]] | str:
    if lacking():
        return lacking()
    ways = (
        (CALLS, 0, ""),
        (CALLS, 100, ""),
        (CALLS, 1000, ""),
        (OWN_SAMPLER + CALLS, 0, ""),
        (CALLS, 0, "-m cProfile"),
    )
    found: list[list[float]] = []
    for _ in range(turns):
        found.append([])
        for script, rate, options in ways:
            with live(script, *options.split()) as program:
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
    ratios = [[turn[way] / turn[0] for turn in found] for way in (1, 2, 3, 4)]
    return {
        "ratios": Rows([(median(each), min(each), max(each)) for each in ratios]),
        "slowest": largest(dict(zip("abcd", map(Interval.median, ratios), strict=True))),
        "cprofile_to_pyspy": Interval.median(turn[4] / turn[1] for turn in found),
    }


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
Recordings = tuple[Samples, Samples, ProfiledScript]
"""A recording of one process, a recording with its child processes, and a profile of cProfile."""


def threads_and_children(seconds: float = 0.7) -> Recordings | str:
    if lacking():
        return lacking()
    with live(PLACES.replace("SECONDS", "1e6")) as program:
        usual = record(program.pid, seconds)
        option = "--subprocesses"
        with_option = record(program.pid, seconds, option)
    script = PLACES.replace("SECONDS", str(seconds))
    traced = run_script(script, "cProfile", "-o", "FILE")
    return usual, with_option, traced


WORKPLACES = ("in_main", "in_thread", "in_child")


def threads_and_children_figures(found: Recordings | str) -> Figures | Lacking:
    if isinstance(found, str):
        return Lacking(found)
    usual, with_option, script = found
    traced = {each.name for each in script.functions}
    children = with_option.with_function("in_child")
    return {
        "places": Rows(
            [
                ("py-spy record", *(units.percent(usual.share(name)) for name in WORKPLACES)),
                ("py-spy record --subprocesses", *(units.percent(with_option.share(name)) for name in WORKPLACES)),
                ("cProfile", *("✓" if name in traced else "–" for name in WORKPLACES)),
            ]
        ),
        "seen": seen_places(usual),
        "children_without": usual.with_function("in_child") if len(usual) else Interval.unknown(),
        "children_with": children if children or len(with_option) >= 30 else Interval.unknown(),
        "thread_traced": "in_thread" in traced,
    }


def seen_places(samples: Samples) -> str | None:
    """Return the letter of the option that names the places in these samples, or None if no option does."""
    seen = "".join("01"[samples.with_function(name) > 0] for name in WORKPLACES)
    return {"100": "a", "110": "b", "111": "c"}.get(seen)


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
Biased = tuple[Samples, list[list[float]], float]
"""Samples from outside, the lines that the program printed, and the share of a core that it used."""


def inside_and_outside(seconds: float = 1.2) -> Biased | str:
    if lacking():
        return lacking()
    with live(SAFE_POINTS) as program:
        samples = record(program.pid, seconds, rate=200)
        program.wait_for(9)
        busy, lines = program.busy(), program.lines()
    rows = [[float(number) for number in line.split()] for line in lines]
    return samples, rows, busy


def inside_and_outside_figures(found: Biased | str) -> Figures | Lacking:
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
    }


def seen_share(difference: Interval) -> str | None:
    """Return the letter of the option for a share that differs by `difference` from the true share."""
    found = difference.compare(at_most=-0.2)
    return {Standing.HELD: "b", Standing.REFUTED: "a"}.get(found)


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
    small, large = (sampled.Group(size, counts) for size, counts in groups.items())
    rows = []
    for each in (small, large):
        ends = [interval(count, each.size) for count in each.counts]
        contained = sum(low <= share <= high for low, high in ends)
        rows.append((each.size, len(ends), 2 * each.spread, 2 * each.binomial(share), contained))
    return {
        "groups": Rows(rows),
        "share": share,
        "margin_ratio": Interval.exact(math.sqrt(large.size / small.size)).void_if(disturbed),
        "contained": Interval.share(rows[0][-1], len(small.counts)).void_if(disturbed),
        "as_computed": small.relative(small.binomial(share)).void_if(disturbed),
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


Version = tuple[Samples, float, float]
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
    known = before.low > 0 and after.low > 0
    times = (
        Interval(after.middle / before.middle, after.low / before.high, after.high / before.low)
        if known
        else Interval.unknown()
    )
    return {
        "functions": Rows(
            [
                (name, *(samples.share(name) for samples, *_ in found), *(each.get(name, 0.0) for each in per_round))
                for name in ("parse", "total")
            ]
        ),
        "difference": sampled.difference(*stacks) if all(stacks) else sampled.NO_SAMPLE,
        "times": times.mapped(lambda ratio: ratio * found[1][1] / found[0][1]).void_if(disturbed),
    }


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────
Native = tuple[list[Samples], list[float]]
"""The samples and the training steps per second, each without and with `--native`."""


def c_frames(seconds: float = 1.2, native: int = 1) -> Native | str:
    if lacking() or not native:
        return lacking() or "a short run does not read torch's C++ names"
    with live(TRAINING) as program:
        steps, found = list[float](), list[Samples]()
        for options in ((), ("--native",)):
            began, before = time.perf_counter(), len(program.lines())
            found.append(record(program.pid, seconds, *options, rate=50))
            passed = time.perf_counter() - began
            steps.append((len(program.lines()) - before) / passed)
    return found, steps


def c_frames_figures(found: Native | str) -> Figures | Lacking:
    if isinstance(found, str):
        return Lacking(found)
    (without, with_c), steps = found
    without_c = len(without.only(lambda sample: sample.in_c)) / len(without) if len(without) else math.nan
    backward = with_c.only(lambda sample: "backward" in sample.names)
    return {
        "tops": Rows([(sampled.cut(name), count / len(with_c)) for name, count in with_c.on_top().most_common(6)]),
        "top": None if math.isnan(without_c) else "a" if without_c else "b",
        "c_without": without_c,
        "c_with": sampled.share_in_c(backward),
        "steps_plain": steps[0],
        "steps_native": steps[1],
    }


# ── 9 ──────────────────────────────────────────────────────────────────────────────────────────
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
        busy, lines = program.busy(), program.lines()
    rows = [[float(number) for number in line.split()] for line in lines]
    return stacks, rows, busy


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
