"""Lesson 16: look into a running program with a sampling profiler, and decide how far its shares can be trusted.

The steps appear on the screen in the order of this file. Some sentences of an explanation depend on the measurements on
this machine. Most steps need py-spy.
"""

import math
import re
import sys
import time
from collections.abc import Callable, Sequence
from statistics import median, pstdev
from typing import NamedTuple

from harness.charts import plots
from harness.errors import MachineError
from harness.profiles.flames import by_function, difference_svg, flame_graph, flame_graph_svg, fold_up, scaled
from harness.profiles.stats import ProfiledScript, run_script
from harness.rendering import units
from harness.rendering.tables import Heads, Table
from harness.sampling.live import live
from harness.sampling.pyspy import Samples, StackSample, dump, lacking, record
from lessons.engine import Choice, Interval, Lesson, Page, largest
from lessons.engine.command import main
from lessons.engine.words import followed, signed, yes_no
from lessons.probes.python_sampler import attach

lesson = Lesson(
    __file__,
    objective="You can profile a running program from outside, and compute how far the shares of its samples can err.",
)

BUSY = 0.5
"""If the program used less than this share of a core, other programs disturbed it, and a result decides no claim."""

STEADY = 0.65
"""The same limit for the step that needs independent samples. In a disturbed program, samples repeat each other."""


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def training() -> str:
    return """
import time
import torch
from torch import nn

def load():
    rows = range(256)
    table = [[i * j % 7 / 7 for j in range(64)] for i in rows]
    return torch.tensor(table)

def forward(network, x):
    return network(x).square().mean()

def backward(loss):
    loss.backward()

def update(network):
    with torch.no_grad():
        for weight in network.parameters():
            weight -= 0.01 * weight.grad
            weight.grad = None

def train():
    layers = nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 1)
    network = nn.Sequential(*layers)
    while True:
        start = time.perf_counter()
        x = load()
        loaded = time.perf_counter()
        loss = forward(network, x)
        backward(loss)
        update(network)
        end = time.perf_counter()
        print(loaded - start, end - loaded, flush=True)

torch.set_num_threads(1)
train()
"""


@lesson.given
class Dumped(NamedTuple):
    text: str
    lines_after: int


@lesson.step(
    "The stack of a running program: py-spy dump",
    predict=Choice(
        "A training loop runs in a process of its own, started with `python program.py`. What must the program contain "
        "so that py-spy can print the stack of its functions?",
        {"a": "an import of py-spy", "b": "a thread that waits for py-spy", "c": "nothing"},
    ),
    expected="c",
    wrong_reasoning="Students think that a program must prepare for a profiler. But py-spy reads the memory of the "
    "process from outside.",
    fast={"lines": 3},
)
def one_look(lines: int = 10) -> Dumped | str:
    """The profilers of lesson 09 run inside the program. A program that already runs cannot start them any more.

    `py-spy` is a separate program. It finds the process by its number, and reads the stacks of the functions from the
    memory of the process. The operating system allows this to root. Linux can also allow it to other users. The command
    `py-spy dump --pid PID` prints each thread's stack once.

    `live` starts the script with `python program.py`, suspends its process after the block, and resumes it in the next
    block.
    """
    if lacking():
        return lacking()
    with live(training()) as program:
        text = dump(program.pid)
        before = len(program.lines())
        program.wait_for(before + lines)
        after = len(program.lines())
    return Dumped(text, after - before)


LOOP_FOUND = one_look.claim(
    "loop-found",
    "the dump contains the function `train`, although the program does not know py-spy",
    equals=True,
    unit=yes_no,
)
GOES_ON = one_look.claim(
    "goes-on", "after the dump, the program continues its loop", at_least=1, unit=followed("more steps")
)


@one_look.explain
def _(page: Page, found: Dumped | str) -> None:
    if isinstance(found, str):
        page.skip_step(found, shows="the stack of a training loop that runs in a different process")
        return
    page.output(shortened(found.text), caption="The output of `py-spy dump`")
    there = re.search(r"^ +train \(program\.py:(\d+)\)$", found.text, re.MULTILINE)
    page.settle(LOOP_FOUND, there is not None)
    page.settle(GOES_ON, found.lines_after)
    page.reveal(
        LOOP_FOUND.answer(held="c", refuted=""),
        LOOP_FOUND.words(held="py-spy needs no change of the program.", refuted="", unclear=""),
    )
    page.say(
        "The innermost function is at the top. For each function, the dump names the file and the line that runs.",
        f"The line of `train` is line {there[1]}." if there else "",
        "So a dump answers one question at once: where does a program hang? Several dumps, one after the other,",
        "are already a sampling profile.",
    )
    page.say(
        "While py-spy reads the stack, it stops the process for a moment, so that the stack does not change.",
        "With `--nonblocking`, py-spy does not stop the process, and some stacks may then be wrong.",
    )
    page.say(
        "In a container, or as a user who is not root, a system often refuses access to other processes. The programs",
        "of this lesson allow it with a call of Linux's function `prctl`. For your own programs, use `sudo py-spy`.",
    )


def shortened(text: str, most: int = 96) -> str:
    """Return the threads in the output of `py-spy dump`, with lines of at most `most` characters."""
    lines = text.strip().splitlines()[3:]
    return "\n".join(line if len(line) <= most else f"{line[: most - 1]}…" for line in lines)


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Recorded(NamedTuple):
    samples: Samples
    own_clock: list[tuple[float, float]]
    busy: float


PARTS = ("load", "forward", "backward", "update")


