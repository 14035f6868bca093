"""Lesson 13: how CPython executes bytecode.

The opcodes are those of the Python that runs the lesson. The lesson was checked on the Python versions in
`harness.bytecode.instructions.CHECKED_ON`. On other versions, a claim about opcodes is skipped if it does not hold.
"""

import ast
import dis
import io
import math
import operator
import sys
import textwrap
import tokenize
from collections.abc import Callable
from functools import reduce
from types import CodeType, FunctionType

import torch

from harness.bytecode.instructions import count_opcodes, is_checked_version, version_note
from harness.bytecode.stack import StackStep, stack_svg, stack_text, steps
from harness.errors import UsageError
from harness.paired.duel import Duel, duel
from lessons.engine.api import Drawing, Figures, Interval, Lacking, Rows, load
from lessons.engine.command import main


def checked(measured: int, wanted: int) -> int | Lacking:
    """Return `measured`, or why it is lacking: it is not `wanted`, and this Python version was not checked yet."""
    if measured == wanted or is_checked_version():
        return measured
    return Lacking(f"the opcodes differ in {version_note()}")


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
Stages = tuple[list[str], ast.Module, CodeType, list[dis.Instruction], CodeType]


def from_text_to_opcodes() -> Stages:
    text = "d = a + b * c"
    read = io.StringIO(text).readline
    tokens = [each.string for each in tokenize.generate_tokens(read)]
    tree = ast.parse(text)
    code = compile(tree, "<text>", "exec")
    listed = list(dis.get_instructions(code))
    folded = compile("day = 60 * 60 * 24", "<text>", "exec")
    return tokens, tree, code, listed, folded


def from_text_to_opcodes_figures(found: Stages) -> Figures:
    tokens, tree, code, listed, folded = found
    left = sum(each.opname == "BINARY_OP" for each in dis.get_instructions(folded))
    return {
        "tokens": " ".join(f"[{token}]" for token in tokens if token.strip()),
        "tree": textwrap.fill(ast.dump(tree.body[0]), 78),
        "code": Rows([(o.offset, o.opcode, o.opname, "" if o.arg is None else str(o.arg), o.argrepr) for o in listed]),
        "size": len(code.co_code),
        "cache": len(code.co_code) - 2 * len(listed),
        "multiplications": checked(left, 0),
        "constant": max(each for each in folded.co_consts if isinstance(each, int)),
        "version": sys.version.split()[0],
        "unchecked": not is_checked_version(),
    }


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
def formula(a: int, b: int, c: int) -> int:
    d = a + b * c
    return d  # noqa: RET504 - the step shows how d is stored and loaded


def the_value_stack() -> tuple[list[StackStep], int] | str:
    try:
        taken = steps(formula, 2, 3, 4)
    except UsageError as unknown:
        return str(unknown)
    return taken, formula(2, 3, 4)


def the_value_stack_figures(found: tuple[list[StackStep], int] | str) -> Figures | Lacking:
    if isinstance(found, str):
        return Lacking(found)
    taken, right = found
    own = [each.opname for each in dis.get_instructions(formula)]
    return {
        "stacks": Drawing(stack_text(taken), stack_svg(taken, title="d = a + b * c")),
        "deepest": max(step.depth for step in taken),
        "agrees": taken[-1].result == right,
        "simplified": [name for name in own if name != "RESUME"] != [step.instruction.name for step in taken],
    }


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
def four_lines(numbers: list[int]) -> int:
    total = 0
    for n in numbers:
        total += n * n
    return total


def one_line(numbers: list[int]) -> int:
    return reduce(lambda total, n: total + n * n, numbers, 0)


def in_c(numbers: list[int]) -> int:
    return sum(map(operator.mul, numbers, numbers))


def executed_opcodes(budget_s: float = 0.4) -> tuple[list[int], list[Duel]]:
    ways, numbers = (four_lines, one_line, in_c), list(range(200))
    counts = [count_opcodes(way, numbers).total() for way in ways]
    given = {"numbers": numbers, **{way.__name__: way for way in ways}}
    loop = "four_lines(numbers)"
    duels = [
        duel(f"{name}(numbers)", loop, globals=given, budget_s=budget_s)
        for name in ("one_line", "in_c")
    ]  # fmt: skip
    return counts, duels


def executed_opcodes_figures(found: tuple[list[int], list[Duel]]) -> Figures:
    counts, (one, moved) = found
    loop_s = one.baseline_s
    times = (loop_s, loop_s / one.ratio, loop_s / moved.ratio)  # the baseline is the same in both duels
    names = ("four_lines", "one_line", "in_c")
    fewer = counts[0] / counts[-1]
    return {
        "counts": Rows([(name, n, s, s / n) for name, n, s in zip(names, counts, times, strict=True)]),
        "one_line": Interval.duel(one).inverse(),
        "per_opcode": Interval.duel(moved).inverse().mapped(lambda ratio: fewer * ratio),
    }


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
def plus(a: object, b: object) -> object:
    return a + b  # type: ignore[operator]


def fresh() -> FunctionType:
    return FunctionType(plus.__code__.replace(), {})


def forms(function: FunctionType) -> list[str]:
    adaptive = dis.get_instructions(function, adaptive=True)
    names = [each.opname for each in adaptive]
    return [name for name in names if "RESUME" not in name]


