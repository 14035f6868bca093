"""Lesson 02: the results of Python's `timeit` and of torch's `Timer`, and what can make these results misleading."""

import math
import re
import shlex
import subprocess
import sys
import timeit
from _lsprof import profiler_entry
from cProfile import Profile
from random import random
from statistics import mean, median
from time import perf_counter

import torch
from torch import Tensor
from torch.utils.benchmark import Measurement, Timer

from harness.errors import UsageError
from harness.machine.clocks import BackgroundLoad, watch_background_load
from lessons.engine.api import Figures, Interval, Lacking, Rows, Run, load
from lessons.engine.command import main

IN_SECONDS = {"sec": 1.0, "msec": 1e-3, "usec": 1e-6, "nsec": 1e-9}
COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # from Python 3.15 on, timeit prints such codes if `FORCE_COLOR` is set
PRINTED_TIME = r"([\d.e+-]+) (sec|msec|usec|nsec)"


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
def mul_sum(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


def bmm(a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a[:, None], b[:, :, None])[:, 0, 0]


def first_calls(calls: int = 20) -> dict[str, list[float]]:
    a, b = torch.rand(2, 256, 64)
    functions = [mul_sum, bmm, torch.fmod, torch.hypot, torch.pow]
    functions += [torch.maximum, torch.atan2]
    timed: dict[str, list[float]] = {}
    for function in functions:
        calls_s = timed[function.__name__] = []
        for _ in range(calls):
            start = perf_counter()
            function(a, b)  # type: ignore[operator]
            calls_s.append(perf_counter() - start)
    return timed


def first_calls_figures(timed: dict[str, list[float]]) -> Figures:
    slowest = sum(calls_s[0] == max(calls_s) for calls_s in timed.values())
    rows = [(name, each[0], median(each), each[0] / median(each)) for name, each in timed.items()]
    return {"calls": Rows(rows), "slowest": slowest, "share": Interval.share(slowest, len(timed))}


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
def names() -> dict[str, object]:
    a, b = torch.rand(2, 256, 64)
    return {"a": a, "b": b, "mul_sum": mul_sum}


def several_runs(turns: int = 120, number: int = 100) -> tuple[float, list[list[float]]]:
    stmt, work = "mul_sum(a, b)", names()
    one_run_s = timeit.timeit(stmt, globals=work, number=number)
    timer = timeit.Timer(stmt, globals=work)
    turns_s = [timer.repeat(5, number) for _ in range(turns)]
    return one_run_s, turns_s


def several_runs_figures(found: tuple[float, list[list[float]]]) -> Figures:
    one_run_s, turns_s = found
    kinds = [[pick(runs_s) for runs_s in turns_s] for pick in (lambda runs_s: runs_s[0], mean, min)]
    differ = [max(values) / min(values) - 1 for values in kinds]
    pairs = list(zip(turns_s[::2], turns_s[1::2], strict=True))
    steadier = sum(abs(min(one) - min(other)) < abs(mean(one) - mean(other)) for one, other in pairs)
    return {
        "turns": Rows([(min(values), max(values), by) for values, by in zip(kinds, differ, strict=True)]),
        "repetitions": len(turns_s),
        "least": "abc"[differ.index(min(differ))],
        "one_run_s": one_run_s,
        "steadier": Interval.share(steadier, len(pairs)),
    }


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
def command_line(number: int = 200) -> tuple[list[int], subprocess.CompletedProcess[str]]:
    setup = "numbers = [n * 7919 % 1000 for n in range(1000)]"
    tried: list[int] = []
    timer = timeit.Timer("sorted(numbers)", setup)
    timer.autorange(callback=lambda calls, _: tried.append(calls))

    command = [sys.executable, "-m", "timeit"]
    command += ["-v", "-n", str(number), "-r", "5"]
    run = subprocess.run(
        [*command, "-s", setup, "sorted(numbers)"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=True,
    )
    return tried, run


def command_line_figures(found: tuple[list[int], subprocess.CompletedProcess[str]]) -> Figures:
    tried, run = found
    loops, printed_s, raw_s = timeit_numbers(run.stdout)
    candidates = {"c": min(raw_s), "b": median(raw_s), "a": mean(raw_s)}
    return {
        "in_steps": tried == [(1, 2, 5)[place % 3] * 10 ** (place // 3) for place in range(len(tried))],
        "last_run": tried[-1],
        "command": shlex.join(["python", *run.args[1:]]),
        "printed": run.stdout.strip(),
        "which": min(candidates, key=lambda letter: round(abs(printed_s * loops / candidates[letter] - 1), 2)),
    }


def timeit_numbers(printed: str) -> tuple[int, float, list[float]]:
    """Return three results: the loops per run, the seconds per loop in the last line, and the seconds of each run.

    Raise `UsageError` if the text is not the output of `timeit -v`.
    """
    printed = COLOUR.sub("", printed)
    raw_line = next((line for line in printed.splitlines() if line.startswith("raw times:")), None)
    last = re.search(rf"(\d+) loops?, best of \d+: {PRINTED_TIME} per loop", printed)
    if raw_line is None or last is None:
        raise UsageError("This is not the output of python -m timeit -v.")
    raw_s = [float(value) * IN_SECONDS[unit] for value, unit in re.findall(PRINTED_TIME, raw_line)]
    return int(last[1]), float(last[2]) * IN_SECONDS[last[3]], raw_s


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
def sort_again(length: int = 100_000) -> tuple[list[float], list[float]]:
    numbers = [random() for _ in range(length)]

    same = {"numbers": numbers.copy()}
    same_s = timeit.repeat("numbers.sort()", globals=same, number=1)

    copy = "new = numbers.copy()"
    kept = {"numbers": numbers}
    new_s = timeit.repeat("new.sort()", copy, globals=kept, number=1)
    return same_s, new_s


def sort_again_figures(sorts: tuple[list[float], list[float]], run: Run) -> Figures:
    same_s, new_s = sorts
    first_s, later_s = same_s[0], median(same_s[1:])
    return {
        "runs": Rows([(turn, *times_s) for turn, times_s in enumerate(zip(*sorts, strict=True), start=1)]),
        "first_to_later": Interval.exact(first_s / later_s).with_factor(run.noise),
        "new_to_later": Interval.every(each_s / later_s for each_s in new_s),
        "million": (first_s + 999_999 * later_s) / 1e6 / first_s,
    }


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
def worked_out(number: int = 200_000) -> tuple[dict[str, float], list[object]]:
    per_call_s = {}
    for statement in ["pass", "2**10", "x**10"]:
        totals_s = timeit.repeat(statement, setup="x = 2", number=number)
        per_call_s[statement] = min(totals_s) / number
    code = compile("y = 2**10", "statement", "exec")
    return per_call_s, list(code.co_consts)


def worked_out_figures(timed: tuple[dict[str, float], list[object]], run: Run) -> Figures:
    per_call_s, constants = timed
    empty_s, constant_s, power_s = per_call_s.values()
    return {
        "times": Rows(list(per_call_s.items())),
        "power_to_constant": Interval.exact(power_s / constant_s).with_factor(run.noise),
        "constant_to_empty": Interval.exact(constant_s / empty_s).with_factor(run.noise),
        "folded": 2**10 in constants,
    }


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
def the_other_timer(number: int = 50, turns: int = 20) -> tuple[list[float], list[list[Measurement]], int]:
    timer = Timer(
        "mul_sum(a, b)",
        setup="a, b = torch.rand(2, 256, 64)",
        globals={"mul_sum": mul_sum},
        label="batched dot",
        sub_label="mul_sum",
        description="256 x 64",
        env="default",
    )
    python = timeit.Timer("mul_sum(a, b)", globals=names())
    python_s, measured = [], []
    for calls in [number, 10 * number]:
        python_s.append(min(python.repeat(turns, calls)))
        measured.append([timer.timeit(calls) for _ in range(turns)])
    ran: list[int] = []
    Timer("ran.append(1)", globals={"ran": ran}).timeit(number)
    return python_s, measured, len(ran)


def the_other_timer_figures(found: tuple[list[float], list[list[Measurement]], int], run: Run) -> Figures:
    python_s, measured, ran = found
    few, many = (min(each, key=lambda one: one.median) for each in measured)
    total, per_call = python_s[1] / python_s[0], many.median / few.median
    return {
        "torch_text": "\n".join(repr(many).splitlines()[1:]),  # without the address of the object
        "results": Rows(
            [(each.number_per_run, all_s, each.median) for all_s, each in zip(python_s, (few, many), strict=True)]
        ),
        "repetitions": len(measured[0]),
        "ten_times": "cb"[total > 3] if per_call < 3 else None,
        "per_call": Interval.exact(per_call).with_factor(run.noise),
        "extra": ran - few.number_per_run,
        "iqr_s": many.iqr,
    }


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
Ways = tuple[float, float, float]
Turns = list[tuple[Ways, Ways]]


def three_ways(stmt: str, work: dict[str, object], number: int) -> Ways:
    python = timeit.Timer(stmt, globals=work)
    one = Timer(stmt, globals=work)
    threads = torch.get_num_threads()
    every = Timer(stmt, globals=work, num_threads=threads)
    return (
        min(python.repeat(3, number)) / number,
        min(one.timeit(number).median for _ in range(3)),
        min(every.timeit(number).median for _ in range(3)),
    )


def one_thread_or_all(turns: int = 15, number: int = 3) -> tuple[Turns, BackgroundLoad]:
    a, b = torch.rand(2, 10_000, 64)
    work = {"a": a, "b": b, "mul_sum": mul_sum, "bmm": bmm}
    times_s = []
    with watch_background_load() as others:
        for _ in range(turns):
            sums = three_ways("mul_sum(a, b)", work, number)
            bmms = three_ways("bmm(a, b)", work, number)
            times_s.append((sums, bmms))
    return times_s, others


def one_thread_or_all_figures(found: tuple[Turns, BackgroundLoad]) -> Figures:
    times_s, others = found
    threads = torch.get_num_threads()
    shortest = [[min(way) for way in zip(*ways, strict=True)] for ways in zip(*times_s, strict=True)]
    rows = [(sum_s, bmm_s, bmm_s / sum_s) for sum_s, bmm_s in zip(*shortest, strict=True)]
    lacking = Lacking("needs a second core, because torch uses only one thread on this machine")
    timer_to_timeit, same_threads = (
        Interval.median(sums[way] / sums[0] for sums, _ in times_s).void_if(others.is_high) for way in (1, 2)
    )
    return {
        "ways": Rows(rows),
        "threads": threads,
        "timer_to_timeit": timer_to_timeit if threads > 1 else lacking,
        "undisturbed": None if others.is_high or threads == 1 else timer_to_timeit,
        "same_threads": same_threads if threads > 1 else lacking,
    }


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────
def square(value: float) -> float:
    return value * value


def norm(values: list[float]) -> float:
    total = 0.0
    for value in values:
        total += square(value)
    return math.sqrt(total)


def unit(values: list[float]) -> list[float]:
    length = norm(values)
    return [value / length for value in values]


def how_long_or_where(number: int = 200) -> tuple[float, float, list[profiler_entry]]:
    work = {"unit": unit, "values": [random() for _ in range(1000)]}
    timer = timeit.Timer("unit(values)", globals=work)
    plain_s = min(timer.repeat(5, number)) / number
    with Profile() as profile:
        profiled_s = min(timer.repeat(5, number)) / number
    return plain_s, profiled_s, profile.getstats()


def how_long_or_where_figures(found: tuple[float, float, list[profiler_entry]], run: Run) -> Figures:
    plain_s, profiled_s, entries = found
    seen = {getattr(each.code, "co_name", str(each.code)): each for each in entries}
    whole_s = seen["unit"].totaltime
    within = [(name, each) for name, each in seen.items() if each.totaltime <= whole_s]
    most = sorted(within, key=lambda item: -item[1].inlinetime)[:4]
    return {
        "profile": Rows([(name, each.callcount, each.inlinetime, each.totaltime) for name, each in most]),
        "norm_share": seen["norm"].totaltime / whole_s,
        "longer": Interval.exact(profiled_s / plain_s).with_factor(run.noise),
        "plain_s": plain_s,
        "profiled_s": profiled_s,
    }


lesson = load(__name__)

if __name__ == "__main__":
    main(lesson)