@lesson.step(
    "Where does the training loop spend its time? py-spy record",
    predict=Choice(
        "In each step, `load` computes 16 384 numbers in Python, and makes a tensor of them. Then torch trains a "
        "network of 64, 128 and 1 units with them. Which function do most samples contain?",
        {"a": "`load`", "b": "`forward`", "c": "`backward`", "d": "`update`"},
    ),
    expected="a",
    wrong_reasoning="Students choose the backward pass, because it computes the most. But the network is small, and "
    "the loader computes each number in Python.",
    fast={"seconds": 0.15},
)
def a_recording(seconds: float = 1.5) -> Recorded | str:
    """`py-spy record` takes a sample of the stack at a fixed rate, by default 100 times per second.

    The share of the samples that contain a function is an estimate of the function's share of the time. Our program
    also measures its time with its own clock, so we can compare the two.
    """
    if lacking():
        return lacking()
    with live(training()) as program:
        samples = record(program.pid, seconds, rate=200)
        program.wait_for(5)
        lines = [line.split() for line in program.lines()]
        busy = program.busy()
    own_clock = [(float(load), float(rest)) for load, rest in lines]
    return Recorded(samples, own_clock, busy)


LOADING_FIRST = a_recording.claim(
    "loading-first",
    "more samples contain `load` than `forward`, `backward` and `update` together",
    at_least=1,
    unit=units.ratio,
)
CLOCKS_AGREE = a_recording.claim(
    "clocks-agree",
    "the share of the samples that contain `load` is within 15 percentage points of its share on the program's own"
    " clock",
    at_least=-0.15,
    at_most=0.15,
    unit=signed(units.percent),
)


@a_recording.explain
def _(page: Page, found: Recorded | str) -> None:
    if isinstance(found, str):
        page.skip_step(found, shows="a flame graph of a training loop that runs in a different process")
        return
    samples, disturbed = found.samples, found.busy < BUSY
    show_flames(page, samples, "training", "Samples of the training loop")
    shares = {name: share_of(samples, name).void_if(disturbed) for name in PARTS}
    page.table(parts_table(samples))
    page.reveal(largest(dict(zip("abcd", shares.values(), strict=True))))
    rest = sum(samples.with_function(name) for name in PARTS[1:])
    both = Interval.share(samples.with_function("load"), samples.with_function("load") + rest)
    ratio = both.mapped(lambda share: share / max(1 - share, 1e-3)).void_if(disturbed)
    page.settle(LOADING_FIRST, ratio)
    load_s, rest_s = (sum(each) for each in zip(*found.own_clock, strict=True))
    clock = load_s / (load_s + rest_s)
    sampled = across(samples, lambda part: part.share("load"))
    page.settle(CLOCKS_AGREE, sampled.mapped(lambda share: share - clock).void_if(disturbed))
    page.say(
        f"py-spy took {units.some(len(samples), 'sample')}. On the program's own clock, `load` took",
        f"{units.percent(clock)} of the time.",
        CLOCKS_AGREE.words(
            held="The samples agree with the program's own clock.",
            refuted="In this run, the samples do not agree with the program's own clock.",
            unclear="This run does not show whether the samples agree with the program's own clock.",
        ),
    )
    page.say(
        LOADING_FIRST.words(
            held="`load` takes more time than the training, because each number is a Python object: the loop makes it,"
            " and `torch.tensor` reads it. A faster network would hardly make this program faster.",
            refuted="On this machine, the training takes more time than `load`.",
            unclear="This run does not show whether loading or training takes more time.",
        ),
        "`py-spy record -o profile.svg --pid PID` saves such a picture. With `--format speedscope` or",
        "`--format raw`, it saves the stacks for other programs.",
    )


def across(samples: Samples, value: Callable[[Samples], float], parts: int = 4) -> Interval:
    """Return the smallest and largest value of consecutive parts of the samples, as an interval.

    `value` computes the value of one part. For too few samples, the interval is unknown.
    """
    if len(samples) < 5 * parts:
        return Interval.unknown()
    size = len(samples) // parts
    chunks = [Samples(samples.taken[number * size : (number + 1) * size]) for number in range(parts)]
    return Interval.every(map(value, chunks))


def share_of(samples: Samples, name: str) -> Interval:
    """Return the share of the samples that contain the function `name`, with its confidence interval."""
    return Interval.share(samples.with_function(name), len(samples))


def parts_table(samples: Samples) -> Table:
    """Return a table of the samples with each part of the training loop."""
    lines = [(name, samples.with_function(name), samples.share(name)) for name in PARTS]
    heads = {"function": None, "samples": units.count, "share": units.percent}
    return Table.of(f"{units.some(len(samples), 'sample')} of the training loop", heads, lines)


def show_flames(page: Page, samples: Samples, name: str, caption: str) -> None:
    """Print a flame graph of the samples, and save it as a picture. Print nothing if there are no samples."""
    if not len(samples):
        return
    root = fold_up((tuple(map(bare, frames)), cost) for frames, cost in samples.stacks())
    picture = flame_graph_svg(root, title=caption, unit=lambda count: units.some(round(count), "sample"))
    page.drawing(flame_graph(root, 74), picture, name=name, caption=caption)


def bare(frame: str) -> str:
    """Return the name of a frame, without the file of the program."""
    return frame.removeprefix("program.py: ")


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Native(NamedTuple):
    without: Samples
    with_c: Samples
    steps_plain: float
    steps_native: float


