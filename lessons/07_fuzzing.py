"""Lesson 07: the input you did not think of.

Read it top to bottom: it is the screen's own order. Inputs are drawn from seeds, so that everybody meets the same
ones; times are this machine's own.
"""

import math
import time
from statistics import median

import torch
from torch import Tensor
from torch.utils.benchmark import Timer

from harness import fuzz, plots, units
from harness.bar_chart import bar_chart_svg
from harness.fuzz import (
    BinaryOpFuzzer,
    BinaryOpSparseFuzzer,
    FuzzedParameter,
    FuzzedTensor,
    Fuzzer,
    ParameterAlias,
    SpectralOpFuzzer,
    UnaryOpFuzzer,
    UnaryOpSparseFuzzer,
    label,
    limited,
    take,
)
from harness.tables import Row, Table
from lessons.engine import Choice, Guess, Lesson, Page, Standing, every
from lessons.engine.words import followed, things

lesson = Lesson(
    __file__,
    title="The input you did not think of",
    objective="Afterwards you can let a seed think of inputs for you, and shrink the one that hurts.",
    minutes=15,
)


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def drawn(size: FuzzedParameter, count: int) -> list[int]:
    fuzzer = Fuzzer(parameters=[size], tensors=[], seed=7)
    return [parameters["n"] for _, _, parameters in fuzzer.take(count)]


@lesson.step(
    "A range of sizes",
    predict=Guess("Of 1000 sizes drawn evenly from 1 to 10 000, how many are below 100?", "sizes"),
    claims={
        "uniform-is-large": "drawn evenly, hardly any size is below 100",
        "log-is-even": "drawn evenly over the logarithm, half of them are",
        "custom-is-kept": "own probabilities come out as they were written",
    },
)
def a_range_of_sizes(draws: int = 2000) -> dict[str, list[int]]:
    """Who benchmarks by hand takes 1000 × 1000, or 1024 × 1024, and both operands contiguous.

    PyTorch's `Fuzzer` draws instead. A `FuzzedParameter` is one number, with a range and a distribution:
    `uniform`, `loguniform`, or own probabilities. `take(n)` gives n draws, the same for the same seed.
    """
    common = {1: 0.2, 128: 0.5, 1000: 0.3}
    sizes = {
        "uniform": FuzzedParameter("n", 1, 10_000, "uniform"),
        "loguniform": FuzzedParameter("n", 1, 10_000, "loguniform"),
        "custom": FuzzedParameter("n", distribution=common),
    }
    return {name: drawn(size, draws) for name, size in sizes.items()}


@a_range_of_sizes.observe
def explain_sizes(page: Page, sizes: dict[str, list[int]]) -> None:
    decades = ((1, 10), (10, 100), (100, 1000), (1000, 10_001))
    heads = {"": None, **{f"{low} to {high - 1}": units.percent for low, high in decades}}
    rows_: list[Row] = [(name, *(share(each, low, high) for low, high in decades)) for name, each in sizes.items()]
    page.table(
        Table.of(f"{units.count(len(sizes['uniform']))} draws each: which part of them falls where", heads, rows_)
    )
    small = share(sizes["uniform"], 1, 100)
    page.reveal(max(1000 * small, 1), "99 of 10 000 sizes are that small, and each is as likely as any other.")
    page.claim("uniform-is-large", small, high=0.03, unit=units.percent)
    page.claim("log-is-even", share(sizes["loguniform"], 1, 100), 0.45, 0.55, unit=units.percent)
    page.claim(
        "custom-is-kept", share(sizes["custom"], 128, 129), 0.46, 0.54, unit=units.percent, remark="asked for 50 %"
    )
    page.say(
        "Sizes in use run over many orders of magnitude, and what is slow differs between them: `loguniform` visits",
        "each order alike. Powers of two deserve a probability of their own, as step 4 shows.",
    )
    page.say(
        f"torch {torch.__version__} by itself refuses the third line: “Distribution is not normalized”, says its check,"
        " which is the wrong way round, and with it every fuzzer of step 6 fails. `harness.fuzz` puts that right."
        if fuzz.REPAIRED
        else "Some releases of torch, 2.13 among them, refuse the third line; yours is mended.",
    )


def share(sizes: list[int], low: int, high: int) -> float:
    """Return which part of the sizes lies in [low, high)."""
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


