"""Lesson 01: a fast wrong answer is worth nothing, and how to tell a right one from a wrong one.

Read it top to bottom: it is the screen's own order. Every step is teaching code, a question, and an
explanation in words that are chosen by what this machine has just measured.
"""

import math
from collections.abc import Callable
from statistics import median

import torch
from torch import Tensor
from torch.utils.benchmark import Measurement, Timer

from harness import units
from harness.duel import Duel, duel
from harness.tables import Table
from lessons.engine import Choice, Guess, Lesson, Page, Standing
from lessons.engine.words import followed, yes_no

lesson = Lesson(
    __file__,
    title="A fast wrong answer is worth nothing",
    objective="Afterwards you can say whether two functions agree, and only then which one is faster.",
    minutes=15,
)

# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def mul_sum(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


@lesson.given
def bmm(a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a[:, None], b[:, :, None])[:, 0, 0]


@lesson.step(
    "Two ways, one answer",
    predict=Choice(
        "For how many of 10 000 rows do the two give equal numbers, in the sense of `==`?",
        {"a": "all", "b": "more than half", "c": "half of them or fewer"},
    ),
    claims={
        "bits-differ": "two right functions give different numbers for some of the rows",
        "yet-close": "and `torch.allclose` calls them the same",
    },
)
def compare_two() -> tuple[float, float, bool]:
    """The dot product of a row with its partner, for many rows at once, in two ways.

    `mul_sum` multiplies everything and adds up each row. `bmm` asks the library for matrix products, one
    small product for each row. Before we ask which is faster: do they give the same?
    """
    a, b = torch.rand(2, 10_000, 64)
    one, other = mul_sum(a, b), bmm(a, b)
    equal = (one == other).double().mean().item()
    apart = ((one - other).abs() / one).max().item()
    return equal, apart, torch.allclose(one, other)


@compare_two.observe
def explain_two(page: Page, compared: tuple[float, float, bool]) -> None:
    equal, apart, close = compared
    truth = "a" if equal == 1 else "b" if equal > 0.5 else "c"
    page.reveal(truth, f"{units.percent(equal)} of the rows; the worst pair is {relative(apart)} apart.")
    differ = page.claim("bits-differ", equal, high=0.9999, unit=followed("are equal", units.percent))
    page.claim("yet-close", float(close), 1, 1, unit=yes_no)
    page.say(
        "Neither is wrong. A float32 holds some seven digits, so every addition rounds, and the two add in"
        " different orders. `==` between floats asks for the same roundings, which nobody had promised."
        if differ.standing is Standing.HELD
        else "Here both add in the same order, so even their roundings agree. Another machine's library adds in"
        " another order: nobody has promised equal bits.",
        "So the question is not whether they differ. It is whether they differ by more than rounding can.",
    )


def relative(value: float) -> str:
    """Return a small relative difference in powers of ten."""
    return f"{value:.1e}"


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────


Errors = dict[str, tuple[float, float, float]]
"""For each dtype: eps, and the worst error of mul_sum and of bmm as a part of the magnitude."""

PRODUCTS = 64
"""Products in each row of step 2."""


@lesson.given
def worst_error(f: Callable[..., Tensor], a: Tensor, b: Tensor) -> float:
    products = a.double() * b.double()
    oracle = products.sum(-1)
    magnitude = products.abs().sum(-1)
    off = (f(a, b).double() - oracle).abs()
    return (off / magnitude).max().item()


@lesson.step(
    "How wrong may it be?",
    predict=Choice(
        "float32 has an eps of about 1e-7: the step from 1 to the next number. A sum of 64 products rounds 127 times."
        " How large is the worst error of many such sums, in eps of their size?",
        {"a": "below 6 eps", "b": "6 to 30 eps", "c": "30 to 65 eps"},
    ),
    claims={
        "within-the-bound": "no error is larger than (n + 1) eps of the magnitude, in any dtype",
        "errors-follow-eps": "counted in its own eps, no dtype errs 20 times as much as another",
    },
)
def errors_by_dtype() -> dict[str, tuple[float, float, float]]:
    """To know how far off an answer is we need a better one, an “oracle”: the same sum in float64.

    And a scale. A sum of n rounded products is off by at most about n times eps times the magnitude, the sum
    of the products without their signs. (Higham, Accuracy and Stability of Numerical Algorithms, 3.1; we
    allow one more for the rounding of the products themselves.)
    """
    found = {}
    for dtype in [torch.bfloat16, torch.float16, torch.float32]:
        a, b = torch.randn(2, 10_000, 64).to(dtype)
        eps = torch.finfo(dtype).eps
        by_sum = worst_error(mul_sum, a, b)
        by_bmm = worst_error(bmm, a, b)
        name = str(dtype).removeprefix("torch.")
        found[name] = (eps, by_sum, by_bmm)
    return found