@lesson.step(
    "Frames of C and C++: --native",
    predict=Choice(
        "py-spy takes a sample while the function `backward` runs code of torch in C++. Which function is at the top "
        "of the stack in this sample, without the option `--native`?",
        {"a": "the C++ function", "b": "the Python function that called it", "c": "none: there is no such sample"},
    ),
    expected="b",
    wrong_reasoning="Students think that the sample shows the running C++ function. But without `--native`, py-spy "
    "knows only Python's functions, so the caller is at the top.",
    fast={"native": 0},
)
def c_frames(seconds: float = 1.2, native: int = 1) -> Native | str | None:
    """py-spy reads the stack that the interpreter keeps for its own functions. C++ functions are not on this stack.

    With the option `--native`, py-spy also reads the processor's stack, on which the C and C++ functions are. This
    takes longer and can slow the program, so we count how many steps the program makes during each recording.
    """
    if lacking() or not native:
        return lacking() or None
    with live(training()) as program:
        steps, found = list[float](), list[Samples]()
        for options in ((), ("--native",)):
            began, before = time.perf_counter(), len(program.lines())
            found.append(record(program.pid, seconds, *options, rate=50))
            passed = time.perf_counter() - began
            steps.append((len(program.lines()) - before) / passed)
    return Native(found[0], found[1], steps[0], steps[1])


NONE_WITHOUT = c_frames.claim(
    "no-c-without", "without `--native`, no sample has a C or C++ function at the top", equals=0, unit=units.percent
)
SOME_WITH = c_frames.claim(
    "c-with-native",
    "with `--native`, at least half of the samples with `backward` have a C or C++ function at the top",
    at_least=0.5,
    unit=units.percent,
)


@c_frames.explain
def _(page: Page, found: Native | str | None) -> None:
    if found is None or isinstance(found, str):
        reason = found or "a short run does not read the names of torch's C++ functions, which takes seconds"
        page.skip_step(reason, shows="the C++ functions in which a training loop spends its time")
        return
    without_c = found.without.only(lambda sample: sample.in_c)
    backward = found.with_c.only(lambda sample: "backward" in sample.names)
    in_c = backward.only(lambda sample: sample.in_c)
    tops = [(name, count / len(found.with_c)) for name, count in found.with_c.on_top().most_common(6)]
    heads = {"function at the top": None, "share of samples": units.percent}
    page.table(Table.of("With --native", heads, [(cut(name), share) for name, share in tops]))
    page.settle(NONE_WITHOUT, len(without_c) / len(found.without) if len(found.without) else math.nan)
    if len(backward) > 5 and not len(in_c):
        page.skip(SOME_WITH, "needs a py-spy that finds C functions; this py-spy finds none on this machine")
    else:
        share = Interval.share(len(in_c), len(backward))
        quarters = across(backward, lambda part: len(part.only(lambda sample: sample.in_c)) / len(part))
        # While the program waits for a core, all samples are alike. So only a low share in each quarter refutes.
        page.settle(SOME_WITH, share.void_if(share.highest < 0.5 and not quarters.highest < 0.5))
    page.reveal(NONE_WITHOUT.answer(held="b", refuted="a"))
    page.say(
        "Without `--native`, the time of C++ code counts as time of the Python function that called it. No time is",
        "lost, but the profile does not show what the C++ code does.",
        "`cProfile` shows a C function as one row, without the functions that it calls.",
    )
    page.say(
        f"The program made {units.number(found.steps_plain)} steps per second during the first recording, and",
        f"{units.number(found.steps_native)} during the recording with `--native`. In the second recording, py-spy",
        "also reads the symbols of torch's libraries. For a library without symbols, py-spy shows",
        "addresses instead of names.",
    )


def cut(name: str, most: int = 50) -> str:
    """Return a name in at most `most` characters."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def calls() -> str:
    return """
import time

def little(x):
    return x + 1

def round_of_calls():
    start = time.perf_counter()
    for i in range(20_000):
        little(i)
    return time.perf_counter() - start

def rounds():
    while True:
        print(round_of_calls(), flush=True)
"""


@lesson.given
def own_sampler() -> str:
    return """
import sys, threading
me, seen = threading.get_ident(), []

def look():
    while True:
        time.sleep(0.001)
        seen.append(sys._current_frames()[me].f_code.co_name)

