"""Lesson 07: draw random inputs, and find the inputs on which a function is slow.

The steps appear on the screen in the order of this file. A step has teaching code, a question, claims, and an
explanation. The words of the explanation depend on what the run measured. Inputs are drawn with fixed seeds, so each
machine draws the same inputs.
"""

import math
import time
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.benchmark import Timer

from harness.charts import plots
from harness.charts.pictures import bar_chart_svg
from harness.rendering import units
from harness.rendering.tables import Row, Table
from harness.torch_benchmark import fuzz
from harness.torch_benchmark.fuzz import (
    BinaryOpFuzzer,
    BinaryOpSparseFuzzer,
    FuzzedParameter,
    FuzzedTensor,
    Fuzzer,
    ParameterAlias,
    Sample,
    SpectralOpFuzzer,
    UnaryOpFuzzer,
    UnaryOpSparseFuzzer,
    label,
    limited,
    take,
)
from lessons.engine import Choice, Guess, Interval, Lesson, Page
from lessons.engine.command import main
from lessons.engine.published import RECIPE_FUZZED, RECIPE_SHAPES
from lessons.engine.words import followed, things

lesson = Lesson(
    __file__,
    objective="You can draw inputs with a seed, and reduce a slow input to the smallest input that is still slow.",
)


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def drawn(size: FuzzedParameter, count: int) -> list[int]:
    fuzzer = Fuzzer(parameters=[size], tensors=[], seed=7)
    return [parameters["n"] for _, _, parameters in fuzzer.take(count)]


@lesson.step(
    "A range of sizes",
    predict=Guess("We draw 1 000 sizes uniformly from 1 to 10 000. How many of the sizes are below 100?", "sizes"),
    expected="10 sizes",
    wrong_reasoning="Students expect many small sizes, because they often test small inputs. But only about a "
    "hundredth of the range from 1 to 10 000 is below 100.",
)
def a_range_of_sizes(draws: int = 2000) -> dict[str, list[int]]:
    """If you choose inputs yourself, you probably choose contiguous tensors of round sizes, such as 1024 × 1024.

    PyTorch's `Fuzzer` draws inputs at random. A `FuzzedParameter` is a random number. The distribution of this number
    is `uniform`, `loguniform` (the logarithm of the number is uniform), or given by probabilities of your own.
    `take(n)` returns n draws. With equal seeds, a fuzzer draws equal inputs.
    """
    common = {1: 0.2, 128: 0.5, 1000: 0.3}
    sizes = {
        "uniform": FuzzedParameter("n", 1, 10_000, "uniform"),
        "loguniform": FuzzedParameter("n", 1, 10_000, "loguniform"),
        "custom": FuzzedParameter("n", distribution=common),
    }
    return {name: drawn(size, draws) for name, size in sizes.items()}


UNIFORM_IS_LARGE = a_range_of_sizes.claim(
    "uniform-is-large",
    "less than 3 % of the sizes drawn with `uniform` are below 100",
    at_most=0.03,
    unit=units.percent,
)
LOG_IS_EVEN = a_range_of_sizes.claim(
    "log-is-even",
    "about half of the sizes drawn with `loguniform` are below 100",
    at_least=0.45,
    at_most=0.55,
    unit=units.percent,
)
CUSTOM_IS_KEPT = a_range_of_sizes.claim(
    "custom-is-kept",
    "if a size has the probability 0.5, the fuzzer draws this size in 46 % to 54 % of the draws",
    at_least=0.46,
    at_most=0.54,
    unit=units.percent,
)


@a_range_of_sizes.explain
def _(page: Page, sizes: dict[str, list[int]]) -> None:
    ranges = ((1, 10), (10, 100), (100, 1000), (1000, 10_001))
    heads = {"": None, **{f"{low} to {high - 1}": units.percent for low, high in ranges}}
    rows_: list[Row] = [(name, *(share(each, low, high) for low, high in ranges)) for name, each in sizes.items()]
    page.table(
        Table.of(f"Share of the sizes in each range, in {units.count(len(sizes['uniform']))} draws", heads, rows_)
    )
    small = share(sizes["uniform"], 1, 100)
    page.reveal(
        max(1000 * small, 1), "Of the 10 000 possible sizes, 99 are below 100, and all sizes are equally likely."
    )
    page.settle(UNIFORM_IS_LARGE, small)
    page.settle(LOG_IS_EVEN, share(sizes["loguniform"], 1, 100))
    page.settle(CUSTOM_IS_KEPT, share(sizes["custom"], 128, 129))
    page.say(
        "Real inputs have sizes of many orders of magnitude, and small inputs are slow for other reasons than large",
        "inputs. `loguniform` draws each order of magnitude equally often. Give powers of two a separate probability, "
        "because an input whose size is a power of two can be slow (see step 4).",
    )
    page.say(about_repair(fuzz.REPAIRED))


