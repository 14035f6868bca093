"""Lesson 03: work that runs behind the caller's back, and how to time it all the same.

Read it top to bottom: it is the screen's own order. Every step is teaching code, a question, and an
explanation in words that are chosen by what this machine has just measured.
"""

from functools import partial
from statistics import median
from time import perf_counter

import torch
from torch import Tensor
from torch.utils.benchmark import Timer

from harness import plots, units
from harness.devices import pick_stream
from harness.tables import Table
from lessons.engine import Choice, Guess, Lesson, Page, Standing, middle
from lessons.engine.published import ON_GPUS

ON_A_GPU = torch.cuda.is_available()
WHERE = (
    f"This runs on a real GPU, {torch.cuda.get_device_name()}."
    if ON_A_GPU
    else "Simulated: torch finds no CUDA here, so the GPU is a stream of our own, a thread that works off a queue."
)

lesson = Lesson(
    __file__,
    title="The call returned; the work did not",
    objective=f"{WHERE} Afterwards you can time work that a launch hands to somebody else.",
    minutes=14,
)

Pairs = list[tuple[float, float]]
"""Two times in seconds, taken in the same turn."""


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def mul_sum(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


@lesson.given
def rows(number: int, n: int = 1024, gpu_gets: int = 50) -> Tensor:
    if torch.cuda.is_available():
        return torch.rand(2, gpu_gets * number, n, device="cuda")
    return torch.rand(2, number, n)


@lesson.step(
    "Launched is not done",
    predict=Choice(
        "We launch `mul_sum` twenty times. When the last launch has returned, how much of the time is over?",
        {"a": "all of it", "b": "about half", "c": "less than a third"},
    ),
    claims={"returns-early": "the launches have returned in less than a third of the time that the work takes"},
    fast={"turns": 3},
)
def launch_and_wait(
    turns: int = 9,
    launches: int = 20,
) -> list[tuple[float, float]]:
    """A GPU has a queue, which CUDA calls a stream. To call a function on its tensors is to put work in the queue.

    `launch` does just that, and returns. `synchronize` returns when the queue is empty and all is done; for a
    GPU it is `torch.cuda.synchronize`. We look at the clock after either. (A GPU gets more rows to work on, or
    it would be done before the next launch.)
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
            timed.append((returned - start, done - start))
    return timed


@launch_and_wait.observe
def explain_launch(page: Page, timed: Pairs) -> None:
    rows_ = [(turn, *pair) for turn, pair in enumerate(timed, start=1)]
    shown = {"turn": units.count, "launches returned": units.seconds, "done": units.seconds}
    page.table(Table.of("Twenty launches", shown, rows_))
    shares = [returned / done for returned, done in timed]
    usual = median(shares)
    returned_s, done_s = (median(times) for times in zip(*timed, strict=True))
    truth = "c" if usual < 1 / 3 else "b" if usual < 0.9 else "a"
    page.reveal(truth, f"{units.seconds(returned_s)} of {units.seconds(done_s)}, in the middle of all turns.")
    bars = [("launched", returned_s), ("done", done_s)]
    page.output(plots.bars(bars, unit=units.seconds), caption="Twenty launches on a time line, the middle of all turns")
    share, error = middle(shares)
    early = page.claim("returns-early", share, high=1 / 3, error=error, unit=units.percent, remark="of the time")
    page.say(
        f"Who stops the clock when the call returns finds {units.seconds(returned_s / 20)} for each, where the work"
        f" takes {units.seconds(done_s / 20)}. It is the price of a launch, and the same for any work."
        if early.standing is Standing.HELD
        else "Here the launches took a good part of the time themselves: either the work is too small for this"
        " device, or somebody else kept our process from launching.",
    )
    page.say(
        "Nothing is wrong with that: while the device works, the program prepares what comes next. Only the clock",
        "must know of it. Printing a result, `.item()` and `.cpu()` wait as well, as they need the answer.",
    )


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "Wait, but how often?",
    predict=Choice(
        "Waiting once after fifty launches, or after each: which gives the longer time for one?",
        {"a": "once at the end", "b": "after each", "c": "both the same"},
    ),
    claims={
        "never-is-wrong": "without waiting, a call seems to take less than a third of its time",
        "each-is-longer": "waiting after each call makes it longer than waiting once a block",
    },
)
def how_often(
    turns: int = 9,
    launches: int = 50,
) -> dict[str, list[float]]:
    """So we wait. After every launch, or once after many? The work is smaller now, a tenth of what it was.

    Every block begins with an idle device, for the one before it ended with a wait.
    """
    work = partial(mul_sum, *rows(200))
    ways = ["never", "after each", "once"]
    found: dict[str, list[float]] = {way: [] for way in ways}
    with pick_stream() as stream:
        stream.launch(work)
        stream.synchronize()
        for _ in range(turns):
            for way in ways:
                start = perf_counter()
                for _ in range(launches):
                    stream.launch(work)
                    if way == "after each":
                        stream.synchronize()
                if way == "once":
                    stream.synchronize()
                found[way].append((perf_counter() - start) / launches)
                stream.synchronize()
    return found


@how_often.observe
def explain_how_often(page: Page, found: dict[str, list[float]]) -> None:
    rows_ = [(when, min(times), median(times), max(times)) for when, times in found.items()]
    shown = {"waits": None, "least": units.seconds, "middle": units.seconds, "most": units.seconds}
    page.table(Table.of("One call, of fifty in a block", shown, rows_))
    never, each, once = found.values()
    dearer, error = middle([x / y for x, y in zip(each, once, strict=True)])
    agreed = dearer - error > 1.02 or dearer + error < 1.02
    truth = ("b" if dearer > 1.02 else "a" if dearer < 0.98 else "c") if agreed else None
    page.reveal(truth, f"In the middle {units.seconds(median(each))} after each, {units.seconds(median(once))} once.")
    share, doubt = middle([x / y for x, y in zip(never, once, strict=True)])
    page.claim("never-is-wrong", share, high=1 / 3, error=doubt, unit=units.percent, remark="of it")
    longer = page.claim("each-is-longer", dearer, low=1.02, error=error, unit=units.ratio)
    page.say(
        "To wait has a price of its own: the device reports, the host wakes up, launches, and the device, idle"
        " until then, begins again. In a block with one wait at its end that is paid once."
        if longer.standing is Standing.HELD
        else "To wait has a price of its own, and the device idles until the next launch reaches it. Today that did"
        " not show beyond doubt: the work is long beside it, or the machine is busy.",
        "So: many launches, one wait, then the clock. Your exercise does that.",
    )
    title = "Published, a call on a GPU: PyTorch's benchmark recipe, and the same notebook on another GPU"
    shown = {"rows, and asked": None, "mul_sum": units.seconds, "bmm": units.seconds}
    page.table(Table.of(title, shown, ON_GPUS))
    warm, real = ON_GPUS[1], ON_GPUS[2]
    page.say(
        f"On the recipe's GPU `timeit`, which never waits, says {units.percent(warm[1] / real[1])} of what Timer says",
        f"for mul_sum; here it was {units.percent(median(never) / median(once))}. And without waiting the two",
        f"functions are {units.percent(abs(warm[2] / warm[1] - 1))} apart there: that compares two launches.",
    )


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "The device's own clock",
    predict=Choice(
        "The host's clock with one wait, or time stamps of the device's own: how far apart are they?",
        {"a": "within 10 %", "b": "device shorter", "c": "device longer"},
    ),
    claims={"events-agree": "one wait a block agrees with the device's own events within 10 %"},
    fast={"turns": 3},
)
def own_clock(
    turns: int = 9,
    launches: int = 40,
) -> list[tuple[float, float]]:
    """A device can take the time itself. An “event” goes into the queue like work, and is stamped when reached.

    For a GPU that is `torch.cuda.Event(enable_timing=True)`, its `record` and its `elapsed_time`; `record`
    and `seconds_since` do the same on any stream here. Nothing the host does is between two events.
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
            host = perf_counter() - start
            timed.append((host, last.seconds_since(first)))
    return timed


@own_clock.observe
def explain_own_clock(page: Page, timed: Pairs) -> None:
    rows_ = [(turn, host, device, host / device) for turn, (host, device) in enumerate(timed, start=1)]
    shown = {"turn": units.count, "host": units.seconds, "device": units.seconds, "host ÷ device": units.ratio}
    page.table(Table.of("Forty launches, by either clock", shown, rows_))
    ratio, error = middle([host / device for host, device in timed])
    usual = median(host / device for host, device in timed)
    truth = "a" if 0.9 <= usual <= 1.1 else "b" if usual > 1.1 else "c"
    page.reveal(truth, f"The host says {units.ratio(usual)} what the device says, in the middle of all turns.")
    agree = page.claim("events-agree", ratio, 0.9, 1.1, error=error, unit=units.ratio)
    page.say(
        "They agree, because the block is long beside one launch and one wait. Make it too short, and the host's"
        " clock is wrong by both, while the events are not."
        if agree.standing is Standing.HELD
        else "The host's clock also holds what the host was kept from: a launch that came late, a wait that nobody"
        " woke up from in time. Events leave that out.",
        "Events tell what the device did. The host's clock tells what your user waits for. Say which you mean.",
    )


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────


Readings = dict[str, Pairs]
"""For each clock that Timer was given, one pair a turn: what it says a run takes, and what events say of that run."""


@lesson.step(
    "What Timer does for you",
    predict=Choice(
        "torch's Timer as it comes, on this stream: will it say what a call really takes?",
        {"a": "yes", "b": "no, far less", "c": "no, far more"},
    ),
    claims={
        "plain-clock-is-fooled": "with a clock that does not wait, Timer tells less than a third of the time",
        "waiting-clock-is-right": "with one that waits, it agrees with the events within a quarter",
    },
    fast={"turns": 3},
)
def timer_clocks(
    turns: int = 9,
    runs: int = 20,
) -> dict[str, list[tuple[float, float]]]:
    """`torch.utils.benchmark.Timer` times with a clock that first waits for an accelerator, if torch has one.

    It is a function of three lines, `timer` in `torch/utils/benchmark/utils/timer.py`. Any other clock can be
    handed in as `timer=`, and here we write one that waits for our stream. Events stand around each run;
    Timer adds two calls to warm up.
    """
    work = partial(mul_sum, *rows(2000))
    said: dict[str, list[tuple[float, float]]] = {}
    with pick_stream() as stream:

        def waits() -> float:
            stream.synchronize()
            return perf_counter()

        names = {"stream": stream, "work": work}
        new = partial(Timer, "stream.launch(work)", globals=names)
        timers = {
            "perf_counter": new(timer=perf_counter),
            "as it comes": new(),
            "waits": new(timer=waits),
        }
        for _ in range(turns):
            for name, timer in timers.items():
                first = stream.record()
                seconds = timer.timeit(runs).median
                last = stream.record()
                stream.synchronize()
                real = last.seconds_since(first) / (runs + 2)
                said.setdefault(name, []).append((seconds, real))
    return said


@timer_clocks.observe
def explain_timer(page: Page, said: Readings) -> None:
    told = {name: [timer_s / real_s for timer_s, real_s in turns] for name, turns in said.items()}
    rows_ = [(name, *map(median, zip(*turns, strict=True)), median(told[name])) for name, turns in said.items()]
    shown = {"Timer's clock": None, "Timer says": units.seconds, "events say": units.seconds}
    page.table(Table.of("One run, in the middle of all turns", shown | {"told of it": units.percent}, rows_))
    share = median(told["as it comes"])
    page.reveal("b" if share < 0.5 else "c" if share > 2 else "a", f"It told {units.percent(share)} of the time.")
    fooled, doubt = middle(told["perf_counter"])
    page.claim("plain-clock-is-fooled", fooled, high=1 / 3, error=doubt, unit=units.percent, remark="of the time")
    agree, error = middle(told["waits"])
    page.claim("waiting-clock-is-right", agree, 0.8, 1.25, error=error, unit=units.ratio)
    page.say(
        "Timer knows CUDA and waits for it. That is why the recipe's figures above differ so between `timeit` and"
        " Timer: one waits, the other does not."
        if ON_A_GPU
        else "Timer knows CUDA and would wait for it. It knows nothing of our stream, nor of any other queue: a"
        " thread pool, a process, a server. There you wait yourself, by handing it a clock that does.",
        "It waits at the two ends of a run of many calls, not after each. With too few calls in between, the wait",
        "itself is in the figure: on the other GPU above, a hundred runs give",
        f"{units.seconds(ON_GPUS[5][1])} where `blocked_autorange` says {units.seconds(ON_GPUS[6][1])}.",
    )


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def bmm(a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a[:, None], b[:, :, None])[:, 0, 0]


@lesson.step(
    "The first bmm",
    predict=Guess("How many times as long as a later call does the very first `bmm` take?", "times", near=3),
    claims={"first-bmm-is-dear": "the first `bmm` takes twice as long as a usual one, or more"},
)
def first_bmm(calls: int = 30) -> list[float]:
    """Nothing so far has asked for a matrix product.

    `bmm` gets it from a library, cuBLAS on a GPU, MKL or another one on a CPU, and that has to be loaded and set
    up. Each call is waited for, and timed alone.
    """
    work = partial(bmm, *rows(256, n=64, gpu_gets=1))
    calls_s = []
    with pick_stream() as stream:
        stream.synchronize()
        for _ in range(calls):
            start = perf_counter()
            stream.launch(work)
            stream.synchronize()
            calls_s.append(perf_counter() - start)
    return calls_s


@first_bmm.observe
def explain_first_bmm(page: Page, calls_s: list[float]) -> None:
    first_s, usual_s = calls_s[0], median(calls_s[1:])
    page.histogram(calls_s[1:], name="later-calls", caption=f"the {len(calls_s) - 1} later calls")
    times = first_s / usual_s
    page.reveal(times, f"{units.seconds(first_s)}, then {units.seconds(usual_s)} in the middle.")
    dear = page.claim("first-bmm-is-dear", times, low=2, noise=times * page.noise, unit=units.ratio)
    recipe = ON_GPUS[0][2] / ON_GPUS[1][2]
    page.say(
        "One call that is not like the others, and it is the one that a benchmark without a warm-up counts."
        if dear.standing is Standing.HELD
        else "Not so in this process: something had called the library before, or later calls were disturbed.",
        f"On the recipe's GPU the first run of bmm came out {units.ratio(recipe)} as long as the second, though a",
        "hundred calls shared it. Timer warms up before it counts; `timeit` does not.",
    )


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "Warm by repetition",
    predict=Choice(
        "The same call on the same numbers, once again at once, and once after the caches were overwritten:",
        {"a": "both take the same", "b": "cold up to twice as long", "c": "cold longer still"},
    ),
    claims={"cold-is-slower": "with nothing in the caches the call takes longer, by a tenth or more"},
    fast={"turns": 9},
)
def cold_and_warm(turns: int = 25) -> list[tuple[float, float]]:
    """A benchmark repeats itself, so its numbers lie in a cache, on a GPU the L2.

    Your program may call once, after other work has filled that cache. `flush` gives work that overwrites the
    caches, up to a limit. It goes into the queue before the cold call, outside the events.
    """
    work = partial(mul_sum, *rows(128, n=512, gpu_gets=8))
    timed = []
    with pick_stream() as stream:
        flush = stream.flush()
        for _ in range(turns):
            stamps = []
            for before in (work, flush):
                stream.launch(before)
                stamps.append(stream.record())
                stream.launch(work)
                stamps.append(stream.record())
            stream.synchronize()
            warm = stamps[1].seconds_since(stamps[0])
            cold = stamps[3].seconds_since(stamps[2])
            timed.append((warm, cold))
    return timed