threading.Thread(target=look, daemon=True).start()
"""


@lesson.given
def mean_s(lines: list[str], seconds: float) -> float:
    last: list[float] = []
    while len(last) < 3 or sum(last) < seconds:
        last.append(float(lines[-1 - len(last)]))
        if len(last) == len(lines):
            break
    return sum(last) / len(last)


@lesson.step(
    "The cost of each profiler",
    predict=Choice(
        "A program calls a short Python function again and again. Which profiler slows this program the most?",
        {
            "a": "py-spy, 100 samples per second",
            "b": "py-spy, 1000 samples per second",
            "c": "the sampler of lesson 09, a thread in the program",
            "d": "cProfile",
        },
    ),
    expected="d",
    wrong_reasoning="Students think that more samples per second cost the most. But `cProfile` works at each call, "
    "and samples stop the program only now and then.",
    fast={"turns": 2, "seconds": 0.05},
)
def costs(turns: int = 5, seconds: float = 0.1) -> list[dict[str, float]] | str:
    """We measure the mean time of a round of 20 000 calls: without a profiler, and with each of four profilers.

    The profilers take turns, so that a disturbance of the machine does not hit only one of them. The program measures
    the time with the wall clock, because a stopped process uses no CPU time.
    """
    if lacking():
        return lacking()
    plain = calls() + "rounds()"
    sampled = calls() + own_sampler() + "rounds()"
    found: list[dict[str, float]] = []
    for _ in range(turns):
        found.append({})
        for way, script, *options in (
            ("none", plain),
            ("py-spy, 100/s", plain),
            ("py-spy, 1000/s", plain),
            ("own thread", sampled),
            ("cProfile", plain, "-m", "cProfile"),
        ):
            with live(script, *options) as program:
                if "py-spy" in way:
                    rate = int(way[8:-2])
                    record(program.pid, seconds, rate=rate)
                else:
                    time.sleep(seconds)
                program.wait_for(3)
                mean = mean_s(program.lines(), seconds)
            found[-1][way] = mean
    return found


CPROFILE_COSTS = costs.claim(
    "cprofile-costs", "with `cProfile`, the round takes at least 1.2 times as long", at_least=1.2, unit=units.ratio
)
PYSPY_COSTS_LESS = costs.claim(
    "py-spy-costs-less",
    "with `cProfile`, the round takes longer than with py-spy at 100 samples per second",
    at_least=1,
    unit=units.ratio,
)

WAYS = ("py-spy, 100/s", "py-spy, 1000/s", "own thread", "cProfile")


@costs.explain
def _(page: Page, found: list[dict[str, float]] | str) -> None:
    if isinstance(found, str):
        page.skip_step(found, shows="how much four profilers slow a program")
        return
    ratios = {way: [turn[way] / turn["none"] for turn in found] for way in WAYS}
    caption = "Time of a round with each profiler ÷ time without a profiler, median"
    page.output(plots.bars([(way, median(each)) for way, each in ratios.items()], unit=units.ratio), caption=caption)
    page.reveal(largest({letter: Interval.median(ratios[way]) for letter, way in zip("abcd", WAYS, strict=True)}))
    page.settle(CPROFILE_COSTS, Interval.median(ratios["cProfile"]))
    page.settle(PYSPY_COSTS_LESS, Interval.median(turn["cProfile"] / turn["py-spy, 100/s"] for turn in found))
    page.say(
        "`cProfile` does some work at each call and each return. A sampler does some work for each sample, and the",
        "number of calls does not matter.",
        PYSPY_COSTS_LESS.words(
            held="For a program with many short calls, sampling is therefore cheaper.",
            refuted="On this machine, py-spy slows this program more than `cProfile` does.",
            unclear="This run does not show which of the two is cheaper here.",
        ),
        "The cost of sampling grows with the rate. py-spy stops the program for each sample, and needs time on a",
        "different core. On a machine with one core, the program waits for py-spy.",
    )


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def three_places() -> str:
    return """
import subprocess, sys, threading, time

def work(until):
    total = 0
    while time.time() < until:
        total += sum(i * i for i in range(1000))

def in_main(until):
    while time.time() < until:
        work(min(until, time.time() + 0.02))
        print("alive", flush=True)

def in_thread(until):
    work(until)

def in_child(until):
    work(until)

def run(seconds):
    until = time.time() + seconds
    child = [sys.executable, __file__, "child", str(until)]
    started = subprocess.Popen(child, stdout=subprocess.PIPE)
    started.stdout.readline()
    thread = threading.Thread(target=in_thread, args=(until,))
    thread.start()
    in_main(until)
    thread.join()
    started.wait()

if sys.argv[1:2] == ["child"]:
    print("the child runs", flush=True)
    in_child(float(sys.argv[2]))
"""


@lesson.given
class Places(NamedTuple):
    record: Samples
    subprocesses: Samples
    cprofile: ProfiledScript


@lesson.step(
    "Threads and child processes",
    predict=Choice(
        "A program works in its main thread, in a second thread and in a child process. Whose functions does "
        "`py-spy record --pid PID` show without further options?",
        {
            "a": "only those of the main thread",
            "b": "those of both threads, but not those of the child process",
            "c": "those of both threads and of the child process",
        },
    ),
    expected="b",
    wrong_reasoning="Students think that a process and its children are one program. But py-spy reads one process, "
    "with all its threads.",
    fast={"seconds": 0.15},
)
def threads_and_children(seconds: float = 0.7) -> Places | str:
    """The program calls `in_main`, `in_thread` and `in_child`, each in a different place.

    We record it with py-spy, then with py-spy and the option `--subprocesses`, and at last with `cProfile`.
    """
    if lacking():
        return lacking()
    endless = three_places() + "else:\n    run(1e6)\n"
    short = three_places() + f"else:\n    run({seconds})\n"
    with live(endless) as program:
        usual = record(program.pid, seconds)
        option = "--subprocesses"
        with_option = record(program.pid, seconds, option)
    traced = run_script(short, "cProfile", "-o", "FILE")
    return Places(usual, with_option, traced)


THREAD_SEEN = threads_and_children.claim(
    "thread-seen", "at least 10 % of py-spy's samples contain `in_thread`", at_least=0.1, unit=units.percent
)
CHILD_MISSED = threads_and_children.claim(
    "child-missed", "without `--subprocesses`, no sample contains `in_child`", equals=0, unit=units.count
)
CHILD_SEEN = threads_and_children.claim(
    "child-seen", "with `--subprocesses`, at least one sample contains `in_child`", at_least=1, unit=units.count
)

PLACES = ("in_main", "in_thread", "in_child")


@threads_and_children.explain
def _(page: Page, found: Places | str) -> None:
    if isinstance(found, str):
        page.skip_step(found, shows="which threads and processes each profiler sees")
        return
    traced = {each.name for each in found.cprofile.functions}
    lines: list[tuple[str, ...]] = [
        ("py-spy record", *(units.percent(found.record.share(name)) for name in PLACES)),
        ("py-spy record --subprocesses", *(units.percent(found.subprocesses.share(name)) for name in PLACES)),
        ("cProfile", *("seen" if name in traced else "not seen" for name in PLACES)),
    ]
    page.table(Table.of("Samples with each function", dict.fromkeys(("profiler", *PLACES)), lines))
    page.reveal(seen_places(found.record))
    page.settle(THREAD_SEEN, share_of(found.record, "in_thread"))
    page.settle(CHILD_MISSED, found.record.with_function("in_child"))
    enough = len(found.subprocesses) >= 30
    page.settle(CHILD_SEEN, found.subprocesses.with_function("in_child") or (0 if enough else math.nan))
    page.say(
        "py-spy samples all threads of a process that are not idle. An idle thread waits, for example in `sleep` or",
        "for a lock. With `--idle`, py-spy also records idle threads. With `--gil`, it records only the thread that",
        "holds Python's global lock.",
    )
    page.say(
        "A child process has its own memory, so py-spy does not see it without `--subprocesses`. Workers of a",
        "`DataLoader` are such child processes. A sampler in the program, such as the one of lesson 09, sees no other",
        "process at all.",
        cprofile_text("in_thread" in traced),
    )


def seen_places(samples: Samples) -> str | None:
    """Return the letter of the option that names the places in these samples, or None if no option does."""
    seen = "".join("01"[samples.with_function(name) > 0] for name in PLACES)
    return {"100": "a", "110": "b", "111": "c"}.get(seen)


def cprofile_text(thread_seen: bool) -> str:
    """Return a sentence about the threads that `cProfile` recorded."""
    if thread_seen:
        return "In this version of Python, `cProfile` also recorded calls of the second thread."
    return "`cProfile` recorded only the thread that started it."


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def safe_points() -> str:
    return """
