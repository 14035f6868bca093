"""Lesson 01: how to check that functions return right answers, before you measure which one is faster.

The steps appear on the screen in the order of this file. A step has teaching code, a question, claims, and an
explanation. The words of the explanation depend on what the run measured.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.benchmark import Measurement, Timer

from harness.paired.duel import Duel, duel
from harness.rendering import units
from harness.rendering.tables import Table
from lessons.engine import Choice, Interval, Lesson, Page, largest
from lessons.engine.command import main
from lessons.engine.words import followed, yes_no

lesson = Lesson(
    __file__,
    objective="You can check whether two functions return the same results, before you measure which one is faster.",
)


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def mul_sum(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


@lesson.given
def bmm(a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a[:, None], b[:, :, None])[:, 0, 0]


@lesson.given
class Compared(NamedTuple):
    equal_share: float
    largest_difference: float
    close: bool


@lesson.step(
    "Two functions, one answer",
    predict=Choice(
        "For how many of 10 000 pairs of rows do `mul_sum` and `bmm` return equal numbers, compared with `==`?",
        {"a": "less than half", "b": "half or more, but not all", "c": "all"},
        limits=(0.5, 1),
    ),
    expected="a",
    wrong_reasoning="Students think that two formulas for the same sum return the same number. But the functions add "
    "in different orders, and each order rounds differently.",
)
def compare_two() -> Compared:
    """Here are two functions that compute the dot product of many pairs of rows.

    `mul_sum` multiplies the two tensors element by element, and adds the products of each row. `bmm` computes a small
    matrix product for each pair of rows. A float32 has about seven digits, so each addition rounds its result. Before
    we measure which function is faster, we check whether `mul_sum` and `bmm` return the same numbers.
    """
    a, b = torch.rand(2, 10_000, 64)
    one, other = mul_sum(a, b), bmm(a, b)
    equal = (one == other).double().mean().item()
    difference = ((one - other).abs() / one).max().item()
    return Compared(equal, difference, torch.allclose(one, other))


BITS_DIFFER = compare_two.claim(
    "bits-differ",
    "for some pairs of rows, `mul_sum` and `bmm` return different numbers",
    at_most=0.9999,
    unit=followed("of the numbers are equal", units.percent),
)
YET_CLOSE = compare_two.claim(
    "yet-close", "`torch.allclose` accepts the results of `mul_sum` and `bmm` as equal", equals=True, unit=yes_no
)


@compare_two.explain
def _(page: Page, compared: Compared) -> None:
    page.reveal(
        compared.equal_share,
        f"For {units.percent(compared.equal_share)} of the pairs of rows, both functions return equal numbers. The",
        f"largest relative difference between the two results is {relative(compared.largest_difference)}.",
    )
    page.settle(BITS_DIFFER, compared.equal_share)
    page.settle(YET_CLOSE, compared.close)
    page.say(
        BITS_DIFFER.words(
            held="Both functions are right. `mul_sum` and `bmm` add in different orders, so their roundings differ.",
            refuted="In this run, all numbers are equal. A possible cause is that `mul_sum` and `bmm` add in the same "
            "order on this machine. On other machines, `mul_sum` and `bmm` add in different orders.",
            unclear="This run does not show whether the results of the two functions differ.",
        ),
        "Do not check whether two results are exactly equal. Check whether their difference is larger than rounding",
        "can explain.",
    )


def relative(value: float) -> str:
    """Return a number as text with two digits and a power of ten: 0.00012 gives "1.2e-04"."""
    return f"{value:.1e}"


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
PRODUCTS = 64
"""The number of products in each sum of step 2."""


@lesson.given
def worst_error(f: Callable[..., Tensor], a: Tensor, b: Tensor) -> float:
    products = a.double() * b.double()
    oracle = products.sum(-1)
    magnitude = products.abs().sum(-1)
    off = (f(a, b).double() - oracle).abs()
    return (off / magnitude).max().item()


@lesson.given
def one_by_one(a: Tensor, b: Tensor) -> Tensor:
    total = torch.zeros(len(a), dtype=a.dtype)
    for column in (a * b).T:
        total = total + column
    return total


@lesson.given
class Errors(NamedTuple):
    eps: float
    mul_sum: float
    bmm: float
    one_by_one: float


@lesson.step(
    "How large may the error be?",
    predict=Choice(
        "eps is the distance from 1 to the next larger number of a dtype: about 1e-7 in float32. A sum of 64 products "
        "in float32 needs up to 127 roundings. We divide the error of each of 10 000 sums by eps times the magnitude. "
        "How large is the largest of these 10 000 quotients?",
        {"a": "below 6", "b": "6 to 30", "c": "30 to 65"},
        limits=(6, 30),
    ),
    expected="a",
    wrong_reasoning="Students expect an error close to the bound, because each addition rounds. But rounding errors "
    "have both signs, so most of them cancel.",
)
def errors_by_dtype() -> dict[str, Errors]:
    """To measure an error, we need a more precise answer, called an oracle.

    In this step, the oracle is the same sum in float64. The magnitude of a sum is the sum of its products without their
    signs. One rounding changes a number by at most the fraction u = eps/2. A computed sum of n products differs from
    the exact sum by at most n·u/(1 - n·u) times the magnitude. This bound includes the rounding of the products, and
    holds for each order of the additions (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1). If n·u
    is at most 1/2, the bound of the error is at most n·eps times the magnitude. We allow (n + 1)·eps times the
    magnitude, because a result may be rounded once more at the end.
    """
    found = {}
    for dtype in [torch.bfloat16, torch.float16, torch.float32]:
        a, b = torch.randn(2, 10_000, 64).to(dtype)
        name = str(dtype).removeprefix("torch.")
        found[name] = Errors(
            torch.finfo(dtype).eps,
            worst_error(mul_sum, a, b),
            worst_error(bmm, a, b),
            worst_error(one_by_one, a, b),
        )
    return found


WITHIN_BOUND = errors_by_dtype.claim(
    "within-the-bound",
    "in each dtype, the error of a sum of n products is at most the bound, (n + 1)·eps times the magnitude",
    at_most=1,
    unit=followed("of the bound", units.percent),
)
FOLLOW_EPS = errors_by_dtype.claim(
    "errors-follow-eps",
    "if the largest error of each dtype is divided by the dtype's eps, the quotients differ by at most a factor of 20",
    at_most=20,
    unit=units.ratio,
)


@errors_by_dtype.explain
def _(page: Page, errors: dict[str, Errors]) -> None:
    allowed = PRODUCTS + 1
    in_eps = {name: max(each.mul_sum, each.bmm) / each.eps for name, each in errors.items()}
    rows = [(name, *each, allowed * each.eps, in_eps[name]) for name, each in errors.items()]
    columns = {"dtype": None, "eps": relative, "mul_sum": relative, "bmm": relative, "one_by_one": relative}
    columns |= {"bound": relative, "larger of mul_sum and bmm, ÷ eps": units.number}
    page.table(Table.of("Largest error ÷ magnitude in 10 000 sums of 64 products", columns, rows))
    page.reveal(
        in_eps["float32"], f"In float32, the largest error ÷ (eps × magnitude) was {units.number(in_eps['float32'])}."
    )
    worst = max(max(each[1:]) / each.eps for each in errors.values())
    page.settle(WITHIN_BOUND, worst / allowed)
    page.settle(FOLLOW_EPS, max(in_eps.values()) / min(in_eps.values()))
    page.say(
        "An error reaches the bound only if all roundings go in the same direction, so usual errors are far smaller.",
        "If no number overflows or underflows, a result whose error is larger than the bound is wrong.",
    )
    half, full = errors["bfloat16"], errors["float32"]
    page.say(
        "The bound depends on the dtype. For `mul_sum`, the largest error in bfloat16 is",
        f"{units.ratio(half.mul_sum / full.mul_sum)} the largest error in float32. A tolerance such as 1e-5 can be",
        "right for one dtype and wrong for another dtype.",
        "In this step, `sum` adds float16 and bfloat16 numbers in float32, and rounds only the final sum to the dtype.",
        "`one_by_one` rounds the sum after each addition. In bfloat16, the largest error of `one_by_one` is",
        f"{units.ratio(half.one_by_one / half.mul_sum)} the largest error of `mul_sum`.",
    )
    page.say(
        "To check a float64 result, you need an oracle that is more precise than float64, such as whole numbers or",
        "`fractions.Fraction`. For a first check without an oracle, compute the same sum in a different order, and "
        "compare both results.",
    )


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Checks(NamedTuple):
    equal: bool
    allclose: bool
    bound: bool


@lesson.given
def three_checks(got: Tensor, a: Tensor, b: Tensor) -> Checks:
    whole = not a.is_floating_point()
    wide = torch.int64 if whole else torch.float64
    products = a.to(wide) * b.to(wide)
    oracle = products.sum(-1)
    eps = 0 if whole else torch.finfo(a.dtype).eps
    allowed = (a.shape[-1] + 1) * eps * products.abs().sum(-1)
    off = (got.to(wide) - oracle).abs()
    expected = oracle.to(got.dtype)
    return Checks(
        equal=torch.equal(got, expected),
        allclose=torch.allclose(got, expected),
        bound=bool((off <= allowed).all()),
    )


@lesson.given
class Checked(NamedTuple):
    right: bool
    checks: Checks


@lesson.step(
    "The default tolerances of allclose",
    predict=Choice(
        "`torch.allclose` checks two right and three wrong answers. How many of the five answers does it judge "
        "correctly?",
        {"a": "two or fewer", "b": "three or four", "c": "all five"},
        limits=(3, 5),
    ),
    expected="a",
    wrong_reasoning="Students trust the defaults, because a library chose them. But the defaults know neither the "
    "dtype's errors nor the magnitude of these numbers.",
)
def judge_five() -> dict[str, Checked]:
    """By default, `allclose` allows a difference of 1e-8 (`atol`) plus 1e-5 (`rtol`) times the expected value.

    The default values of `atol` and `rtol` are the same for each dtype. We apply three checks (`==`, `allclose`, and
    the bound of step 2) to five answers. In the second answer, large terms nearly cancel: each product occurs twice,
    the second time with the opposite sign and 1.0001 times as large.
    """
    usual = torch.rand(2, 200, 64)
    a, b = usual
    tiny = usual * 1e-6
    cancel = torch.cat([usual, torch.stack([-a, b * 1.0001])], -1)
    fine = torch.rand(2, 200, 64).double()
    whole = torch.randint(2**26, 2**27, (2, 200, 15)) * 2 + 1

    digits_lost = mul_sum(*fine.float()).double()
    bits_lost = mul_sum(*whole.double()).long()
    answers = {
        "float32, mul_sum": (True, mul_sum(*usual), usual),
        "float32, terms cancel": (True, mul_sum(*cancel), cancel),
        "float64 from float32": (False, digits_lost, fine),
        "tiny values, all zeros": (False, torch.zeros(200), tiny),
        "int64 from float64": (False, bits_lost, whole),
    }
    return {
        name: Checked(right, three_checks(got, *pair))
        for name, (right, got, pair) in answers.items()
    }  # fmt: skip


ACCEPT_WRONG = judge_five.claim(
    "defaults-accept-wrong",
    "with its default tolerances, `allclose` accepts wrong answers",
    at_least=1,
    unit=followed("accepted"),
)
REJECT_RIGHT = judge_five.claim(
    "defaults-reject-right",
    "with its default tolerances, `allclose` rejects a right answer",
    at_least=1,
    unit=followed("rejected"),
)
BOUND_RIGHT = judge_five.claim(
    "bound-is-right",
    "the bound from eps and magnitude judges all five answers correctly",
    equals=5,
    unit=followed("of 5"),
)


@judge_five.explain
def _(page: Page, checked: dict[str, Checked]) -> None:
    words = {True: "right", False: "wrong"}
    rows = [(name, words[right], *(words[each] for each in checks)) for name, (right, checks) in checked.items()]
    columns = dict.fromkeys(("answer", "is", "`==` reports", "`allclose`", "the bound"))
    page.table(Table.of("Five answers and three checks", columns, rows))
    by_equal, by_default, by_bound = (
        sum(each.checks[check] is each.right for each in checked.values()) for check in range(3)
    )
    page.reveal(
        by_default,
        f"`allclose` judges {by_default} of {len(checked)} answers correctly, `==` judges {by_equal} correctly, and",
        f"the bound judges {by_bound} correctly.",
    )
    page.settle(ACCEPT_WRONG, sum(each.checks.allclose for each in checked.values() if not each.right))
    page.settle(REJECT_RIGHT, sum(not each.checks.allclose for each in checked.values() if each.right))
    page.settle(BOUND_RIGHT, by_bound)
    page.say(
        "The default `rtol` of 1e-5 is too large for float64, which has about 16 digits. Whole numbers are exact, so "
        "any `rtol` above 0 is too large for whole numbers. If the right answers are below the default `atol` of 1e-8, "
        "`allclose`",
        "accepts answers that are only zeros.",
        "Where positive and negative terms cancel, the sum is much smaller than its terms. The rounding error is a "
        "fraction of the terms, so the error can be large compared with the sum. The bound with eps and the magnitude "
        "allows these errors, because the magnitude is the sum of the terms without their signs.",
    )
    page.say(
        "Choose `rtol` and `atol` yourself, for each dtype. `torch.testing.assert_close` chooses both tolerances by",
        "dtype, and also compares dtypes and shapes. But its tolerances do not depend on the terms of a sum.",
    )


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def hides_nan(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).nansum(-1)


@lesson.given
def in_place(a: Tensor, b: Tensor) -> Tensor:
    return a.mul_(b).sum(-1)


@lesson.given
def by_mean(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).mean(-1) * a.shape[-1]


@lesson.given
def no_strides(a: Tensor, b: Tensor) -> Tensor:
    rows, n = b.shape
    return (a * b.as_strided((rows, n), (n, 1))).sum(-1)


@lesson.step(
    "Four functions with faults",
    predict=Choice(
        "Each of the four functions has a fault. How many of these faults does `allclose` find with usual input?",
        {"a": "none", "b": "one to three", "c": "all four"},
        limits=(1, 4),
    ),
    expected="a",
    wrong_reasoning="Students think that random numbers test everything. But usual input is contiguous, has no NaN "
    "and no empty size, so these faults do not show.",
)
def usual_input() -> dict[str, bool]:
    """Here are four more functions for the same dot product. Each of these four functions has a fault.

    Usual input is what a programmer tries first: new two-dimensional tensors of random numbers.
    """
    close = {}
    for f in [hides_nan, in_place, by_mean, no_strides]:
        a, b = torch.rand(2, 5, 8)
        expected = mul_sum(a, b)
        close[f.__name__] = torch.allclose(f(a, b), expected)
    return close


FINDS_NONE = usual_input.claim(
    "usual-finds-none",
    "with usual input, `allclose` accepts all four faulty functions",
    equals=4,
    unit=followed("of 4 accepted"),
)


@usual_input.explain
def _(page: Page, close: dict[str, bool]) -> None:
    rows = [(name, yes_no(accepted)) for name, accepted in close.items()]
    page.table(Table.of("Usual input, rows of 8 numbers", dict.fromkeys(("function", "`allclose` accepts it")), rows))
    found = sum(not accepted for accepted in close.values())
    page.reveal(found, f"`allclose` finds {found} of {len(close)} faults.")
    page.settle(FINDS_NONE, sum(close.values()))
    page.say(
        "A test that every function passes finds no faults. You can see the faults of the four functions when you read "
        "their code. For each",
        "function, which input would show its fault?",
    )


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
FAULTY = ("hides_nan", "in_place", "by_mean", "no_strides")


@lesson.given
class Look(NamedTuple):
    finding: str
    allclose: bool


@lesson.given
def look(f: Callable[..., Tensor], a: Tensor, b: Tensor) -> Look:
    expected = mul_sum(a.double(), b.double()).to(a.dtype)
    before = a.clone()
    got = f(a, b)
    if (got.shape, got.dtype) != (expected.shape, expected.dtype):
        return Look("shape", allclose=False)
    close = torch.allclose(got, expected)
    if not torch.allclose(got, expected, equal_nan=True):
        return Look("wrong", close)
    if not torch.allclose(a, before, rtol=0, atol=0, equal_nan=True):
        return Look("alters", close)
    return Look("ok", close)


@lesson.step(
    "Unusual inputs",
    predict=Choice(
        "We also check each answer with `allclose` without options. For which kind of input does `allclose` reject "
        "right answers?",
        {"a": "for no kind", "b": "`no rows`", "c": "`NaN`", "d": "`strided`"},
    ),
    expected="c",
    wrong_reasoning="Students choose the strided input, because its memory layout is unusual. But `allclose` compares "
    "values. Only NaN differs from itself.",
)
def unusual_inputs() -> dict[str, dict[str, Look]]:
    """Now we call `mul_sum`, `bmm` and the four faulty functions with seven kinds of input.

    In the input `strided`, the second argument is a transposed view. In the input `expand`, one row stands for all rows
    of the second argument. In the input `alias`, both arguments are the same tensor. The function `look` computes the
    expected answer in float64, rounds it to the dtype of `a`, and compares shape, dtype and numbers. In an answer, NaN
    is right only where the expected answer is NaN. `look` also checks that `a` is unchanged, and returns whether
    `allclose` alone accepts the answer.
    """
    seen = {}
    for f in [mul_sum, bmm, hides_nan, in_place, by_mean, no_strides]:
        a, b = torch.rand(2, 5, 8)
        with_nan = a.clone()
        with_nan[1, 2] = torch.nan
        inputs = {
            "usual": (a, b),
            "no rows": (a[:0], b[:0]),
            "n = 0": (a[:, :0], b[:, :0]),
            "NaN": (with_nan, b),
            "strided": (a, torch.rand(8, 5).T),
            "expand": (a, b[:1].expand(5, 8)),
            "alias": (a, a),
        }
        looks = {kind: look(f, *pair) for kind, pair in inputs.items()}
        seen[f.__name__] = looks
    return seen


FINDS_ALL = unusual_inputs.claim(
    "unusual-finds-all",
    "with unusual inputs, `look` finds a fault in each of the four faulty functions",
    equals=4,
    unit=followed("of 4 found"),
)
RIGHT_EVERYWHERE = unusual_inputs.claim(
    "right-everywhere", "`mul_sum` and `bmm` return right answers for each input", equals=0, unit=followed("faults")
)
NAN_DIFFERS = unusual_inputs.claim(
    "nan-is-not-nan",
    "`allclose` without options rejects right answers that contain NaN",
    at_least=1,
    unit=followed("rejected"),
)
ALLCLOSE_MISSES = unusual_inputs.claim(
    "allclose-misses",
    "`allclose` alone accepts answers in which `look` finds a fault",
    at_least=1,
    unit=followed("accepted"),
)


@unusual_inputs.explain
def _(page: Page, seen: dict[str, dict[str, Look]]) -> None:
    kinds = list(next(iter(seen.values())))
    rows = [(name, *(each.finding for each in looks.values())) for name, looks in seen.items()]
    page.table(Table.of("Result of `look` for each function and kind of input", dict.fromkeys(("", *kinds)), rows))
    every_look = [each for looks in seen.values() for each in looks.values()]
    rejected = sum(each.finding == "ok" and not each.allclose for each in every_look)
    page.reveal(
        rejecting_kind(seen),
        f"The number of right answers that `allclose` rejects is {rejected}. Each of these answers contains NaN where",
        "NaN is right.",
    )
    page.settle(FINDS_ALL, sum(any(each.finding != "ok" for each in seen[name].values()) for name in FAULTY))
    page.settle(
        RIGHT_EVERYWHERE, sum(each.finding != "ok" for name in ("mul_sum", "bmm") for each in seen[name].values())
    )
    page.settle(NAN_DIFFERS, rejected)
    page.settle(ALLCLOSE_MISSES, sum(each.finding != "ok" and each.allclose for each in every_look))
    page.say(
        RIGHT_EVERYWHERE.words(
            held="",
            refuted="In this run, `mul_sum` or `bmm` returned a wrong answer. Please report this answer to PyTorch.",
            unclear="This run does not show whether `mul_sum` and `bmm` are right.",
        ),
        "Each of the four faulty functions uses the right formula. `hides_nan` counts",
        "NaN as 0, so it hides earlier faults that produced NaN. `by_mean` returns NaN for an empty row, whose sum is",
        "0. `in_place` returns the right answer, but alters its input. `no_strides` assumes that `b` is contiguous.",
    )
    page.say(
        "NaN is not equal to NaN, so call `allclose` with `equal_nan=True`. If x is NaN, both `x > tol` and `x <= tol`",
        "are false. `allclose` also broadcasts: for shapes (5,) and (5, 1), it compares each number of the first",
        "tensor with each number of the second. So compare the shapes before you call `allclose`. Lesson 07 draws",
        "unusual inputs at random.",
    )


def rejecting_kind(seen: Mapping[str, Mapping[str, Look]]) -> str | None:
    """Return the letter of the right answer to the question of step 5, or None if several kinds of input are right."""
    kinds = {
        kind for looks in seen.values() for kind, each in looks.items() if each.finding == "ok" and not each.allclose
    }
    if not kinds:
        return "a"
    letters = {"no rows": "b", "NaN": "c", "strided": "d"}
    return letters.get(kinds.pop()) if len(kinds) == 1 else None


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def eighth(a: Tensor, b: Tensor) -> Tensor:
    n = a.shape[-1] // 8
    return 8 * (a[:, :n] * b[:, :n]).sum(-1)


@lesson.given
def nothing(a: Tensor, b: Tensor) -> Tensor:
    return a.new_zeros(len(b))


@lesson.given
class Timed(NamedTuple):
    right: bool
    duel: Duel


@lesson.step(
    "The time of wrong answers",
    predict=Choice(
        "We measure the speed of two right and two wrong functions. Which of these four functions is the fastest?",
        {"a": "`mul_sum`", "b": "`bmm`", "c": "`eighth`", "d": "`nothing`"},
    ),
    expected="d",
    wrong_reasoning="Students compare only the two right functions. But a wrong function can leave out the work, and "
    "then it is the fastest.",
    fast={"budget_s": 0.15},
)
def on_the_clock(budget_s: float = 0.4) -> dict[str, Timed]:
    """Now we measure the times of two functions with right answers and of two functions with wrong answers.

    The wrong function `eighth` uses only the first eighth of each row, and the wrong function `nothing` returns
    zeros. We compare each function with `mul_sum` in a `duel`, which runs two pieces of code alternately. The
    result of a duel is the speed of the first piece divided by the speed of the second, with an interval (see
    lesson 05).
    """
    a, b = torch.rand(2, 1000, 256)
    names = {f.__name__: f for f in [mul_sum, bmm, eighth, nothing]}
    scope = {**names, "a": a, "b": b}
    expected = mul_sum(a.double(), b.double()).float()
    found = {}
    for name, f in names.items():
        right = torch.allclose(f(a, b), expected)
        code = f"{name}(a, b)"
        race = duel(
            code,
            "mul_sum(a, b)",
            globals=scope,
            budget_s=budget_s,
        )
        found[name] = Timed(right, race)
    return found


WRONG_FASTEST = on_the_clock.claim(
    "wrong-is-fastest",
    "a function that only returns zeros is at least five times as fast as each right function",
    at_least=5,
    unit=units.ratio,
)
EIGHTH_FASTER = on_the_clock.claim(
    "eighth-is-faster",
    "the wrong function `eighth` is faster than `mul_sum`",
    at_least=1,
    unit=units.ratio,
)


INTERVAL = {"at least": units.ratio, "at most": units.ratio}
"""The table columns for the lower and the upper end of a duel's interval."""