def about_repair(repaired: bool) -> str:
    """Return sentences about a bug in torch's check of custom probabilities.

    `repaired` states whether the installed torch has this bug, which `harness.torch_benchmark.fuzz` then repairs.
    """
    if repaired:
        return (
            f"torch {torch.__version__} raises the error “Distribution is not normalized” for valid probabilities like"
            " those of `custom`, because the condition of its check is reversed. Without a repair of this check, the "
            "fuzzers of step 6 raise the same error. The import of `harness.torch_benchmark.fuzz` replaces the wrong "
            "check by a correct check."
        )
    return (
        "Some torch releases, such as 2.13, raise an error for valid probabilities like those of `custom`. Your "
        "release of torch does not have this bug."
    )


def share(sizes: list[int], low: int, high: int) -> float:
    """Return the share of the sizes that are at least `low` and less than `high`."""
    return sum(low <= size < high for size in sizes) / len(sizes)


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def pairs(seed: int) -> Fuzzer:
    sizes, steps = ("k0", "k1", "k2"), ("step0", "step1", "step2")
    dims, flips = {1: 0.3, 2: 0.4, 3: 0.3}, {1: 0.8, 2: 0.2}
    same = {1: 0.3, ParameterAlias("k0"): 0.7}
    return Fuzzer(
        parameters=[
            FuzzedParameter("dim", distribution=dims, strict=True),
            [FuzzedParameter(k, 4, 8192, "loguniform") for k in sizes],
            FuzzedParameter("y_k0", distribution=same),
            [FuzzedParameter(k, distribution=flips) for k in steps],
        ],
        tensors=[
            FuzzedTensor(
                "x", sizes, steps, dim_parameter="dim",
                probability_contiguous=0.5,
                min_elements=256, max_elements=65_536,
            ),
            FuzzedTensor(
                "y", ("y_k0", "k1", "k2"), dim_parameter="dim",
                probability_contiguous=0.5, dtype=torch.float64,
            ),
        ],
        seed=seed,
    )  # fmt: skip


@lesson.given
class Draws(NamedTuple):
    samples: list[Sample]
    again: list[Sample]


@lesson.step(
    "Tensors from parameters",
    predict=Choice(
        "We set `probability_contiguous` to 0.5. How many of the tensors `x` with one dimension and without steps are "
        "contiguous?",
        {"a": "none", "b": "about half", "c": "all"},
        limits=(1e-9, 1.0),
    ),
    expected="c",
    wrong_reasoning="Students think that the probability holds for each tensor. But the fuzzer makes a tensor "
    "discontiguous by a permutation of its dimensions, and one dimension has only one order.",
    fast={"draws": 60},
)
def tensors_from_parameters(
    draws: int = 200,
) -> Draws:
    """A `FuzzedTensor` is a random tensor.

    The definition of a `FuzzedTensor` names the parameters that give its sizes and steps. With the probability
    `probability_contiguous`, the axes of the tensor keep their order in memory. Otherwise the fuzzer shuffles the axes.
    A tensor with a step of 2 takes every second element of a larger tensor. If a tensor has fewer elements than
    `min_elements` or more than `max_elements`, the fuzzer draws again all parameters that are not `strict`.
    `dim_parameter` names the parameter that gives the number of dimensions.

    A `ParameterAlias` copies another parameter. In this example, the first size of `y` is the first size of `x`, or 1.
    If the first size of `y` is 1, `y` is broadcast.
    """
    samples = list(take(pairs(seed=1), draws))
    again = list(take(pairs(seed=1), draws))
    return Draws(samples, again)


WITHIN_BOUNDS = tensors_from_parameters.claim(
    "within-bounds",
    "the number of elements of each tensor `x` is within the bounds of the fuzzer",
    equals=0,
    unit=followed("outside the bounds"),
)
ALIAS_OR_ONE = tensors_from_parameters.claim(
    "alias-or-one",
    "the first size of each tensor `y` is 1 or equals the first size of `x`",
    equals=0,
    unit=followed("with another size"),
)
ONE_DIMENSION_IS_SPARED = tensors_from_parameters.claim(
    "one-dimension-is-spared",
    "each tensor `x` with one dimension and without steps is contiguous, although `probability_contiguous` is 0.5",
    equals=1,
    unit=units.percent,
)
STEPS_SPOIL_IT = tensors_from_parameters.claim(
    "steps-spoil-it", "no tensor `x` with steps in memory is contiguous", equals=0, unit=units.count
)
SEED_REPEATS = tensors_from_parameters.claim(
    "seed-repeats", "equal seeds give equal tensors, with equal strides", equals=0
)


