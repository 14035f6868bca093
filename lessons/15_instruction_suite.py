"""Lesson 15: a benchmark suite as data.

Read it top to bottom: it is the screen's own order. What it compiles and counts is kept in your cache folder, so the
first run is the long one.
"""

import math
import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from torch.utils.benchmark import Timer

from harness import lanes, plots, units
from harness.bar_chart import bar_chart_svg
from harness.suite import (
    GroupedBenchmark,
    GroupedModules,
    GroupedSetup,
    GroupedStmts,
    GroupedVariants,
    TimerArgs,
    flatten,
    materialize,
    parse_stmts,
)
from harness.suite.compare import SAME, Comparison, signed_percent, titled
from harness.suite.results import Result, Settings, Suite, load
from harness.suite.runner import measure
from harness.suite.work import Work
from harness.tables import Table
from lessons.engine import Choice, Guess, Lesson, Page, Standing
from lessons.engine.words import followed, things

lesson = Lesson(
    __file__,
    title="A benchmark suite as data",
    objective="Afterwards you can write a benchmark down once, run it in every form, and compare two runs of all.",
    minutes=18,
    longest_s=(90, 30),
)


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def one_weight(whole: bool = True) -> GroupedBenchmark:
    in_cpp = "auto loss = torch::matmul(x, w).sum();"
    return GroupedStmts(
        "loss = torch.matmul(x, w).sum()",
        in_cpp if whole else None,
        setup=GroupedSetup(
            py_setup="""
                x = torch.ones(8, 8)
                w = torch.ones(8, 8, requires_grad=True)
            """,
            cpp_setup="""
                auto x = torch::ones({8, 8});
                auto w = torch::ones({8, 8});
                w.set_requires_grad(true);
            """,
            global_setup="#include <numbers>",
        ),
        signature="f(x, w) -> loss",
        compiled=whole,
        autograd=True,
    )


@lesson.step(
    "One definition",
    predict=Guess(
        "One statement: eager in Python and C++, compiled in Python; each forward and with backward, on 1 and 2"
        " threads. How many benchmarks are that?",
        "benchmarks",
        near=1.01,
    ),
    claims={
        "a-product": "one definition stands for 3 × 2 × 2 benchmarks",
        "all-differ": "no two of them have the same statement, language and number of threads",
        "global-setup-kept": "every one in C++ has the global setup, and none in Python",
        "timer-takes-it": "each of them is what Timer takes: one is timed as it is",
    },
)
def one_definition() -> tuple[tuple[Work, ...], float]:
    """PyTorch watches its own price with a suite of benchmarks that count instructions.

    They are written down as data: a statement in Python and one in C++, a setup, and a signature that says what goes in
    and what comes out, "f(x, w) -> loss". With that, other forms can be made from it: a function for `torch.compile`,
    `loss.backward()` after it. `materialize` makes the flat list of `TimerArgs`. Nothing is run so far.
    """
    grouped = replace(one_weight(), num_threads=(1, 2))
    works = Work.all_of(materialize({("one weight",): grouped}))
    args = works[0].args
    timer = Timer(args.stmt, args.setup, num_threads=args.num_threads)
    return works, timer.blocked_autorange(min_run_time=0.05).median


@one_definition.observe
def explain_definition(page: Page, found: tuple[tuple[Work, ...], float]) -> None:
    works, median_s = found
    rows = [
        (each.runtime, each.autograd, "C++" if each.is_cpp else "Python", each.args.stmt.splitlines()[-1][:30])
        for each in works
        if each.args.num_threads == 1
    ]
    heads = dict.fromkeys(("runtime", "autograd", "language", "its last line"))
    page.table(Table.of("Those on one thread", heads, rows))
    page.reveal(len(works))
    page.claim("a-product", len(works), 12, 12, unit=things("benchmark"))
    page.claim(
        "all-differ", len({(each.args.stmt, each.args.language, each.args.num_threads) for each in works}), 12, 12
    )
    kept = sum(("#include <numbers>" in each.args.global_setup) == each.is_cpp for each in works)
    page.claim("global-setup-kept", kept, 12, 12, unit=followed("of 12 as they should be"))
    page.claim("timer-takes-it", median_s, low=1e-7, high=1e-2, unit=units.seconds, remark="a run of the first")
    page.say(
        "Six statements on two numbers of threads, and nobody wrote them by hand: so none is forgotten, and none"
        " measures something a little different from its neighbours.",
    )
    page.say(
        "PyTorch's suite is older than `torch.compile`. Its word for a compiled form is `torchscript=True`, in both"
        " languages: it still works here, and the exercise expands it. `compiled=True` is this kit's own word.",
    )
    page.say(
        "PyTorch's own expansion once lost the global setup on this way: whatever needed an include of its own did not"
        " compile. What is not measured is not noticed.",
    )


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def ones() -> GroupedSetup:
    return GroupedSetup(
        "x = torch.ones(4)",
        "auto x = torch::ones({4});",
    )