@errors_by_dtype.observe
def explain_errors(page: Page, errors: Errors) -> None:
    in_eps = {name: max(both) / eps for name, (eps, *both) in errors.items()}
    allowed = PRODUCTS + 1
    rows = [(name, eps, one, other, allowed * eps, in_eps[name]) for name, (eps, one, other) in errors.items()]
    shown = {"dtype": None, "eps": relative, "mul_sum is off by": relative, "bmm": relative}
    shown |= {"allowed": relative, "worst, in eps": units.number}
    page.table(Table.of("Worst error of 10 000 sums of 64 products, as a part of the magnitude", shown, rows))
    worst = in_eps["float32"]
    page.reveal("a" if worst < 6 else "b" if worst <= 30 else "c", f"{units.number(worst)} eps.")
    used = max(in_eps.values()) / allowed
    page.claim("within-the-bound", used, high=1, unit=followed("of what is allowed", units.percent))
    coarser = {name: max(both) / max(errors["float32"][1:]) for name, (_, *both) in errors.items()}
    apart = max(in_eps.values()) / min(in_eps.values())
    page.claim("errors-follow-eps", apart, high=20, unit=units.ratio)
    page.say(
        "The bound is for the worst order and the worst luck. Real sums stay far below, as roundings up and down"
        " cancel. But unless something overflows, no right answer is ever above it, so what is above it is wrong.",
        f"And it scales with the dtype: here float16 errs {units.ratio(coarser['float16'])} as much as float32, and",
        f"bfloat16 {units.ratio(coarser['bfloat16'])}. A tolerance of 1e-5 means nothing before you have said of what.",
    )
    page.say(
        "float64 needs a finer oracle than float64: exact whole numbers, or `fractions.Fraction`. For a first",
        "look, its errors against another order of the same sum will do.",
    )


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────


Judged = dict[str, tuple[bool, list[bool]]]
"""For each answer: whether it is right, and what `==`, `allclose` and the bound say."""


@lesson.given
def three_judges(got: Tensor, a: Tensor, b: Tensor) -> list[bool]:
    whole = not a.is_floating_point()
    wide = torch.int64 if whole else torch.float64
    products = a.to(wide) * b.to(wide)
    oracle = products.sum(-1)
    eps = 0 if whole else torch.finfo(a.dtype).eps
    allowed = (a.shape[-1] + 1) * eps * products.abs().sum(-1)
    off = (got.to(wide) - oracle).abs()
    expected = oracle.to(got.dtype)
    return [
        torch.equal(got, expected),
        torch.allclose(got, expected),
        bool((off <= allowed).all()),
    ]


@lesson.step(
    "The defaults fit every dtype",
    predict=Choice(
        "Five answers, two right and three wrong. How many does `torch.allclose` judge correctly?",
        {"a": "all five", "b": "three or four", "c": "two or fewer"},
    ),
    claims={
        "defaults-accept-wrong": "with its defaults, `allclose` accepts wrong answers",
        "defaults-reject-right": "and rejects a right one",
        "bound-is-right": "a bound made from eps and magnitude judges all five correctly",
    },
)
def judge_five() -> dict[str, tuple[bool, list[bool]]]:
    """`allclose` allows 1e-8 plus 1e-5 of the expected value, whatever the dtype (`rtol` and `atol`).

    Three judges hear five answers. In the second, large terms cancel: the first half of each row comes again
    with its sign turned and a ten-thousandth more.
    """
    usual = torch.rand(2, 200, 64)
    a, b = usual
    tiny = usual * 1e-6
    swing = torch.cat([usual, torch.stack([-a, b * 1.0001])], -1)
    fine = torch.rand(2, 200, 64).double()
    whole = torch.randint(2**26, 2**27, (2, 200, 15)) * 2 + 1

    digits_lost = mul_sum(*fine.float()).double()
    bits_lost = mul_sum(*whole.double()).long()
    heard = {
        "float32, mul_sum": (True, mul_sum(*usual), usual),
        "float32, terms cancel": (True, mul_sum(*swing), swing),
        "float64, by way of float32": (False, digits_lost, fine),
        "tiny values, all zeros": (False, torch.zeros(200), tiny),
        "int64, by way of float64": (False, bits_lost, whole),
    }
    judged = {}
    for name, (right, got, pair) in heard.items():
        judged[name] = right, three_judges(got, *pair)
    return judged


