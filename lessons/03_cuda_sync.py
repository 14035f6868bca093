"""Lesson 03: how to time work that a GPU does after the call has returned.

The steps appear on the screen in the order of this file. A step has teaching code, a question, claims, and an
explanation. The words of the explanation depend on what the run measured.
"""

from functools import partial
from statistics import median
from time import perf_counter
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.benchmark import Timer

from harness.charts import plots
from harness.machine.devices import gpu_bytes_per_s, pick_stream
from harness.rendering import units
from harness.rendering.tables import Table
from lessons.engine import Choice, Interval, Lesson, Page
from lessons.engine.command import main
from lessons.engine.published import ON_GPUS
from lessons.engine.recorded_run import RecordedRun

ON_A_GPU = torch.cuda.is_available()

lesson = Lesson(
    __file__,
    objective="You can time work that runs on a GPU after the call has returned.",
    simulated="" if ON_A_GPU else "GPU",
    before_class="If torch finds no CUDA on your computer, the lesson simulates a GPU: a thread with a queue of work "
    "replaces it. The first line of the lesson then begins with “Simulated”.",
)


def where(*, recorded: bool) -> str:
    """Return sentences about the device of this run. `recorded` states whether there is a recorded run on a GPU."""
    if ON_A_GPU:
        return f"This lesson runs on a GPU, {torch.cuda.get_device_name()}."
    simulated = "Simulated: torch finds no CUDA on this machine, so a thread with a queue of work replaces the GPU."
    if recorded:
        return f"{simulated} Each step also shows the figures of a recorded run on a GPU."
    return f"{simulated} There is no recorded run on a GPU yet."