import signal, sys, threading, time
from collections import Counter

def in_python():
    total = 0
    for i in range(400_000):
        total += i * i
    return total

def in_c():
    return sum(range(2_000_000))

by_thread, by_signal = Counter(), Counter()
me = threading.get_ident()

def look():
    while True:
        time.sleep(0.002)
        frame = sys._current_frames()[me]
        by_thread[frame.f_code.co_name] += 1

def note(number, frame):
    by_signal[frame.f_code.co_name] += 1

threading.Thread(target=look, daemon=True).start()
signal.signal(signal.SIGPROF, note)
signal.setitimer(signal.ITIMER_PROF, 0.002, 0.002)
while True:
    a = time.thread_time()
    in_python()
    b = time.thread_time()
    in_c()
    c = time.thread_time()
    counts = [seen[name] for seen in (by_thread, by_signal)
              for name in ("in_python", "in_c")]
    print(b - a, c - b, *counts, flush=True)
"""


@lesson.given
class Biased(NamedTuple):
    samples: Samples
    rows: list[list[float]]
    busy: float


@lesson.step(
    "Samplers inside the program: the bias towards safe points",
    predict=Choice(
        "Again and again, a program runs a Python loop, and then one long call of `sum`. `sum` is a C function and "
        "keeps Python's global lock (the GIL). What does a sampler in a second thread of this program see?",
        {
            "a": "the right share of `sum`",
            "b": "too small a share of `sum`",
            "c": "too large a share of `sum`",
        },
    ),
    expected="b",
    wrong_reasoning="Students think that a sampler always sees the right shares. But a thread of the same program can "
    "only take samples when it gets the lock.",
    fast={"seconds": 0.15},
)
def inside_and_outside(seconds: float = 1.2) -> Biased | str:
    """A sampler inside the program runs Python code, so it needs the GIL, and waits until the program releases it.

    The program contains two such samplers: a second thread, as in lesson 09, and a handler for the timer signal
    `SIGPROF`. At the same time, py-spy samples the program from outside. The program measures the true shares with the
    CPU clock of its main thread.
    """
    if lacking():
        return lacking()
    with live(safe_points()) as program:
        samples = record(program.pid, seconds, rate=200)
        program.wait_for(9)
        busy, lines = program.busy(), program.lines()
    rows = [[float(number) for number in line.split()] for line in lines]
    return Biased(samples, rows, busy)


THREAD_MISSES_C = inside_and_outside.claim(
    "thread-misses-c",
    "the thread's share of samples in `in_c` is at least 20 percentage points too small",
    at_most=-0.2,
    unit=signed(units.percent),
)
SIGNAL_MISSES_C = inside_and_outside.claim(
    "signal-misses-c",
    "the signal handler's share of samples in `in_c` is at least 20 percentage points too small",
    at_most=-0.2,
    unit=signed(units.percent),
)
OUTSIDE_AGREES = inside_and_outside.claim(
    "outside-agrees",
    "the share of py-spy's samples in `in_c` is within 20 percentage points of the true share",
    at_least=-0.2,
    at_most=0.2,
    unit=signed(units.percent),
)


@inside_and_outside.explain
def _(page: Page, found: Biased | str) -> None:
    if isinstance(found, str):
        page.skip_step(found, shows="that samplers inside a program miss the time of long C functions")
        return
    disturbed = found.busy < BUSY
    python_s, c_s = (sum(row[column] for row in found.rows) for column in (0, 1))
    true = c_s / (python_s + c_s)
    first, last = found.rows[0], found.rows[-1]
    thread, handler = (inner_share(first, last, column) for column in (2, 4))
    outer = across(found.samples.only(in_the_loop), lambda part: part.share("in_c"))
    lines = [
        ("the program's CPU clock", true),
        ("py-spy, outside", outer.middle if len(found.samples) else None),
        ("a thread inside", thread.middle),
        ("a signal handler inside", handler.middle),
    ]
    page.table(Table.of("The share of `in_c`", {"measured by": None, "share": units.percent}, lines))
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        page.settle(THREAD_MISSES_C, thread.mapped(lambda share: share - true))
    else:
        page.skip(THREAD_MISSES_C, "needs a Python with a GIL. Run the lesson with the usual build of Python")
    page.settle(SIGNAL_MISSES_C, handler.mapped(lambda share: share - true))
    page.settle(OUTSIDE_AGREES, outer.mapped(lambda share: share - true).void_if(disturbed))
    page.reveal(THREAD_MISSES_C.answer(held="b", refuted="a"))
    page.say(
        THREAD_MISSES_C.words(
            held="The thread gets the GIL only when the main thread releases it. During `sum`, the main thread keeps"
            " it. So a whole call of `sum` gets at most one sample, and the Python loop gets many.",
            refuted="In this run, the thread saw about the true share of `sum`.",
            unclear="This run does not show how far the share of the thread is wrong.",
        ),
        SIGNAL_MISSES_C.words(
            held="Python also runs a signal handler only between two bytecode instructions. All signals during one call"
            " of `sum` become one sample.",
            refuted="In this run, the signal handler saw about the true share of `sum`.",
            unclear="This run does not show how far the share of the signal handler is wrong.",
        ),
        "The places at which a sampler inside the program can look are called *safe points*.",
    )
    page.say(
        OUTSIDE_AGREES.words(
            held="py-spy needs no safe point, because it reads the memory of the process from outside.",
            refuted="In this run, py-spy's share is also wrong.",
            unclear="This run does not show whether py-spy's share is right.",
        )
    )


def in_the_loop(sample: StackSample) -> bool:
    """Return whether a sample of the main thread is in one of the two functions that the program compares."""
    return not {"in_python", "in_c"}.isdisjoint(sample.names)


def inner_share(first: Sequence[float], last: Sequence[float], column: int) -> Interval:
    """Return the share of `in_c` in the samples that an inner sampler took between two rows of the program."""
    python, c = (last[column + place] - first[column + place] for place in (0, 1))
    return Interval.share(c, round(python + c))


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def random_work() -> str:
    return """