@lesson.step(
    "Tensors from parameters",
    predict=Choice(
        "`x` is to be contiguous with probability 0.5. Of those in one dimension and without steps, how many are?",
        {"a": "about half", "b": "all", "c": "none"},
    ),
    claims={
        "within-bounds": "every `x` has as many elements as was asked for",
        "alias-or-one": "the first size of `y` is that of `x`, or 1 to be broadcast",
        "one-dimension-is-spared": "in one dimension and without steps, every `x` is contiguous, whatever we asked for",
        "steps-spoil-it": "drawn with a step in memory, no `x` is",
        "seed-repeats": "the same seed draws the same tensors, number for number",
    },
    fast={"draws": 60},
)
def tensors_from_parameters(
    draws: int = 200,
) -> tuple[list[fuzz.Sample], list[fuzz.Sample]]:
    """A `FuzzedTensor` is made from parameters, by their names.

    Unless `probability_contiguous` spares it, the axes are shuffled in memory. `steps` slices a larger tensor.
    `min_elements` and `max_elements` throw back what is too small or too large, and only what is `strict` is not drawn
    anew then. `dim_parameter` cuts the list of sizes short. A `ParameterAlias` makes one parameter follow another, here
    so that `y` fits `x` or is broadcast to it.
    """
    samples = list(take(pairs(seed=1), draws))
    again = list(take(pairs(seed=1), draws))
    return samples, again


@tensors_from_parameters.observe
def explain_tensors(page: Page, twice: tuple[list[fuzz.Sample], list[fuzz.Sample]]) -> None:
    samples, again = twice
    page.table(Table.of("The first six draws", {"tensors": None}, [(each.label,) for each in samples[:6]]))
    xs = [each.tensors["x"] for each in samples]
    kinds: dict[str, list[Tensor]] = {"one dimension": [], "several": [], "in steps": []}
    for sample in samples:
        kinds[kind_of(sample)].append(sample.tensors["x"])
    heads = {"x": None, "draws": units.count, "contiguous": units.count}
    contiguous = {kind: sum(x.is_contiguous() for x in drawn_) for kind, drawn_ in kinds.items()}
    page.table(Table.of("Asked to be contiguous with probability 0.5", heads,
        [(kind, len(drawn_), contiguous[kind]) for kind, drawn_ in kinds.items()]))  # fmt: skip
    flat, alone = len(kinds["one dimension"]), contiguous["one dimension"]
    page.reveal("b" if alone == flat else "c" if not alone else "a", "One dimension has no order to shuffle.")
    outside = sum(not 256 <= x.numel() <= 65_536 for x in xs)
    page.claim("within-bounds", outside, 0, 0, unit=followed("outside"))
    odd = sum(each.tensors["y"].shape[0] not in {1, each.tensors["x"].shape[0]} for each in samples)
    page.claim("alias-or-one", odd, 0, 0, unit=followed("others"))
    page.claim("one-dimension-is-spared", alone / flat, 1, 1, unit=units.percent, remark=f"of {flat}")
    stepped = len(kinds["in steps"])
    page.claim("steps-spoil-it", contiguous["in steps"], 0, 0, unit=units.count, remark=f"of {stepped}")
    differ = sum(not same(one, other) for one, other in zip(samples, again, strict=True))
    page.claim("seed-repeats", differ, 0, 0, unit=followed(f"of {len(samples)} differ"))
    page.say(
        "So `probability_contiguous` is kept where there are axes to shuffle and no steps, and nowhere else. Whoever",
        "wants to know asks the tensor.",
        "Write the seed down beside a result: it is the whole input, in one number.",
    )


def kind_of(sample: fuzz.Sample) -> str:
    """Return what decides whether its `x` can be contiguous, by the parameters that it was made from."""
    dim = sample.parameters["dim"]
    if any(sample.parameters[f"step{axis}"] > 1 for axis in range(dim)):
        return "in steps"
    return "one dimension" if dim == 1 else "several"