@tensors_from_parameters.explain
def _(page: Page, draws: Draws) -> None:
    samples = draws.samples
    page.table(Table.of("The first six draws", {"tensors": None}, [(each.label,) for each in samples[:6]]))
    kinds: dict[str, list[Tensor]] = {"one dimension": [], "several dimensions": [], "with steps": []}
    for sample in samples:
        kinds[kind_of(sample)].append(sample.tensors["x"])
    contiguous = {kind: sum(x.is_contiguous() for x in xs) for kind, xs in kinds.items()}
    heads = {"x": None, "draws": units.count, "contiguous": units.count}
    lines = [(kind, len(xs), contiguous[kind]) for kind, xs in kinds.items()]
    page.table(Table.of("Contiguous tensors `x`, for a probability of 0.5", heads, lines))
    flat = len(kinds["one dimension"])
    part = contiguous["one dimension"] / flat
    page.reveal(part, "A tensor with one dimension has no axes to shuffle.")
    outside = sum(not 256 <= each.tensors["x"].numel() <= 65_536 for each in samples)
    page.settle(WITHIN_BOUNDS, outside)
    odd = sum(each.tensors["y"].shape[0] not in {1, each.tensors["x"].shape[0]} for each in samples)
    page.settle(ALIAS_OR_ONE, odd)
    page.settle(ONE_DIMENSION_IS_SPARED, part, remark=f"of {units.some(flat, 'tensor')}")
    page.settle(STEPS_SPOIL_IT, contiguous["with steps"], unit=followed(f"of {len(kinds['with steps'])} tensors"))
    differ = sum(not same(one, other) for one, other in zip(samples, draws.again, strict=True))
    page.settle(SEED_REPEATS, differ, unit=followed(f"of {len(samples)} differ"))
    page.say(
        "`probability_contiguous` is the probability of a contiguous tensor only for tensors with several axes and",
        "without steps. Call the tensor's method `is_contiguous()` to find out whether the tensor is contiguous.",
    )
    page.say("Save the seed with each result: the same fuzzer draws the same inputs again from this seed.")


def kind_of(sample: Sample) -> str:
    """Return "with steps", "one dimension" or "several dimensions", for the tensor `x` of the sample."""
    dim = sample.parameters["dim"]
    if any(sample.parameters[f"step{axis}"] > 1 for axis in range(dim)):
        return "with steps"
    return "one dimension" if dim == 1 else "several dimensions"


def same(one: Sample, other: Sample) -> bool:
    """Return whether two samples contain equal tensors with equal strides."""
    both = ((tensor, other.tensors[name]) for name, tensor in one.tensors.items())
    return all(a.stride() == b.stride() and torch.equal(a, b) for a, b in both)


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Named(NamedTuple):
    name: str
    tensor: Tensor


@lesson.given
class Sparse(NamedTuple):
    density: float
    tensor: Tensor


@lesson.given
class Names(NamedTuple):
    named: list[Named]
    sparse: list[Sparse]


@lesson.step(
    "Correct names for inputs",
    predict=Choice(
        "We name each input after the values of two parameters: `k0×k1`. For how many inputs is this name the shape of "
        "the tensor?",
        {"a": "less than half", "b": "at least half, but not all", "c": "all"},
        limits=(0.5, 1.0),
    ),
    expected="a",
    wrong_reasoning="Students think that the parameters are the shape. But a tensor with one or three dimensions uses "
    "one or three of the parameters.",
    fast={"draws": 60},
)
def a_label_that_does_not_lie(
    draws: int = 200,
) -> Names:
    """A measured time is useful only if the name of its input is correct.

    The obvious name of an input consists of the fuzzer's parameters. For a sparse tensor, the name also contains the
    density: the share of its elements that are stored.
    """
    named, sparse = [], []
    for sample in take(pairs(seed=2), draws):
        name = "{k0}×{k1}".format(**sample.parameters)
        named.append(Named(name, sample.tensors["x"]))
    fuzzer = limited(UnaryOpSparseFuzzer(seed=2), max_elements=1 << 20)
    for sample in take(fuzzer, 20):
        density = sample.parameters["density"]
        sparse.append(Sparse(density, sample.tensors["x"]))
    return Names(named, sparse)


