"""Lesson 08: count, when you cannot time.

Read it top to bottom: it is the screen's own order. What takes long is collected once, in step 3, and kept in your
cache folder; the later steps look at it from one side after the other.
"""

import sys

import torch
from torch.utils.benchmark import CallgrindStats, FunctionCounts, Timer

from harness import units
from harness.callgrind import (
    Counted,
    ScriptCounts,
    Snippet,
    by_file,
    collect,
    collect_all,
    count_scripts,
    denoise,
    file_of,
    is_nameless,
    lacking,
    picture,
    searches,
)
from harness.tables import Table
from lessons.engine import Choice, Guess, Lesson, Page, Standing, every
from lessons.engine.words import followed, signed

lesson = Lesson(
    __file__,
    title="Count, when you cannot time",
    objective="Afterwards you can count instructions, tell where a difference lies, and say what a count leaves out.",
    minutes=20,
    longest_s=(90, 30),
)


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def squares(n: int) -> str:
    return f"""
def squares():
    total = 0
    for i in range({n}):
        total += i * i
squares()
"""


@lesson.step(
    "A script, counted and timed",
    predict=Choice(
        "The same script is counted twice, by the instruction. How far apart are the two counts?",
        {"a": "not at all", "b": "by less than 0.1 %", "c": "by more than 0.1 %"},
    ),
    claims={
        "counts-agree": "two counts of one script agree to the instruction",
        "times-do-not": "timings of the same loop lie more than 0.1 % apart",
        "hashes-count": "with Python's hashes left to chance, the count is another one",
    },
)
def counted_and_timed(
    n: int = 20_000,
) -> tuple[list[ScriptCounts], list[ScriptCounts], list[float]] | None:
    """Valgrind runs a program on a processor made of software. Its tool Callgrind counts each instruction, by function.

    For a bare script that takes a second: `valgrind --tool=callgrind python -S script.py`. We count one twice with
    Python's hashes fixed (`PYTHONHASHSEED=0`), twice with hashes left to chance, and time its loop five times.
    """
    if lacking():
        return None
    twice = [squares(n)] * 2
    fixed = count_scripts(twice)
    by_chance = count_scripts(twice, hash_seed="random")
    loop = Timer(squares(n))
    runs = [loop.blocked_autorange(min_run_time=0.05) for _ in range(5)]
    return fixed, by_chance, [run.median for run in runs]


@counted_and_timed.observe
def explain_counted(
    page: Page,
    run: tuple[list[ScriptCounts], list[ScriptCounts], list[float]] | None,
) -> None:
    if run is None:
        page.without(lacking(), "two counts of a script, equal to the last digit, beside five timings that are not")
        return
    fixed, by_chance, times = run
    rows = [
        ("fixed", fixed[0].instructions, fixed[1].instructions),
        ("left to chance", by_chance[0].instructions, by_chance[1].instructions),
    ]
    heads = {"hashes": None, "first count": units.count, "second count": units.count}
    page.table(Table.of("Instructions of the whole process", heads, rows))
    first, second = (each.instructions for each in fixed)
    apart = abs(second - first)
    page.reveal("a" if not apart else "b" if apart < first / 1000 else "c", f"{units.count(apart)} instructions apart.")
    agree = page.claim("counts-agree", apart, 0, 0, unit=followed("apart"))
    spread = max(times) / min(times) - 1
    page.claim("times-do-not", spread, low=1e-3, unit=units.percent)
    others = len({each.instructions for each in (fixed[0], *by_chance)})
    page.claim("hashes-count", others, low=2, unit=followed("different counts of 3"))
    page.say(
        "No neighbour, no clock, no temperature is in a count. A change of one part in a thousand, which the timings"
        " above would bury, can be seen in two runs."
        if agree.standing is Standing.HELD
        else "Something here moved even the count, if only a little: a change smaller than that cannot be seen.",
    )
    page.say(
        "Python itself is what moves it. Its dictionaries are searched by hashes, its hashes are drawn anew by each",
        "process to ward off attacks, and every search in vain counts. Fix them, or compare noise.",
    )


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "A count is no time",
    predict=Guess(
        "Filling 50 MB with one letter, against adding squares: how many times as long does an instruction take?",
        "times",
    ),
    claims={"no-fixed-price": "an instruction that fills memory takes more than 3 times as long as one of the loop"},
    fast={"turns": 3},
)
def a_count_is_no_time(
    turns: int = 5,
) -> dict[str, tuple[int, list[float]]] | None:
    """It is tempting to take a count for a time in another unit. So we take both, of two scripts that differ in kind.

    From the count of the whole process we take away that of an empty script.
    """
    if lacking():
        return None
    fill = 'text = b"x" * 50_000_000'
    scripts = {"loop": squares(20_000), "fill": fill}
    sources = ["pass", *scripts.values()]
    start_up, *counted = count_scripts(sources)
    found = {}
    both = zip(scripts.items(), counted, strict=True)
    for (name, script), counts in both:
        instructions = counts.instructions - start_up.instructions
        timer = Timer(script)
        times = [timer.timeit(3).median for _ in range(turns)]
        found[name] = (instructions, times)
    return found