def same(one: fuzz.Sample, other: fuzz.Sample) -> bool:
    """Return whether two samples hold the same tensors, strides included."""
    both = ((tensor, other.tensors[name]) for name, tensor in one.tensors.items())
    return all(a.stride() == b.stride() and torch.equal(a, b) for a, b in both)


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "A label that does not lie",
    predict=Choice(
        "A table names each input `k0×k1`, from the parameters. How many of these names are the tensor's shape?",
        {"a": "all", "b": "more than half", "c": "fewer than half"},
    ),
    claims={
        "parameters-lie": "named by parameters, most inputs go by a wrong shape",
        "layout-is-hidden": "and of those whose name is their shape, half lie in memory in some other order, or more",
        "density-lies": "a sparse matrix holds less than a tenth of what its density says",
    },
    fast={"draws": 60},
)
def a_label_that_does_not_lie(
    draws: int = 200,
) -> tuple[list[tuple[str, Tensor]], list[tuple[float, Tensor]]]:
    """A result is worth as much as the name of its input. The obvious name is made from the parameters.

    Sparse tensors have one more property to name: the density, the part of their elements that is stored.
    """
    named, densities = [], []
    for sample in take(pairs(seed=2), draws):
        name = "{k0}×{k1}".format(**sample.parameters)
        named.append((name, sample.tensors["x"]))
    sparse = limited(UnaryOpSparseFuzzer(seed=2), max_elements=1 << 20)
    for sample in take(sparse, 20):
        density = sample.parameters["density"]
        densities.append((density, sample.tensors["x"]))
    return named, densities


@a_label_that_does_not_lie.observe
def explain_labels(page: Page, drawn_: tuple[list[tuple[str, Tensor]], list[tuple[float, Tensor]]]) -> None:
    named, densities = drawn_
    heads = dict.fromkeys(("by its parameters", "by the tensor, harness.fuzz.label"))
    page.table(Table.of("The same input under two names", heads, [(name, label(x)) for name, x in named[:6]]))
    wrong = sum(name != shape_of(x) for name, x in named) / len(named)
    page.reveal("a" if wrong == 0 else "b" if wrong < 0.5 else "c", f"{units.percent(1 - wrong)} are.")
    page.claim("parameters-lie", wrong, low=0.5, unit=units.percent)
    right = [x for name, x in named if name == shape_of(x)]
    odd = sum(not x.is_contiguous() for x in right) / len(right)
    page.claim("layout-is-hidden", odd, low=0.5, unit=units.percent, remark=f"of {len(right)}")
    parts = [stored(x) / asked for asked, x in densities if x.sparse_dim() > 1]
    page.claim("density-lies", median(parts), high=0.1, unit=units.percent, remark="of it, in the middle")
    page.say(
        "Two sizes name a matrix. With one dimension there is no second, with three there is a third, and about",
        "strides such a name says nothing at all: the very thing that step 4 is about. Ask the tensor: `label` does.",
    )
    page.say(
        "The sparse fuzzer takes its density of the sum of the sizes, where their product is meant. So in two",
        "dimensions and more its tensors are nearly empty, and a result “at density 0.1” is one for something else.",
    )


def shape_of(tensor: Tensor) -> str:
    """Return a tensor's shape alone, as labels begin."""
    return "×".join(map(str, tensor.shape))


def stored(tensor: Tensor) -> float:
    """Return which part of the places that a sparse tensor has indices for is stored."""
    places: int = math.prod(tensor.shape[: tensor.sparse_dim()])
    return tensor._nnz() / places  # noqa: SLF001 - nnz() is for coalesced ones only


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def add_s(x: Tensor, y: Tensor, calls: int) -> float:
    timer = Timer(
        "torch.add(x, y)",
        globals={"x": x, "y": y},
        timer=time.thread_time,
    )
    return timer.timeit(calls).median


@lesson.step(
    "The same sum, many times slower",
    predict=Choice(
        "`x + x.t()` against `x + x`, for 2048 × 2048 numbers: how many times as long does it take?",
        {"a": "about as long", "b": "2 to 5 times", "c": "more than 5 times"},
    ),
    claims={
        "transposed-hurts": "at 2048, adding the transposed takes more than 3 times as long",
        "powers-hurt-most": "a number costs more at 2048 than at 2000, though both sizes are as large",
    },
    fast={"rounds": 3},
)
def the_input_that_hurts(
    rounds: int = 5,
) -> dict[int, list[tuple[float, float]]]:
    """Both operands have the same shape, the same numbers, and the result is as large.

    `x.t()` copies nothing: it is a view with the strides exchanged. We time in turns, and by the clock of this
    thread's own CPU time, so that neighbours take no part in it.
    """
    turns: dict[int, list[tuple[float, float]]] = {}
    for n, calls in ((512, 20), (2000, 1), (2048, 1)):
        x = torch.rand(n, n)
        turns[n] = []
        for _ in range(rounds):
            plain_s = add_s(x, x, calls)
            turns[n].append((plain_s, add_s(x, x.t(), calls)))
    return turns


