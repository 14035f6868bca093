"""Task (a) of lesson 13: execute CPython's instructions in plain Python.

The baseline, with which submissions are compared, is a loop around a chain of comparisons, and reads each row again at
each step. The rows are JSON texts, so reading them takes most of its time. These are the ratios for a program with a
loop of 1500 rounds, on Python 3.11 to 3.13:

- `match` instead of the chain of comparisons: 1.0
- rows read once, then a class with methods, a dict of handlers, or a chain of comparisons: 7 to 15
- a closure for each row: 13 to 18
- a closure for several rows: 24 to 40
- a translation to Python: 58 to 85

So the first points need 2.8, and full points 30.

The scenarios are programs compiled by CPython, and the results that CPython computes for them.

A program is the random text of a function of three numbers, with arithmetic, comparisons, conditions and loops. The
running Python compiles this function, and a call of the function gives the right answer.
`harness.bytecode.instructions.plain_instructions` translates the instructions into one set for all versions of Python.
So a submission gets real bytecode, with the same names on every version. The title of a program names the version that
compiled it, because jumps and constants may differ.
"""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.kinds.timing import TIME
from grader.task import Mismatch, SimulatedFunction, Task, Tier, ValueExam
from grader.tasks.plain import PlainScenario, shown
from grader.values import Value
from harness.bytecode.instructions import is_checked_version, plain_instructions, version_note

PARAMETERS: Final = ("a", "b", "c")
LOCALS: Final = ("x", "y")
SYMBOLS: Final = (["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"], ["<", "<=", "==", "!=", ">", ">="])
"""The symbols of the operators with two operands: first arithmetic operators, then comparisons."""

DIVISORS: Final = ("7", "5", "-3", "-4", "2.5")
TIMED_ROUNDS: Final = 1500
"""The number of rounds of the loop in a program that is timed."""

COPIES: Final = "COPY n pushes the n-th value from the top again. SWAP n exchanges that value with the top."


@dataclass
class Program(PlainScenario):
    """A compiled function to execute, and the arguments of one call of it."""

    title: str
    advice: str
    text: str
    numbers: tuple[int | float, ...]
    function = "run"

    def __post_init__(self) -> None:
        self.title = f"{self.title}, compiled by {compiler()}"

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The arguments of `run`: the function's parameters and instructions, and the arguments of its call."""
        rows: list[Value] = [
            json.dumps([one.name, one.argument]) for one in plain_instructions(self._called().__code__)
        ]
        code: dict[str, Value] = {"parameters": list(PARAMETERS), "instructions": rows}
        return code, list(self.numbers)

    @property
    def right(self) -> Value:
        """The result that CPython computes."""
        answer: Value = self._called()(*self.numbers)
        return answer

    def _called(self) -> Callable[..., Value]:
        names: dict[str, Callable[..., Value]] = {}
        exec(compile(self.text, "<program>", "exec"), names)  # noqa: S102 - drawn here
        return names["program"]

    def judge(self, answer: Value) -> Mismatch | None:
        """Return a `Mismatch` if the answer differs from CPython's result, else None."""
        right = self.right
        if answer == right:
            return None
        return Mismatch(shown(right), shown(answer), self.advice)


def compiler() -> str:
    """Return the version of the running Python as text.

    If the bytecode of this version was not checked, the text also names the checked versions.
    """
    return f"Python {sys.version_info.major}.{sys.version_info.minor}" if is_checked_version() else version_note()


def draw_cases(rng: np.random.Generator) -> tuple[Program, ...]:
    """Return a random program for each special case, and longer random programs."""

    def one(expression: str, numbers: tuple[int | float, ...], advice: str) -> Program:
        return Program(f"return {expression}, called with {numbers}", advice, function_of([], expression), numbers)

    low, high, few = (int(rng.integers(*between)) for between in ((2, 20), (30, 90), (2, 6)))
    used, signs = (rng.permutation(symbols) for symbols in ([*SYMBOLS[0], *SYMBOLS[1]], SYMBOLS[1]))
    texts = [(statements(rng), expression(rng, 3)) for _ in range(8)]
    return (
        one("a + b * c", (low, high, 3), "The operands of the product are on top of the stack."),
        one("a - b", (low, high, 0), "The right operand is on top, and the left operand is below it."),
        one("a // b", (-high - 0.5, 7, 0), "// rounds down, also below zero. Use Python's own //."),
        one("a % b", (-high, 7, 0), "% has the sign of the right operand. Use Python's own %."),
        one("a < b", (low, high, 0), "A comparison must push True or False."),
        one("a < b < c", (low, high, high + 1), COPIES),
        one("a != b >= c", (low, high, high), COPIES),
        one("a and b", (0, high, 0), "0 and 0.0 are false in Python. Test a value with `if value`."),
        one("b if a else c", (0.0, low, high), "0 and 0.0 are false in Python. Test a value with `if value`."),
        one("not a", (low, 0, 0), "The operator `not` must push True or False."),
        one("~a", (low, 0, 0), "UNARY_INVERT is the same as Python's ~."),
        *(one(f"a {symbol} b", (low + few, few, 0), "An operator means the same as in Python.") for symbol in used),
        *(
            one(f"a {symbol} b", (low, low, 0), "< and <= differ for equal numbers, as do > and >=.")
            for symbol in signs
        ),
        Program(
            "a name assigned twice",
            "SWAP n exchanges the top with the n-th value from the top, which may be deeper than the second.",
            function_of(["a, a, b = b, c, a"], "a * 100 + b"),
            (low, high, few),
        ),
        *(
            Program(
                "a program of several lines",
                "Execute a program of a few rows by hand, and compare the stack of your machine after each row.",
                function_of(*text),
                numbers(rng),
            )
            for text in texts
        ),
        _looping(rng, rounds=6),
    )