PARAMETERS_LIE = a_label_that_does_not_lie.claim(
    "parameters-lie",
    "for at least half of the inputs, the name `k0×k1` is not the shape of the tensor",
    at_least=0.5,
    unit=units.percent,
)
LAYOUT_IS_HIDDEN = a_label_that_does_not_lie.claim(
    "layout-is-hidden",
    "at least half of the inputs whose name is their shape are not contiguous",
    at_least=0.5,
    unit=units.percent,
)
DENSITY_LIES = a_label_that_does_not_lie.claim(
    "density-lies",
    "a tensor with several sparse dimensions usually stores less than a tenth of the elements that `density` requests",
    at_most=0.1,
    unit=units.percent,
)


@a_label_that_does_not_lie.explain
def _(page: Page, names: Names) -> None:
    heads = dict.fromkeys(("name from parameters", "name from the tensor, by `harness.torch_benchmark.fuzz.label`"))
    lines = [(each.name, label(each.tensor)) for each in names.named[:6]]
    page.table(Table.of("Two names of the same input", heads, lines))
    right = [each.tensor for each in names.named if each.name == shape_of(each.tensor)]
    part = len(right) / len(names.named)
    page.reveal(part, f"The name from parameters is the shape for {units.percent(part)} of the inputs.")
    page.settle(PARAMETERS_LIE, 1 - part)
    odd = sum(not x.is_contiguous() for x in right) / len(right)
    page.settle(LAYOUT_IS_HIDDEN, odd, remark=f"of {units.some(len(right), 'input')}")
    parts = [stored(x) / asked for asked, x in names.sparse if x.sparse_dim() > 1]
    page.settle(DENSITY_LIES, median(parts), remark="stored share ÷ `density`, median")
    page.say(
        "A name with two sizes fits only a matrix, but some of these tensors have one or three dimensions. The name",
        "also hides the strides, which can change the time (step 4). The function `label` reads shape and strides from",
        "the tensor.",
    )
    page.say(
        "torch's sparse fuzzer draws (sum of the sizes) × density elements, instead of (product of the sizes) ×",
        "density (`torch/utils/benchmark/utils/sparse_fuzzer.py`). If the tensor is not coalesced, the fuzzer stores",
        "two values for each of them. Tensors with two or more sparse dimensions are therefore nearly empty.",
    )


def shape_of(tensor: Tensor) -> str:
    """Return the shape of a tensor as text, such as "3×4"."""
    return "×".join(map(str, tensor.shape))


def stored(tensor: Tensor) -> float:
    """Return the number of stored elements of a sparse tensor divided by the number of possible elements."""
    places: int = math.prod(tensor.shape[: tensor.sparse_dim()])
    return tensor._nnz() / places  # noqa: SLF001 - there is no public method for uncoalesced tensors


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def add_s(x: Tensor, y: Tensor, calls: int) -> float:
    timer = Timer(
        "torch.add(x, y)",
        globals={"x": x, "y": y},
        timer=time.thread_time,
    )
    return timer.timeit(calls).median


@lesson.given
class Turn(NamedTuple):
    plain_s: float
    transposed_s: float


@lesson.step(
    "The same sum, much slower",
    predict=Choice.ranges(
        "For 2048 × 2048 numbers, what is the time of `x + x.t()` divided by the time of `x + x`?",
        (2, 5),
        units.ratio,
    ),
    expected="c",
    wrong_reasoning="Students think that the transposed matrix costs nothing, because `x.t()` copies no numbers. But "
    "the sum then reads one operand across its rows.",
    fast={"rounds": 3},
)
def the_input_that_hurts(
    rounds: int = 5,
) -> dict[int, list[Turn]]:
    """The sums `x + x` and `x + x.t()` have operands of the same shape, and results of the same size.

    `x.t()` copies nothing: it is a view of `x` with exchanged strides. We measure both sums alternately. The clock
    measures the CPU time of this thread, without the time in which the thread waits for other programs.
    """
    turns: dict[int, list[Turn]] = {}
    for n, calls in ((512, 20), (2000, 1), (2048, 1)):
        x = torch.rand(n, n)
        turns[n] = []
        for _ in range(rounds):
            plain_s = add_s(x, x, calls)
            transposed_s = add_s(x, x.t(), calls)
            turns[n].append(Turn(plain_s, transposed_s))
    return turns


TRANSPOSED_HURTS = the_input_that_hurts.claim(
    "transposed-hurts",
    "for 2048 × 2048 numbers, `x + x.t()` takes more than 3 times as long as `x + x`",
    at_least=3,
    unit=units.ratio,
)
POWERS_HURT_MOST = the_input_that_hurts.claim(
    "powers-hurt-most",
    "in `x + x.t()`, the time per number is at least 1.1 times as long at size 2048 as at size 2000",
    at_least=1.1,
    unit=units.ratio,
)