lesson.note = where(recorded=bool(RecordedRun.load(lesson.recorded).steps))


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def mul_sum(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


@lesson.given
def rows(number: int, gpu_s: float = 0.4e-3, n: int = 1024) -> Tensor:
    if torch.cuda.is_available():
        # per product: 3 reads and 1 write of 4 bytes
        number = round(gpu_s * gpu_bytes_per_s() / (16 * n))
        return torch.rand(2, number, n, device="cuda")
    return torch.rand(2, number, n)


@lesson.given
class Launched(NamedTuple):
    returned_s: float
    done_s: float


@lesson.step(
    "Launch and wait",
    predict=Choice(
        "We launch `mul_sum` twenty times. What is the time until all launches have returned, divided by the time "
        "until all work is done?",
        {"a": "less than a third", "b": "a third to nine tenths", "c": "nine tenths or more"},
        limits=(1 / 3, 0.9),
    ),
    expected="a",
    wrong_reasoning="Students think that the work is done when a call returns. But the call only puts the work into a "
    "queue.",
    fast={"turns": 3},
)
def launch_and_wait(turns: int = 9, launches: int = 20) -> list[Launched]:
    """A GPU takes its work from queues. CUDA calls such a queue a stream.

    A call with tensors on the GPU puts work into a queue. `launch` puts work into the queue and returns immediately.
    `synchronize` returns when all work in the queue is done. For a GPU, `synchronize` calls `torch.cuda.synchronize`.
    We read the clock after the launches, and again after `synchronize`. On a GPU, `rows` chooses the number of rows so
    that a call of `mul_sum` takes about 0.4 ms. With few rows, a fast GPU would finish its work before the next launch.
    """
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
            timed.append(Launched(returned - start, done - start))
    return timed


EARLY = launch_and_wait.claim(
    "returns-early",
    "all launches return in less than a third of the time that their work takes",
    at_most=1 / 3,
    unit=units.percent,
)


@launch_and_wait.explain
def _(page: Page, timed: list[Launched]) -> None:
    columns = {"repetition": units.count, "launches returned": units.seconds, "work done": units.seconds}
    page.table(
        Table.of(
            "Time since the first of twenty launches",
            columns,
            [(turn, *each) for turn, each in enumerate(timed, start=1)],
        )
    )
    shares = Interval.median(each.returned_s / each.done_s for each in timed)
    returned_s, done_s = (median(times) for times in zip(*timed, strict=True))
    page.reveal(
        shares, f"The launches returned after {units.seconds(returned_s)}, and the work took {units.seconds(done_s)}."
    )
    bars = [("launched", returned_s), ("done", done_s)]
    page.output(plots.bars(bars, unit=units.seconds), caption="Time since the first of twenty launches, median")
    page.settle(EARLY, shares, remark="time of the launches ÷ time of the work")
    page.say(
        f"If you stop the clock when the call returns, you measure {units.seconds(returned_s / 20)} per launch. The",
        f"work of one launch takes {units.seconds(done_s / 20)}.",
        EARLY.words(
            held="The time per launch is only the cost of a launch, which does not depend on how long the work takes.",
            refuted="In this run, the launches took a large part of the time. Possible causes are that the work is"
            " small for this device, or that the machine delayed the launches.",
            unclear="This run does not show clearly how early the launches return: the repetitions differ too much.",
        ),
    )
    page.say(
        "An early return is useful: while the device works, the program prepares the next work. But stop the clock",
        "only after the device has finished. If you print a tensor, or call its methods `.item()` or `.cpu()`, torch",
        "also waits for the device, because it needs the tensor's numbers.",
    )


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Waits(NamedTuple):
    never: list[float]
    after_each: list[float]
    once: list[float]


@lesson.step(
    "How often to wait",
    predict=Choice(
        "We time fifty launches with a single wait at the end, and fifty launches with a wait after each launch. Which "
        "of the two times per call is longer?",
        {
            "a": "with one wait at the end",
            "b": "neither, the difference is below 2 %",
            "c": "with a wait after each launch",
        },
        limits=(0.98, 1.02),
    ),
    expected="c",
    wrong_reasoning="Students think that waiting costs nothing. But each wait stops the host, and then the device has "
    "no work until the next launch.",
)
def how_often(turns: int = 9, launches: int = 50) -> Waits:
    """We time blocks of launches in three ways: without a wait, with a wait after each launch, and with one final wait.

    In this step, each launch has less work than in step 1. Each block begins with an idle device, because we wait for
    the device between two blocks.
    """
    work = partial(mul_sum, *rows(200, gpu_s=0.25e-3))
    found = Waits([], [], [])
    with pick_stream() as stream:
        stream.launch(work)
        stream.synchronize()
        for _ in range(turns):
            for way, times in found._asdict().items():
                start = perf_counter()
                for _ in range(launches):
                    stream.launch(work)
                    if way == "after_each":
                        stream.synchronize()
                if way == "once":
                    stream.synchronize()
                times.append((perf_counter() - start) / launches)
                stream.synchronize()
    return found


NEVER_WRONG = how_often.claim(
    "never-is-wrong",
    "without a wait, the measured time of a call is less than a third of its real time",
    at_most=1 / 3,
    unit=units.percent,
)
EACH_LONGER = how_often.claim(
    "each-is-longer",
    "with a wait after each call, a call takes at least 2 % longer than with one wait per block",
    at_least=1.02,
    unit=units.ratio,
)


@how_often.explain
def _(page: Page, found: Waits) -> None:
    rows_ = [(way.replace("_", " "), min(times), median(times), max(times)) for way, times in found._asdict().items()]
    columns = {"wait": None, "shortest": units.seconds, "median": units.seconds, "longest": units.seconds}
    page.table(Table.of("Time per call, in blocks of fifty calls", columns, rows_))
    longer = Interval.median(each / once for each, once in zip(found.after_each, found.once, strict=True))
    page.reveal(
        longer,
        f"The median times per call are {units.seconds(median(found.after_each))} with a wait after each launch, and",
        f"{units.seconds(median(found.once))} with one wait at the end.",
    )
    shares = Interval.median(never / once for never, once in zip(found.never, found.once, strict=True))
    page.settle(NEVER_WRONG, shares, remark="time without a wait ÷ time with one wait")
    page.settle(EACH_LONGER, longer)
    page.say(
        "Each wait takes time: the device reports that it has finished, and is idle until the next launch. With one",
        "wait at the end of a block, the device is idle only once per block, if the host launches fast enough.",
        EACH_LONGER.words(
            held="",
            refuted="In this run, the waits took very little time compared with the work.",
            unclear="This run does not show how much time the waits for the device take: the work is long, or the "
            "machine is busy.",
        ),
        "So launch many times, wait once, and then stop the clock. In the exercise, you measure in this way.",
    )
    show_published(page, here=median(found.never) / median(found.once))


def show_published(page: Page, here: float) -> None:
    """Print published times on GPUs, and compare them with `here`.

    `here` is the time without a wait divided by the time with one wait, as this run measured them.
    """
    columns = {"rows × numbers, timer": None, "mul_sum": units.seconds, "bmm": units.seconds}
    page.table(Table.of("Published: PyTorch's benchmark recipe, a call on a GPU", columns, ON_GPUS[:3]))
    page.table(Table.of("Published: a reader's re-run of the recipe's notebook on another GPU", columns, ON_GPUS[3:]))
    (_, warm_sum_s, warm_bmm_s), (_, real_sum_s, real_bmm_s) = ON_GPUS[1:3]
    page.say(
        "`timeit` does not wait for the GPU. For `mul_sum` on the recipe's GPU, `timeit` reports",
        f"{units.percent(warm_sum_s / real_sum_s)} of the time that Timer reports. In this run, the time without a",
        f"wait was {units.percent(here)} of the time with one wait.",
        f"In the recipe, `bmm` takes {units.ratio(warm_bmm_s / warm_sum_s)} as long as `mul_sum` according to",
        f"`timeit`, and {units.ratio(real_bmm_s / real_sum_s)} as long according to Timer. The ratio by `timeit`",
        "compares only the launches.",
    )


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Clocks(NamedTuple):
    host_s: float
    device_s: float


@lesson.step(
    "The device's own clock",
    predict=Choice(
        "We time the same launches with the host's clock and with the device's clock, and wait once. Which time is "
        "longer?",
        {"a": "the device's time", "b": "neither, the difference is below 10 %", "c": "the host's time"},
        limits=(0.9, 1.1),
    ),
    expected="b",
    wrong_reasoning="Students expect the host's clock to add a lot. But with one wait per block, the extra time is "
    "divided among many launches.",
)
def own_clock(turns: int = 9, launches: int = 400) -> list[Clocks]:
    """The host is the CPU, which launches the work. The device has its own clock.

    An event goes into the queue like work, and records the time at which the device reaches the event. On a GPU, an
    event is a `torch.cuda.Event(enable_timing=True)` with the methods `record` and `elapsed_time`. In this lesson, we
    call the methods `record` and `seconds_since`, which work on a GPU and on a simulated stream. A simulated stream has
    no clock of its own: its thread reads the host's clock when it reaches an event.
    """
    work = partial(mul_sum, *rows(2000))
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
            timed.append(Clocks(host_s, last.seconds_since(first)))
    return timed


AGREE = own_clock.claim(
    "events-agree",
    "with one wait per block, the times by the host's clock and by the device's events differ by at most 10 %",
    at_least=0.9,
    at_most=1.1,
    unit=units.ratio,
)


@own_clock.explain
def _(page: Page, timed: list[Clocks]) -> None:
    rows_ = [(turn, *each, each.host_s / each.device_s) for turn, each in enumerate(timed, start=1)]
    columns = {"repetition": units.count, "host": units.seconds, "device": units.seconds, "host ÷ device": units.ratio}
    page.table(Table.of("400 launches, timed by both clocks", columns, rows_))
    ratios = Interval.median(each.host_s / each.device_s for each in timed)
    page.reveal(ratios, f"The median of host ÷ device is {units.ratio(median(row[-1] for row in rows_))}.")
    page.settle(AGREE, ratios)
    page.say(
        "The time by the host's clock also includes the first launch and the end of the wait.",
        AGREE.words(
            held="The first launch and the end of the wait are short compared with the work of all launches. In a "
            "very short block of launches, the first launch and the end of the wait would be a large part of the "
            "host's time.",
            refuted="In this run, the times of the two clocks differ. Possible causes are that the machine delayed the "
            "host, or that the block of launches is too short.",
            unclear="The repetitions differ too much to show whether the two clocks measure the same time.",
        ),
        "If the host launches too slowly, the device is idle between two launches. Both clocks, the host's and the "
        "device's, include this idle time.",
    )
    page.say(
        "Events show how much time passes on the device. The host's clock shows how long the user of a program waits. "
        "Report which of these two times you measured.",
    )


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Reading(NamedTuple):
    timer_s: float
    events_s: float


@lesson.step(
    "The clock of torch's Timer",
    predict=Choice(
        "We time launches on our stream with torch's Timer and its default clock. What time does Timer report?",
        {"a": "less than half of the real time", "b": "about the real time", "c": "more than twice the real time"},
        limits=(0.5, 2),
    ),
    expected="a",
    depends_on="whether there is a GPU. Timer's default clock waits for a GPU, so on a GPU the answer is b",
    wrong_reasoning="Students think that torch's Timer always waits for the device. But its default clock "
    "does not wait for our stream.",
    fast={"turns": 3},
)
def timer_clocks(turns: int = 9, runs: int = 20) -> dict[str, list[Reading]]:
    """If torch finds an accelerator, Timer's default clock waits until the accelerator has finished its work.

    Then this clock reads the time. An accelerator is a device such as a GPU. The default clock is the function `timer`
    in `torch/utils/benchmark/utils/timer.py`. The argument `timer=` replaces the default clock by another clock. The
    clock `waits` of this lesson waits until the work on our stream is done. To measure the real time of the work, we
    record events before and after each run. Timer's two warm-up calls are also between the events, so we divide the
    time by `runs + 2`.
    """
    work = partial(mul_sum, *rows(2000))
    found: dict[str, list[Reading]] = {}
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
                reading = Reading(timer_s, real_s)
                found.setdefault(name, []).append(reading)
    return found


PLAIN_WRONG = timer_clocks.claim(
    "plain-clock-is-fooled",
    "with a clock that does not wait, torch's Timer reports less than a third of the real time",
    at_most=1 / 3,
    unit=units.percent,
)
WAITING_RIGHT = timer_clocks.claim(
    "waiting-clock-is-right",
    "with a clock that waits for the device, the times by torch's Timer and by events differ by at most a quarter",
    at_least=0.8,
    at_most=1.25,
    unit=units.ratio,
)


@timer_clocks.explain
def _(page: Page, found: dict[str, list[Reading]]) -> None:
    parts = {name: [each.timer_s / each.events_s for each in turns] for name, turns in found.items()}
    rows_ = [(name, *map(median, zip(*turns, strict=True)), median(parts[name])) for name, turns in found.items()]
    columns = {"clock of Timer": None, "Timer": units.seconds, "events": units.seconds, "Timer ÷ events": units.percent}
    page.table(Table.of("Time per call, median of all repetitions", columns, rows_))
    share = Interval.median(parts["default"])
    page.reveal(
        share, f"With its default clock, Timer reported {units.percent(median(parts['default']))} of the real time."
    )
    page.settle(PLAIN_WRONG, Interval.median(parts["perf_counter"]), remark="reported time ÷ real time")
    page.settle(WAITING_RIGHT, Interval.median(parts["waits"]))
    hundred_s, blocks_s = ON_GPUS[5][1], ON_GPUS[6][1]
    page.say(
        about_default_clock(on_a_gpu=ON_A_GPU),
        "Timer reads its clock only before and after a run of many calls, so the clock does not wait after each call.",
        "With too few calls in a run, the wait at the end is a large part of the result. Check the result with longer",
        f"runs. In the published re-run above, a run of 100 calls gives {units.seconds(hundred_s)} per call, and",
        f"`blocked_autorange` gives {units.seconds(blocks_s)}. The re-run does not show the cause of this difference.",
    )


def about_default_clock(*, on_a_gpu: bool) -> str:
    """Return sentences that state whether Timer's default clock waits for the work of this lesson."""
    if on_a_gpu:
        return (
            "Timer's default clock waits for this GPU to finish its work, and `timeit` does not wait. Therefore the "
            "recipe's times differ between `timeit` and Timer."
        )
    return (
        "Timer's default clock waits only until an accelerator, such as a GPU, has finished its work. The default "
        "clock does not wait for our stream, a thread pool, another process or a server. To time work in these places, "
        "pass a clock that waits until the work is done."
    )


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def bmm(a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a[:, None], b[:, :, None])[:, 0, 0]


@lesson.given
def few_rows(number: int, n: int = 512) -> Tensor:
    if torch.cuda.is_available():
        # a quarter of the L2 cache, for two tensors of 4 bytes a number
        l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
        return torch.rand(2, l2_bytes // (4 * 8 * n), n, device="cuda")
    return torch.rand(2, number, n)


@lesson.step(
    "The first bmm",
    predict=Choice.ranges(
        "What is the time of the very first call of `bmm` divided by the median time of its later calls?",
        (2, 10, 100),
        units.ratio,
    ),
    expected="c",
    depends_on="the device and on its library of matrix products",
    wrong_reasoning="Students expect a small difference, as for other first calls. But the first call may have to "
    "load a whole library of matrix products.",
)
def first_bmm(calls: int = 30) -> list[float]:
    """Until now, this lesson has computed no matrix product.

    `bmm` calls a library for matrix products: cuBLAS on a GPU, and MKL or another library on a CPU. On a CPU, `bmm`
    calls this library only for rows of 400 numbers or more. Before the first matrix product, the library may have to be
    loaded or prepared. For a GPU, compare the first two rows of the published table in step 2: each time is the mean of
    100 calls. We time each call of `bmm` separately, and wait until its work is done.
    """
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


FIRST_BMM = first_bmm.claim(
    "first-bmm-is-dear",
    "the first call of `bmm` takes at least twice as long as the median of the later calls",
    at_least=2,
    unit=units.ratio,
)


@first_bmm.explain
def _(page: Page, calls_s: list[float]) -> None:
    first_s, usual_s = calls_s[0], median(calls_s[1:])
    page.histogram(calls_s[1:], name="later-calls", caption=f"Times of the {len(calls_s) - 1} later calls")
    times = Interval.exact(first_s / usual_s).with_noise(page.noise)
    page.reveal(
        times,
        f"The first call took {units.seconds(first_s)}. The median of the later calls is {units.seconds(usual_s)}.",
    )
    page.settle(FIRST_BMM, times)
    recipe = ON_GPUS[0][2] / ON_GPUS[1][2]
    page.say(
        FIRST_BMM.words(
            held="A benchmark without a warm-up includes this slow first call.",
            refuted="In this run, the first call was not slow. Possible causes are that the library needs little"
            " preparation, that other code in this process had called the library before, or that something disturbed"
            " the later calls.",
            unclear="The noise of this machine hides whether the first call was slow.",
        ),
        f"On the recipe's GPU, the first result of `timeit` for `bmm` is {units.ratio(recipe)} the second result,",
        "although each result is the mean of 100 calls. torch's Timer warms up before it measures, and `timeit` does",
        "not warm up.",
    )


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Repeated(NamedTuple):
    warm_s: float
    cold_s: float


@lesson.step(
    "Numbers in the cache",
    predict=Choice.ranges(
        "We repeat a call, so that its numbers are in a cache. Then we overwrite the caches, and make the same call "
        "once more. What is the time of this last call divided by the time of a repeated call?",
        (1.1, 2),
        units.ratio,
    ),
    expected="c",
    depends_on="the sizes of the caches and on the speed of the memory",
    wrong_reasoning="Students think that only the arithmetic takes time. But a repeated call finds its numbers in a "
    "cache, and a program may not.",
    fast={"turns": 9},
)
def cold_and_warm(turns: int = 25) -> list[Repeated]:
    """A benchmark repeats a call, so the numbers of the call are often in a cache, such as the L2 cache of a GPU.

    A program may call a function only once, after other work has overwritten the cache. A call with its numbers in the
    cache is warm, and a call without them is cold. `stream.flush()` returns a function that overwrites the caches, up
    to a size limit. Before each cold call, we overwrite the caches with this function, and do not time this work.
    `stream.busy` keeps the device busy while we launch. An idle device would reach the first event at once, and the
    time between the two events would include the launch of the work.
    """
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
            timed.append(Repeated(warm_s, cold_s))
    return timed


COLD_SLOWER = cold_and_warm.claim(
    "cold-is-slower",
    "a call takes at least 10 % longer if its numbers are not in the caches",
    at_least=1.1,
    unit=units.ratio,
)


@cold_and_warm.explain
def _(page: Page, timed: list[Repeated]) -> None:
    warm_s, cold_s = (list(times) for times in zip(*timed, strict=True))
    for name, times in (("warm", warm_s), ("cold", cold_s)):
        page.histogram(times, name=name, caption=f"{name}: {len(times)} calls, timed by the device's events")
    ratios = Interval.median(each.cold_s / each.warm_s for each in timed)
    page.reveal(
        ratios,
        f"The median time of the warm calls is {units.seconds(median(warm_s))}, and of the cold calls",
        f"{units.seconds(median(cold_s))}.",
    )
    page.settle(COLD_SLOWER, ratios)
    page.say(
        COLD_SLOWER.words(
            held="Both calls do the same work. The two calls differ in the place of their numbers: a cache or main "
            "memory.",
            refuted="On this device, the difference between warm and cold calls is small: the cache is larger than the "
            "part that we overwrite, or reading the numbers takes only a small part of the time.",
            unclear="This run does not show a clear difference between warm and cold calls.",
        ),
        "Both times are right: the warm time and the cold time. A call in a loop on the same numbers is warm if a "
        "cache can hold the numbers. A call that a program makes once a minute is usually cold. Report whether "
        "you measured the warm time or the cold time. To time a cold call, "
        "overwrite the caches before each call, and time each call separately.",
    )


lesson.key_points = (
    (
        "Most calls on a GPU's tensors only launch work. Wait for the device once per block of launches, before you "
        "stop the clock."
    ),
    (
        "Events measure the time on the device, and the host's clock measures how long the user waits. torch's Timer "
        "waits only for accelerators."
    ),
    (
        "A first call may load libraries, and a repeated call often finds its numbers in a cache. Report whether you "
        "timed a cold call or a warm call."
    ),
)
lesson.references = (
    "PyTorch, CUDA semantics, asynchronous execution: docs.pytorch.org/docs/stable/notes/cuda.html",
    "PyTorch, `torch.cuda.Event`: docs.pytorch.org/docs/stable/generated/torch.cuda.Event.html",
    "PyTorch benchmark recipe: docs.pytorch.org/tutorials/recipes/recipes/benchmark.html",
)

if __name__ == "__main__":
    main(lesson)