@lesson.given
def relu() -> GroupedBenchmark:
    return GroupedModules(
        "model = torch.nn.ReLU()",
        "auto model = torch::nn::ReLU();",
        ones(),
        signature="f(x) -> y",
    )


@lesson.step(
    "Names within names",
    predict=Choice(
        "`GroupedVariants` is given a block: a setup, a label with one line below it, and one with two. How"
        " many benchmarks does it make in Python?",
        {"a": "2, one a label", "b": "3, one a line", "c": "4"},
    ),
    claims={
        "names-are-whole": "nested names come out as whole ones, each different",
        "a-line-a-case": "a label with two lines has a case for each",
        "a-model-called": "a module is called as its signature says, in both languages",
    },
)
def names_within_names() -> dict[tuple[str, ...], tuple[Work, ...]]:
    """A file of definitions is a dict of dicts. `flatten` puts the names together.

    `GroupedModules` takes a module by the name of `model`, and makes the call itself. `parse_stmts` reads Python and
    C++ side by side. `GroupedVariants` takes a block of lines. `TimerArgs` is a single benchmark by hand.
    """
    sides = r"""
    Python                                   | C++
    ---------------------------------------- | ---------------------
    z = x.neg()                              | auto z = x.neg();
    z.add_(1)                                | z.add_(1);
    """
    block = """
    # @setup
    x = torch.ones(4)
    # @one
    x.neg()
    # @two
    x[0]
    x[1:]
    """
    flat = flatten({
        "by hand": TimerArgs("torch.ones(2)"),
        ("View", "add"): GroupedStmts(*parse_stmts(sides), ones()),
        "Module": {"ReLU": relu()},
        "Variants": GroupedVariants(py_block=block),
    })  # fmt: skip
    return {
        label: Work.all_of(materialize({label: each}))
        for label, each in flat.items()
    }  # fmt: skip


@names_within_names.observe
def explain_names(page: Page, flat: dict[tuple[str, ...], tuple[Work, ...]]) -> None:
    rows = [(" · ".join(label), len(works), works[0].args.stmt.splitlines()[0]) for label, works in flat.items()]
    heads = {"name": None, "benchmarks": units.count, "first line of the first": None}
    page.table(Table.of("A file of definitions, flat", heads, rows))
    variants = [label for label in flat if label[0] == "Variants"]
    page.reveal({2: "a", 3: "b"}.get(len(variants), "c"), f"It made {len(variants)}.")
    page.claim("names-are-whole", len(flat), 6, 6, unit=things("name"))
    cases = [label for label in variants if label[1] == "two"]
    page.claim("a-line-a-case", len(cases), 2, 2, unit=things("case"))
    called = [each.args.stmt for each in flat["Module", "ReLU"]]
    right = sum(stmt in {"y = model(x)", "auto y = model->forward(x);"} for stmt in called)
    page.claim("a-model-called", right, 2, 2, unit=followed("of 2 calls"))
    page.say(
        "The words and their meaning are those of PyTorch's suite (`benchmarks/instruction_counts` in its source), so a"
        " file of definitions written for that runs here once its imports are changed.",
    )


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def troubled(
    threads: tuple[int, ...],
) -> dict[str, TimerArgs | GroupedBenchmark]:
    sound = GroupedStmts(
        "x @ x",
        setup=GroupedSetup("x = torch.ones(256, 256)"),
        num_threads=threads,
    )
    return {
        "sound": sound,
        "chatty": TimerArgs("x += 1", "x = 0; print('-' * 200_000)"),
        "raises": TimerArgs("x + 1"),
        "ends its process": TimerArgs("os._exit(3)", "import os"),
        "sound as well": TimerArgs("sum(range(9))"),
    }