@cold_and_warm.observe
def explain_cold(page: Page, timed: Pairs) -> None:
    warm_s, cold_s = (list(times) for times in zip(*timed, strict=True))
    for name, times in (("warm", warm_s), ("cold", cold_s)):
        page.histogram(times, name=name, caption=f"{name}: {len(times)} calls by the device's events")
    ratios = [cold / warm for warm, cold in timed]
    usual = median(ratios)
    page.reveal(
        "a" if usual < 1.1 else "b" if usual <= 2 else "c",
        f"{units.seconds(median(warm_s))} warm, {units.seconds(median(cold_s))} cold: {units.ratio(usual)}.",
    )
    ratio, error = middle(ratios)
    shown = f"{units.ratio(ratio - error)} to {units.ratio(ratio + error)}"
    slower = page.claim("cold-is-slower", ratio, low=1.1, error=error, unit=units.ratio, shown=shown)
    page.say(
        "The arithmetic is the same; the difference is where the numbers come from. Neither figure is wrong. A"
        " function called in a loop on the same data is warm, one that is called once a second is cold."
        if slower.standing is Standing.HELD
        else "On this device it made no clear difference: its cache is larger than what we overwrite, or the call"
        " is ruled by something else. On many GPUs it is what makes a repeated call look too good.",
        "Say which one you measured. To time it cold, flush before each call, and time the call alone.",
    )


lesson.take_along(
    "A call that returns has launched. Wait before either reading of the clock, and only once a block.",
    "Events tell the device's time, the host's clock yours. torch's Timer waits for CUDA, and for nothing else.",
    "The first call loads libraries, a repeated one finds its numbers in a cache: say which you have timed.",
)
lesson.read_on(
    "PyTorch, CUDA semantics, asynchronous execution: docs.pytorch.org/docs/stable/notes/cuda.html",
    "PyTorch, `torch.cuda.Event`: docs.pytorch.org/docs/stable/generated/torch.cuda.Event.html",
    "PyTorch benchmark recipe: docs.pytorch.org/tutorials/recipes/recipes/benchmark.html",
)

if __name__ == "__main__":
    lesson.main()
