"""Lesson 01: how to check that functions return right answers, before you measure which one is faster."""

from collections.abc import Callable

import torch
from torch import Tensor

from harness.paired.duel import Duel, duel
from lessons.engine.api import Figures, Interval, Rows, largest, load
from lessons.engine.command import main


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
def mul_sum(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


def bmm(a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a[:, None], b[:, :, None])[:, 0, 0]


def compare_two() -> tuple[float, float, bool]:
    a, b = torch.rand(2, 10_000, 64)
    one, other = mul_sum(a, b), bmm(a, b)
    equal_share = (one == other).double().mean().item()
    difference = ((one - other).abs() / one).max().item()
    return equal_share, difference, torch.allclose(one, other)


def compare_two_figures(compared: tuple[float, float, bool]) -> Figures:
    equal_share, difference, close = compared
    return {"equal_share": equal_share, "difference": difference, "close": close}


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
def worst_error(f: Callable[..., Tensor], a: Tensor, b: Tensor) -> float:
    products = a.double() * b.double()
    oracle = products.sum(-1)
    magnitude = products.abs().sum(-1)
    off = (f(a, b).double() - oracle).abs()
    return (off / magnitude).max().item()


def errors_by_dtype() -> dict[str, list[float]]:
    found = {}
    for dtype in [torch.bfloat16, torch.float16, torch.float32]:
        a, b = torch.randn(2, 10_000, 64).to(dtype)
        name = str(dtype).removeprefix("torch.")
        found[name] = [worst_error(f, a, b) for f in [mul_sum, bmm]]
    return found


def errors_by_dtype_figures(errors: dict[str, list[float]]) -> Figures:
    eps = {name: torch.finfo(getattr(torch, name)).eps for name in errors}
    in_eps = {name: [error / eps[name] for error in each] for name, each in errors.items()}
    return {
        "errors": Rows([(name, *each) for name, each in in_eps.items()]),
        "float32": max(in_eps["float32"]),
        "part_of_bound": max(map(max, in_eps.values())) / (64 + 1),
    }


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
def three_checks(got: Tensor, a: Tensor, b: Tensor) -> list[bool]:
    whole = not a.is_floating_point()
    wide = torch.int64 if whole else torch.float64
    products = a.to(wide) * b.to(wide)
    oracle = products.sum(-1)
    eps = 0 if whole else torch.finfo(a.dtype).eps
    allowed = (a.shape[-1] + 1) * eps * products.abs().sum(-1)
    off = (got.to(wide) - oracle).abs()
    expected = oracle.to(got.dtype)
    equal = torch.equal(got, expected)
    close = torch.allclose(got, expected)
    return [equal, close, bool((off <= allowed).all())]


def judge_five() -> list[list[bool]]:
    usual = torch.rand(2, 200, 64)
    a, b = usual
    cancel = torch.cat([usual, torch.stack([-a, b * 1.0001])], -1)
    fine = torch.rand(2, 200, 64).double()
    whole = torch.randint(2**26, 2**27, (2, 200, 15)) * 2 + 1
    answers = [
        (mul_sum(*usual), usual),
        (mul_sum(*cancel), cancel),
        (mul_sum(*fine.float()).double(), fine),
        (torch.zeros(200), usual * 1e-6),
        (mul_sum(*whole.double()).long(), whole),
    ]
    return [three_checks(got, *pair) for got, pair in answers]


RIGHT = (True, True, False, False, False)
"""Whether each answer of `judge_five` is right."""


def judge_five_figures(checked: list[list[bool]]) -> Figures:
    rows = [(right, *each) for right, each in zip(RIGHT, checked, strict=True)]
    return {
        "checks": Rows(rows),
        "by_default": sum(close is right for right, _, close, _ in rows),
        "accepted": sum(close for right, _, close, _ in rows if not right),
    }


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
def hides_nan(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).nansum(-1)


def in_place(a: Tensor, b: Tensor) -> Tensor:
    return a.mul_(b).sum(-1)


def by_mean(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).mean(-1) * a.shape[-1]


def no_strides(a: Tensor, b: Tensor) -> Tensor:
    rows, n = b.shape
    return (a * b.as_strided((rows, n), (n, 1))).sum(-1)


def usual_input() -> dict[str, bool]:
    close = {}
    for f in [hides_nan, in_place, by_mean, no_strides]:
        a, b = torch.rand(2, 5, 8)
        expected = mul_sum(a, b)
        close[f.__name__] = torch.allclose(f(a, b), expected)
    return close


def usual_input_figures(close: dict[str, bool]) -> Figures:
    return {"found": list(close.values()).count(False)}


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
Look = tuple[str, bool]
"""What `look` finds in an answer, "ok" for nothing, and whether `allclose` accepts the answer."""


def look(f: Callable[..., Tensor], a: Tensor, b: Tensor) -> Look:
    expected = mul_sum(a.double(), b.double()).to(a.dtype)
    before = a.clone()
    got = f(a, b)
    if (got.shape, got.dtype) != (expected.shape, expected.dtype):
        return "shape", False
    close = torch.allclose(got, expected)
    if not torch.allclose(got, expected, equal_nan=True):
        return "wrong", close
    if not torch.allclose(a, before, rtol=0, atol=0, equal_nan=True):
        return "alters", close
    return "ok", close


def unusual_inputs() -> dict[str, dict[str, Look]]:
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


def unusual_inputs_figures(seen: dict[str, dict[str, Look]]) -> Figures:
    rejected = {
        kind for looks in seen.values() for kind, (finding, close) in looks.items() if finding == "ok" and not close
    }
    faulty = [looks.values() for name, looks in seen.items() if name not in {"mul_sum", "bmm"}]
    return {
        "findings": Rows([(name, *(finding for finding, _ in looks.values())) for name, looks in seen.items()]),
        # If `allclose` rejects right answers for several kinds of input, no option is right.
        "rejecting": {"": "a", "no rows": "b", "NaN": "c", "strided": "d"}.get("".join(rejected)),
        "found": sum(any(finding != "ok" for finding, _ in each) for each in faulty),
    }


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
def eighth(a: Tensor, b: Tensor) -> Tensor:
    n = a.shape[-1] // 8
    return 8 * (a[:, :n] * b[:, :n]).sum(-1)


def nothing(a: Tensor, b: Tensor) -> Tensor:
    return a.new_zeros(len(b))


def on_the_clock(budget_s: float = 0.4) -> dict[str, tuple[bool, Duel]]:
    a, b = torch.rand(2, 1000, 256)
    names = {f.__name__: f for f in [mul_sum, bmm, eighth, nothing]}
    scope = {**names, "a": a, "b": b}
    expected = mul_sum(a.double(), b.double()).float()
    found = {}
    for name, f in names.items():
        right = torch.allclose(f(a, b), expected)
        race = duel(
            f"{name}(a, b)",
            "mul_sum(a, b)",
            globals=scope,
            budget_s=budget_s,
        )
        found[name] = (right, race)
    return found


def on_the_clock_figures(found: dict[str, tuple[bool, Duel]]) -> Figures:
    speeds = {name: Interval.duel(race) for name, (_, race) in found.items()}
    return {
        "speeds": Rows([(name, right, race.ratio, race.low, race.high) for name, (right, race) in found.items()]),
        "fastest": largest(dict(zip("abcd", speeds.values(), strict=True))),
        "nothing": speeds["nothing"],
    }


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
def every_pair(a: Tensor, b: Tensor) -> Tensor:
    return (a @ b.T).diagonal()


def row_by_row(a: Tensor, b: Tensor) -> Tensor:
    return torch.stack([x.dot(y) for x, y in zip(a, b, strict=True)])


def in_blocks(a: Tensor, b: Tensor, blocks: int) -> Tensor:
    pairs = zip(a.chunk(blocks), b.chunk(blocks), strict=True)
    return torch.cat([mul_sum(x, y) for x, y in pairs])


def six_parts(budget_s: float = 0.35) -> list[tuple[str, Duel]]:
    a, b = torch.rand(2, 512, 64)
    c, d = torch.rand(2, 64, 512)
    scope = {**globals(), "a": a, "b": b, "c": c, "d": d}
    scope |= {"A": a.numpy(), "B": b.numpy()}
    codes = [
        ("every_pair(a, b)", "mul_sum(a, b)"),
        ("in_blocks(a, b, 128)", "in_blocks(a, b, 4)"),
        ("row_by_row(a, b)", "mul_sum(a, b)"),
        ("(A * B).sum(-1)", "mul_sum(a, b)"),
        ("bmm(c, d)", "mul_sum(c, d)"),
    ]
    changes = []
    for new, old in codes:
        race = duel(old, new, globals=scope, budget_s=budget_s)
        changes.append((new, race))
    return changes


def six_parts_figures(changes: list[tuple[str, Duel]]) -> Figures:
    return {
        "changes": Rows([(new, race.ratio, race.low, race.high) for new, race in changes]),
        "implementation": Interval.duel(dict(changes)["row_by_row(a, b)"]),
    }


lesson = load(__name__)

if __name__ == "__main__":
    main(lesson)