@judge_five.observe
def explain_five(page: Page, judged: Judged) -> None:
    said = {True: "right", False: "wrong"}
    rows = [(name, said[truth], *(said[one] for one in told)) for name, (truth, told) in judged.items()]
    heads = dict.fromkeys(("the answer", "is", "== says", "allclose", "the bound"))
    page.table(Table.of("Five answers before three judges", heads, rows))
    correct = [sum(told[judge] is truth for truth, told in judged.values()) for judge in range(3)]
    by_default = correct[1]
    truth = "a" if by_default == len(judged) else "b" if by_default >= 3 else "c"
    page.reveal(truth, f"`allclose` is correct on {by_default}, `==` on {correct[0]}, the bound on {correct[2]}.")
    accepted = sum(told[1] for truth, told in judged.values() if not truth)
    rejected = sum(not told[1] for truth, told in judged.values() if truth)
    page.claim("defaults-accept-wrong", accepted, low=1, unit=followed("accepted"))
    page.claim("defaults-reject-right", rejected, low=1, unit=followed("rejected"))
    page.claim("bound-is-right", correct[2], len(judged), len(judged), unit=followed(f"of {len(judged)}"))
    page.say(
        "A hundred-thousandth of the value is too much for float64, which promised sixteen digits, and for whole"
        " numbers, which promised all. Below 1e-8, even zero is close enough. And where terms cancel, little is"
        " left of the value to take a hundred-thousandth of, while the roundings were made on the way."
    )
    page.say(
        "So say `rtol` and `atol` yourself, by dtype. `torch.testing.assert_close` chooses by dtype and also"
        " compares dtype and shape; of cancelling terms it knows nothing either."
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
    "Four careless functions",
    predict=Choice(
        "Each of the four has a fault. How many faults does `allclose` on usual input find?",
        {"a": "all four", "b": "one to three", "c": "none"},
    ),
    claims={"usual-finds-none": "on usual input, `allclose` is content with all four"},
)
def usual_input() -> dict[str, bool]:
    """Four more ways to the same answer, from people in a hurry.

    Usual input is what one types first: random numbers, fresh from the allocator, in rows and columns.
    """
    content = {}
    for f in [hides_nan, in_place, by_mean, no_strides]:
        a, b = torch.rand(2, 5, 8)
        expected = mul_sum(a, b)
        content[f.__name__] = torch.allclose(f(a, b), expected)
    return content


@usual_input.observe
def explain_usual(page: Page, content: dict[str, bool]) -> None:
    rows = [(name, yes_no(close)) for name, close in content.items()]
    page.table(Table.of("Random rows of 8", dict.fromkeys(("function", "allclose is content")), rows))
    found = sum(not close for close in content.values())
    page.reveal("a" if found == len(content) else "b" if found else "c", f"{found} of {len(content)}.")
    page.claim("usual-finds-none", sum(content.values()), 4, 4, unit=followed("of 4 pass"))
    page.say(
        "A test that everything passes tells nothing apart. The faults are there; you can read them in the code.",
        "What does it take to make them show?",
    )


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────


Seen = dict[str, dict[str, tuple[str, bool]]]
"""For each function and input: what a careful look says, and whether a bare `allclose` was content."""

CARELESS = ("hides_nan", "in_place", "by_mean", "no_strides")


@lesson.given
def look(
    f: Callable[..., Tensor],
    a: Tensor,
    b: Tensor,
) -> tuple[str, bool]:
    expected = mul_sum(a.double(), b.double()).to(a.dtype)
    before = a.clone()
    got = f(a, b)
    if (got.shape, got.dtype) != (expected.shape, expected.dtype):
        return "shape", False
    content = torch.allclose(got, expected)
    if not torch.allclose(got, expected, equal_nan=True):
        return "wrong", content
    if not torch.allclose(a, before, rtol=0, atol=0, equal_nan=True):
        return "spoils", content
    return "ok", content