@lesson.step(
    "Workers, and cores of their own",
    predict=Choice(
        "One benchmark prints more than a pipe holds, one raises, one ends its process. What becomes of the others?",
        {"a": "the run ends there", "b": "they are measured", "c": "those behind it are lost"},
    ),
    claims={
        "others-go-on": "every benchmark that can be measured is",
        "faults-are-told": "the two that cannot have a reason each",
        "a-core-a-thread": "each has as many cores to itself as it has threads, or all there are",
    },
    fast={"most_threads": 1},
)
def workers_and_cores(most_threads: int = 2) -> Suite:
    """Each benchmark runs in a process of its own, forked from a worker that has imported torch.

    A worker holds a lane while it works: a core for each thread, locked for every process on the machine that asks. It
    stays on them. What benchmarks print goes to a file; answers have a way of their own. Results are kept as they come,
    so a run that was killed goes on where it stopped.
    """
    threads = tuple(range(1, most_threads + 1))
    works = Work.all_of(materialize(flatten(troubled(threads))))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "suite.json"
        settings = Settings(min_run_time_s=0.1)
        measure(works, out, settings, count=False)
        return load(out)


@workers_and_cores.observe
def explain_workers(page: Page, suite: Suite) -> None:
    rows = [
        (
            " · ".join(each.label),
            each.num_threads,
            each.median_s,
            " ".join(map(str, each.cores)),
            each.failure.partition(":")[0],
        )
        for each in suite.results
    ]
    heads = {"benchmark": None, "threads": units.count, "time": units.seconds, "cores": None, "what went wrong": None}
    page.table(Table.of("As the JSON file has it", heads, rows))
    sound = [each for each in suite.results if each.label[0] not in {"raises", "ends its process"}]
    measured = sum(bool(each.times_s) for each in sound)
    told = sum(bool(each.failure) for each in suite.results if each not in sound)
    page.reveal("b" if measured == len(sound) else "a" if not measured else "c")
    page.claim("others-go-on", measured, len(sound), len(sound), unit=followed(f"of {len(sound)}"))
    page.claim("faults-are-told", told, 2, 2, unit=followed("of 2"))
    cores = lanes.physical_cores()
    right = sum(len(set(each.cores)) == min(each.num_threads, cores) for each in sound)
    page.claim("a-core-a-thread", right, len(sound), len(sound), unit=followed(f"of {len(sound)}"))
    page.say(
        "All three were faults of PyTorch's suite: a worker that filled the pipe waited for ever, since nobody read it;"
        " one failure ended the whole run; and its pool of cores would not begin on a machine with two.",
        "" if cores > 1 else "This machine has but one core to give away, so nothing ran beside anything else.",
    )


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def twice(whole: bool) -> tuple[Work, ...]:
    once = one_weight(whole)
    both = {"first": once, "second": once}
    return Work.all_of(materialize(flatten(both)))


@lesson.given
def short() -> Settings:
    return Settings(min_run_time_s=0.1, number=50, repeats=3)


@lesson.given
def results_file() -> Path:
    name = f"fairclock-lesson-15-{os.getpid()}.json"
    return Path(tempfile.gettempdir()) / name


