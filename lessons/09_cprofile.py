"""Lesson 09: find the functions in which a program spends its time, and learn how profiling changes the times."""

import cProfile
import io
import pstats
import re
import shutil
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import FrameType

import torch
from torch import nn

from harness.charts import plots
from harness.charts.pictures import bar_chart_svg
from harness.machine.devices import one_torch_thread
from harness.profiles.servers import served
from harness.profiles.stats import ProfiledFunction, ProfiledScript, of_one_thread, rows, run_script
from harness.rendering import units
from harness.storage.user_files import from_home, state_folder
from lessons.engine.api import ClaimStanding, Drawing, Figures, Interval, Lacking, Rows, largest, load
from lessons.engine.command import main
from lessons.probes.profilers import Profiled, cpu_s, plain, timed, tracing


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
def script(numbers: int) -> str:
    return f"""
def clean(word):
    return int(word.strip())

def load():
    for n in range({numbers}):
        clean(f" {{n}} ")

def report():
    clean("7" * 4_000)

def main():
    load()
    report()

main()
"""


Printed = tuple[str, tuple[ProfiledFunction, ...]]
"""The text that pstats printed, and the functions of the profile."""


def own_and_cumulative(numbers: int = 20_000) -> Printed:
    printed = io.StringIO()
    with TemporaryDirectory() as folder:
        cProfile.run(script(numbers), f"{folder}/script.prof")
        stats = pstats.Stats(f"{folder}/script.prof", stream=printed)
    stats.sort_stats("cumtime").print_stats("<string>")
    stats.sort_stats("tottime").print_stats("<string>", 3)
    return printed.getvalue(), rows(stats)


def own_and_cumulative_figures(profile: Printed) -> Figures:
    printed, functions = profile
    main, whole = (named(functions, name) for name in ("main", "<module>"))
    traced_s = max(each.cumulative_s for each in functions)
    mixed = not of_one_thread(functions)  # since Python 3.12, a profile may contain calls of other threads
    paused = whole.cumulative_s < traced_s / 2  # another program ran after the trace began
    return {
        "tables": tables(printed),
        "place_of_main": None if mixed else place_of_main(main, whole),
        "own": Interval.exact(sum(each.own_s for each in functions) / traced_s).void_if(mixed),
        "cumulative": Interval.exact(sum(each.cumulative_s for each in functions) / traced_s).void_if(paused),
    }


def place_of_main(main: ProfiledFunction, whole: ProfiledFunction) -> str:
    """Return the letter of the option that names the orders in which `main` is near the top of the profile."""
    if main.cumulative_s < 0.9 * whole.cumulative_s:
        return "c"
    return "b" if main.own_s < whole.cumulative_s / 10 else "a"


def named(functions: Sequence[ProfiledFunction], name: str) -> ProfiledFunction:
    """Return the first function with the name `name`."""
    return next(each for each in functions if each.name == name)


def tables(printed: str) -> str:
    """Return the tables in the output of pstats, without the lines before and after them."""
    around = re.compile(
        r" *(\d+ function calls|Ordered by|Random listing|List reduced|.*\.prof$|$)|[A-Z][a-z]+ \w+ +\d"
    )
    return "\n".join(line.rstrip() for line in printed.splitlines() if not around.match(line.rstrip()))


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
def who_called_it(numbers: int = 20_000) -> Printed:
    printed = io.StringIO()
    profile = cProfile.Profile()
    profile.run(script(numbers))
    stats = pstats.Stats(profile, stream=printed)
    stats.print_callers("clean")
    return printed.getvalue(), rows(stats)


def who_called_it_figures(profile: Printed) -> Figures:
    printed, functions = profile
    clean = named(functions, "clean")
    (often, often_s), (once, once_s) = (
        (calls, seconds or 0.0) for calls, seconds in (clean.callers[name] for name in ("load", "report"))
    )
    return {
        "tables": tables(printed),
        "parts": "b" if len(clean.callers) == 2 else "a",
        "longer": (once_s / once) / (often_s / often),
    }


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
def train(steps: int) -> float:
    layers = nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)
    network = nn.Sequential(*layers)
    weights = list(network.parameters())
    x = torch.randn(256, 64)
    y = (x @ torch.randn(64, 10)).argmax(1)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(network(x), y)
        slopes = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for weight, slope in zip(weights, slopes, strict=True):
                weight.sub_(slope, alpha=0.5)
    return loss.item()