@lesson.step(
    "Inputs nobody thinks of",
    predict=Choice(
        "A bare `allclose` looks at the same answers. Will it also call right ones wrong?",
        {"a": "no, never", "b": "yes, some"},
    ),
    claims={
        "unusual-finds-all": "each careless function now fails, or is seen to spoil its input",
        "right-everywhere": "`mul_sum` and `bmm` are right on every input",
        "nan-is-not-nan": "a bare `allclose` calls right answers wrong, because NaN equals nothing",
        "allclose-misses": "and it is content with answers that a careful look refuses",
    },
)
def unusual_inputs() -> dict[str, dict[str, tuple[str, bool]]]:
    """There are more kinds of input than the usual one.

    `strided` is a transposed view, `expand` one row that stands for all, `alias` one tensor given twice.
    `look` compares with float64, by shape and dtype as well, knows that NaN belongs where NaN was, and asks
    whether `a` survived. Beside its verdict it keeps what `allclose` alone would have said.
    """
    seen = {}
    for f in [mul_sum, bmm, hides_nan, in_place, by_mean, no_strides]:
        a, b = torch.rand(2, 5, 8)
        hole = a.clone()
        hole[1, 2] = torch.nan
        inputs = {
            "usual": (a, b),
            "no rows": (a[:0], b[:0]),
            "n = 0": (a[:, :0], b[:, :0]),
            "NaN": (hole, b),
            "strided": (a, torch.rand(8, 5).T),
            "expand": (a, b[:1].expand(5, 8)),
            "alias": (a, a),
        }
        told = {kind: look(f, *pair) for kind, pair in inputs.items()}
        seen[f.__name__] = told
    return seen


@unusual_inputs.observe
def explain_unusual(page: Page, seen: Seen) -> None:
    kinds = list(next(iter(seen.values())))
    rows = [(name, *(told for told, _ in by_kind.values())) for name, by_kind in seen.items()]
    page.table(Table.of("What a careful look says", dict.fromkeys(("", *kinds)), rows))
    caught = sum(any(told != "ok" for told, _ in seen[name].values()) for name in CARELESS)
    faults = sum(told != "ok" for name in ("mul_sum", "bmm") for told, _ in seen[name].values())
    everything = [pair for by_kind in seen.values() for pair in by_kind.values()]
    alarms = sum(told == "ok" and not close for told, close in everything)
    missed = sum(told != "ok" and close for told, close in everything)
    page.reveal("b" if alarms else "a", f"It called {alarms} right answers wrong, all for a NaN in its place.")
    page.claim("unusual-finds-all", caught, 4, 4, unit=followed("of 4 caught"))
    right = page.claim("right-everywhere", faults, 0, 0, unit=followed("faults"))
    page.claim("nan-is-not-nan", alarms, low=1, unit=followed("false alarms"))
    page.claim("allclose-misses", missed, low=1, unit=followed("missed"))
    page.say(
        "Nothing is wrong with the arithmetic of the four; each stumbles over one kind of input."
        if right.standing is Standing.HELD
        else "This torch stumbles itself, which is worth a report to its authors.",
        "A NaN in the input must show in the answer: who hides it hides the fault that made it. The mean of",
        "nothing is NaN where the sum is 0. And `in_place` is right once, and has spoilt its input for good.",
    )
    page.say(
        "NaN equals nothing, not even itself, so say `equal_nan=True` and compare with care: `x > tol` is false for",
        "a NaN, and so is `x <= tol`. And `allclose` stretches shapes to fit: of (5,) and (5, 1) it compares",
        "every number with every other. Ask for the shape first. Lesson 07 draws inputs like these at random.",
    )


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def half(a: Tensor, b: Tensor) -> Tensor:
    n = a.shape[-1] // 2
    return 2 * (a[:, :n] * b[:, :n]).sum(-1)


@lesson.given
def nothing(a: Tensor, b: Tensor) -> Tensor:
    return a.new_zeros(len(b))