@the_input_that_hurts.observe
def explain_hurts(page: Page, turns: dict[int, list[tuple[float, float]]]) -> None:
    heads = {"size": units.count, "x + x": units.seconds, "x + x.t()": units.seconds}
    heads |= {"ratio": units.ratio, "per number": units.seconds}
    rows = []
    for n, rounds in turns.items():
        plain_s, turned_s = (median(side) for side in zip(*rounds, strict=True))
        rows.append((n, plain_s, turned_s, turned_s / plain_s, turned_s / n**2))
    page.table(Table.of(f"Middle of {len(turns[2048])} turns, CPU time", heads, rows))
    ratio, error = every([turned / plain for plain, turned in turns[2048]])
    page.reveal("a" if ratio < 2 else "b" if ratio <= 5 else "c", f"{units.ratio(ratio)} as long.")
    page.claim("transposed-hurts", ratio, low=3, error=error, unit=units.ratio)
    dearer, error = every([b[1] / 2048**2 / (a[1] / 2000**2) for a, b in zip(turns[2000], turns[2048], strict=True)])
    powers = page.claim("powers-hurt-most", dearer, low=1.1, error=error, unit=units.ratio)
    page.say(
        "Memory comes in lines of 64 bytes, 16 of these numbers. Along a row, one line serves 16 sums. Down a column,"
        " each sum wants a line of its own, and by the time its neighbour is wanted it may be gone."
    )
    page.say(
        "It is gone the sooner at 2048: a cache finds a line's place by the lower bits of its address, and 2048 × 4"
        " bytes further down those bits are the same. A whole column competes for a few places. At 2000 it spreads."
        if powers.standing is Standing.HELD
        else "On many machines 2048 is much worse than 2000, since a whole column of it competes for a few places in"
        " the cache. Here that cannot be seen: this cache is larger, or places its lines by more than the lower bits."
    )
    page.say("Nobody types 2048 × 2048 transposed into a benchmark. A fuzzer does, sooner or later.")


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


@lesson.step(
    "A contest on inputs nobody picked",
    predict=Choice(
        "`bmm` against `mul_sum` on every drawn input. From where it does best to where it does worst, how far does"
        " the ratio of the two move?",
        {"a": "hardly: less than 2 times", "b": "2 to 5 times", "c": "more than 5 times"},
    ),
    claims={
        "margin-moves": "the ratio of the two moves by more than 5 times between inputs",
        "layout-moves": "the layout alone makes `bmm` take 1.5 times as long, shape and numbers being the same",
    },
    fast={"draws": 20, "turns": 2},
)
def a_contest(
    draws: int = 40,
    turns: int = 3,
) -> list[tuple[fuzz.Sample, list[tuple[float, float, float]]]]:
    """The running example of these lessons, two ways to take dot products of rows, on what a seed draws.

    For `bmm` we also time contiguous copies of the same numbers, made beforehand.
    """
    contest = []
    for sample in take(rows(seed=4), draws):
        a, b = sample.tensors["a"], sample.tensors["b"]
        tidy_a, tidy_b = a.contiguous(), b.contiguous()
        times = []
        for _ in range(turns):
            mul_s = call_s("mul_sum(a, b)", a, b)
            bmm_s = call_s("bmm(a, b)", a, b)
            tidy_s = call_s("bmm(a, b)", tidy_a, tidy_b)
            times.append((mul_s, bmm_s, tidy_s))
        contest.append((sample, times))
    return contest