def instructions_that_adapt() -> dict[str, list[str]]:
    met = {"no call": forms(fresh())}
    kinds = {"int": (1, 2), "float": (1.0, 2.0), "str": ("a", "b")}
    for kind, operands in kinds.items():
        function = fresh()
        for _ in range(1000):
            function(*operands)
        met[kind] = forms(function)
    return met


def instructions_that_adapt_figures(met: dict[str, list[str]]) -> Figures:
    added = {kind: next((name for name in names if name.startswith("BINARY_OP")), "") for kind, names in met.items()}
    return {
        "met": Rows([(" ".join(names),) for names in met.values()]),
        "replaced": None if not added["int"] else "a" if added["int"] == "BINARY_OP" else "b",
        "for_integers": checked("INT" in added["int"], True),
        "different": checked(len(set(added.values())), 4),
    }


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
def added_up(numbers: list[float]) -> float:
    total = 0.0
    for x in numbers:
        total += x
    return total


Boxes = tuple[list[str], str, float, int, list[Duel]]


def types_and_boxes(n: int = 10_000, budget_s: float = 0.4) -> Boxes:
    operands = (1, 1.0, "a", [1], torch.ones(1))
    types = [type(plus(each, each)).__name__ for each in operands]
    mixed = compile("1 + 'a'", "<text>", "exec")
    try:
        exec(mixed, {})  # noqa: S102 - the text is fixed
        fault = ""
    except TypeError as error:
        fault = f"{type(error).__name__}: {error}"
    numbers = [float(i) for i in range(n)]
    boxed = sys.getsizeof(numbers) + sum(map(sys.getsizeof, numbers))
    bare = torch.tensor(numbers, dtype=torch.float64)
    names = {"added_up": added_up, "numbers": numbers, "bare": bare}
    duels = [
        duel(way, "added_up(numbers)", globals=names, budget_s=budget_s)
        for way in ("sum(numbers)", "bare.sum()")
    ]  # fmt: skip
    return types, fault, boxed / n, bare.element_size(), duels


def types_and_boxes_figures(found: Boxes) -> Figures:
    types, fault, boxed, bare, (in_c, unboxed) = found
    return {
        "types": ", ".join(types),
        "fault": fault,
        "sums": Rows(
            [
                ("added_up(numbers)", boxed, unboxed.baseline_s),
                ("sum(numbers)", boxed, in_c.candidate_s),
                ("bare.sum()", bare, unboxed.candidate_s),
            ],
        ),
        "boxed": boxed,
        "larger": boxed / bare,
        "slower": Interval.duel(unboxed),
    }


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
def loop_text() -> str:
    return "t = 0\nfor i in range(1000):\n    t = t + i\n"


def in_a_function() -> None:
    t = 0
    for i in range(1000):
        t = t + i


def at_the_top() -> Callable[[], None]:
    code = compile(loop_text(), "<module>", "exec")
    return lambda: exec(code, {})  # noqa: S102 - Python runs a script in this way


def locals_against_globals(budget_s: float = 0.5) -> tuple[int, int, Duel]:
    top = at_the_top()
    contest = duel(in_a_function, top, budget_s=budget_s)
    inside, outside = count_opcodes(in_a_function), count_opcodes(top)
    return inside.total(), outside.total(), contest


def locals_against_globals_figures(found: tuple[int, int, Duel]) -> Figures:
    inside, top, contest = found
    codes = (in_a_function.__code__, compile(loop_text(), "<module>", "exec"))
    rows = zip((inside, top), (contest.candidate_s, contest.baseline_s), map(that_name_t, codes), strict=True)
    return {"loops": Rows(list(rows)), "more_opcodes": top / inside - 1, "slower": Interval.duel(contest)}


def that_name_t(code: CodeType) -> str:
    """Return the names of the opcodes that load or store the variable `t`, once each."""
    return " ".join(dict.fromkeys(each.opname for each in dis.get_instructions(code) if each.argrepr in {"t", "t, i"}))


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
def roots(numbers: list[float]) -> None:
    for x in numbers:
        math.sqrt(x)


def cached_roots(numbers: list[float]) -> None:
    sqrt = math.sqrt
    for x in numbers:
        sqrt(x)


def opcodes(text: str) -> list[tuple[str, object]]:
    listed = dis.get_instructions(compile(text, "<text>", "exec"))
    return [(each.opname, each.argval) for each in listed]


def old_tricks(budget_s: float = 0.5) -> tuple[Duel, bool, Duel]:
    numbers = [float(i) for i in range(200)]
    names = {"old": roots, "new": cached_roots, "numbers": numbers}
    cached = duel(
        "new(numbers)", "old(numbers)", globals=names, budget_s=budget_s
    )  # fmt: skip
    same = opcodes("while 1: f()") == opcodes("while True: f()")
    literal = duel("{}", "dict()", budget_s=budget_s)
    return cached, same, literal


def old_tricks_figures(found: tuple[Duel, bool, Duel]) -> Figures:
    cached, same, literal = found
    return {
        "tricks": Rows(
            [
                ("math.sqrt(x)", "sqrt(x)", cached.ratio, str(cached.verdict)),
                ("dict()", "{}", literal.ratio, str(literal.verdict)),
            ]
        ),
        "useless": "b" if same else None,
        "same": same,
        "cached": Interval.duel(cached),
        "literal": Interval.duel(literal),
    }


lesson = load(__name__)

if __name__ == "__main__":
    main(lesson)