@on_the_clock.explain
def _(page: Page, found: dict[str, Timed]) -> None:
    races = {name: each.duel for name, each in found.items()}
    show_speeds(page, found)
    fastest = largest(dict(zip("abcd", map(Interval.duel, races.values()), strict=True)))
    page.reveal(fastest, f"The speed of `nothing` was {units.ratio(races['nothing'].ratio)} the speed of `mul_sum`.")
    best_right = max(1.0, races["bmm"].ratio)
    page.settle(
        WRONG_FASTEST,
        Interval.duel(races["nothing"]).mapped(lambda speed: speed / best_right),
        remark="speed of `nothing` ÷ speed of the faster right function",
    )
    page.settle(EIGHTH_FASTER, Interval.duel(races["eighth"]), remark="speed of `eighth` ÷ speed of `mul_sum`")
    page.say(
        "A benchmark also measures the speed of functions that return wrong answers. Read the column “answer” of the "
        "table first, and use only a function whose answer is right.",
        EIGHTH_FASTER.words(
            held="`eighth` is the dangerous function: it is faster than `mul_sum`, and its answer looks plausible.",
            refuted="`eighth` is wrong, and in this run it was not faster than `mul_sum`.",
            unclear="`eighth` is wrong. This run does not show whether `eighth` is faster than `mul_sum`.",
        ),
        "A check of the answers easily finds the zeros of `nothing`. But a function that returns new memory without "
        "writing to it",
        "(`new_empty`) can pass the check, because this memory may still contain the result of a right function.",
    )
    page.say(
        Interval.duel(races["bmm"])
        .compare(at_least=1)
        .words(
            held="Of the two right functions, `bmm` was faster in this run, at this size and with one thread.",
            refuted="Of the two right functions, `mul_sum` was faster in this run, at this size and with one thread.",
            unclear="This run does not show which of the two right functions is faster.",
        ),
        "Lesson 02 compares `mul_sum` and `bmm` with several threads, and lesson 05 compares them at several sizes.",
    )


