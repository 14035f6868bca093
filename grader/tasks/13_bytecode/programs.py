"""What `run` is given: programs compiled by CPython itself, and what CPython makes of them.

A program is a function of three numbers, drawn from a seed as text: arithmetic, comparisons, conditions and loops. This
Python compiles it, `harness.bytecode.plain` writes its instructions down in the one set that all versions share, and
calling the function gives the right answer. So a submission meets real bytecode, in the same spelling on every version.
What a student reads of a program names the Python that compiled it, because its jumps and constants may differ.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.task import Metered, Mismatch, Scenario
from grader.tasks.answers import shown
from grader.tasks.plain import PlainWorld
from grader.values import Value
from harness.bytecode import checked, plain, versions

PARAMETERS: Final = ("a", "b", "c")
LOCALS: Final = ("x", "y")
SYMBOLS: Final = (["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"], ["<", "<=", "==", "!=", ">", ">="])
"""What stands between two operands: first those of numbers, then those of comparisons."""

DIVISORS: Final = ("7", "5", "-3", "-4", "2.5")
CONDITIONS: Final = 3
"""Kinds of conditions; as many programs are counted."""
COUNTED_ROUNDS: Final = 300
"""How often the loop of a counted program goes round."""


@dataclass
class Program(PlainWorld):
    """One program, called once."""

    title: str
    text: str
    numbers: tuple[int | float, ...]
    advice: str = ""
    function: str = "run"
    cost: float = 1.0

    def __post_init__(self) -> None:
        self.title = f"{self.title}, compiled by {compiler()}"

    @property
    def arguments(self) -> tuple[Value | Metered, ...]:
        """The code, and what the program is called with."""
        rows: list[Value] = [[one.name, one.argument] for one in plain(self._called().__code__)]
        code: dict[str, Value] = {"parameters": list(PARAMETERS), "instructions": rows}
        return code, list(self.numbers)

    @property
    def right(self) -> Value:
        """What CPython returns."""
        answer: Value = self._called()(*self.numbers)
        return answer

    def _called(self) -> Callable[..., Value]:
        names: dict[str, Callable[..., Value]] = {}
        exec(compile(self.text, "<program>", "exec"), names)  # noqa: S102 - drawn here
        return names["program"]

    def judge(self, answer: Value) -> Mismatch | None:
        """Compare with CPython's result: the same number, of the same type."""
        right = self.right
        if type(answer) is type(right) and answer == right:
            return None
        return Mismatch(shown(right), shown(answer), self.advice)


def compiler() -> str:
    """Return the Python that compiles the programs, with the versions that were checked where it is none of them."""
    return f"Python {sys.version_info.major}.{sys.version_info.minor}" if checked() else versions()


def answer(world: Scenario) -> Value:
    """The right answer to one program."""
    assert isinstance(world, Program)
    return world.right


def draw_cases(rng: np.random.Generator) -> tuple[Program, ...]:
    """Draw what is easily mistaken, each by itself, and whole programs."""

    def one(expression: str, numbers: tuple[int | float, ...], advice: str) -> Program:
        return Program(f"return {expression}, called with {numbers}", function_of([], expression), numbers, advice)

    low, high, few = (int(rng.integers(*between)) for between in ((2, 20), (30, 90), (2, 6)))
    used, signs = (rng.permutation(symbols) for symbols in ([*SYMBOLS[0], *SYMBOLS[1]], SYMBOLS[1]))
    texts = [(statements(rng), expression(rng, 3)) for _ in range(8)]
    return (
        one("a + b * c", (low, high, 3), "What is multiplied is on top of the stack."),
        one("a - b", (low, high, 0), "The right operand is on top, the left one below it."),
        one("a // b", (-high - 0.5, 7, 0), "// rounds down, below zero too: use Python's own."),
        one("a % b", (-high, 7, 0), "% has the sign of the right operand: use Python's own."),
        one("a < b", (low, high, 0), "A comparison gives True or False."),
        one(
            "a < b < c", (low, high, high + 1), "COPY n pushes the n-th value from the top once more; SWAP n exchanges."
        ),
        one("a != b >= c", (low, high, high), "COPY n pushes the n-th value from the top once more; SWAP n exchanges."),
        one("a and b", (0, high, 0), "What counts as false is Python's own business: 0 and 0.0 do."),
        one("b if a else c", (0.0, low, high), "What counts as false is Python's own business: 0 and 0.0 do."),
        one("not a", (low, 0, 0), "not gives True or False."),
        one("~a", (low, 0, 0), "UNARY_INVERT is Python's own ~."),
        *(one(f"a {symbol} b", (low + few, few, 0), "Each symbol means what it means in Python.") for symbol in used),
        *(one(f"a {symbol} b", (low, low, 0), "Two equal numbers tell < from <=, and > from >=.") for symbol in signs),
        Program(
            "a name assigned twice",
            function_of(["a, a, b = b, c, a"], "a * 100 + b"),
            (low, high, few),
            "SWAP n exchanges the top with the n-th from the top, which need not be the one below it.",
        ),
        *(
            Program("a program of several lines", function_of(*text), numbers(rng), "Compare with dis, step by step.")
            for text in texts
        ),
        _looping(rng, rounds=6),
    )


