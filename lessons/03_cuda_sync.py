"""Lesson 03: how to time work that a GPU does after the call has returned."""

from functools import partial
from statistics import median
from time import perf_counter

import torch
from torch import Tensor
from torch.utils.benchmark import Timer

from harness.machine.devices import gpu_bytes_per_s, pick_stream
from lessons.engine.api import Figures, Interval, Rows, Run, load
from lessons.engine.command import main

HAS_GPU = torch.cuda.is_available()


def where() -> str:
    """Return sentences about the device of this run."""
    if HAS_GPU:
        return f"This lesson runs on a GPU, {torch.cuda.get_device_name()}."
    return (
        "Simulated: torch finds no CUDA on this machine, so a thread with a queue of work replaces the GPU. Each step "
        "also shows the figures of a recorded run on a GPU."
    )


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
def mul_sum(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


def rows(number: int, gpu_s: float = 0.4e-3, n: int = 1024) -> Tensor:
    if torch.cuda.is_available():
        # per product: 3 reads and 1 write of 4 bytes
        number = round(gpu_s * gpu_bytes_per_s() / (16 * n))
        return torch.rand(2, number, n, device="cuda")
    return torch.rand(2, number, n)


def launch_and_wait(turns: int = 9, launches: int = 20) -> list[tuple[float, float]]:
    work = partial(mul_sum, *rows(2000))
    timed = []
    with pick_stream() as stream:
        stream.launch(work)
        stream.synchronize()
        for _ in range(turns):
            start = perf_counter()
            for _ in range(launches):
                stream.launch(work)
            returned = perf_counter()
            stream.synchronize()
            done = perf_counter()
            timed.append((returned - start, done - start))
    return timed


def launch_and_wait_figures(timed: list[tuple[float, float]]) -> Figures:
    returned_s, done_s = zip(*timed, strict=True)
    return {
        "times": Rows([(median(returned_s),), (median(done_s),)]),
        "share": Interval.median(returned / done for returned, done in timed),
    }


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
def how_often(turns: int = 25, launches: int = 50) -> list[list[float]]:
    work = partial(mul_sum, *rows(20, gpu_s=0.25e-3))
    never: list[float] = []
    after_each: list[float] = []
    once: list[float] = []
    with pick_stream() as stream:
        stream.launch(work)
        stream.synchronize()
        for _ in range(turns):
            for times in (never, after_each, once):
                start = perf_counter()
                for _ in range(launches):
                    stream.launch(work)
                    if times is after_each:
                        stream.synchronize()
                if times is once:
                    stream.synchronize()
                times.append((perf_counter() - start) / launches)
                stream.synchronize()
    return [never, after_each, once]


def how_often_figures(timed: list[list[float]]) -> Figures:
    _, after_each, once = timed
    return {
        "times": Rows([(median(each),) for each in timed]),
        "wait_s": Interval.median(each - real for each, real in zip(after_each, once, strict=True)),
    }


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
def own_clock(turns: int = 9, launches: int = 400) -> list[tuple[float, float]]:
    work = partial(mul_sum, *rows(500))
    timed = []
    with pick_stream() as stream:
        stream.launch(work)
        stream.synchronize()
        for _ in range(turns):
            start = perf_counter()
            first = stream.record()
            for _ in range(launches):
                stream.launch(work)
            last = stream.record()
            stream.synchronize()
            host_s = perf_counter() - start
            timed.append((host_s, last.seconds_since(first)))
    return timed


def own_clock_figures(timed: list[tuple[float, float]]) -> Figures:
    host_s, device_s = zip(*timed, strict=True)
    return {
        "times": Rows([(median(host_s),), (median(device_s),)]),
        "difference": Interval.median(abs(host / device - 1) for host, device in timed),
    }


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
def timer_clocks(turns: int = 9, runs: int = 20) -> dict[str, list[tuple[float, float]]]:
    work = partial(mul_sum, *rows(2000))
    found: dict[str, list[tuple[float, float]]] = {}
    with pick_stream() as stream:

        def waits() -> float:
            stream.synchronize()
            return perf_counter()

        names = {"stream": stream, "work": work}
        new = partial(Timer, "stream.launch(work)", globals=names)
        timers = {
            "perf_counter": new(timer=perf_counter),
            "default": new(),
            "waits": new(timer=waits),
        }
        for _ in range(turns):
            for name, timer in timers.items():
                first = stream.record()
                timer_s = timer.timeit(runs).median
                last = stream.record()
                stream.synchronize()
                real_s = last.seconds_since(first) / (runs + 2)
                found.setdefault(name, []).append((timer_s, real_s))
    return found


def timer_clocks_figures(found: dict[str, list[tuple[float, float]]]) -> Figures:
    parts = {name: [timer / real for timer, real in turns] for name, turns in found.items()}
    return {
        "times": Rows(
            [(name, *map(median, zip(*turns, strict=True)), median(parts[name])) for name, turns in found.items()]
        ),
        "default": Interval.median(parts["default"]),
        "waiting": Interval.median(parts["waits"]),
    }


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
def bmm(a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a[:, None], b[:, :, None])[:, 0, 0]


def few_rows(number: int, n: int = 512) -> Tensor:
    if torch.cuda.is_available():
        # a quarter of the L2 cache, for two tensors of 4 bytes a number
        l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
        return torch.rand(2, l2_bytes // (4 * 8 * n), n, device="cuda")
    return torch.rand(2, number, n)


def first_bmm(calls: int = 30) -> list[float]:
    work = partial(bmm, *few_rows(32))
    calls_s = []
    with pick_stream() as stream:
        stream.synchronize()
        for _ in range(calls):
            start = perf_counter()
            stream.launch(work)
            stream.synchronize()
            calls_s.append(perf_counter() - start)
    return calls_s


def first_bmm_figures(calls_s: list[float], run: Run) -> Figures:
    first_s, *later_s = calls_s
    return {
        "times": Rows([(first_s,), (median(later_s),)]),
        "first_to_later": Interval.median(first_s / each for each in later_s).with_factor(run.noise),
    }


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
def cold_and_warm(turns: int = 25) -> list[tuple[float, float]]:
    work = partial(mul_sum, *few_rows(128))
    timed = []
    with pick_stream() as stream:
        busy, flush = stream.busy(1e-3), stream.flush()
        for first in (work, flush, busy):  # each loads its code
            stream.launch(first)
        stream.synchronize()
        for _ in range(turns):
            stream.launch(busy)
            stamps = []
            for before in (work, flush):
                stream.launch(before)
                stamps.append(stream.record())
                stream.launch(work)
                stamps.append(stream.record())
            stream.synchronize()
            warm_s = stamps[1].seconds_since(stamps[0])
            cold_s = stamps[3].seconds_since(stamps[2])
            timed.append((warm_s, cold_s))
    return timed


def cold_and_warm_figures(timed: list[tuple[float, float]]) -> Figures:
    warm_s, cold_s = zip(*timed, strict=True)
    return {
        "times": Rows([(median(warm_s),), (median(cold_s),)]),
        "cold_to_warm": Interval.median(cold / warm for warm, cold in timed),
    }


lesson = load(__name__, simulated="" if HAS_GPU else "GPU", note=where())

if __name__ == "__main__":
    main(lesson)