Training = tuple[cProfile.Profile, float, float]
"""The profile of a training, the loss after two training steps, and the loss at the end."""


def a_network_trained(steps: int = 500) -> Training:
    torch.manual_seed(9)
    profile = cProfile.Profile()
    with one_torch_thread():
        early = train(2)
        late = profile.runcall(train, steps)
    return profile, early, late


def a_network_trained_figures(trained: Training) -> Figures:
    profile, early, late = trained
    functions = rows(profile)
    ranked = [each.name.rpartition(".")[2] for each in functions]
    return {
        "functions": Rows([cells(each) for each in functions[:5]]),
        "steps": functions[ranked.index("run_backward")].calls,
        "calls": sum(each.calls for each in functions),
        "largest": {"train": "a", "run_backward": "b", "linear": "c"}.get(ranked[0], "d"),
        "place_of_backward": ranked.index("run_backward") + 1,
        "early_loss": early,
        "late_loss": late,
    }


def cells(each: ProfiledFunction) -> tuple[str | float, ...]:
    """Return the cells of a function in a table of pstats: name, ncalls, tottime, percall, cumtime and percall."""
    own, cumulative = (each.own_s, each.own_s / each.calls), (each.cumulative_s, each.cumulative_s / each.outer_calls)
    return (bare(each.name), each.ncalls, *own, *cumulative)


def bare(name: str, most: int = 25) -> str:
    """Return the name of a function without the names of its module and its class, at most `most` characters long."""
    name = re.sub(r" of type object at 0x[0-9a-f]+", "", name).rpartition(".")[2]
    return name if len(name) <= most else f"…{name[1 - most :]}"


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
def step(total: float, x: float) -> float:
    return total + x * x


def with_calls(numbers: list[float]) -> float:
    total = 0.0
    for x in numbers:
        total = step(total, x)
    return total


def inlined(numbers: list[float]) -> float:
    total = 0.0
    for x in numbers:
        total += x * x
    return total


def what_asking_changes(turns: int = 7, n: int = 100_000) -> list[list[float]]:
    numbers = [float(x) for x in range(n)]
    found = []
    for _ in range(turns):
        times = list[float]()
        for loop in (with_calls, inlined):
            run = cProfile.Profile().runcall
            times += cpu_s(loop, numbers), cpu_s(run, loop, numbers)
        found.append(times)
    return found


def what_asking_changes_figures(turns: list[list[float]]) -> Figures:
    usual = [median(times) for times in zip(*turns, strict=True)]
    gains = [calls / inline for calls, _, inline, _ in turns]
    traced_gains = [calls / inline for _, calls, _, inline in turns]
    slowed, inlined_slowed = (Interval.every(times[at + 1] / times[at] for times in turns) for at in (0, 2))
    return {
        "times": Rows(
            [
                ("with_calls", *usual[:2], slowed.middle),
                ("inlined", *usual[2:], inlined_slowed.middle),
            ]
        ),
        "turns": len(turns),
        "slowed": slowed,
        "exaggerated": Interval.every(one / other for one, other in zip(traced_gains, gains, strict=True)),
        "gain": median(gains),
        "traced_gain": median(traced_gains),
        # While a profiler is active, Python 3.11 does not use its specialized instructions.
        "unspecialized": sys.version_info < (3, 12) and inlined_slowed.compare(at_least=1.3) is ClaimStanding.HELD,
    }


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
Pictures = tuple[str, Path, tuple[str, ...]]
"""The page of a profile in SnakeViz, the file with the page, and the addresses on which the server listened."""


def in_pictures(steps: int = 200) -> Pictures:
    file = state_folder() / "09_cprofile" / "train.prof"
    file.parent.mkdir(parents=True, exist_ok=True)
    profile, *_ = a_network_trained(steps)
    profile.dump_stats(file)
    with served(file) as server:
        page, addresses = server.page(), server.listens_on()
        html = file.with_suffix(".html")
        html.write_text(server.standalone(), encoding="utf-8")
    return page, html, addresses


def in_pictures_figures(pictures: Pictures) -> Figures:
    page, file, addresses = pictures
    others: int | Lacking = sum(address != "127.0.0.1" for address in addresses)
    if not addresses:
        others = Lacking("this system does not show on which addresses a process listens")
    return {
        "width": width_option(page),
        "other_addresses": others,
        "file": from_home(file),
        "photo": "snakeviz.png",
    }