import random

def spin(times):
    for _ in range(times):
        pass

def rare(times):
    spin(times)

def usual(times):
    spin(times)

while True:
    for _ in range(20):
        rare(int(random.expovariate(1 / 3_000)))
        usual(int(random.expovariate(1 / 9_000)))
    print("alive", flush=True)
"""


@lesson.given
def interval(count: int, total: int) -> tuple[float, float]:
    z = 1.96
    middle = (count + z * z / 2) / (total + z * z)
    spread = count * (total - count) / total + z * z / 4
    width = z * spread**0.5 / (total + z * z)
    return middle - width, middle + width


@lesson.given
class Group(NamedTuple):
    size: int
    shares: list[float]
    contained: int


@lesson.given
class Groups(NamedTuple):
    share: float
    groups: list[Group]
    busy: float


@lesson.step(
    "How many samples are enough?",
    predict=Choice(
        "A recording of n samples has a margin of error. A second recording has four times as many samples. What is "
        "the margin of the first recording divided by the margin of the second?",
        {"a": "about 1", "b": "about 2", "c": "about 4"},
        limits=(1.2, 3.0),
    ),
    expected="b",
    wrong_reasoning="Students think that four times as many samples make the margin four times as small. But the "
    "margin shrinks with the square root of the number.",
    fast={"seconds": 0.2},
)
def how_many(seconds: float = 2.2) -> Groups | str:
    """A share of samples is like a share of votes in a poll: it comes with a margin of error.

    If the samples are independent, the number of samples in a function has a binomial distribution. The function
    `interval` computes a 95 % confidence interval of the share from it (Wilson 1927).

    We take one long recording, cut it into groups of 10 and of 40 samples, and compute a share from each group. Then we
    see how much these shares really differ.
    """
    if lacking():
        return lacking()
    with live(random_work()) as program:
        samples = record(program.pid, seconds, rate=500)
        busy = program.busy()
    hits = ["rare" in sample.names for sample in samples.taken]
    share, groups = sum(hits) / len(hits), []
    for size in (10, 40):
        starts = range(0, len(hits) - size + 1, size)
        counts = [sum(hits[at : at + size]) for at in starts]
        contained = 0
        for count in counts:
            low, high = interval(count, size)
            contained += low <= share <= high
        shares = [count / size for count in counts]
        groups.append(Group(size, shares, contained))
    return Groups(share, groups, busy)


INTERVALS_HOLD = how_many.claim(
    "intervals-hold",
    "at least 70 % of the confidence intervals of groups of 10 contain the share of the whole recording",
    at_least=0.7,
    unit=units.percent,
)
SPREAD_AS_COMPUTED = how_many.claim(
    "spread-as-computed",
    "the shares of groups of 10 differ 0.5 to 2.5 times as much as the binomial distribution says",
    at_least=0.5,
    at_most=2.5,
    unit=units.ratio,
)


@how_many.explain
def _(page: Page, found: Groups | str) -> None:
    if isinstance(found, str):
        page.skip_step(found, shows="how much the shares of groups of samples differ")
        return
    disturbed, small, large = found.busy < STEADY, *found.groups
    measured, computed = ({each.size: of(each, found.share) for each in found.groups} for of in (spread, binomial))
    lines = [
        (each.size, len(each.shares), 2 * measured[each.size], 2 * computed[each.size], each.contained)
        for each in found.groups
    ]
    heads: Heads = {
        "samples in a group": units.count,
        "groups": units.count,
        "margin, measured": units.percent,
        "margin, computed": units.percent,
        "intervals with the share": units.count,
    }
    page.table(Table.of(f"`rare` has {units.percent(found.share)} of all samples", heads, lines))
    page.reveal(uncertain(small, found.share, over=large).void_if(disturbed))
    page.settle(INTERVALS_HOLD, Interval.share(small.contained, len(small.shares)).void_if(disturbed))
    page.settle(SPREAD_AS_COMPUTED, uncertain(small, found.share).void_if(disturbed))
    page.say(
        "The standard deviation of a share p of n samples is √(p × (1 - p) / n), and the margin is twice this number.",
        "Four times as many samples halve the margin. For a tenth of the margin, you need a hundred times as many",
        "samples.",
        SPREAD_AS_COMPUTED.words(
            held="The measured margin agrees with this formula.",
            refuted="In this run, the measured margin does not agree with this formula.",
            unclear="This run does not show whether the measured margin agrees with this formula.",
        ),
    )
    page.say(
        INTERVALS_HOLD.words(
            held="Most intervals contain the share of the whole recording. Compute the interval before you believe that"
            " a function became slower.",
            refuted="In this run, many intervals miss the share of the whole recording.",
            unclear="This run does not show how many intervals contain the share of the whole recording.",
        ),
        "The formula needs independent samples. If a function runs for a long time without a break, neighbouring",
        "samples see the same call, and the true margin is wider. If the program repeats its work at the rate of the",
        "sampler, all samples see the same place.",
    )


def spread(group: Group, _: float) -> float:
    """Return the standard deviation of the shares of the groups, or 0 without groups."""
    return pstdev(group.shares) if group.shares else 0.0


def binomial(group: Group, share: float) -> float:
    """Return the standard deviation that a share of this number of independent samples has."""
    return math.sqrt(share * (1 - share) / group.size)


def uncertain(group: Group, share: float, over: Group | None = None) -> Interval:
    """Return the measured spread divided by the binomial one, or by the measured spread of the group `over`.

    The interval is two standard errors wide on each side. It is unknown for fewer than four groups.
    """
    below = binomial(group, share) if over is None else spread(over, share)
    numbers = [len(each.shares) for each in (group, over) if each is not None]
    if min(numbers) < 4 or not below:
        return Interval.unknown()
    ratio = spread(group, share) / below
    return Interval.plus_minus(ratio, 2 * ratio * math.sqrt(sum(1 / (2 * (number - 1)) for number in numbers)))


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
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


@lesson.given
class Version(NamedTuple):
    samples: Samples
    round_s: float
    busy: float


@lesson.step(
    "Two runs compared: a differential flame graph",
    predict=Choice(
        "A change makes the function `parse` much faster, and leaves the function `total` as it is. In the second "
        "recording, the share of `total` is larger. What happened to the time of `total` per round?",
        {"a": "it is larger, like the share", "b": "it is the same", "c": "it is smaller"},
        limits=(0.6, 1.6),
    ),
    expected="b",
    wrong_reasoning="Students think that a larger share means more time. But a share is a part of a whole, and the "
    "whole is smaller now.",
    fast={"seconds": 0.15},
)
def two_runs(seconds: float = 1.2) -> list[Version] | str:
    """We record the program before and after the change, for the same number of seconds.

    All shares of a recording add up to 100 %, so if one share shrinks, others grow. To compare two runs, we multiply
    the shares by the CPU time of a round, and get the seconds per round of each function.
    """
    if lacking():
        return lacking()
    found = []
    for words in (80_000, 8_000):
        with live(pipeline(words)) as program:
            samples = record(program.pid, seconds, rate=200)
            program.wait_for(5)
            lines, busy = program.lines(), program.busy()
        round_s = sum(map(float, lines)) / len(lines)
        found.append(Version(samples, round_s, busy))
    return found


SHARE_GROWS = two_runs.claim(
    "share-grows",
    "the share of `total` grows by at least 15 percentage points",
    at_least=0.15,
    unit=signed(units.percent),
)
TIME_STAYS = two_runs.claim(
    "time-stays",
    "the seconds of `total` per round after the change are 0.6 to 1.6 times those before",
    at_least=0.6,
    at_most=1.6,
    unit=units.ratio,
)


@two_runs.explain
def _(page: Page, found: list[Version] | str) -> None:
    if isinstance(found, str):
        page.skip_step(found, shows="which functions became faster and slower between two runs")
        return
    before, after = found
    disturbed = min(each.busy for each in found) < BUSY
    shares = [across(each.samples, lambda part: part.share("total")) for each in found]
    stacks = [
        scaled([(tuple(map(bare, frames)), cost) for frames, cost in each.samples.stacks()], each.round_s)
        for each in found
    ]
    per_round = [by_function(each) for each in stacks]
    lines = [
        (name, *(each.samples.share(name) for each in found), *(each.get(name, 0.0) for each in per_round))
        for name in ("parse", "total")
    ]
    columns = (("share before", units.percent), ("after", units.percent))
    heads = {"function": None, **dict(columns), "per round before": units.seconds, "after ": units.seconds}
    page.table(Table.of("The same function in two recordings", heads, lines))
    for run in ("before", "after"):
        if all(stacks):
            title = f"The change of the program; widths: the time per round {run} the change"
            picture = difference_svg(*stacks, title=title, widths=run, unit=units.seconds)
            page.save(f"difference-{run}", picture)
    growth = (
        Interval(shares[1].middle - shares[0].middle, shares[1].low - shares[0].high, shares[1].high - shares[0].low)
        if all(len(each.samples) >= 20 for each in found)
        else Interval.unknown()
    )
    page.settle(SHARE_GROWS, growth.void_if(disturbed))
    scale = after.round_s / before.round_s
    times = (
        Interval(
            scale * shares[1].middle / shares[0].middle,
            scale * shares[1].low / max(shares[0].high, 1e-9),
            scale * shares[1].high / max(shares[0].low, 1e-9),
        )
        if all(each.low > 0 for each in shares)
        else Interval.unknown()
    )
    page.settle(TIME_STAYS, times.void_if(disturbed))
    page.reveal(times.void_if(disturbed))
    page.say(
        TIME_STAYS.words(
            held="The time of `total` per round is about the same. Its share is larger only because the round became"
            " shorter.",
            refuted="In this run, the time of `total` per round is different.",
            unclear="This run does not show whether the time of `total` per round is the same.",
        ),
        "So compare seconds per round, per request or per training step, not shares.",
    )
    page.say(
        "A *differential flame graph* draws one run, and shows the difference to the other run in colours: red costs",
        "more after the change, blue costs less. A function that runs only before the change has no box in the graph",
        "of the run after it. So draw one graph with the widths of each run. `--plots` saves both pictures.",
    )


# ── 9 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Standard(NamedTuple):
    samples: int
    in_c: float
    true: float
    busy: float
    cost: float


@lesson.step("Python's own sampling profiler", fast={"seconds": 1})
def from_the_standard_library(seconds: int = 2) -> Standard | str:
    """From version 3.15 on, Python contains a sampling profiler, which also works from outside: `profiling.sampling`.

    `python -m profiling.sampling attach PID` samples a running process, and `run script.py` starts a script. The
    profiler needs no installation, but it can watch only a process with the same version of Python. By default, it
    samples only the main thread and takes more samples per second than py-spy. We record the program of step 6 again.
    Then we measure the cost with the program of step 4.
    """
    if sys.version_info < (3, 15):
        return "needs Python 3.15 or newer: uv python install 3.15"
    with live(safe_points()) as program:
        try:
            stacks = attach(program.pid, seconds)
        except MachineError as error:
            return str(error)
        program.wait_for(9)
        busy, lines = program.busy(), program.lines()
    with live(calls() + "rounds()") as program:
        time.sleep(0.5)
        program.wait_for(3)
        alone_s = median(map(float, program.lines()))
        before = len(program.lines())
        attach(program.pid, 1)
        sampled_s = median(map(float, program.lines()[before:]))
    rows = [[float(number) for number in line.split()] for line in lines]
    python_s, c_s = (sum(row[at] for row in rows) for at in (0, 1))
    python, c = 0, 0
    for stack, count in stacks.items():
        python += count * ("in_python" in stack)
        c += count * ("in_c" in stack)
    true, total = c_s / (python_s + c_s), python + c
    share = c / max(total, 1)
    return Standard(total, share, true, busy, sampled_s / alone_s)


STANDARD_AGREES = from_the_standard_library.claim(
    "standard-agrees",
    "the share of its samples in `in_c` is within 25 percentage points of the true share",
    at_least=-0.25,
    at_most=0.25,
    unit=signed(units.percent),
)


@from_the_standard_library.explain
def _(page: Page, found: Standard | str) -> None:
    if isinstance(found, str):
        page.skip_step(found, shows="that Python's own sampling profiler also needs no safe points")
        return
    difference = Interval.plus_minus(found.in_c - found.true, 0.05) if found.samples else Interval.unknown()
    page.settle(STANDARD_AGREES, difference.void_if(found.busy < BUSY))
    page.say(
        f"The profiler took {units.some(found.samples, 'sample')} in the two functions.",
        STANDARD_AGREES.words(
            held="Its share agrees with the CPU clock of the program, because it also reads the stacks from outside.",
            refuted="In this run, its share does not agree with the CPU clock of the program.",
            unclear="This run does not show whether its share is right.",
        ),
        "By default, it does not stop the process while it reads a stack. With `--blocking`, it does.",
        f"While it took samples, a round of 20 000 calls took {units.ratio(found.cost)} its usual time.",
    )
    page.say(
        "Python 3.15 also has a new name for `cProfile`: `profiling.tracing`. The documentation of Python 3.15",
        "recommends the sampling profiler for most programs. It recommends `profiling.tracing` if you must know the",
        "exact number of calls.",
    )


lesson.key_points = (
    "A sampling profiler outside the program needs no change of the program. Its cost does not grow with the calls.",
    "A sampler inside the program sees only safe points. It misses the time of long C functions.",
    "The margin of a share shrinks with the square root of the number of samples.",
)
lesson.references = (
    "py-spy: github.com/benfred/py-spy",
    "Python 3.15, `profiling.sampling`: docs.python.org/3.15/library/profiling.sampling.html",
    "Mytkowicz, Diwan, Hauswirth, Sweeney: Evaluating the Accuracy of Java Profilers (PLDI 2010), on safe points",
    "Wilson: Probable Inference, the Law of Succession, and Statistical Inference (JASA 1927)",
    "Brendan Gregg: Differential Flame Graphs (2014), brendangregg.com/blog/2014-11-09/differential-flame-graphs.html",
)

if __name__ == "__main__":
    main(lesson)