@a_count_is_no_time.observe
def explain_no_time(page: Page, found: dict[str, tuple[int, list[float]]] | None) -> None:
    if found is None:
        page.without(lacking(), "how much longer one instruction can take than another")
        return
    rows = [(name, count, min(times), min(times) / count) for name, (count, times) in found.items()]
    heads = {"script": None, "instructions": units.count, "time": units.seconds, "for one instruction": units.seconds}
    page.table(Table.of("Two scripts without their start-up; the shortest of the timings", heads, rows))
    (loop, loop_times), (fill, fill_times) = found["loop"], found["fill"]
    turns = zip(loop_times, fill_times, strict=True)
    dearer, error = every([(fill_s / fill) / (loop_s / loop) for loop_s, fill_s in turns])
    page.reveal(dearer)
    page.claim("no-fixed-price", dearer, low=3, error=error, unit=units.ratio)
    page.say(
        "New memory is nobody's until it is first written to: then the system finds a page for it, and clears it.",
        "Callgrind counts none of that. Nor does it know caches, waiting, or a second core: to it all instructions are",
        "alike.",
    )
    page.say("Counts answer “did this change the work, and where?”. Whether anybody will notice is for the clock.")


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def in_python() -> Snippet:
    return Snippet("x * y", setup="x, y = torch.ones(2, 128)", repeats=3)


@lesson.given
def in_cpp(numbers: int, runs: int = 1) -> Snippet:
    setup = """
        auto x = torch::ones({128});
        auto y = torch::ones({std::atol(std::getenv("NUMBERS"))});
    """
    return Snippet(
        "x * y;",
        setup,
        language="cpp",
        runs=runs,
        environment={"NUMBERS": str(numbers)},
    )


@lesson.given
def in_extension() -> Snippet:
    source = """
        using at::Tensor;

        [[gnu::noinline]]
        long value(Tensor x) { return x.dim(); }
        [[gnu::noinline]]
        long reference(const Tensor& x) { return x.dim(); }

        long by_value(const Tensor& x, long calls) {
          long sum = 0;
          while (calls--) sum += value(x);
          return sum;
        }
        long by_reference(const Tensor& x, long calls) {
          long sum = 0;
          while (calls--) sum += reference(x);
          return sum;
        }
    """
    return Snippet(
        "extension.by_value(x, 100); extension.by_reference(x, 100)",
        setup="x = torch.ones(128)",
        number=10,
        extension=source,
        functions=("by_value", "by_reference"),
    )