@a_contest.observe
def explain_contest(page: Page, contest: list[tuple[fuzz.Sample, list[tuple[float, float, float]]]]) -> None:
    middle = [(sample.label, *map(median, zip(*times, strict=True))) for sample, times in contest]
    ranked = sorted(((label_, *s, s[1] / s[0]) for label_, *s in middle), key=lambda each: each[-1])
    heads = {"input": None, "mul_sum": units.seconds, "bmm": units.seconds}
    heads |= {"bmm, tidied": units.seconds, "bmm ÷ mul_sum": units.ratio}
    page.table(Table.of(f"Best and worst for bmm, of {len(contest)}", heads, (*ranked[:3], *ranked[-3:])))
    turns = zip(*(times for _, times in contest), strict=True)
    margins = [[bmm_s / mul_s for mul_s, bmm_s, _ in turn] for turn in turns]
    moves, error = every([max(each) / min(each) for each in margins])
    between = f"From {units.ratio(ranked[0][-1])} to {units.ratio(ranked[-1][-1])} the time of `mul_sum`."
    page.reveal("a" if moves < 2 else "b" if moves <= 5 else "c", between)
    page.claim("margin-moves", moves, low=5, error=error, unit=units.ratio)
    untidy = {sample.label: [bmm_s / tidy_s for _, bmm_s, tidy_s in times] for sample, times in contest}
    hit = max(untidy, key=lambda name: min(untidy[name]))
    by, error = every(untidy[hit])
    layout = page.claim("layout-moves", by, low=1.5, error=error, unit=units.ratio, remark=f"for {hit}")
    bars = [(str(each[0]), each[-1]) for each in ranked]
    page.output(
        plots.bars([*bars[:3], *bars[-3:]], width=30, unit=units.ratio),
        caption="bmm ÷ mul_sum: longer is worse for bmm",
    )
    page.save("contest", bar_chart_svg(bars, title="bmm ÷ mul_sum on every drawn input", unit=units.ratio))
    page.say(
        "“Which one is faster” has an answer for an input, and none for two functions. What a table of hand-picked",
        "sizes cannot show is how far the answer moves with the input."
        + (" And the layout is part of the input." if layout.standing is Standing.HELD else ""),
    )
    page.say(
        "PyTorch's benchmark recipe meets the same: of its fuzzed pairs, 2140 × 1296 discontiguous took 3 809 µs with",
        "mul-sum and 34 744 µs with bmm, where hand-picked sizes were near each other.",
    )


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def one_op(name: str, x: Tensor, y: Tensor | None) -> object:
    if name == "spectral":
        return torch.fft.fftn(x)
    return torch.neg(x) if y is None else torch.add(x, y)


@lesson.step(
    "A fuzzer for every operator",
    predict=Choice(
        "Adding two tensors: how far apart is the price of one number, between the cheapest and the dearest draw?",
        {"a": "less than 2 times", "b": "2 to 10 times", "c": "more than 10 times"},
    ),
    claims={
        "all-five-draw": "PyTorch's five fuzzers for operators all draw",
        "price-moves": "the price of one number of an addition moves by more than 3 times",
    },
    fast={"draws": 6, "turns": 2},
)
def a_fuzzer_for_every_operator(
    draws: int = 12,
    turns: int = 3,
) -> dict[str, list[tuple[fuzz.Sample, list[float]]]]:
    """PyTorch has fuzzers made already: unary, binary, sparse and spectral.

    They mix all sizes with powers of two, orders with steps, and broadcasting. As they are they draw up to 2 GB;
    `limited` keeps them to what a laptop bears.
    """
    fuzzers = {
        "unary": UnaryOpFuzzer(seed=5),
        "binary": BinaryOpFuzzer(seed=5),
        "sparse unary": UnaryOpSparseFuzzer(seed=5),
        "sparse binary": BinaryOpSparseFuzzer(seed=5),
        "spectral": SpectralOpFuzzer(seed=5),
    }
    prices: dict[str, list[tuple[fuzz.Sample, list[float]]]] = {}
    for name, fuzzer in fuzzers.items():
        limited(
            fuzzer,
            max_elements=1 << 18,
            max_allocation_bytes=1 << 26,
        )
        prices[name] = []
        for sample in take(fuzzer, draws):
            x, y = sample.tensors["x"], sample.tensors.get("y")
            names = {"one_op": one_op, "name": name, "x": x, "y": y}
            op = "one_op(name, x, y)"
            timer = Timer(op, globals=names, timer=time.thread_time)
            times = [timer.timeit(3).median for _ in range(turns)]
            prices[name].append((sample, [s / x.numel() for s in times]))
    return prices