@lesson.step(
    "Now the clock",
    predict=Choice(
        "Which of the four is fastest?",
        {"a": "mul_sum", "b": "bmm", "c": "half", "d": "nothing"},
    ),
    claims={
        "wrong-is-fastest": "a wrong function that computes nothing beats every right one, five times or more",
        "half-is-faster": "half of the work is done sooner than all of it",
    },
    fast={"budget_s": 0.15},
)
def on_the_clock(budget_s: float = 0.4) -> dict[str, tuple[bool, Duel]]:
    """Only now do we measure, and let two impostors join.

    `half` guesses from the first half of each row, `nothing` hands out zeros. `harness.duel` runs
    two pieces of code in turns and says how many times as fast the first is, with an interval (lesson 05
    tells why in turns). Each is compared with `mul_sum`, and checked.
    """
    a, b = torch.rand(2, 1000, 256)
    names = {f.__name__: f for f in [mul_sum, bmm, half, nothing]}
    scope = {**names, "a": a, "b": b}
    expected = mul_sum(a.double(), b.double()).float()
    usual = "mul_sum(a, b)"
    found = {}
    for name, f in names.items():
        right = torch.allclose(f(a, b), expected)
        code = f"{name}(a, b)"
        race = duel(code, usual, globals=scope, budget_s=budget_s)
        found[name] = (right, race)
    return found


@on_the_clock.observe
def explain_clock(page: Page, found: dict[str, tuple[bool, Duel]]) -> None:
    words = {True: "right", False: "wrong"}
    rows = [(name, words[right], race.ratio, race.low, race.high) for name, (right, race) in found.items()]
    shown = {"function": None, "is": None, "as fast as mul_sum": units.ratio, **INTERVAL}
    page.table(Table.of("1000 rows of 256", shown, rows))
    races = {name: race for name, (_, race) in found.items()}
    for name in ("bmm", "half"):
        calls_s = [round_.candidate.cpu_s / round_.candidate.calls for round_ in races[name].rounds]
        page.histogram(calls_s, name=name, caption=f"{name}: {units.count(len(calls_s))} blocks, CPU time a call")
    winner = max(races, key=lambda name: races[name].ratio)
    page.reveal("abcd"[list(races).index(winner)], f"{units.ratio(races[winner].ratio)} the speed of `mul_sum`.")
    fastest = max(1.0, races["bmm"].ratio)
    gap, surely = (figure / fastest for figure in (races["nothing"].ratio, races["nothing"].low))
    remark = "as fast as the fastest right one"
    page.claim("wrong-is-fastest", gap, low=5, error=gap - surely, unit=units.ratio, remark=remark)
    less = races["half"]
    page.claim_duel("half-is-faster", less, low=1, remark="as fast")
    faster, slower = ("bmm", "mul_sum") if races["bmm"].ratio > 1 else ("mul_sum", "bmm")
    page.say(
        f"A benchmark times whatever it is given. `{winner}` wins the race, and the figures alone would have",
        "recommended it. The column that counts is the second one: only what is right may run.",
        f"`half` shows how it happens in earnest: it is {units.ratio(less.ratio)} as fast, and looks like an answer."
        if less.ratio > 1
        else "`half` is wrong and not even faster: reading half of each row leaves gaps between what is read.",
        "And zeros are a kind liar. Had it handed out memory as it comes (`new_empty`), it might well have passed:",
        "what a right function has just freed still holds the right answer.",
    )
    page.say(
        f"Of the two right ones `{faster}` is ahead of `{slower}` here, at this size and on one thread."
        if races["bmm"].low > 1 or races["bmm"].high < 1
        else "The two right ones cannot be told apart here, at this size and on one thread.",
        "Lesson 02 asks whether that changes with threads, lesson 05 where it changes with the size.",
    )


INTERVAL = {"at least": units.ratio, "at most": units.ratio}
"""The columns of a duel's interval."""


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────


Parts = tuple[dict[str, tuple[str, Duel]], list[tuple[Measurement, Measurement]]]
"""For each part what was changed and the duel of it; then measurements on one thread and on all, in pairs."""


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