@the_input_that_hurts.explain
def _(page: Page, turns: dict[int, list[Turn]]) -> None:
    heads = {"size": units.count, "x + x": units.seconds, "x + x.t()": units.seconds}
    heads |= {"ratio": units.ratio, "x + x.t(), per number": units.seconds}
    rows_ = []
    for n, rounds in turns.items():
        plain_s, transposed_s = (median(side) for side in zip(*rounds, strict=True))
        rows_.append((n, plain_s, transposed_s, transposed_s / plain_s, transposed_s / n**2))
    page.table(Table.of(f"CPU time, median of {len(turns[2048])} repetitions", heads, rows_))
    ratio = Interval.every(each.transposed_s / each.plain_s for each in turns[2048])
    page.reveal(
        ratio,
        f"In the repetitions, the ratio of the two times was {units.ratio(ratio.low)} to {units.ratio(ratio.high)}.",
    )
    page.settle(TRANSPOSED_HURTS, ratio)
    both = zip(turns[2000], turns[2048], strict=True)
    powers = Interval.every(b.transposed_s / 2048**2 / (a.transposed_s / 2000**2) for a, b in both)
    page.settle(POWERS_HURT_MOST, powers)
    page.say(
        "A processor reads memory in cache lines. A line usually has 64 bytes, which are 16 float32 numbers. Along a",
        "row of a matrix, one line contains the numbers for 16 sums. Along a column, each number is in a different "
        "cache line. A cache line may have left the cache before its next number is needed. torch also adds several "
        "neighbouring numbers of a row with one instruction, but reads the numbers of a column one by one.",
    )
    page.say(
        "At size 2048, the rows are 8 192 bytes apart. A cache chooses the place of a line by some lower bits of its",
        "address. For many lines of a column, these bits are equal, so the lines compete for a few places in the "
        "cache.",
        POWERS_HURT_MOST.words(
            held="At size 2000, the cache lines are spread over more places in the cache, and each number takes less "
            "time.",
            refuted="In this run, the time per number at size 2048 was less than "
            f"{units.ratio(POWERS_HURT_MOST.at_least)} the time at size 2000. Perhaps the cache is large enough, or "
            "chooses places in another way.",
            unclear="This run does not show clearly whether size 2000 takes less time per number.",
        ),
    )
    page.say(
        "People rarely choose a transposed 2048 × 2048 tensor for a benchmark. A fuzzer can draw transposed inputs of "
        "this size."
    )


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def mul_sum(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


@lesson.given
def bmm(a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a[:, None], b[:, :, None])[:, 0, 0]


@lesson.given
def call_s(stmt: str, a: Tensor, b: Tensor) -> float:
    names = {"a": a, "b": b, "mul_sum": mul_sum, "bmm": bmm}
    timer = Timer(stmt, globals=names, timer=time.thread_time)
    one_s = timer.timeit(1).median
    return timer.timeit(1 + int(1e-3 / max(one_s, 1e-6))).median


@lesson.given
def rows(seed: int) -> Fuzzer:
    batch = FuzzedParameter("batch", 1, 4096, "loguniform")
    n = FuzzedParameter("n", 1, 4096, "loguniform")
    operands = [
        FuzzedTensor(
            name,
            ("batch", "n"),
            probability_contiguous=0.5,
            min_elements=4096,
            max_elements=1 << 20,
        )
        for name in "ab"
    ]
    return Fuzzer([batch, n], [operands], seed=seed)


@lesson.given
class Times(NamedTuple):
    mul_sum_s: float
    bmm_s: float
    contiguous_s: float


@lesson.given
class Timed(NamedTuple):
    sample: Sample
    turns: list[Times]


@lesson.step(
    "Two functions on random inputs",
    predict=Choice.ranges(
        "For each of many random inputs, we divide the time of `bmm` by the time of `mul_sum`. What is the largest of "
        "these ratios divided by the smallest ratio?",
        (2, 5),
        units.ratio,
    ),
    expected="c",
    wrong_reasoning="Students think that one function is faster by a constant factor. But the factor depends on the "
    "size, the shape and the memory layout of the input.",
    fast={"draws": 20, "turns": 2},
)
def a_contest(
    draws: int = 40,
    turns: int = 3,
) -> list[Timed]:
    """We time `mul_sum` and `bmm`, which compute dot products of rows, on random inputs from a fixed seed.

    We also time `bmm` on contiguous copies of the same inputs. We make these copies before the timing.
    """
    contest = []
    for sample in take(rows(seed=4), draws):
        a, b = sample.tensors["a"], sample.tensors["b"]
        a_copy, b_copy = a.contiguous(), b.contiguous()
        times = []
        for _ in range(turns):
            mul_sum_s = call_s("mul_sum(a, b)", a, b)
            bmm_s = call_s("bmm(a, b)", a, b)
            contiguous_s = call_s("bmm(a, b)", a_copy, b_copy)
            times.append(Times(mul_sum_s, bmm_s, contiguous_s))
        contest.append(Timed(sample, times))
    return contest


MARGIN_MOVES = a_contest.claim(
    "margin-moves",
    "the largest ratio of time of `bmm` ÷ time of `mul_sum` is more than 5 times the smallest ratio",
    at_least=5,
    unit=units.ratio,
)
LAYOUT_MOVES = a_contest.claim(
    "layout-moves",
    "on at least one input, `bmm` takes at least 1.5 times as long as on a contiguous copy of this input",
    at_least=1.5,
    unit=units.ratio,
)


@a_contest.explain
def _(page: Page, contest: list[Timed]) -> None:
    medians = [(each.sample.label, *map(median, zip(*each.turns, strict=True))) for each in contest]
    ranked = sorted(((label_, *s, s[1] / s[0]) for label_, *s in medians), key=lambda each: each[-1])
    heads = {"input": None, "mul_sum": units.seconds, "bmm": units.seconds}
    heads |= {"bmm, contiguous": units.seconds, "bmm ÷ mul_sum": units.ratio}
    page.table(
        Table.of(
            f"The three best and the three worst inputs for bmm, of {len(contest)} inputs",
            heads,
            (*ranked[:3], *ranked[-3:]),
        )
    )
    turns = zip(*(each.turns for each in contest), strict=True)
    ratios = [[times.bmm_s / times.mul_sum_s for times in turn] for turn in turns]
    moves = Interval.every(max(each) / min(each) for each in ratios)
    ends = f"{units.ratio(ranked[0][-1])} to {units.ratio(ranked[-1][-1])}"
    page.reveal(moves, f"Depending on the input, `bmm` took {ends} the time of `mul_sum` (medians).")
    page.settle(MARGIN_MOVES, moves)
    slowed = {each.sample.label: [times.bmm_s / times.contiguous_s for times in each.turns] for each in contest}
    worst = max(slowed, key=lambda name: min(slowed[name]))
    page.settle(LAYOUT_MOVES, Interval.every(slowed[worst]), remark=f"for {worst}")
    bars = [(str(each[0]), each[-1]) for each in ranked]
    page.output(
        plots.bars([*bars[:3], *bars[-3:]], width=30, unit=units.ratio),
        caption="Time of bmm ÷ time of mul_sum: a longer bar is worse for bmm",
    )
    page.save("contest", bar_chart_svg(bars, title="bmm ÷ mul_sum on each drawn input", unit=units.ratio))
    shape, sum_s, bmm_s = RECIPE_FUZZED
    most = max(max(one / other, other / one) for _, one, other in RECIPE_SHAPES)
    page.say(
        "A comparison of two functions is valid only for the input that was measured. A table of sizes that you chose",
        "yourself does not show how much the result depends on the input.",
        LAYOUT_MOVES.words(
            held="The memory layout is also a part of the input.",
            refuted="In this run, the memory layout made no large difference to `bmm`.",
            unclear="This run does not show clearly how much the memory layout matters to `bmm`.",
        ),
    )
    page.say(
        f"For comparison: in PyTorch's benchmark recipe, bmm took {units.ratio(bmm_s / sum_s)} as long as mul-sum on",
        f"one drawn input, a {shape} tensor that was not contiguous. On the {len(RECIPE_SHAPES)} shapes that the",
        f"recipe chooses, with one thread, the slower function took at most {units.ratio(most)} as long as the other.",
    )


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def one_op(name: str, x: Tensor, y: Tensor | None) -> object:
    if name == "spectral":
        return torch.fft.fftn(x)
    return torch.neg(x) if y is None else torch.add(x, y)


@lesson.given
class Price(NamedTuple):
    sample: Sample
    per_element_s: list[float]


@lesson.step(
    "A fuzzer for each kind of operator",
    predict=Choice.ranges(
        "We time the addition of random pairs of tensors, and divide each time by the number of elements. What is the "
        "largest time per element divided by the smallest time per element?",
        (2, 10),
        units.ratio,
    ),
    expected="c",
    wrong_reasoning="Students think that an addition has a constant price per element. But small tensors pay mostly "
    "for the call, and strided tensors for memory.",
    fast={"draws": 6, "turns": 2},
)
def a_fuzzer_for_every_operator(
    draws: int = 12,
    turns: int = 3,
) -> dict[str, list[Price]]:
    """PyTorch contains five fuzzers for operators: unary, binary, sparse unary, sparse binary, and spectral.

    Together, the five fuzzers draw sizes of many orders of magnitude, special sizes such as powers of two, steps in
    memory, and shuffled axes. The binary fuzzer also draws pairs of tensors that are broadcast. By default, a tensor
    can need up to 2 GB. Our function `limited` keeps the tensors small enough for a laptop.
    """
    fuzzers = {
        "unary": UnaryOpFuzzer(seed=5),
        "binary": BinaryOpFuzzer(seed=5),
        "sparse unary": UnaryOpSparseFuzzer(seed=5),
        "sparse binary": BinaryOpSparseFuzzer(seed=5),
        "spectral": SpectralOpFuzzer(seed=5),
    }
    prices: dict[str, list[Price]] = {name: [] for name in fuzzers}
    for name, fuzzer in fuzzers.items():
        limited(
            fuzzer,
            max_elements=1 << 18,
            max_allocation_bytes=1 << 26,
        )
        for sample in take(fuzzer, draws):
            x, y = sample.tensors["x"], sample.tensors.get("y")
            names = {"one_op": one_op, "name": name, "x": x, "y": y}
            op = "one_op(name, x, y)"
            timer = Timer(op, globals=names, timer=time.thread_time)
            times = [timer.timeit(3).median for _ in range(turns)]
            per_element_s = [s / x.numel() for s in times]
            prices[name].append(Price(sample, per_element_s))
    return prices


ALL_FIVE_DRAW = a_fuzzer_for_every_operator.claim(
    "all-five-draw", "each of PyTorch's five fuzzers for operators draws inputs", equals=5, unit=units.count
)
PRICE_MOVES = a_fuzzer_for_every_operator.claim(
    "price-moves",
    "for additions of random pairs of tensors, the largest time per element is more than 3 times the smallest",
    at_least=3,
    unit=units.ratio,
)


@a_fuzzer_for_every_operator.explain
def _(page: Page, prices: dict[str, list[Price]]) -> None:
    lines = []
    for name, each in prices.items():
        fastest, *_, slowest = sorted(each, key=lambda price: median(price.per_element_s))
        lines.append((name, median(fastest.per_element_s), median(slowest.per_element_s), slowest.sample.label))
    heads = {"fuzzer": None, "fastest": units.seconds, "slowest": units.seconds, "the slowest input": None}
    page.table(Table.of(f"Time per element, {len(prices['unary'])} draws of each fuzzer", heads, lines))
    turns = zip(*(price.per_element_s for price in prices["binary"]), strict=True)
    moves = Interval.every(max(turn) / min(turn) for turn in turns)
    page.reveal(
        moves,
        f"In the repetitions, the largest time divided by the smallest was {units.ratio(moves.low)} to "
        f"{units.ratio(moves.high)}.",
    )
    page.settle(ALL_FIVE_DRAW, sum(len(each) > 0 for each in prices.values()))
    page.settle(PRICE_MOVES, moves)
    page.say(
        "In a small tensor, few elements share the overhead of the call. If a tensor has steps in memory, the "
        "operation may not use a large part of each cache line. If the axes of two tensors have different orders in "
        "memory, a loop cannot visit the elements of both tensors in the order in which they are stored. For sparse "
        "tensors, we divide by all elements of the shape, also those that are not stored.",
    )
    page.say(
        "To judge a change of an operator, time its old and its new version alternately on each drawn input. Look for",
        "the inputs on which the versions differ most. An average over all inputs can hide these inputs.",
    )


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Shrunk(NamedTuple):
    n: int
    ratios: list[float]


@lesson.step(
    "Smaller, and still slow",
    predict=Choice(
        "We halve the size again and again, from 2048 to 32. What is the smallest size at which `x + x.t()` still "
        "takes at least 3 times as long as `x + x`?",
        {"a": "32 or 64", "b": "128, 256 or 512", "c": "1024 or 2048"},
        limits=(128, 1024),
    ),
    expected="b",
    depends_on="the size of the cache next to the core",
    wrong_reasoning="Students think that a slow layout is slow at each size. But a small matrix fits into the caches, "
    "so the order of its numbers matters little.",
    fast={"rounds": 3},
)
def smaller_and_still_slow(
    rounds: int = 5,
) -> list[Shrunk]:
    """For a bug report, a matrix of size 2048 × 2048 is a large input.

    The smallest slow input shows more about the cause. In this step, we halve the size of the matrix again and again,
    and measure at each size. We defined “slow” in advance: `x + x.t()` takes at least 3 times as long as `x + x`.
    """
    found = []
    for n in (2048, 1024, 512, 256, 128, 64, 32):
        x = torch.rand(n, n)
        calls = 1 + 200_000 // n**2
        ratios = []
        for _ in range(rounds):
            transposed_s = add_s(x, x.t(), calls)
            ratios.append(transposed_s / add_s(x, x, calls))
        found.append(Shrunk(n, ratios))
    return found


SLOW = 3
"""The smallest ratio of time of x + x.t() ÷ time of x + x that counts as slow."""

SMALL_IS_NOT_SLOW = smaller_and_still_slow.claim(
    "small-is-not-slow",
    "at size 32, `x + x.t()` takes less than 3 times as long as `x + x`",
    at_most=SLOW,
    unit=units.ratio,
)
SLOW_STAYS_SLOW = smaller_and_still_slow.claim(
    "slow-stays-slow",
    "all measured sizes above the smallest slow size of `x + x.t()` are slow as well",
    equals=0,
    unit=things("exception"),
)


@smaller_and_still_slow.explain
def _(page: Page, found: list[Shrunk]) -> None:
    lines = [(each.n, min(each.ratios), median(each.ratios), max(each.ratios)) for each in found]
    heads = {"size": units.count, "smallest": units.ratio, "median": units.ratio, "largest": units.ratio}
    page.table(Table.of("Time of x + x.t() ÷ time of x + x", heads, lines))
    size = smallest_slow(found)
    page.reveal(size)
    page.settle(SMALL_IS_NOT_SLOW, Interval.every(found[-1].ratios))
    page.settle(SLOW_STAYS_SLOW, faster_again(found))
    page.say(cause(size))
    page.say(
        "Halving finds the smallest slow size only to within a factor of two. In the exercise, you find the smallest "
        "slow size exactly.",
    )


def smallest_slow(found: Sequence[Shrunk]) -> Interval:
    """Return an interval for the smallest slow size; unknown if no size is slow in each repetition.

    The upper end is the smallest size that is slow in each repetition. The lower end is the smallest size that is slow
    in at least one repetition.
    """
    certain = [each.n for each in found if min(each.ratios) >= SLOW]
    possible = [each.n for each in found if max(each.ratios) >= SLOW]
    return Interval(min(certain), min(possible), min(certain)) if certain else Interval.unknown()


def faster_again(found: Sequence[Shrunk]) -> float:
    """Return the number of sizes above the smallest slow size that are slow in no repetition.

    Return NaN if there is no smallest slow size.
    """
    size = smallest_slow(found).middle
    return math.nan if math.isnan(size) else sum(max(each.ratios) < SLOW for each in found if each.n > size)


def cause(size: Interval) -> str:
    """Return sentences on what the smallest slow size shows about the cause."""
    if math.isnan(size.middle):
        return "No size was slow in each repetition of this run, so this run shows no smallest slow size."
    n = units.count(size.middle)
    return (
        f"{n} × {n} numbers need {units.size(4 * size.middle**2)}. On a smaller matrix, the overhead of the call is a "
        "larger part of both times, so their ratio is closer to 1. Step 4 names two possible causes of a larger ratio: "
        "torch reads a column number by number, and a column uses more cache lines. If the matrix fits into the cache "
        "next to the core (often 32 to 128 KiB), the second cause has little effect. The smallest slow size therefore "
        "hints at the cause."
    )


lesson.key_points = (
    "Draw inputs with a seed: sizes of all orders of magnitude, unusual strides, broadcasting. Save the seed.",
    "Name an input after the shape and strides of its tensor, not after the parameters of the fuzzer.",
    (
        "When you find a slow input, reduce the input as long as it stays slow. The smallest slow input hints at the "
        "cause."
    ),
)
lesson.references = (
    "PyTorch, `torch.utils.benchmark.Fuzzer`: docs.pytorch.org/docs/stable/benchmark_utils.html",
    "PyTorch benchmark recipe, on fuzzed inputs: docs.pytorch.org/tutorials/recipes/recipes/benchmark.html",
    "Ulrich Drepper, What Every Programmer Should Know About Memory: akkadia.org/drepper/cpumemory.pdf",
)

if __name__ == "__main__":
    main(lesson)