@a_fuzzer_for_every_operator.observe
def explain_operators(page: Page, prices: dict[str, list[tuple[fuzz.Sample, list[float]]]]) -> None:
    table = []
    for name, each in prices.items():
        cheapest, *_, dearest = sorted(each, key=lambda pair: median(pair[1]))
        table.append((name, median(cheapest[1]), median(dearest[1]), dearest[0].label))
    heads = {"fuzzer": None, "cheapest": units.seconds, "dearest": units.seconds, "the dearest input": None}
    page.table(Table.of(f"Time for one element, over {len(prices['unary'])} draws of each", heads, table))
    turns = zip(*(price for _, price in prices["binary"]), strict=True)
    moves, error = every([max(turn) / min(turn) for turn in turns])
    page.reveal("a" if moves < 2 else "b" if moves <= 10 else "c", f"{units.ratio(moves)}.")
    drawing = sum(len(each) > 0 for each in prices.values())
    page.claim("all-five-draw", drawing, 5, 5, unit=units.count)
    page.claim("price-moves", moves, low=3, error=error, unit=units.ratio)
    page.say(
        "A number of a small tensor carries the call's own price, one in steps carries a cache line that is mostly",
        "thrown away, one in the wrong order both. Sparse tensors are counted by the shape that they stand for.",
    )
    page.say(
        "A change to an operator is judged on such a crowd: time both versions on each draw, in turns, and look at",
        "where they part, not at the average.",
    )


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "Smaller, and still slow",
    predict=Choice(
        "Below which size is adding the transposed no longer 3 times as slow?",
        {"a": "below 64", "b": "between 64 and 512", "c": "above 512"},
    ),
    claims={
        "small-is-not-slow": "at 32, the transposed costs less than 3 times as much",
        "slow-stays-slow": "from the smallest slow size on, no larger one is clearly faster than that",
    },
    fast={"rounds": 3},
)
def smaller_and_still_slow(
    rounds: int = 5,
) -> list[tuple[int, list[float]]]:
    """2048 × 2048 is a poor report of a fault. The smallest input that still shows it says what the fault needs.

    So we shrink: halve, look whether it is still slow, and go on. What is slow is decided beforehand: 3 times as long
    as the plain twin of the same size.
    """
    found = []
    for n in (2048, 1024, 512, 256, 128, 64, 32):
        x = torch.rand(n, n)
        calls = 1 + 200_000 // n**2
        ratios = []
        for _ in range(rounds):
            turned_s = add_s(x, x.t(), calls)
            ratios.append(turned_s / add_s(x, x, calls))
        found.append((n, ratios))
    return found


@smaller_and_still_slow.observe
def explain_smaller(page: Page, found: list[tuple[int, list[float]]]) -> None:
    rows_ = [(n, min(ratios), median(ratios), max(ratios)) for n, ratios in found]
    heads = {"size": units.count, "least": units.ratio, "middle": units.ratio, "most": units.ratio}
    page.table(Table.of("x + x.t() against x + x", heads, rows_))
    slow = [n for n, ratios in found if min(ratios) >= 3]
    smallest = min(slow, default=0)
    page.reveal(
        None if not slow else "a" if smallest <= 64 else "b" if smallest <= 512 else "c",
        f"{smallest} is still slow and {smallest // 2} is not." if slow else "Nothing was three times as slow here.",
    )
    least, error = every(dict(found)[32])
    page.claim("small-is-not-slow", least, high=3, error=error, unit=units.ratio)
    faster = sum(max(ratios) < 3 for n, ratios in found if n > smallest)
    page.claim("slow-stays-slow", faster if slow else math.nan, 0, 0, unit=things("larger size"))
    page.say(
        f"{smallest} × {smallest} numbers are {units.size(4 * smallest**2)}. What fits in the cache nearest to the core"
        " is read in any order; what does not, is not. The size of the smallest slow input points at the cause."
        if slow
        else "This machine's caches, or its torch, do not mind. Elsewhere the size of the smallest slow input points at"
        " the cause: it is what no longer fits in the cache nearest to the core.",
    )
    page.say("Halving stops at the wrong side of the edge, up to twice too large. The exercise finds the edge itself.")


lesson.take_along(
    "Let a seed choose inputs: sizes over all orders of magnitude, odd strides, broadcasting. Note the seed.",
    "Name an input by the tensor, its strides included, never by the parameters that it was drawn from.",
    "An input that hurts is half of a finding. Shrink it as long as it hurts; what is left says why.",
)
lesson.read_on(
    "PyTorch, `torch.utils.benchmark.Fuzzer`: docs.pytorch.org/docs/stable/benchmark_utils.html",
    "PyTorch benchmark recipe, on fuzzed inputs: docs.pytorch.org/tutorials/recipes/recipes/benchmark.html",
    "Ulrich Drepper, What Every Programmer Should Know About Memory: akkadia.org/drepper/cpumemory.pdf",
)

if __name__ == "__main__":
    lesson.main()