def width_option(page: str) -> str | None:
    """Return the letter of the time that decides the width of a box in SnakeViz's page, or None if it is unknown.

    The code of the page reads a field of a function's `stats`. Field 2 is the own time, and field 3 is the cumulative
    time.
    """
    width = re.search(r"node_time = stats\[node_name\]\['stats'\]\[(\d)\]", page)
    return {"2": "a", "3": "b"}.get(width[1]) if width else None


def record_page(folder: Path) -> list[Path]:
    """Record the profile of a training and a picture of its page in SnakeViz. Return the written files."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only maintainers record, with fairclock[browser]

    file, picture = folder / "train.prof", folder / "snakeviz.png"
    pstats.Stats(a_network_trained(200)[0]).strip_dirs().dump_stats(file)
    with served(file) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(viewport={"width": 1100, "height": 900})
        page.goto(server.url)
        page.wait_for_selector("#chart svg rect")
        page.screenshot(path=picture)
        browser.close()
    return [file, picture]


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
def counting(call: Callable[[], object]) -> Counter[str]:
    calls = Counter[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            calls[frame.f_code.co_name] += 1

    sys.setprofile(note)
    call()
    sys.setprofile(None)
    return calls


def sampling(call: Callable[[], object]) -> Counter[str]:
    seen, end = Counter[str](), threading.Event()
    me = threading.get_ident()

    def look() -> None:
        while not end.wait(0.001):
            frame = sys._current_frames()[me]  # noqa: SLF001
            seen[frame.f_code.co_name] += 1

    threading.Thread(target=look).start()
    call()
    end.set()
    return seen


def three_ways_to_look(turns: int = 5, calls: int = 400_000) -> list[dict[str, Profiled]]:
    found = []
    for _ in range(turns):
        ways = (plain, counting, sampling, tracing)
        found.append({way.__name__: timed(way, calls) for way in ways})
    return found


WAYS = ("counting", "sampling", "tracing")
PROGRAM = ("little", "much", "program")


def three_ways_to_look_figures(turns: list[dict[str, Profiled]]) -> Figures:
    calls, samples, micros = (sum((turn[way].found for turn in turns), Counter[str]()) for way in WAYS)
    sampled, traced_us = (sum(each[name] for name in PROGRAM) for each in (samples, micros))
    costs = {way: [turn[way].cpu_s / turn["plain"].cpu_s for turn in turns] for way in WAYS}
    bars = [(way, median(each)) for way, each in costs.items()]
    table = [(name, calls[name], samples[name] / (sampled or 1), micros[name] / (traced_us or 1)) for name in PROGRAM]
    return {
        "shares": Rows(table),
        "samples": sampled,
        "costs": Drawing(plots.bars(bars, unit=units.ratio), bar_chart_svg(bars, title="÷", unit=units.ratio)),
        "most_expensive": largest(dict(zip("abc", map(Interval.every, costs.values()), strict=True))),
        "of_much": Interval.share(samples["much"], sampled),
    }


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
CommandRuns = tuple[str, list[list[ProfiledScript]]]
"""A profile that `cProfile` printed, and for each repetition a run under `cProfile` and one under `profile`."""


def from_the_command_line(turns: int = 3, numbers: int = 20_000) -> CommandRuns:
    source = f"""
import time
began_s = time.process_time()
{script(numbers)}
print(time.process_time() - began_s)
"""
    sorted_by = run_script(source, "cProfile", "-s", "ncalls")
    saved = []
    for _ in range(turns):
        in_c = run_script(source, "cProfile", "-o", "FILE")
        in_python = run_script(source, "profile", "-o", "FILE")
        saved.append([in_c, in_python])
    return sorted_by.printed, saved


def from_the_command_line_figures(runs: CommandRuns) -> Figures:
    printed, saved = runs
    return {
        "beginning": "\n".join(tables(printed).splitlines()[1:5]),
        "slower": Interval.every(cpu_time(python) / cpu_time(c) for c, python in saved),
    }


def cpu_time(ran: ProfiledScript) -> float:
    """Return the CPU time that the profiled script has printed, in seconds."""
    return float(ran.printed.split()[0])


lesson = load(__name__, recorder=record_page)

if __name__ == "__main__":
    main(lesson)