@lesson.step(
    "A statement of torch",
    predict=Guess("How many instructions does Python take for one `x * y`, with 128 numbers each?", "instructions"),
    claims={
        "python-varies": "counts of a Python statement, taken three times over in one process, are not all the same",
        "lookups-are-noise": "searches in dictionaries are part of each of them",
    },
    fast={"compiling": 0},
)
def a_statement_of_torch(compiling: int = 1) -> dict[str, Counted]:
    """`Timer.collect_callgrind` counts a statement alone, without imports and setup. It starts valgrind in a process.

    As torch has it: `Timer("x * y", setup="x, y = torch.ones(2, 128)").collect_callgrind(number=100, repeats=3)`, which
    gives a `CallgrindStats` for each repeat, and `language="cpp"` for a snippet of C++.

    That takes tens of seconds, for Python and torch are imported on the software processor, and C++ is compiled first.
    So we collect all four that this lesson needs side by side. The C++ program is compiled once, and reads from its
    environment how many numbers `y` has. `harness.callgrind` calls torch's collection and keeps what it gives in your
    cache folder: the next run takes it from there.
    """
    return collect_all(
        {
            "Python": in_python(),
            "C++": in_cpp(numbers=128, runs=2),
            "C++, broadcast": in_cpp(numbers=1),
            "extension": in_extension(),
        },
        compiling=bool(compiling),
    )


@a_statement_of_torch.observe
def explain_statement(page: Page, counted: dict[str, Counted]) -> None:
    python = counted["Python"]
    if python.reason:
        page.without(python.reason, "what a Python statement costs in instructions, and how far that varies")
        return
    rows = [
        (n, each.counts(), each.counts(denoise=True), denoise(each.stats()).sum())
        for n, each in enumerate(python.all, start=1)
    ]
    heads = dict.fromkeys(("repeat", "counts()", "counts(denoise=True)", "harness denoise"), units.count)
    stats = python.stats
    page.table(Table.of(f"Instructions of {stats.number_per_run} runs of `x * y`", heads, rows))
    page.reveal(stats.counts() / stats.number_per_run, "For 128 multiplications.")
    page.output("\n".join(repr(stats).splitlines()[1:]), caption="What torch prints of the last one, a CallgrindStats")
    different = len({each.counts() for each in python.all})
    varies = page.claim("python-varies", different, low=2, unit=followed(f"different counts of {len(python.all)}"))
    removed = [searches(each.stats()) for each in python.all]
    least = min(each.sum() for each in removed)
    page.claim("lookups-are-noise", least, low=1, unit=units.count, remark="instructions taken out, or more")
    by_torch = stats.counts() - stats.counts(denoise=True)
    page.say(
        "So a Python count is no constant, fixed hashes or not: memory is found in another state, a cache inside the"
        " interpreter is warm or cold."
        if varies.standing is Standing.HELD
        else "Here all repeats came out the same. Do not count on it: memory is found in another state, a cache inside"
        " the interpreter is warm or cold.",
        "Ask for `repeats` and leave the first one out.",
    )
    page.say(
        "`denoise=True` is meant to take out the searches in dictionaries, the worst of it. It took out nothing: it"
        f" asks for a name that Python gave up in 3.11, and this is {sys.version.split()[0]}."
        if not by_torch
        else "`denoise=True` takes out the searches in dictionaries, the worst of it.",
        how_found(removed[-1]),
    )


def how_found(removed: FunctionCounts) -> str:
    """Return how the searches in dictionaries were found that `harness.callgrind` took out."""
    if not removed:
        return "`harness.callgrind` found no search either: neither by its name nor by an experiment."
    if any(is_nameless(function) for _, function in removed):
        return (
            "This Python was delivered without the names of its inner functions. So `harness.callgrind` looks up a key"
            " that is found at once and one that is found late: the function that takes longer is the search."
        )
    return "The one of `harness.callgrind` knows the names of today."


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "Where they are",
    predict=Choice(
        "The one function with the most instructions of its own: what part of all does it have?",
        {"a": "more than half", "b": "15 to 50 %", "c": "less than 15 %"},
    ),
    claims={
        "no-hot-spot": "no function has more than 15 % of the instructions",
        "inclusive-is-no-sum": "inclusive counts add up to more than 5 times the total",
        "files-are-missing": "more than a tenth has no source file, for torch comes without debug symbols",
    },
)
def where_it_is() -> tuple[CallgrindStats, FunctionCounts, str] | None:
    """A count is a list: so many instructions, in this function. Exclusive ones are a function's own.

    Inclusive ones hold those of everything it called as well. `as_standardized` cuts the paths short, `transform`
    renames, and what gets one name is added up: so functions become files.
    """
    python = collect(in_python())
    if python.reason:
        return None
    short = python.stats.as_standardized().stats()
    torch.set_printoptions(linewidth=76)
    printed = repr(short[:9])
    torch.set_printoptions(profile="default")
    files = python.stats.stats().transform(file_of)
    return python.stats, files, printed