def show_speeds(page: Page, found: Mapping[str, Timed]) -> None:
    """Print a table of the speed of each function, and histograms of the CPU times of `bmm` and `eighth`."""
    words = {True: "right", False: "wrong"}
    rows = [(name, words[right], race.ratio, race.low, race.high) for name, (right, race) in found.items()]
    columns = {"function": None, "answer": None, "speed ÷ speed of mul_sum": units.ratio, **INTERVAL}
    page.table(Table.of("1000 rows of 256 numbers", columns, rows))
    for name in ("bmm", "eighth"):
        calls_s = [each.candidate.cpu_s / each.candidate.calls for each in found[name].duel.rounds]
        page.histogram(calls_s, name=name, caption=f"`{name}`: CPU time per call, {units.count(len(calls_s))} blocks")


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def every_pair(a: Tensor, b: Tensor) -> Tensor:
    return (a @ b.T).diagonal()


@lesson.given
def row_by_row(a: Tensor, b: Tensor) -> Tensor:
    return torch.stack([x.dot(y) for x, y in zip(a, b, strict=True)])


@lesson.given
def in_blocks(a: Tensor, b: Tensor, blocks: int) -> Tensor:
    pairs = zip(a.chunk(blocks), b.chunk(blocks), strict=True)
    return torch.cat([mul_sum(x, y) for x, y in pairs])