def draw_counted(rng: np.random.Generator) -> tuple[Program, ...]:
    """Draw the programs that are run while instructions are counted: loops, so that running outweighs translating."""
    return tuple(_looping(rng, COUNTED_ROUNDS, without) for without in rng.permutation(CONDITIONS))


def _looping(rng: np.random.Generator, rounds: int, without: int = 0) -> Program:
    """A loop with two of the three kinds of conditions. Its steps are of the same kinds in every draw.

    So what a round costs hardly depends on the draw: only names, numbers and operators do.
    """
    first, second = rng.permutation([kind for kind in range(CONDITIONS) if kind != without])
    body = [
        f"if {condition(rng, first)}:",
        f"    x = {_arithmetic(rng, 2)} if b else (-{_arithmetic(rng, 2)})",
        "else:",
        f"    y = {_arithmetic(rng, 2)} if a else (-{_arithmetic(rng, 2)})",
        f"a = (x + {_arithmetic(rng, 1)}) % 1009",
        f"b = y - {_arithmetic(rng, 1)} if {condition(rng, second)} else a // 2",
        "b = b % 997",
        "c = c + 1",
    ]
    loop = ["x = a", "y = b", f"c = {-rounds}", "while c < 0:", *(f"    {line}" for line in body)]
    return Program("a program with a loop", function_of(loop, "x * 3 + y - a"), numbers(rng))


def function_of(body: Sequence[str], result: str) -> str:
    """The text of a program."""
    lines = [f"def program({', '.join(PARAMETERS)}):", *(f"    {line}" for line in body), f"    return {result}"]
    return "\n".join(lines) + "\n"


def statements(rng: np.random.Generator) -> list[str]:
    """Some lines that give every local a value."""
    x, y = LOCALS
    test = condition(rng)
    return [
        f"{x} = {expression(rng, 2)}",
        f"{y} = {expression(rng, 2)}",
        f"if {test}:",
        f"    {x} = {expression(rng, 2, LOCALS)}",
        f"{y} = {condition(rng)}" if rng.random() < 0.3 else f"{y} = {expression(rng, 2, LOCALS)}",
    ]


def expression(rng: np.random.Generator, depth: int, known: Sequence[str] = ()) -> str:
    """An expression of numbers, `depth` operations deep at most; `known` are the locals that it may use."""
    if depth == 0:
        names = (*PARAMETERS, *known)
        return str(rng.choice(names)) if rng.random() < 0.75 else str(rng.integers(1, 9))
    left, right = (expression(rng, depth - 1, known) for _ in range(2))
    kind = rng.integers(8)
    if kind == 0:
        return f"({left} if {condition(rng)} else {right})"
    if kind == 1:
        return f"(-{left})"
    if kind == 2:
        return f"({left} {rng.choice(['and', 'or'])} {right})"
    if kind <= 4:
        return f"({left} {rng.choice(['//', '%'])} {rng.choice(DIVISORS)})"
    return f"({left} {rng.choice(['+', '-', '*'])} {right})"


def _arithmetic(rng: np.random.Generator, depth: int) -> str:
    """An expression of `depth` levels of operations on two operands each."""
    if depth == 0:
        return str(rng.choice(PARAMETERS))
    left, right = (_arithmetic(rng, depth - 1) for _ in range(2))
    if depth == 1 and rng.random() < 0.5:
        return f"({left} {rng.choice(['//', '%'])} {rng.choice(DIVISORS)})"
    return f"({left} {rng.choice(['+', '-', '*'])} {right})"


def condition(rng: np.random.Generator, kind: int | None = None) -> str:
    """A comparison (kind 0), a chain of two (1), or the opposite of one (2); None draws the kind."""
    one, two, three = rng.choice(PARAMETERS, 3)
    compare = str(rng.choice(["<", "<=", ">", ">=", "!="]))
    kinds = (f"{one} {compare} {two}", f"{one} < {two} <= {three}", f"not {one} {compare} {two}")
    return kinds[rng.integers(CONDITIONS) if kind is None else kind]


def numbers(rng: np.random.Generator) -> tuple[int | float, ...]:
    """Three numbers, below zero too."""
    return tuple(int(n) for n in rng.integers(-60, 60, 3))