@lesson.step(
    "Every form, timed and counted",
    predict=Choice(
        "An 8 × 8 matrix times another, summed up. From Python: what does `torch.compile` do to the time of a call?",
        {"a": "it saves some", "b": "it makes no difference", "c": "it costs more"},
    ),
    claims={
        "python-has-a-price": "forward from Python takes more instructions than from C++",
        "backward-is-dear": "with a backward pass, it takes more than twice the instructions of the forward pass alone",
        "compiled-is-no-gift": "on tensors this small, the compiled form takes longer than the eager one",
    },
    fast={"whole": 0},
)
def every_form(whole: int = 1) -> Suite:
    """Now the definition of step 1 for real, under two names, so that every form is measured twice, apart.

    What is C++ is compiled into one library: its headers take longer to read than all of it. Then workers take wall
    times; `torch.compile` has its turn in the setup. Then workers under valgrind count. Importing torch there takes
    15 s, so it is done once, and each benchmark is a fork of that. What `torch.compile` wrote is not counted: it is
    made for this processor, and valgrind does not know all of its instructions.

    On the command line: `python -m harness.suite FILE.py --out FILE.json`.
    """
    return measure(
        twice(whole=bool(whole)),
        results_file(),
        short(),
        fresh=True,
    )


@every_form.observe
def explain_forms(page: Page, suite: Suite) -> None:
    forms = {form(each): each for each in suite.results if each.label == ("first",)}
    rows = [(*name, each.median_s, each.instructions_per_run) for name, each in forms.items()]
    heads = {"runtime": None, "autograd": None, "language": None, "time": units.seconds, "instructions": units.count}
    page.table(Table.of("One run of x @ w, summed", heads, rows))
    known = {name: each.instructions_per_run for name, each in forms.items() if each.instructions_per_run}
    if known:
        bars = [(" ".join(name), count) for name, count in known.items()]
        caption = "Instructions of one run, in every form"
        page.drawing(
            plots.bars(bars, width=30, unit=units.count),
            bar_chart_svg(bars, title=caption, unit=units.count),
            name="forms",
            caption=caption,
        )
    eager, cpp = ("Eager", "Forward", "Python"), ("Eager", "Forward", "C++")
    backward = ("Eager", "Forward + Backward", "Python")
    for id_, more, less, low in (("python-has-a-price", eager, cpp, 1), ("backward-is-dear", backward, eager, 2)):
        if {more, less} <= set(known):
            page.claim(id_, known[more] / known[less], low=low, unit=units.ratio)
        else:
            page.skip(id_, missing(suite, less if more in known else more))
    compiled_or_not(page, suite)


def compiled_or_not(page: Page, suite: Suite) -> None:
    """Settle whether the compiled form takes longer; each form was timed twice, by processes of their own."""
    eager, compiled = (
        [each.median_s for each in suite.results if form(each) == (runtime, "Forward", "Python") and each.median_s]
        for runtime in ("Eager", "Compiled")
    )
    if not eager or not compiled:
        page.reveal(None)
        page.skip("compiled-is-no-gift", missing(suite, ("Compiled", "Forward", "Python")))
        page.say("Where it is measured, this step sets the compiled form beside the eager one.")
        return
    low, high = min(compiled) / max(eager), max(compiled) / min(eager)
    ratio = math.sqrt(low * high)
    page.reveal("c" if low > 1 else "a" if high < 1 else None, f"It takes {units.ratio(ratio)} as long.")
    error, noise = max(ratio - low, high - ratio), ratio * page.noise
    longer = page.claim("compiled-is-no-gift", ratio, low=1, error=error, noise=noise, unit=units.ratio)
    said = {
        Standing.HELD: "Each call of a compiled function checks its guards first, and then enters through wrappers of"
        " its own. That pays where it saves passes over large tensors, as lesson 12 shows. Here it saves nothing.",
        Standing.REFUTED: "Here the compiled form gains even on small tensors: checking its guards costs less than what"
        " it saves.",
    }
    page.say(said.get(longer.standing, "This run cannot settle it: the machine is too busy, or the two are too close."))


def form(result: Result) -> tuple[str, str, str]:
    """Return what kind of benchmark it is."""
    return result.runtime, result.autograd, result.language