@lesson.given
class Change(NamedTuple):
    code: str
    duel: Duel


@lesson.given
class Parts(NamedTuple):
    changes: dict[str, Change]
    one_thread: list[Measurement]
    all_threads: list[Measurement]


@lesson.step(
    "Six parts that decide the speed",
    predict=Choice.ranges(
        "`row_by_row` calls `torch.dot` for each of 512 pairs of rows. What is its time divided by the time of "
        "`mul_sum`?",
        (2, 20, 500),
        units.ratio,
    ),
    expected="c",
    wrong_reasoning="Students think that a Python loop adds only a little, because torch computes the products. But "
    "each of the many calls costs much more than its few numbers.",
    fast={"budget_s": 0.1, "times": 3},
)
def six_parts(budget_s: float = 0.35, times: int = 7) -> Parts:
    """Why is one right function faster than another? All functions in this step return right answers.

    We give all functions of a comparison the same input. Their time depends on six parts: the algorithm, its
    hyperparameters, its implementation, the framework, the framework's libraries, and the hardware. We change one of
    the six parts at a time, and keep the other five parts. For example, `row_by_row` and `mul_sum` multiply the same
    numbers. But `mul_sum` calls torch only twice, and each call of torch takes time in addition to its computation.
    """
    a, b = torch.rand(2, 512, 64)
    c, d = torch.rand(2, 64, 512)
    scope = {**globals(), "a": a, "b": b, "c": c, "d": d}
    scope |= {"A": a.numpy(), "B": b.numpy()}
    codes = {
        "algorithm": ("every_pair(a, b)", "mul_sum(a, b)"),
        "hyperparameter": ("in_blocks(a, b, 128)", "in_blocks(a, b, 4)"),
        "implementation": ("row_by_row(a, b)", "mul_sum(a, b)"),
        "framework": ("(A * B).sum(-1)", "mul_sum(a, b)"),
        "library": ("bmm(c, d)", "mul_sum(c, d)"),
    }
    changes = {}
    for part, (code, than) in codes.items():
        race = duel(than, code, globals=scope, budget_s=budget_s)
        changes[part] = Change(code, race)

    scope["a"], scope["b"] = torch.rand(2, 20_000, 64)
    new = partial(Timer, "mul_sum(a, b)", globals=scope)
    one, full = new(), new(num_threads=torch.get_num_threads())
    pairs = [(one.timeit(5), full.timeit(5)) for _ in range(times)]
    return Parts(changes, *map(list, zip(*pairs, strict=True)))