@where_it_is.observe
def explain_where(page: Page, found: tuple[CallgrindStats, FunctionCounts, str] | None) -> None:
    if found is None:
        reason = page.result(a_statement_of_torch)["Python"].reason
        page.without(reason, "the functions and files that a multiplication passes through, most of them on the way")
        return
    stats, files, printed = found
    own, total = stats.stats(), stats.counts()
    page.output(
        "\n".join(printed.splitlines()[1:]),
        caption="stats()[:9], standardized, 76 columns wide; the total is of these nine",
    )
    heads = {"file or [library]": None, "instructions": units.count, "part": units.percent}
    rows = [(shortened(each.function), each.count, each.count / total) for each in list(files)[:8]]
    page.table(Table.of("By file, the first eight", heads, rows))
    most = max(each.count for each in own) / total
    page.reveal("a" if most > 0.5 else "b" if most >= 0.15 else "c", f"{units.percent(most)}.")
    flat = page.claim("no-hot-spot", most, high=0.15, unit=units.percent)
    inclusive = stats.stats(inclusive=True).sum() / total
    page.claim("inclusive-is-no-sum", inclusive, low=5, unit=units.ratio)
    nameless = own.filter(lambda function: function.startswith("???")).sum() / total
    missing = page.claim("files-are-missing", nameless, low=0.1, unit=units.percent)
    page.save("functions", picture(own, title="x * y from Python: instructions by function"))
    page.say(
        "A small multiplication is a long way there and back: memory asked for and given back, shapes compared, the",
        "lock of the interpreter let go and taken.",
        "Nothing stands out: no single function is worth making faster."
        if flat.standing is Standing.HELD
        else f"Yet one function stands out: `{bare(max(own, key=lambda each: each.count).function)}`.",
    )
    page.say(
        "Inclusive counts say whose caller is to blame, and count an instruction once for each function around it."
        " Exclusive ones add up to the total, so these are the ones to compare: the next two steps do.",
    )
    page.say(
        "Where files should stand, torch has “???”: its wheels are built without debug symbols. Names of functions are"
        " there all the same. Lines would take a build of your own, with REL_WITH_DEB_INFO=1."
        if missing.standing is Standing.HELD
        else "This torch knows the files of nearly all its functions. The wheels that PyTorch gives out do not: they"
        " are built without debug symbols.",
    )
    if lost := sum(is_nameless(function) for _, function in own):
        page.say(
            f"{units.some(lost, 'function')} of {len(own)} lost even the name: an address, 0x…, stands for it. Debian,",
            "for example, delivers Python without the names of its inner functions.",
        )


def shortened(name: str, most: int = 46) -> str:
    """Return the end of a path that fits a table."""
    return name if len(name) <= most else f"…{name[1 - most :]}"


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "The same in C++",
    predict=Choice(
        "Two separate collections of the C++ snippet: how far apart are their counts?",
        {"a": "not at all", "b": "by less than 0.1 %", "c": "by more than 0.1 %"},
    ),
    claims={
        "cpp-agrees": "two collections of the C++ snippet agree within 0.1 %",
        "timings-do-not": "timings of the same statement lie more than 0.1 % apart",
        "python-has-a-price": "the Python statement takes more instructions than the C++ snippet",
    },
    fast={"compiling": 0},
)
def the_same_in_cpp(
    compiling: int = 1,
) -> tuple[Counted, Counted, list[float]]:
    """With `language="cpp"` a Timer compiles statement and setup to a program, and no Python is left to vary.

    What the Python statement takes on top is the price of Python: its own steps, and torch's way from there to C++.
    """
    cpp = collect(in_cpp(numbers=128, runs=2), compiling=bool(compiling))
    statement = Timer("x * y", setup="x, y = torch.ones(2, 128)")
    times = [
        statement.blocked_autorange(min_run_time=0.05).median
        for _ in range(5)
    ]  # fmt: skip
    return cpp, collect(in_python()), times