def missing(suite: Suite, wanted: tuple[str, str, str]) -> str:
    """Return why there are no counts of a form."""
    mine = [each for each in suite.results if form(each) == wanted]
    if not mine:
        return "the short run leaves it out: take the lesson without --fast once"
    reasons = (each.failure or each.left_out or each.uncounted for each in mine)
    return next(filter(None, reasons), "nothing was counted")


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "Two runs compared",
    predict=Choice(
        "Each form was measured twice. How many of the counts, and how many of the times, agree within 0.5 %?",
        {"a": "nearly all of either", "b": "nearly all counts, few times", "c": "few of either"},
    ),
    claims={
        "goes-on": "the same command again, and nothing is measured again: it goes on where it stopped",
        "counts-agree": "the two counts of every form that is counted agree within 0.5 %",
        "times-do-not": "the two wall times of some form lie more than 0.5 % apart",
    },
    fast={"whole": 0},
    needs=every_form,
)
def two_runs_compared(
    whole: int = 1,
) -> tuple[Suite, Suite, Comparison]:
    """`python -m harness.suite compare A.json B.json` sets two runs side by side. Here we compare the halves of one.

    Each count is of a child that began in the same state: hashes fixed, memory laid out alike, and a fresh heap. In a
    used one, what an allocation costs depends on all that was freed before.
    """
    written = load(results_file())
    again = measure(
        twice(whole=bool(whole)),
        results_file(),
        short(),
    )
    results_file().unlink()
    halves = []
    for half in ("first", "second"):
        results = tuple(
            replace(each, label=("x @ w",))
            for each in again.results
            if each.label == (half,)
        )  # fmt: skip
        halves.append(replace(again, results=results))
    return written, again, Comparison.of(*halves)


@two_runs_compared.observe
def explain_compared(page: Page, found: tuple[Suite, Suite, Comparison]) -> None:
    written, again, compared = found
    rows = []
    for pair in compared.pairs:
        timed = (pair.first.median_s, pair.second.median_s, pair.time_change)
        counted = (pair.first.instructions_per_run, pair.second.instructions_per_run, pair.count_change)
        rows.append((titled(pair.first)[1], *timed, *counted))
    heads: dict[str, Callable[[float], str] | None] = {"x @ w": None, "time": units.seconds, "again": units.seconds}
    heads |= {"change": signed_percent, "instructions": units.count, "again ": units.count, "change ": signed_percent}
    page.table(Table.of("Each form, measured twice", heads, rows))
    same = sum(each.times_s == other.times_s for each, other in zip(written.results, again.results, strict=True))
    whole = len(written.results)
    page.claim("goes-on", same, whole, whole, unit=followed(f"of {whole} as they were"))
    times = [abs(pair.time_change) for pair in compared.pairs if pair.time_change is not None]
    counts = [abs(pair.count_change) for pair in compared.pairs if pair.count_change is not None]
    if counts:
        agree = page.claim("counts-agree", max(counts), high=SAME, unit=units.percent, remark="the largest difference")
    else:
        agree = page.skip("counts-agree", missing(again, form(again.results[0])))
    page.claim(
        "times-do-not", max(times, default=math.nan), low=SAME, unit=units.percent, remark="the largest difference"
    )
    many = [sum(each <= SAME for each in kind) > 0.8 * len(kind) for kind in (counts, times)]
    page.reveal(None if not counts else {(True, True): "a", (True, False): "b"}.get((many[0], many[1]), "c"))
    page.say(
        "So a change of one part in a hundred is seen in the counts of a single run, however busy the machine. To see"
        " it in the times takes many runs, and a quiet machine."
        if agree.standing is Standing.HELD
        else "Where the counts differ too, look at what moved: hashes, heaps and caches are the usual suspects.",
        "What a count does not know, lesson 08 shows: the clock has the last word.",
    )


lesson.take_along(
    "Write benchmarks down as data: one definition, and every runtime, language and number of threads made from it.",
    "Let each benchmark run in a process and on cores of its own; one that fails costs itself alone.",
    "Keep raw samples beside the environment in a file, and compare files: small changes in counts, the rest in times.",
)
lesson.read_on(
    "PyTorch's instruction-count suite: github.com/pytorch/pytorch, benchmarks/instruction_counts",
    "Its definitions here: harness/suite/definitions/standard.py; the worker that counts: harness/suite/worker.py",
    "asv, airspeed velocity, for a suite over the history of a project: asv.readthedocs.io",
)

if __name__ == "__main__":
    lesson.main()