ALGORITHM = six_parts.claim(
    "algorithm",
    "algorithm: the dot products of all pairs of rows take at least twice as long as the dot products of matching rows",
    at_least=2,
    unit=units.ratio,
)
SETTING = six_parts.claim(
    "setting",
    "hyperparameter: `in_blocks` with 128 blocks takes at least twice as long as with 4 blocks",
    at_least=2,
    unit=units.ratio,
)
IMPLEMENTATION = six_parts.claim(
    "implementation",
    "implementation: a Python loop over the rows takes at least five times as long as one call of `mul_sum`",
    at_least=5,
    unit=units.ratio,
)
FRAMEWORK = six_parts.claim(
    "framework",
    "framework: the times of NumPy and torch for the same multiplication and sum differ by at least 2 %",
    at_least=1.02,
    unit=units.ratio,
)
LIBRARY = six_parts.claim(
    "library",
    "library: the times of `bmm`, which calls a matrix library, and of `mul_sum`, which does not, differ by at least"
    " 2 %",
    at_least=1.02,
    unit=units.ratio,
)


@six_parts.explain
def _(page: Page, parts: Parts) -> None:
    races = {part: each.duel for part, each in parts.changes.items()}
    rows = [(part, code, race.ratio, race.low, race.high) for part, (code, race) in parts.changes.items()]
    columns = {"part": None, "changed to": None, "new time ÷ old time": units.ratio, **INTERVAL}
    page.table(Table.of("One part changed at a time", columns, rows))
    page.reveal(Interval.duel(races["implementation"]), "The Python interpreter also takes time in each iteration.")
    bounded = {ALGORITHM: "algorithm", SETTING: "hyperparameter", IMPLEMENTATION: "implementation"}
    for claim, part in bounded.items():
        page.settle(claim, Interval.duel(races[part]))
    for claim, part in {FRAMEWORK: "framework", LIBRARY: "library"}.items():
        page.settle(claim, longer_by(races[part]), remark="longer time ÷ shorter time")
    by_size = sorted(races, key=lambda part: abs(math.log(races[part].ratio)))
    page.say(
        f"Of these five changes, the change of the {by_size[-1]} had the largest measured effect. The change of the",
        f"{by_size[0]} had the smallest measured effect. According to torch's source code, `bmm` on a CPU calls a",
        "matrix library only for rows of 400 numbers or more, and torch's own loop for shorter rows. To change the",
        "library, this step therefore uses rows of 512 numbers.",
        about_cores(parts.one_thread, parts.all_threads),
    )
    page.say(
        "Every measured time depends on all six parts. A benchmark shows the effect of a part only if you change that",
        "part alone. To change the algorithm, its hyperparameters or its implementation, edit the code. To change the",
        "framework or the library, call another framework or library for the same task. To change the hardware, use",
        "another machine. Report which of the six parts you changed, and describe the other parts.",
    )