@lesson.step(
    "What speed is made of",
    predict=Guess("512 rows, one `torch.dot` each, in a Python loop: how many times as long as `mul_sum`?", "times"),
    claims={
        "algorithm": "algorithm: all pairs of rows instead of the matching ones takes twice as long, or more",
        "setting": "hyperparameter: 128 blocks of rows take twice as long as 4 blocks, or more",
        "implementation": "implementation: a Python loop takes five times as long as one call, or more",
        "framework": "framework: NumPy and torch differ on the same multiplication and sum",
        "library": "library: the matrix library's `bmm` and torch's own loops differ",
    },
    fast={"budget_s": 0.1, "times": 3},
)
def six_parts(
    budget_s: float = 0.35,
    times: int = 7,
) -> tuple[
    dict[str, tuple[str, Duel]],
    list[tuple[Measurement, Measurement]],
]:
    """Why is one right function faster than the other? All of the following are right.

    Six things make up a speed: the algorithm, its hyperparameters, its implementation, the framework, the
    libraries under that, and the hardware. We change one at a time and hold the others.
    """
    a, b = torch.rand(2, 512, 64)
    scope = {**globals(), "a": a, "b": b, "A": a.numpy(), "B": b.numpy()}
    changes = {
        "algorithm": ("every_pair(a, b)", "mul_sum(a, b)"),
        "hyperparameter": ("in_blocks(a, b, 128)", "in_blocks(a, b, 4)"),
        "implementation": ("row_by_row(a, b)", "mul_sum(a, b)"),
        "framework": ("(A * B).sum(-1)", "mul_sum(a, b)"),
        "library": ("bmm(a, b)", "mul_sum(a, b)"),
    }
    races = {}
    for part, (code, than) in changes.items():
        race = duel(than, code, globals=scope, budget_s=budget_s)
        races[part] = (code, race)

    scope["a"], scope["b"] = torch.rand(2, 20_000, 64)
    cores = torch.get_num_threads()
    one = Timer("mul_sum(a, b)", globals=scope, num_threads=1)
    full = Timer("mul_sum(a, b)", globals=scope, num_threads=cores)
    pairs = [(one.timeit(5), full.timeit(5)) for _ in range(times)]
    return races, pairs


@six_parts.observe
def explain_parts(page: Page, parts: Parts) -> None:
    races, pairs = parts
    rows = [(part, change, race.ratio, race.low, race.high) for part, (change, race) in races.items()]
    shown = {"part": None, "changed to": None, "takes": units.ratio, **INTERVAL}
    page.table(Table.of("One part changed at a time: how many times as long", shown, rows))
    loop = races["implementation"][1].ratio
    page.reveal(loop, "Each turn of a Python loop has its price, whatever it computes.")
    bounds = {"algorithm": ("algorithm", 2), "setting": ("hyperparameter", 2), "implementation": ("implementation", 5)}
    for id_, (part, low) in bounds.items():
        page.claim_duel(id_, races[part][1], low=low)
    for part in ("framework", "library"):
        race = races[part][1]
        # Whichever is slower: how many times as long it takes.
        apart = max(race.ratio, 1 / race.ratio)
        surely = race.low if race.ratio > 1 else 1 / race.high
        page.claim(part, apart, low=1.02, error=apart - surely, unit=units.ratio, remark="as long")
    by_size = sorted(races, key=lambda part: abs(math.log(races[part][1].ratio)))
    page.say(f"Of these five, {by_size[-1]} mattered most here, and {by_size[0]} least.", about_cores(pairs))
    page.say(
        "Every time you measure holds all six. A benchmark sees a part only when that part alone changes: the first",
        "three by editing the code; framework and library by calling another one, on the same question; hardware",
        "by going elsewhere. So say which one you changed, and name the rest.",
    )


def about_cores(pairs: list[tuple[Measurement, Measurement]]) -> str:
    """Return what more cores did, by measurements on one thread and on all."""
    cores = torch.get_num_threads()
    if cores == 1:
        return "The hardware we could not change at all: torch uses a single core here."
    faster = median(one.median / full.median for one, full in pairs)
    told = (
        f"all {cores} cores were {units.ratio(faster)} as fast as one"
        if faster > 1
        else f"all {cores} cores took {units.ratio(1 / faster)} as long as one, for a call waits for its last core,"
        " and where others are at work that one comes late"
    )
    return f"The hardware we could change only a little: {told}. What another processor would do, no run here tells."


lesson.take_along(
    "First right, then fast: compare with a better answer, on the inputs nobody thinks of, before any clock.",
    "A tolerance follows from dtype, length and magnitude. Look at shape, NaN and the inputs afterwards, too.",
    "A time holds algorithm, settings, implementation, framework, library and hardware. Change one at a time.",
)
lesson.read_on(
    "PyTorch, `torch.allclose` and `torch.testing.assert_close`: docs.pytorch.org/docs/stable/testing.html",
    "PyTorch, numerical accuracy: docs.pytorch.org/docs/stable/notes/numerical_accuracy.html",
    "Higham, Accuracy and Stability of Numerical Algorithms, chapter 3",
    "PyTorch benchmark recipe: docs.pytorch.org/tutorials/recipes/recipes/benchmark.html",
)

if __name__ == "__main__":
    lesson.main()
