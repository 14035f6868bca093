"""Lesson 08: count instructions where times are too uncertain.

The steps appear on the screen in the order of this file. Some sentences of an explanation depend on the measurements on
this machine. Step 3 makes all counts that take a long time, and keeps them in the user's cache folder. The later steps
read these counts.
"""

import sys
from pathlib import Path
from time import thread_time
from typing import NamedTuple

import torch
from torch.utils.benchmark import CallgrindStats, FunctionCounts, Timer

from harness.callgrind.collect import Snippet, SnippetCounts, collect, collect_all
from harness.callgrind.lookups import address, denoise, picture, searches
from harness.callgrind.script import ScriptCounts, count_scripts
from harness.callgrind.tools import lacking
from harness.rendering import units
from harness.rendering.tables import Table
from lessons.engine import Choice, Guess, Interval, Lesson, Page
from lessons.engine.command import main
from lessons.engine.words import followed, signed

lesson = Lesson(
    __file__,
    objective="You can count instructions, find where two counts differ, and explain what a count leaves out.",
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


@lesson.given
class CountsAndTimes(NamedTuple):
    fixed: list[ScriptCounts]
    by_chance: list[ScriptCounts]
    times_s: list[float]


@lesson.step(
    "Count and time the same script",
    predict=Choice(
        "We count the instructions of one script twice, with fixed hashes. By how much do the two counts differ?",
        {"a": "they are equal", "b": "by less than 0.1 %", "c": "by 0.1 % or more"},
        limits=(1e-9, 1e-3),
    ),
    expected="a",
    wrong_reasoning="Students expect a small difference, as between two timings. But with fixed hashes, the program "
    "executes exactly the same instructions.",
)
def counted_and_timed(n: int = 20_000) -> CountsAndTimes | None:
    """Valgrind runs a program on a simulated processor. Its tool Callgrind counts the instructions of each function.

    `valgrind --tool=callgrind python -S script.py` takes about a second for a small script. We count the same script
    twice with fixed hashes (`PYTHONHASHSEED=0`) and twice with random hashes. We also measure the time of the script's
    loop five times.
    """
    if lacking():
        return None
    twice = [squares(n)] * 2
    fixed = count_scripts(twice)
    by_chance = count_scripts(twice, hash_seed="random")
    loop = Timer(squares(n))
    runs = [loop.blocked_autorange(min_run_time=0.05) for _ in range(5)]
    return CountsAndTimes(fixed, by_chance, [run.median for run in runs])


COUNTS_AGREE = counted_and_timed.claim(
    "counts-agree",
    "two instruction counts of one script with fixed hashes are equal",
    equals=0,
    unit=followed("instructions apart"),
)
TIMES_DO_NOT = counted_and_timed.claim(
    "times-do-not",
    "of five timings of this script's loop, the longest is more than 0.1 % longer than the shortest",
    at_least=1e-3,
    unit=units.percent,
)
HASHES_COUNT = counted_and_timed.claim(
    "hashes-count",
    "with random hashes, the instruction count of the script changes",
    at_least=2,
    unit=followed("different values among 3 counts"),
)


@counted_and_timed.explain
def _(page: Page, run: CountsAndTimes | None) -> None:
    if run is None:
        page.skip_step(lacking(), shows="that two counts of a script are equal while five timings differ")
        return
    rows = [
        ("fixed", run.fixed[0].instructions, run.fixed[1].instructions),
        ("random", run.by_chance[0].instructions, run.by_chance[1].instructions),
    ]
    heads = {"hashes": None, "first count": units.count, "second count": units.count}
    page.table(Table.of("Instructions of the whole process", heads, rows))
    first, second = (each.instructions for each in run.fixed)
    apart = abs(second - first)
    page.reveal(Interval.exact(apart / first), f"The difference is {units.some(apart, 'instruction')}.")
    page.settle(COUNTS_AGREE, apart)
    page.settle(TIMES_DO_NOT, max(run.times_s) / min(run.times_s) - 1)
    page.settle(HASHES_COUNT, len({each.instructions for each in (run.fixed[0], *run.by_chance)}))
    page.say(
        "Other programs and the temperature of the processor do not change a count.",
        COUNTS_AGREE.words(
            held="Two counts can therefore show that a change of the code adds one instruction in a thousand.",
            refuted="In this run, another cause changed the count of the script. Two counts cannot show a change of"
            " your code that is smaller than the difference of the two counts above.",
            unclear="",
        ),
        TIMES_DO_NOT.words(
            held="The times above differ by more than one part in a thousand, so they cannot show a change of this"
            " size.",
            refuted="",
            unclear="",
        ),
    )
    page.say(
        "Python itself can change the count. Dictionaries find their keys by hashes. As a protection against attacks,",
        "by default, each Python process computes different hashes for the same strings. The search for a key takes",
        "more instructions if its hash collides with that of another key. Fix the hashes before you compare counts.",
    )


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def two_orders(n: int) -> str:
    return f"""
in_order = list(range({n}))
jumping = []
for k in range(1_000):
    jumping += in_order[k * 389 % 1_000::1_000]

def visit(numbers):
    for number in numbers:
        pass
"""


@lesson.given
class Orders(NamedTuple):
    numbers: int
    in_order: int
    jumping: int
    in_order_s: list[float]
    jumping_s: list[float]


@lesson.step(
    "A count is not a time",
    predict=Guess(
        "A loop visits the same numbers in two orders: in the order in which they lie in memory, and in a jumping "
        "order. Both loops execute equally many instructions. What is the time in the jumping order divided by the "
        "time in memory order?",
        "times",
    ),
    expected="about 5 times",
    wrong_reasoning="Students think that equal instructions take equal time. But the processor waits when a number is "
    "not in its caches.",
    fast={"turns": 3},
)
def a_count_is_no_time(turns: int = 5, n: int = 1_000_000) -> Orders | None:
    """Can a count of instructions replace a time? We count and time two loops that execute the same instructions.

    Both loops visit the same objects, which are numbers, in lists of the same length. In `in_order`, neighbours in the
    list are neighbours in memory. In `jumping`, each number is at least a thousand objects away from the number before
    it.

    The clock reads the CPU time of this thread. This time includes waiting for memory, but not waiting for other
    programs.
    """
    if lacking():
        return None
    setup = two_orders(n)
    counts = count_scripts(
        [setup + "visit(in_order)\n", setup + "visit(jumping)\n"]
    )  # fmt: skip
    first = Timer("visit(in_order)", setup, timer=thread_time)
    second = Timer("visit(jumping)", setup, timer=thread_time)
    in_order_s, jumping_s = [], []
    for _ in range(turns):
        in_order_s.append(first.timeit(3).median)
        jumping_s.append(second.timeit(3).median)
    in_order, jumping = (each.instructions for each in counts)
    return Orders(n, in_order, jumping, in_order_s, jumping_s)


SAME_COUNT = a_count_is_no_time.claim(
    "same-count",
    "the instruction counts of the two orders differ by at most one instruction per thousand numbers",
    at_most=1e-3,
    unit=followed("instructions per number", units.number),
)
NO_FIXED_PRICE = a_count_is_no_time.claim(
    "no-fixed-price",
    "visiting the numbers takes at least 1.5 times as long in the jumping order as in memory order",
    at_least=1.5,
    unit=units.ratio,
)


@a_count_is_no_time.explain
def _(page: Page, found: Orders | None) -> None:
    if found is None:
        page.skip_step(lacking(), shows="that two loops with equal counts take different times")
        return
    rows = [
        ("memory order", found.in_order, min(found.in_order_s)),
        ("jumping", found.jumping, min(found.jumping_s)),
    ]
    heads = {"order": None, "instructions of the script": units.count, "shortest CPU time of the loop": units.seconds}
    page.table(Table.of(f"A loop over {units.count(found.numbers)} numbers", heads, rows))
    times = Interval.every(b / a for a, b in zip(found.in_order_s, found.jumping_s, strict=True))
    page.reveal(times)
    apart = abs(found.jumping - found.in_order)
    page.settle(SAME_COUNT, apart / found.numbers, remark=f"the counts differ by {units.some(apart, 'instruction')}")
    page.settle(NO_FIXED_PRICE, times)
    page.say(
        "A processor reads memory in blocks (cache lines) and keeps recent blocks in its caches. In memory order, the",
        "next number is in the same block, or the processor has already fetched the next block. In the jumping order,",
        "almost every number is in a different block, far away from the block of the number before.",
        NO_FIXED_PRICE.words(
            held="The processor waits for memory, and Callgrind does not count this waiting.",
            refuted="On this machine the difference is small. Perhaps its caches contain the whole list, or the"
            " processor does other work while it waits.",
            unclear="This run does not show clearly how much longer the jumping order takes.",
        ),
    )
    page.say(
        "A count of instructions leaves out waiting and the work of the operating system. If several cores share the",
        "work, the time can decrease, but the count does not. A count shows whether your code executes more or fewer",
        "instructions, and in which functions. Only a clock shows whether the code became faster.",
    )


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

        [[gnu::noinline]]
        Tensor dot_value(Tensor a, Tensor b) { return a.mul(b).sum(-1); }
        [[gnu::noinline]]
        Tensor dot_reference(const Tensor& a, const Tensor& b) {
          return a.mul(b).sum(-1);
        }

        void by_value(const Tensor& x, long calls) {
          while (calls--) value(x);
        }
        void by_reference(const Tensor& x, long calls) {
          while (calls--) reference(x);
        }
        void dots_by_value(const Tensor& x, long calls) {
          while (calls--) dot_value(x, x);
        }
        void dots_by_reference(const Tensor& x, long calls) {
          while (calls--) dot_reference(x, x);
        }
    """
    loops = (
        "by_value",
        "by_reference",
        "dots_by_value",
        "dots_by_reference",
    )
    return Snippet(
        "; ".join(f"extension.{loop}(x, 100)" for loop in loops),
        setup="x = torch.ones(4, 32)",
        number=10,
        extension=source,
        functions=loops,
    )


@lesson.step(
    "Count one statement of torch",
    predict=Guess(
        "`x` and `y` are tensors of 128 numbers. How many instructions does Python execute for one `x * y`?",
        "instructions",
    ),
    expected="about 10 000 instructions",
    depends_on="the version of torch",
    wrong_reasoning="Students think of 128 multiplications and guess a few hundred instructions. But torch and Python "
    "do much work around the multiplications.",
    fast={"compiling": 0},
)
def a_statement_of_torch(compiling: int = 1) -> dict[str, SnippetCounts]:
    """`Timer.collect_callgrind` counts the instructions of a statement, without the imports and the setup before it.

    For example, `Timer("x * y", setup="x, y = torch.ones(2, 128)").collect_callgrind(number=100, repeats=3)` returns
    one `CallgrindStats` for each of three repeats. With `language="cpp"`, the statement is written in C++.

    PyTorch's quick start measured 2.34 µs for one `x * y` of 128 numbers. In a nanosecond, a processor often executes
    two to ten instructions.

    Each of these counts takes tens of seconds. Python imports torch on the simulated processor, and C++ code must be
    compiled first. We therefore start all four counts of this lesson together. The C++ program reads the length of `y`
    from an environment variable, so we compile only one program for two lengths. `harness.callgrind` calls
    `collect_callgrind`, and keeps the counts in your cache folder for the next run.
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


PYTHON_VARIES = a_statement_of_torch.claim(
    "python-varies",
    "three counts of a Python statement in one process are not all equal",
    at_least=2,
    unit=units.count,
)
LOOKUPS_ARE_NOISE = a_statement_of_torch.claim(
    "lookups-are-noise",
    "each count of a Python statement contains instructions of searches in dictionaries",
    at_least=1,
    unit=units.count,
)


@a_statement_of_torch.explain
def _(page: Page, counted: dict[str, SnippetCounts]) -> None:
    python = counted["Python"]
    if python.reason:
        page.skip_step(python.reason, shows="how many instructions a Python statement takes, and how this count varies")
        return
    page.table(repeats(python))
    stats = python.stats
    page.reveal(stats.counts() / stats.number_per_run, "One `x * y` multiplies 128 pairs of numbers.")
    page.output("\n".join(repr(stats).splitlines()[1:]), caption="The last CallgrindStats, as torch prints it")
    different = len({each.counts() for each in python.all})
    page.settle(PYTHON_VARIES, different, unit=followed(f"different values among {len(python.all)} counts"))
    removed = [searches(each.stats()) for each in python.all]
    least = min(each.sum() for each in removed)
    page.settle(LOOKUPS_ARE_NOISE, least, remark="the instructions of searches in the smallest count")
    page.say(
        "The count of a Python statement can change even with fixed hashes, for example because the contents of memory",
        "and of the interpreter's internal caches change from repeat to repeat.",
        PYTHON_VARIES.words(
            held="",
            refuted="In this run all repeats have equal counts, but another run can differ.",
            unclear="",
        ),
        "Use several `repeats`, and discard the first repeat.",
    )
    page.say(
        torch_denoise(stats.counts() - stats.counts(denoise=True)),
        how_found(removed[-1]),
    )


def repeats(python: SnippetCounts) -> Table:
    """Return a table of the instruction counts of all repeats, with and without the searches in dictionaries."""
    rows = [
        (n, each.counts(), each.counts(denoise=True), denoise(each.stats()).sum())
        for n, each in enumerate(python.all, start=1)
    ]
    heads = dict.fromkeys(("repeat", "counts()", "counts(denoise=True)", "harness denoise"), units.count)
    return Table.of(f"Instructions of {python.stats.number_per_run} runs of `x * y`", heads, rows)


def torch_denoise(removed: float) -> str:
    """Return sentences about torch's option `denoise=True`, which removed `removed` instructions from the count."""
    purpose = (
        "PyTorch's manual describes the counts of searches in dictionaries as noisy. The option `denoise=True` should"
        " remove the searches."
    )
    if removed:
        return f"{purpose} In this run it removed {units.some(removed, 'instruction')}."
    return (
        f"{purpose} In this run it removed nothing, because it looks for a function whose name Python has not used"
        f" since 3.11. This is Python {sys.version.split()[0]}."
    )


def how_found(removed: FunctionCounts) -> str:
    """Return sentences about how `harness.callgrind` found the searches in dictionaries that it removed."""
    if not removed:
        return "`harness.callgrind` also found no searches in dictionaries, neither by name nor by an experiment."
    if any(address(function) for _, function in removed):
        return (
            "This Python was built without the names of its internal functions. `harness.callgrind` therefore makes an"
            " experiment: it searches a dictionary for a key that is found at once, and for a key that is found late."
            " The function that takes more instructions for the second key is the search function."
        )
    return "`harness.callgrind` finds the searches by the names of their functions. `denoise` removes the searches."


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def function_name(function: str) -> str:
    name = function.partition(":")[2].partition(" [")[0]
    name = name.replace("(anonymous namespace)::", "")
    return name.partition("(")[0] or name


@lesson.given
def group_by_file(function: str) -> str:
    file, _, rest = function.partition(":")
    if file == "???" and rest.endswith("]"):
        return "[" + rest.rpartition("/")[2]
    return "/".join(Path(file).parts[-2:])


@lesson.given
class Places(NamedTuple):
    stats: CallgrindStats
    names: FunctionCounts
    files: FunctionCounts
    printed: str


@lesson.step(
    "Which functions execute the instructions?",
    predict=Choice.ranges(
        "Which share of the instructions of `x * y` belongs to the function that executes the most instructions?",
        (0.15, 0.5),
        units.percent,
    ),
    expected="a",
    wrong_reasoning="Students expect one function that multiplies. But the instructions are spread over many small "
    "functions that prepare the operation.",
)
def where_it_is() -> Places | None:
    """Callgrind's result is a list of functions with their numbers of instructions. There are two kinds of counts.

    The exclusive count of a function contains only its own instructions. The inclusive count also contains the
    instructions of all functions that it calls. `as_standardized` shortens the paths.

    `transform` renames functions and adds up the counts of functions with equal names. `function_name` removes the
    file, the library and the arguments. `group_by_file` returns the file, or the library if the file is unknown.
    """
    python = collect(in_python())
    if python.reason:
        return None
    short = python.stats.as_standardized().stats()
    torch.set_printoptions(linewidth=76)
    printed = repr(short[:9])
    torch.set_printoptions(profile="default")
    names = python.stats.stats().transform(function_name)
    files = python.stats.stats().transform(group_by_file)
    return Places(python.stats, names, files, printed)


NO_HOT_SPOT = where_it_is.claim(
    "no-hot-spot",
    "no single function executes more than 15 % of the instructions of `x * y`",
    at_most=0.15,
    unit=units.percent,
)
INCLUSIVE_IS_NO_SUM = where_it_is.claim(
    "inclusive-is-no-sum",
    "the inclusive counts of all functions of `x * y` add up to more than 5 times the executed instructions",
    at_least=5,
    unit=units.ratio,
)
FILES_ARE_MISSING = where_it_is.claim(
    "files-are-missing",
    "more than a tenth of the instructions of `x * y` are in functions without a known source file",
    at_least=0.1,
    unit=units.percent,
)


@where_it_is.explain
def _(page: Page, found: Places | None) -> None:
    if found is None:
        reason = page.result(a_statement_of_torch)["Python"].reason
        page.skip_step(reason, shows="the functions and files that a multiplication uses")
        return
    own, total = found.stats.stats(), found.stats.counts()
    show_places(page, found)
    largest_function = max(own, key=lambda each: each.count)
    most = largest_function.count / total
    page.reveal(
        most, f"`{function_name(largest_function.function)}` executes {units.percent(most)} of all instructions."
    )
    page.settle(NO_HOT_SPOT, most)
    page.settle(INCLUSIVE_IS_NO_SUM, found.stats.stats(inclusive=True).sum() / total)
    nameless = own.filter(lambda function: function.startswith("???")).sum() / total
    page.settle(FILES_ARE_MISSING, nameless)
    page.say(
        "Only a small part of the instructions multiplies numbers. The other instructions, for example, allocate and",
        "free memory, compare shapes, or release and take Python's global lock (the GIL).",
        NO_HOT_SPOT.words(
            held="Even without its largest function, `x * y` would execute at least"
            f" {units.percent(1 - NO_HOT_SPOT.at_most)} of the instructions.",
            refuted="One function has a large share of the instructions, so look at this function first.",
            unclear="",
        ),
    )
    page.say(
        "Inclusive counts show which caller causes the instructions. But they count an instruction several times: in",
        "the function that executes it, and in each direct or indirect caller of this function. Exclusive counts add",
        "up to the total. Compare exclusive counts, as step 7 does.",
    )
    page.say(
        FILES_ARE_MISSING.words(
            held="Instead of the names of these files, the counts contain “???”, because a library was built without"
            " debug symbols. The official packages of torch are built like this. To get files and"
            " lines, build torch yourself with REL_WITH_DEB_INFO=1.",
            refuted="The source files of nearly all instructions are known. The official packages of torch are built"
            " without debug symbols and do not contain file names.",
            unclear="",
        )
    )
    page.say(lost_names(sum(bool(address(function)) for _, function in own), len(own)))


def show_places(page: Page, found: Places) -> None:
    """Print the functions and the files that execute the most instructions, and save a picture of the functions."""
    page.output(
        "\n".join(found.printed.splitlines()[1:]),
        caption="stats()[:9], standardized, 76 columns wide. The total is the sum of these nine rows.",
    )
    total = found.stats.counts()
    for kind, counts in (("functions", found.names), ("files", found.files)):
        rows = [(shortened(each.function), each.count, each.count / total) for each in list(counts)[:6]]
        heads = {NAME_HEADS[kind]: None, "instructions": units.count, "share": units.percent}
        page.table(Table.of(f"The six {kind} with the most instructions", heads, rows))
    page.save("functions", picture(found.stats.stats(), title="x * y from Python: instructions by function"))


NAME_HEADS = {"functions": "function_name", "files": "group_by_file"}
"""The function that makes the names in each table of `show_places`."""


def lost_names(lost: int, functions: int) -> str:
    """Return sentences about the functions without a name: `lost` of `functions`. Return "" if `lost` is 0."""
    if not lost:
        return ""
    return (
        f"Functions without a name: {lost} of {functions}. The counts contain their addresses (0x…) instead. Some"
        " programs, such as Debian's Python, are built without the names of their internal functions."
    )


def shortened(name: str, most: int = 46) -> str:
    """Return a name with at most `most` characters. An ellipsis replaces the beginning of a longer name."""
    return name if len(name) <= most else f"…{name[1 - most :]}"


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def manages_memory(function: str) -> bool:
    words = ("malloc", "alloc", "memalign", "free", "empty")
    return any(word in function_name(function) for word in words)


@lesson.given
def yours(function: str) -> bool:
    return "mutex" in function or "gil" in function


@lesson.given
class Filtered(NamedTuple):
    own: FunctionCounts
    memory: FunctionCounts
    yours: FunctionCounts
    rest: FunctionCounts


@lesson.step(
    "A filter of your own",
    predict=Choice.ranges(
        "Which share of the instructions of `x * y` does the filter `manages_memory` keep?", (0.1, 0.4), units.percent
    ),
    expected="b",
    wrong_reasoning="Students think that only the arithmetic counts. But each product also needs a new tensor, and "
    "its memory must be managed.",
)
def a_filter() -> Filtered | None:
    """`filter` keeps the counts of all functions for which your Python function returns True.

    `manages_memory` keeps functions whose names contain a word for allocating or freeing memory. `yours` is your own
    filter. At first it keeps functions that lock something. In the notebook of this lesson, write a different condition
    into `yours`, and run the cells of this step again.
    """
    python = collect(in_python())
    if python.reason:
        return None
    own = python.stats.stats()

    def neither(function: str) -> bool:
        return not manages_memory(function) and not yours(function)

    return Filtered(
        own,
        own.filter(manages_memory),
        own.filter(yours),
        own.filter(neither),
    )


MEMORY_MATTERS = a_filter.claim(
    "memory-matters",
    "more than 5 % of the instructions of `x * y` are in functions that manage memory",
    at_least=0.05,
    unit=units.percent,
)
FILTERS_ADD_UP = a_filter.claim(
    "filters-add-up",
    "the counts that at least one filter keeps and the other counts add up to the whole count",
    equals=0,
    unit=followed("instructions apart"),
)


@a_filter.explain
def _(page: Page, found: Filtered | None) -> None:
    if found is None:
        reason = page.result(a_statement_of_torch)["Python"].reason
        page.skip_step(reason, shows="how many instructions a filter keeps")
        return
    whole = found.own.sum()
    kinds = (("manages_memory", found.memory), ("yours", found.yours), ("neither", found.rest))
    rows = [(name, len(counts), counts.sum(), counts.sum() / whole) for name, counts in kinds]
    heads = {"filter": None, "functions": None, "instructions": units.count, "share": units.percent}
    page.table(Table.of("The functions that each filter keeps", heads, rows))
    for name, counts in kinds[:2]:
        kept = [(shortened(each.function), each.count) for each in list(counts.transform(function_name))[:5]]
        page.table(
            Table.of(f"The first functions that `{name}` keeps", {"function": None, "instructions": units.count}, kept)
        )
    share = found.memory.sum() / whole
    page.reveal(Interval.exact(share), f"`manages_memory` keeps {units.percent(share)} of the instructions.")
    page.settle(MEMORY_MATTERS, share)
    kept_by_any = {each for counts in (found.memory, found.yours) for each in counts}
    page.settle(FILTERS_ADD_UP, abs(sum(each.count for each in kept_by_any) + found.rest.sum() - whole))
    page.say(
        "A filter that reads names can keep too much or too little. Before you use its sum, read the names that it",
        "keeps, and the names with large counts that it does not keep.",
        "For the notebook, run `fairclock lessons 08_callgrind --notebook 08.ipynb`.",
    )


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Languages(NamedTuple):
    cpp: SnippetCounts
    python: SnippetCounts
    times_s: list[float]


@lesson.step(
    "The same statement in C++",
    predict=Choice(
        "We count the instructions of the C++ statement in two separate processes. By how much do the counts differ?",
        {"a": "they are equal", "b": "by less than 0.1 %", "c": "by 0.1 % or more"},
        limits=(1e-9, 1e-3),
    ),
    expected="a",
    wrong_reasoning="Students remember that Python's counts differ and expect the same here. But the C++ program has "
    "no hashes and no interpreter.",
    fast={"compiling": 0},
)
def the_same_in_cpp(compiling: int = 1) -> Languages:
    """To count with `language="cpp"`, `Timer` compiles the statement and the setup into a program without Python.

    The Python statement takes additional instructions. The interpreter executes some of these instructions. The other
    instructions belong to torch's functions that pass a call from Python to C++.
    """
    cpp = collect(in_cpp(numbers=128, runs=2), compiling=bool(compiling))
    statement = Timer("x * y", setup="x, y = torch.ones(2, 128)")
    times = [
        statement.blocked_autorange(min_run_time=0.05).median
        for _ in range(5)
    ]  # fmt: skip
    return Languages(cpp, collect(in_python()), times)


CPP_AGREES = the_same_in_cpp.claim(
    "cpp-agrees",
    "two counts of the C++ statement differ by at most 0.1 %",
    at_most=1e-3,
    unit=units.percent,
)
TIMINGS_DO_NOT = the_same_in_cpp.claim(
    "timings-do-not",
    "of five timings of the Python statement, the longest is more than 0.1 % longer than the shortest",
    at_least=1e-3,
    unit=units.percent,
)
PYTHON_HAS_A_PRICE = the_same_in_cpp.claim(
    "python-has-a-price",
    "the Python statement takes more instructions than the C++ statement",
    at_least=1,
    unit=units.ratio,
)


@the_same_in_cpp.explain
def _(page: Page, found: Languages) -> None:
    cpp, python, times = found
    if cpp.reason or python.reason:
        page.skip_step(cpp.reason or python.reason, shows="that two counts of a C++ statement agree")
        return
    first, second = (each.counts() for each in cpp.all[:2])
    number = cpp.stats.number_per_run
    rows = (("C++, first collection", first), ("C++, second collection", second), ("Python", python.stats.counts()))
    heads = {"": None, "instructions per run": units.count}
    page.table(Table.of("x * y on 128 numbers", heads, [(name, count / number) for name, count in rows]))
    apart = abs(second / first - 1)
    page.reveal(apart, f"The difference is {units.some(abs(second - first), 'instruction')}.")
    page.settle(CPP_AGREES, apart)
    page.settle(TIMINGS_DO_NOT, max(times) / min(times) - 1)
    page.settle(PYTHON_HAS_A_PRICE, python.stats.counts() / cpp.stats.counts())
    page.say(
        "PyTorch's quick start counts 563 600 instructions for 100 runs of the same C++ statement. This run counted",
        f"{units.count(cpp.stats.counts())}. Its release of torch differs from that of this run, and its compiler and",
        "its processor can differ too. Compare only counts from one environment, and name the environment.",
    )


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Difference(NamedTuple):
    plain: FunctionCounts
    delta: FunctionCounts
    left: FunctionCounts
    chain: FunctionCounts


@lesson.step(
    "The additional instructions of a broadcast",
    predict=Choice(
        "We multiply a tensor of 128 numbers by a tensor of 1 number (a broadcast), or by a second tensor of 128 "
        "numbers. Each product takes 128 multiplications, but the broadcast reads only about half as many numbers. "
        "Which product takes more instructions?",
        {"a": "{128} × {128}", "b": "both take the same number", "c": "{128} × {1}, the broadcast"},
        limits=(-0.5, 0.5),
    ),
    expected="c",
    wrong_reasoning="Students think that fewer numbers to read mean fewer instructions. But the broadcast misses the "
    "fast way to prepare the operation.",
    fast={"compiling": 0},
)
def what_a_broadcast_costs(compiling: int = 1) -> Difference | str:
    """Counts can be subtracted. For each function, `a.delta(b)` contains the count in `a` minus the count in `b`.

    A difference leaves out functions whose counts are equal. As a check, we compute the count of the product without a
    broadcast + the difference - the count of the broadcast. The result should be 0.

    `chain` shortens the paths, subtracts the counts, removes the searches in dictionaries, and shortens the names.
    """
    may_compile = bool(compiling)
    plain = collect(in_cpp(numbers=128, runs=2), compiling=may_compile)
    broadcast = collect(in_cpp(numbers=1), compiling=may_compile)
    if plain.reason or broadcast.reason:
        return plain.reason or broadcast.reason
    delta = broadcast.stats.delta(plain.stats)
    left = plain.stats.stats() + delta - broadcast.stats.stats()
    new = broadcast.stats.as_standardized()
    old = plain.stats.as_standardized()
    chain = new.delta(old).denoise().transform(function_name)
    return Difference(plain.stats.stats(), delta, left, chain)


MORE = signed(units.count)
"""The format of a difference of instruction counts: a number with its sign."""

BROADCAST_COSTS = what_a_broadcast_costs.claim(
    "broadcast-costs",
    "the product {128} × {1}, a broadcast, takes more instructions than the product {128} × {128}",
    at_least=1,
    unit=MORE,
)
FAST_PATH_MISSED = what_a_broadcast_costs.claim(
    "fast-path-missed",
    "the function `fast_set_up` executes fewer instructions in the product {128} × {1} than in {128} × {128}",
    at_most=-1,
    unit=MORE,
)
CHAIN_KEEPS_SUM = what_a_broadcast_costs.claim(
    "chain-keeps-sum",
    "the counts of `chain` add up to the difference: a C++ program does not search Python's dictionaries",
    equals=0,
    unit=followed("instructions apart"),
)
DIFFERENCE_ADDS_UP = what_a_broadcast_costs.claim(
    "difference-adds-up",
    "the count of {128} × {128} plus the difference is exactly the count of {128} × {1}",
    equals=0,
    unit=units.count,
)


@what_a_broadcast_costs.explain
def _(page: Page, found: Difference | str) -> None:
    if isinstance(found, str):
        page.skip_step(found, shows="in which functions of torch a broadcast executes more or fewer instructions")
        return
    plain, delta, left, chain = found
    ranked = sorted(chain, key=lambda each: -each.count)
    rows = [(shortened(each.function), each.count) for each in [*ranked[:6], *ranked[-3:]]]
    heads = {"function": None, "more instructions": MORE}
    title = "The largest and smallest counts in `chain`: 100 runs, {128} × {1} minus {128} × {128}"
    page.table(Table.of(title, heads, rows))
    more = delta.sum()
    page.reveal(more, f"The difference is {MORE(more / 100)} instructions per run.")
    page.settle(BROADCAST_COSTS, more, remark=f"{units.percent(more / plain.sum())} of the count of {{128}} × {{128}}")
    early = delta.filter(lambda function: "fast_set_up" in function).sum()
    page.settle(FAST_PATH_MISSED, early)
    page.settle(CHAIN_KEEPS_SUM, abs(chain.sum() - delta.sum()))
    page.settle(DIFFERENCE_ADDS_UP, sum(abs(each.count) for each in left))
    page.save(
        "broadcast", picture(delta, title="Instructions of 100 runs: count of {128} × {1} - count of {128} × {128}")
    )
    page.say(
        FAST_PATH_MISSED.words(
            held="If both tensors have the same shape, torch prepares its loop in the short function `fast_set_up`. For"
            " a broadcast, this function returns early, and torch computes shapes and strides in longer functions.",
            refuted="In this release of torch, `fast_set_up` does not execute fewer instructions in a broadcast. The"
            " table shows which functions differ.",
            unclear="",
        )
    )
    page.say(
        "PyTorch's quick start shows the same comparison for its release of torch: a difference of +58 091",
        "instructions for 100 runs. It contains +17 600 for `compute_strides`, +12 700 for",
        f"`allocate_or_resize_outputs`, and -22 600 for `fast_set_up`. In this run the difference is {MORE(more)}, in",
        f"{len(delta.transform(group_by_file))} files and libraries. A clock cannot show which functions cause a",
        "difference.",
    )


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Loops(NamedTuple):
    inclusive: FunctionCounts
    calls: int


@lesson.step(
    "Arguments by value and by reference",
    predict=Guess(
        "A C++ function takes a Tensor by value instead of by reference. How many additional instructions does this "
        "cost per call?",
        "instructions",
    ),
    expected="about 30 instructions",
    wrong_reasoning="Students think that passing by value copies the numbers. But it copies only a small handle, and "
    "changes its reference count.",
    fast={"compiling": 0},
)
def by_value_by_reference(compiling: int = 1) -> Loops | str:
    """We count a small difference. The C++ extension of step 3 has four loops of 100 calls.

    A Tensor in C++ is a handle with a reference count. A call by value copies the handle and destroys the copy at the
    end.

    Two loops call a function that returns the number of dimensions of a tensor. Two loops call a batched dot product of
    two tensors. The inclusive count of a loop contains the instructions of the functions that it calls.
    """
    extension = collect(in_extension(), compiling=bool(compiling))
    if extension.reason:
        return extension.reason

    def is_loop(function: str) -> bool:
        return function_name(function) in in_extension().functions

    loops = extension.stats.stats(inclusive=True).filter(is_loop)
    return Loops(loops, 100 * extension.stats.number_per_run)


COPY_COSTS = by_value_by_reference.claim(
    "copy-costs",
    "a call with a Tensor by value takes more than 1.5 times the instructions of a call by reference",
    at_least=1.5,
    unit=units.ratio,
)


DOT_HIDES_COPY = by_value_by_reference.claim(
    "dot-hides-copy",
    "a batched dot product with Tensors by value takes less than 3 % more instructions than by reference",
    at_most=0.03,
    unit=units.percent,
)


@by_value_by_reference.explain
def _(page: Page, found: Loops | str) -> None:
    if isinstance(found, str):
        page.skip_step(found, shows="how many instructions it takes to copy a Tensor argument")
        return
    value, reference = per_call(found, "by_value"), per_call(found, "by_reference")
    dots = per_call(found, "dots_by_value"), per_call(found, "dots_by_reference")
    rows = [
        ("number of dimensions", "Tensor", value),
        ("number of dimensions", "const Tensor&", reference),
        ("batched dot product", "Tensor", dots[0]),
        ("batched dot product", "const Tensor&", dots[1]),
    ]
    heads = {"function": None, "arguments": None, "instructions per call": units.count}
    page.table(Table.of("Calls with arguments by value and by reference", heads, rows))
    page.reveal(max(value - reference, 0.1))
    page.settle(COPY_COSTS, Interval.exact(value / reference) if reference else Interval.unknown())
    page.settle(DOT_HIDES_COPY, Interval.exact(dots[0] / dots[1] - 1) if dots[1] else Interval.unknown())
    page.say(
        "A copy of the handle increments the reference count, and the end of the copy decrements it. Both operations",
        "use atomic instructions, which other cores cannot interrupt. An atomic instruction takes longer than most",
        "other instructions, but a count does not show this.",
    )
    page.say(
        DOT_HIDES_COPY.words(
            held="The batched dot product copies two handles, but its operations `mul` and `sum` take most"
            " instructions. The allocator does not take equally many instructions in each call. This difference can be"
            " larger than the cost of the copies.",
            refuted="In this run, the difference is a visible part of the batched dot product.",
            unclear="",
        ),
        "In a small function that is called very often, use `const Tensor&`.",
    )


def per_call(loops: Loops, name: str) -> float:
    """Return the instructions per call in the loop `name`. Return 0 if the counts do not contain this loop."""
    counts = (each.count for each in loops.inclusive if function_name(each.function) == name)
    return max(counts, default=0) / loops.calls


lesson.key_points = (
    "Counts show which functions execute more or fewer instructions. Counts vary much less than times.",
    "Use fixed hashes and discard the first repeat. Compare exclusive counts from one machine, release and compiler.",
    "A count leaves out waiting and the operating system. Only a clock shows which code is faster.",
)
lesson.references = (
    "PyTorch, `Timer.collect_callgrind`: docs.pytorch.org/docs/stable/benchmark_utils.html",
    "PyTorch Timer quick start: docs.pytorch.org/tutorials/recipes/recipes/timer_quick_start.html",
    "Valgrind manual, “Callgrind”: valgrind.org/docs/manual/cl-manual.html",
)

if __name__ == "__main__":
    main(lesson)