def draw_timed(rng: np.random.Generator) -> tuple[Program, ...]:
    """Return a random program that is timed. It has a loop, so that running costs more than translating."""
    return (_looping(rng, TIMED_ROUNDS),)


def _looping(rng: np.random.Generator, rounds: int) -> Program:
    body = [
        f"if {condition(rng)}:",
        f"    x = {_arithmetic(rng, 1)}",
        "else:",
        f"    y = {_arithmetic(rng, 1)}",
        f"a = (x + {_arithmetic(rng, 2)}) % 1009",
        "b = (y - a) % 997",
        "c = c + 1",
    ]
    loop = ["x = a", "y = b", f"c = {-rounds}", "while c < 0:", *(f"    {line}" for line in body)]
    return Program("a program with a loop", "", function_of(loop, "x * 3 + y - a"), numbers(rng))


def function_of(body: Sequence[str], result: str) -> str:
    """Return the source text of a function with these lines, which returns the expression `result`."""
    lines = [f"def program({', '.join(PARAMETERS)}):", *(f"    {line}" for line in body), f"    return {result}"]
    return "\n".join(lines) + "\n"


def statements(rng: np.random.Generator) -> list[str]:
    """Return random source lines that set every local variable."""
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
    """Return a random expression of at most `depth` levels of operations. It may use the local variables `known`."""
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
    if depth == 0:
        return str(rng.choice(PARAMETERS))
    left, right = (_arithmetic(rng, depth - 1) for _ in range(2))
    if depth == 1 and rng.random() < 0.5:
        return f"({left} {rng.choice(['//', '%'])} {rng.choice(DIVISORS)})"
    return f"({left} {rng.choice(['+', '-', '*'])} {right})"


def condition(rng: np.random.Generator) -> str:
    """Return a random condition: a comparison, a chain of two comparisons, or a negated comparison."""
    one, two, three = rng.choice(PARAMETERS, 3)
    compare = str(rng.choice(["<", "<=", ">", ">=", "!="]))
    return str(rng.choice([f"{one} {compare} {two}", f"{one} < {two} <= {three}", f"not {one} {compare} {two}"]))


def numbers(rng: np.random.Generator) -> tuple[int | float, ...]:
    """Return three random numbers, which may be negative."""
    return tuple(int(n) for n in rng.integers(-60, 60, 3))


RUN = Task(
    summary="write a stack machine for CPython's instructions, 30 times as fast as the baseline",
    cost=TIME,
    tiers=(Tier(2.8, 0.7), Tier(30.0, 1.0)),
    hints=(
        (
            "Which parts of an instruction does your machine read again in each round of a loop, although they "
            "never change?"
        ),
        (
            "Read and translate the rows once, before you execute them: a symbol to a function of the module "
            "operator, a name to an index of a list. At each row of the program, the depth of the stack is also "
            "always the same."
        ),
        (
            "Run the program once with texts instead of values: LOAD_FAST a pushes 'a', BINARY_OP + pops '2' and 'a' "
            "and pushes '(a + 2)'. From these texts, write the instructions between two jumps as lines of Python code. "
            "Turn the lines into a function with compile() and exec(). If you make a closure for each row instead, the "
            "ratio is only about 15."
        ),
    ),
    exam=ValueExam(draw_cases, draw_timed),
    read="lesson 13, “The value stack after each instruction”",
    idea=(
        "For each instruction, an interpreter fetches the row, decodes it, looks up the name, and moves values to and "
        "from the stack. These steps are the same in every round of a loop, so the solution does them only once: it "
        "runs the instructions with texts instead of values, and compiles the texts. Then the loop contains only the "
        "computation itself. A just-in-time compiler also removes the repeated steps, but writes machine code instead "
        "of Python."
    ),
    references=(
        "PEP 659 describes the adaptive interpreter. PEP 744 describes the just-in-time compiler of CPython 3.13, "
        "which joins prepared pieces of machine code."
    ),
    least_gain=1.3,
)