@the_same_in_cpp.observe
def explain_cpp(page: Page, found: tuple[Counted, Counted, list[float]]) -> None:
    cpp, python, times = found
    if cpp.reason or python.reason:
        page.without(cpp.reason or python.reason, "two collections of a C++ snippet that agree to the instruction")
        return
    first, second = (each.counts() for each in cpp.all[:2])
    number = cpp.stats.number_per_run
    both = (("C++, first collection", first), ("C++, second collection", second), ("Python", python.stats.counts()))
    heads = {"": None, "instructions for one run": units.count}
    page.table(Table.of("x * y on 128 numbers", heads, [(name, count / number) for name, count in both]))
    apart = abs(second / first - 1)
    page.reveal(
        "a" if not apart else "b" if apart < 1e-3 else "c",
        f"They are {units.count(abs(second - first))} instructions apart.",
    )
    page.claim("cpp-agrees", apart, high=1e-3, unit=units.percent)
    page.claim("timings-do-not", max(times) / min(times) - 1, low=1e-3, unit=units.percent)
    price = python.stats.counts() / cpp.stats.counts()
    page.claim("python-has-a-price", price, low=1, unit=units.ratio)
    page.say(
        "PyTorch's quick start has 563 600 instructions for 100 runs of the same snippet; here it was",
        f"{units.count(cpp.stats.counts())}. Another compiler, another release, another processor: compare counts",
        "within one surrounding, and say which it was.",
    )


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "What a broadcast costs, and where",
    predict=Choice(
        "{128} × {1} reads half as much as {128} × {128}, and multiplies as often. Which takes more instructions?",
        {"a": "{128} × {128}", "b": "{128} × {1}, the broadcast", "c": "both the same"},
    ),
    claims={
        "broadcast-costs": "the broadcast takes more instructions",
        "fast-path-missed": "the fast way to set up the loop is left early",
        "difference-adds-up": "count and difference add up to the other count, to the instruction",
    },
    fast={"compiling": 0},
)
def what_a_broadcast_costs(
    compiling: int = 1,
) -> tuple[FunctionCounts, FunctionCounts, FunctionCounts] | str:
    """Counts can be taken from each other: `a.delta(b)` is, function by function, what `a` has more.

    A `FunctionCounts` adds, subtracts, filters and renames, also in the other direction: count and difference together
    are the other count, and nothing should be left. What did not change is gone from a difference.
    """
    may_compile = bool(compiling)
    plain = collect(in_cpp(numbers=128, runs=2), compiling=may_compile)
    broadcast = collect(in_cpp(numbers=1), compiling=may_compile)
    if plain.reason or broadcast.reason:
        return plain.reason or broadcast.reason
    delta = broadcast.stats.delta(plain.stats)
    left = plain.stats.stats() + delta - broadcast.stats.stats()
    return plain.stats.stats(), delta, left