def longer_by(race: Duel) -> Interval:
    """Return the longer of the two times in a duel divided by the shorter one, with its interval."""
    return Interval.duel(race) if race.ratio >= 1 else Interval.duel(race).inverse()


def about_cores(one: Sequence[Measurement], full: Sequence[Measurement]) -> str:
    """Return sentences that compare the time of `mul_sum` with all threads of torch with its time with one thread.

    `one` and `full` are measurements with one thread and with all threads. If torch uses a single thread, return a
    sentence that states this.
    """
    threads = torch.get_num_threads()
    if threads == 1:
        return "This run could not use more of the hardware, because torch uses a single thread on this machine."
    times = median(after.median / before.median for before, after in zip(one, full, strict=True))
    return (
        "Of the hardware, this run changed only how many cores a call can use: one core per thread. `mul_sum` took"
        f" {units.ratio(times)} as long with {threads} threads as with one thread. A call waits"
        " for its slowest thread. If another program uses the core of a thread, the call can take many times as long."
    )


lesson.key_points = (
    "Before you measure, compare the answers with more precise answers, also for unusual inputs.",
    (
        "Choose a tolerance by dtype, length and magnitude. Also compare the shapes and the places of NaN, and check "
        "that the inputs are unchanged."
    ),
    (
        "Time depends on algorithm, hyperparameters, implementation, framework, library and hardware. Change only one "
        "of these parts at a time."
    ),
)
lesson.references = (
    "PyTorch, `torch.allclose`: docs.pytorch.org/docs/stable/generated/torch.allclose.html",
    "PyTorch, `torch.testing.assert_close`: docs.pytorch.org/docs/stable/testing.html",
    "PyTorch, numerical accuracy: docs.pytorch.org/docs/stable/notes/numerical_accuracy.html",
    "Higham, Accuracy and Stability of Numerical Algorithms, chapter 3",
    "PyTorch benchmark recipe: docs.pytorch.org/tutorials/recipes/recipes/benchmark.html",
)

if __name__ == "__main__":
    main(lesson)
