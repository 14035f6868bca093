"""Lesson 07: draw random inputs, and find the inputs on which a function is slow.

Inputs are drawn with fixed seeds, so each machine draws the same inputs.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from time import thread_time

import torch
from torch import Tensor
from torch.utils.benchmark import Timer

from harness.torch_benchmark import fuzz
from harness.torch_benchmark.fuzz import FuzzedParameter, FuzzedTensor, Fuzzer, ParameterAlias, Sample, label, take
from lessons.engine.api import Figures, Interval, Rows, load
from lessons.engine.command import main
from lessons.engine.published import RECIPE_FUZZED


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
def drawn(size: FuzzedParameter, count: int) -> list[int]:
    fuzzer = Fuzzer(parameters=[size], tensors=[], seed=7)
    return [parameters["n"] for _, _, parameters in fuzzer.take(count)]


def a_range_of_sizes(draws: int = 2000) -> dict[str, list[int]]:
    common = {1: 0.2, 128: 0.5, 1000: 0.3}
    sizes = {
        "uniform": FuzzedParameter("n", 1, 10_000, "uniform"),
        "loguniform": FuzzedParameter("n", 1, 10_000, "loguniform"),
        "custom": FuzzedParameter("n", distribution=common),
    }
    return {name: drawn(size, draws) for name, size in sizes.items()}


def a_range_of_sizes_figures(sizes: dict[str, list[int]]) -> Figures:
    ranges = ((1, 10), (10, 100), (100, 1000), (1000, 10_001))
    return {
        "shares": Rows([(name, *(share(each, *ends) for ends in ranges)) for name, each in sizes.items()]),
        "draws": len(sizes["uniform"]),
        "small_in_1000": max(1000 * share(sizes["uniform"], 1, 100), 1),
        "small_by_log": share(sizes["loguniform"], 1, 100),
    }


def share(sizes: Sequence[int], low: int, high: int) -> float:
    """Return the share of the sizes that are at least `low` and less than `high`."""
    return sum(low <= size < high for size in sizes) / len(sizes)


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
def pairs(seed: int) -> Fuzzer:
    sizes, steps = ("k0", "k1", "k2"), ("step0", "step1", "step2")
    dims, flips = {1: 0.3, 2: 0.4, 3: 0.3}, {1: 0.8, 2: 0.2}
    same = {1: 0.3, ParameterAlias("k0"): 0.7}
    x = FuzzedTensor(
        "x", sizes, steps, dim_parameter="dim",
        probability_contiguous=0.5,
        min_elements=256, max_elements=65_536,
    )  # fmt: skip
    y = FuzzedTensor(
        "y", ("y_k0", "k1", "k2"), dim_parameter="dim",
        probability_contiguous=0.5, dtype=torch.float64,
    )  # fmt: skip
    return Fuzzer(
        [
            FuzzedParameter("dim", distribution=dims, strict=True),
            [FuzzedParameter(k, 4, 8192, "loguniform") for k in sizes],
            FuzzedParameter("y_k0", distribution=same),
            [FuzzedParameter(k, distribution=flips) for k in steps],
        ],
        [x, y],
        seed=seed,
    )


def tensors_from_parameters(draws: int = 200) -> tuple[list[Sample], list[Sample]]:
    samples = list(take(pairs(seed=1), draws))
    again = list(take(pairs(seed=1), draws))
    return samples, again


def tensors_from_parameters_figures(found: tuple[list[Sample], list[Sample]]) -> Figures:
    samples, again = found
    kinds: dict[str, list[bool]] = {"one dimension": [], "several dimensions": [], "with steps": []}
    for sample in samples:
        kinds[kind_of(sample)].append(sample.tensors["x"].is_contiguous())
    flat = kinds["one dimension"]
    return {
        "kinds": Rows([(len(each), sum(each)) for each in kinds.values()]),
        "flat_contiguous": sum(flat) / len(flat),
        "draws": len(samples),
        "different": sum(not same(one, other) for one, other in zip(samples, again, strict=True)),
    }


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
def a_label_that_does_not_lie(draws: int = 200) -> list[tuple[str, Tensor]]:
    named = []
    for sample in take(pairs(seed=2), draws):
        name = "{k0}×{k1}".format(**sample.parameters)
        named.append((name, sample.tensors["x"]))
    return named


def a_label_that_does_not_lie_figures(named: list[tuple[str, Tensor]]) -> Figures:
    right = [x for name, x in named if name == "×".join(map(str, x.shape))]
    return {
        "names": Rows([(name, label(x)) for name, x in named[:6]]),
        "right": len(right) / len(named),
        "hidden": sum(not x.is_contiguous() for x in right) / len(right),
    }


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
def add_s(x: Tensor, y: Tensor, calls: int) -> float:
    names = {"x": x, "y": y}
    timer = Timer("torch.add(x, y)", globals=names, timer=thread_time)
    return timer.timeit(calls).median


def the_input_that_hurts(rounds: int = 5) -> dict[int, list[tuple[float, float]]]:
    turns: dict[int, list[tuple[float, float]]] = {}
    for n, calls in ((512, 20), (2000, 1), (2048, 1)):
        x = torch.rand(n, n)
        turns[n] = []
        for _ in range(rounds):
            plain_s = add_s(x, x, calls)
            turns[n].append((plain_s, add_s(x, x.t(), calls)))
    return turns


def the_input_that_hurts_figures(turns: dict[int, list[tuple[float, float]]]) -> Figures:
    middles = {n: tuple(map(median, zip(*rounds, strict=True))) for n, rounds in turns.items()}
    both = zip(turns[2000], turns[2048], strict=True)
    return {
        "times": Rows([(n, one, other, other / one, other / n**2) for n, (one, other) in middles.items()]),
        "ratio": Interval.every(transposed / plain for plain, transposed in turns[2048]),
        "powers": Interval.every(b / 2048**2 / (a / 2000**2) for (_, a), (_, b) in both),
    }


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
def mul_sum(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


def bmm(a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a[:, None], b[:, :, None])[:, 0, 0]


def call_s(call: object, a: Tensor, b: Tensor) -> float:
    names = {"call": call, "a": a, "b": b}
    timer = Timer("call(a, b)", globals=names, timer=thread_time)
    one_s = timer.timeit(1).median
    return timer.timeit(1 + int(1e-3 / max(one_s, 1e-6))).median


def rows(seed: int) -> Fuzzer:
    size = ("batch", "n")
    sizes = [FuzzedParameter(k, 1, 4096, "loguniform") for k in size]
    tensor = partial(
        FuzzedTensor,
        size=size,
        probability_contiguous=0.5,
        min_elements=4096,
        max_elements=1 << 20,
    )
    return Fuzzer([sizes], [tensor("a"), tensor("b")], seed=seed)


Timed = tuple[str, list[list[float]]]
"""The label of an input, and for each turn the seconds of `mul_sum`, of `bmm`, and of `bmm` on contiguous copies."""


def a_contest(draws: int = 40, turns: int = 3) -> list[Timed]:
    contest = []
    for sample in take(rows(seed=4), draws):
        a, b = sample.tensors["a"], sample.tensors["b"]
        copies = a.contiguous(), b.contiguous()
        calls = (mul_sum, a, b), (bmm, a, b), (bmm, *copies)
        times = [[call_s(*call) for call in calls] for _ in range(turns)]
        contest.append((sample.label, times))
    return contest


def a_contest_figures(contest: list[Timed]) -> Figures:
    by_layout = {input_: [bmm_s / copy_s for _, bmm_s, copy_s in turns] for input_, turns in contest}
    by_rival = {input_: [bmm_s / sum_s for sum_s, bmm_s, _ in turns] for input_, turns in contest}
    ranked = sorted((median(each), input_) for input_, each in by_rival.items())
    slowed = max(by_layout, key=lambda input_: min(by_layout[input_]))
    return {
        "ranked": Rows([(input_, middle, median(by_layout[input_])) for middle, input_ in (*ranked[:3], *ranked[-3:])]),
        "draws": len(contest),
        "moves": Interval.every(max(turn) / min(turn) for turn in zip(*by_rival.values(), strict=True)),
        "slowed": slowed,
        "by_layout": Interval.every(by_layout[slowed]),
        "published_fuzzed": RECIPE_FUZZED[2] / RECIPE_FUZZED[1],
    }


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
SLOW = 3
"""The smallest ratio of time of x + x.t() ÷ time of x + x that counts as slow."""


def smaller_and_still_slow(rounds: int = 5) -> dict[int, list[float]]:
    ratios: dict[int, list[float]] = {}
    for n in (2048, 1024, 512, 256, 128, 64, 32):
        x = torch.rand(n, n)
        calls = 1 + 200_000 // n**2
        ratios[n] = []
        for _ in range(rounds):
            transposed_s = add_s(x, x.t(), calls)
            ratios[n].append(transposed_s / add_s(x, x, calls))
    return ratios


def smaller_and_still_slow_figures(ratios: dict[int, list[float]]) -> Figures:
    return {
        "ratios": Rows([(n, min(each), median(each), max(each)) for n, each in ratios.items()]),
        "slow": smallest_slow(ratios),
    }


def smallest_slow(ratios: Mapping[int, Sequence[float]]) -> Interval:
    """Return an interval for the smallest slow size; unknown if no size is slow in each repetition.

    The upper end is the smallest size that is slow in each repetition. The lower end is the smallest size that is slow
    in at least one repetition.
    """
    certain = [n for n, each in ratios.items() if min(each) >= SLOW]
    possible = [n for n, each in ratios.items() if max(each) >= SLOW]
    return Interval(min(certain), min(possible), min(certain)) if certain else Interval.unknown()


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
Prices = dict[str, list[tuple[str, list[float]]]]
"""By the name of a fuzzer: the label of each input that it drew, and the seconds per element of each turn."""


def one_op(name: str, x: Tensor, y: Tensor | None) -> object:
    if name == "spectral":
        return torch.fft.fftn(x)
    return torch.neg(x) if y is None else torch.add(x, y)


def a_fuzzer_for_every_operator(draws: int = 12, turns: int = 3) -> Prices:
    fuzzers = {
        "unary": fuzz.UnaryOpFuzzer(seed=5),
        "binary": fuzz.BinaryOpFuzzer(seed=5),
        "sparse unary": fuzz.UnaryOpSparseFuzzer(seed=5),
        "sparse binary": fuzz.BinaryOpSparseFuzzer(seed=5),
        "spectral": fuzz.SpectralOpFuzzer(seed=5),
    }
    prices = {}
    for name, fuzzer in fuzzers.items():
        fuzz.limited(
            fuzzer,
            max_elements=1 << 18,
            max_allocation_bytes=1 << 26,
        )
        found = []
        for sample in take(fuzzer, draws):
            x, y = sample.tensors["x"], sample.tensors.get("y")
            names = {"one_op": one_op, "name": name, "x": x, "y": y}
            op = "one_op(name, x, y)"
            timer = Timer(op, globals=names, timer=thread_time)
            times = [timer.timeit(3).median for _ in range(turns)]
            found.append((sample.label, [s / x.numel() for s in times]))
        prices[name] = found
    return prices


def a_fuzzer_for_every_operator_figures(prices: Prices) -> Figures:
    ranked = {name: sorted((median(each), label) for label, each in drawn) for name, drawn in prices.items()}
    binary = [per_element_s for _, per_element_s in prices["binary"]]
    return {
        "prices": Rows([(name, each[0][0], *each[-1]) for name, each in ranked.items()]),
        "draws": len(binary),
        "moves": Interval.every(max(turn) / min(turn) for turn in zip(*binary, strict=True)),
    }


lesson = load(__name__)

if __name__ == "__main__":
    main(lesson)