@what_a_broadcast_costs.observe
def explain_broadcast(page: Page, found: tuple[FunctionCounts, FunctionCounts, FunctionCounts] | str) -> None:
    if isinstance(found, str):
        page.without(found, "which functions of torch run longer, and which are left out, when one side is broadcast")
        return
    plain, delta, left = found
    named = delta.transform(bare)
    ranked = sorted(named, key=lambda each: -each.count)
    rows = [(shortened(each.function), each.count) for each in [*ranked[:6], *ranked[-3:]]]
    heads = {"function": None, "more instructions": MORE}
    page.table(Table.of("100 runs: broadcast less plain", heads, rows))
    more = delta.sum()
    page.reveal("b" if more > 0 else "a" if more < 0 else "c", f"{MORE(more / 100)} a run.")
    page.claim("broadcast-costs", more, low=1, unit=MORE, remark=f"{units.percent(more / plain.sum())} of all")
    early = delta.filter(lambda function: "fast_set_up" in function).sum()
    missed = page.claim("fast-path-missed", early, high=-1, unit=MORE, remark="in fast_set_up")
    page.claim("difference-adds-up", sum(abs(each.count) for each in left), 0, 0, unit=units.count)
    page.save("broadcast", picture(delta, title="{128} × {1} less {128} × {128}: instructions of 100 runs"))
    files = by_file(delta)
    page.say(
        "Both sides alike, torch sets up its loop by a short way that asks little. With one side to be stretched, that"
        " way finds out early that it cannot, and the long way works out shapes and strides in earnest."
        if missed.standing is Standing.HELD
        else "This release of torch does not leave its short way of setting up a loop any earlier for a broadcast; what"
        " the difference is made of stands above.",
    )
    page.say(
        "PyTorch's quick start shows the same for its release: +58 091 for 100 runs, `compute_strides` +17 600,",
        "`allocate_or_resize_outputs` +12 700, `fast_set_up` -22 600.",
        f"Here {MORE(more)}, in {len(files)} files and libraries. No clock would have told you where.",
    )


def bare(function: str) -> str:
    """Return a function's name without file, library and arguments."""
    name = function.partition(":")[2].partition(" [")[0]
    return name.partition("(")[0] if not name.startswith("(") else name


MORE = signed(units.count)
"""A number of instructions with its sign."""


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "By value, by reference",
    predict=Guess(
        "A C++ function takes a Tensor by value instead of by reference: how many more instructions is a call?",
        "instructions",
    ),
    claims={"copy-costs": "a call by value takes more than 1.5 times the instructions of one by reference"},
    fast={"compiling": 0},
)
def by_value_by_reference(
    compiling: int = 1,
) -> tuple[FunctionCounts, int] | str:
    """A question too small for any clock. The extension of step 3 calls either function, 100 times over.

    Its two loops are told apart by their inclusive counts, those of the functions called included.
    """
    extension = collect(in_extension(), compiling=bool(compiling))
    if extension.reason:
        return extension.reason

    def either(function: str) -> bool:
        return "by_value(" in function or "by_reference(" in function

    loops = extension.stats.stats(inclusive=True).filter(either)
    return loops, 100 * extension.stats.number_per_run


@by_value_by_reference.observe
def explain_by_value(page: Page, found: tuple[FunctionCounts, int] | str) -> None:
    if isinstance(found, str):
        page.without(found, "what the copy of a handle costs that nobody asked for: an increment and a decrement")
        return
    loops, calls = found
    value, reference = (
        max((each.count for each in loops if f"{name}(" in each.function), default=0) / calls
        for name in ("by_value", "by_reference")
    )
    rows = [("Tensor", value), ("const Tensor&", reference)]
    heads = {"argument": None, "instructions for one call": units.number}
    page.table(Table.of("A function that asks a tensor for its dimensions", heads, rows))
    page.reveal(max(value - reference, 0.1))
    page.claim("copy-costs", value / reference if reference else float("nan"), low=1.5, unit=units.ratio)
    page.say(
        "A Tensor is a handle. To copy it is to count one more owner, and afterwards one less, each with an",
        "instruction that no other core may come between; such a one also takes longer, which no count shows.",
    )
    page.say("It is next to nothing, once. In a function that everything calls, it is worth an ampersand.")


lesson.take_along(
    "Count to learn whether the work changed, and where: two counts of one thing agree where no two timings do.",
    "Fix the hashes, leave out the first repeat, compare exclusive counts within one machine, release and compiler.",
    "A count is no time: memory, caches, the system and other cores are not in it. Let the clock have the last word.",
)
lesson.read_on(
    "PyTorch, `Timer.collect_callgrind`: docs.pytorch.org/docs/stable/benchmark_utils.html",
    "PyTorch Timer quick start: docs.pytorch.org/tutorials/recipes/recipes/timer_quick_start.html",
    "Valgrind manual, “Callgrind”: valgrind.org/docs/manual/cl-manual.html",
)

if __name__ == "__main__":
    lesson.main()
