"""Lesson 13: how CPython executes bytecode.

The steps appear on the screen in the order of this file. The opcodes are those of the Python that runs the lesson. The
lesson was checked on the Python versions in `harness.bytecode.instructions.CHECKED_ON`. On other versions, the lesson
skips a claim about opcodes if the claim does not hold.
"""

import ast
import dis
import io
import marshal
import math
import operator
import os
import re
import sys
import tempfile
import time
import tokenize
from collections.abc import Callable
from functools import reduce
from importlib.machinery import SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from statistics import median
from types import CodeType, FunctionType, ModuleType
from typing import NamedTuple

import torch

from harness.bytecode.instructions import count_opcodes, is_checked_version, version_note
from harness.bytecode.stack import StackStep, stack_svg, stack_text, steps
from harness.charts import plots
from harness.charts.pictures import bar_chart_svg
from harness.errors import UsageError
from harness.paired.duel import Duel, duel
from harness.rendering import units
from harness.rendering.tables import Row, Table
from lessons.engine import Choice, Guess, Interval, Lesson, Page
from lessons.engine.claim import Claim
from lessons.engine.command import main
from lessons.engine.words import followed, things, yes_no

lesson = Lesson(
    __file__,
    objective="You can read bytecode, count executed opcodes, and explain why their number does not predict the time.",
)


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
class Stages(NamedTuple):
    tokens: list[str]
    tree: str
    code: CodeType
    folded: CodeType


@lesson.step(
    "From text to opcodes",
    predict=Choice(
        "Python compiles `day = 60 * 60 * 24`. How many multiplications does the bytecode contain?",
        {"a": "none", "b": "one", "c": "two"},
        limits=(1, 2),
    ),
    expected="a",
    wrong_reasoning="Students count the multiplications in the source. But the compiler computes constant "
    "expressions, so the bytecode contains only the result.",
)
def from_text_to_opcodes() -> Stages:
    """CPython turns a text into tokens, then into a syntax tree, then into a code object. It executes the code object.

    CPython compiles a text once, and can execute its code object many times. Each instruction takes two bytes in the
    code object. The first byte is the *opcode*, which selects the operation. The second byte is the *oparg*, a small
    number. For example, it selects a name, a constant or an operator. The module `dis` prints opcodes and opargs in
    readable form.
    """
    text = "d = a + b * c"
    read = io.StringIO(text).readline
    tokens = [each.string for each in tokenize.generate_tokens(read)]
    tree = ast.parse(text)
    code = compile(tree, "<text>", "exec")
    folded = compile("day = 60 * 60 * 24", "<text>", "exec")
    return Stages(tokens, ast.dump(tree.body[0]), code, folded)


PAIRS_OF_BYTES = from_text_to_opcodes.claim(
    "pairs-of-bytes",
    "each instruction of a code object begins at an even byte number",
    equals=0,
    unit=followed("instructions at odd bytes"),
)
FOLDED = from_text_to_opcodes.claim(
    "folded",
    "the bytecode of `60 * 60 * 24` contains no multiplication",
    equals=0,
    unit=things("multiplication"),
)


@from_text_to_opcodes.explain
def explain_stages(page: Page, found: Stages) -> None:
    code, folded = found.code, found.folded
    page.output(" ".join(f"[{token}]" for token in found.tokens if token.strip()), caption="Tokens")
    page.output(broken(found.tree, 80), caption="The syntax tree: `*` is below `+`, so `*` is computed first")
    rows: list[Row] = [
        (each.offset, each.opcode, each.opname, "" if each.arg is None else str(each.arg), each.argrepr)
        for each in dis.get_instructions(code)
    ]
    heads = {"byte": units.count, "opcode": units.count, "name": None, "oparg": None, "meaning": None}
    page.table(Table.of(f"The code object of `d = a + b * c`, {units.size(len(code.co_code))}", heads, rows))
    left = sum(each.opname == "BINARY_OP" for each in dis.get_instructions(folded))
    page.reveal(Interval.exact(left), f"The constants of `day = 60 * 60 * 24` are {folded.co_consts}.")
    odd = sum(each.offset % 2 for code_ in (code, folded) for each in dis.get_instructions(code_))
    settle_opcodes(page, PAIRS_OF_BYTES, odd, 0)
    settle_opcodes(page, FOLDED, left, 0)
    page.say(
        f"The table does not list {units.size(len(code.co_code) - 2 * len(rows))} of the code object.",
        "These bytes are inline caches. While the code runs, the interpreter stores data there that belongs to the",
        "instruction before them, such as a counter (PEP 659). `dis.dis` shows the caches with `show_caches=True`.",
    )
    page.say("Opcodes differ between versions of Python.", version_text())


def version_text() -> str:
    """Return sentences with the version of this Python, and whether the lesson was checked on this version."""
    if is_checked_version():
        return f"You see the opcodes of {version_note()}."
    return (
        f"You see the opcodes of {version_note()}. The lesson was not checked on this version. If an opcode is unknown,"
        " the lesson skips the step or the claim, and prints the reason."
    )


def settle_opcodes(
    page: Page, claim: Claim, measured: float, wanted: float, unit: Callable[[float], str] | None = None
) -> None:
    """Record the result of a claim about opcodes, or skip a claim that fails on a Python version not checked yet."""
    if measured != wanted and not is_checked_version():
        page.skip(claim, f"the opcodes differ in {version_note()}")
    else:
        page.settle(claim, measured, unit=unit)


def broken(text: str, width: int) -> str:
    """Return a text with its words wrapped into lines of at most `width` characters."""
    lines = [""]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += f"{word} "
    return "\n".join(line.rstrip() for line in lines)


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def module_text(answer: int) -> str:
    one = "def f{0}(a, b):\n    return [a * {0} + b, {0}]\n"
    functions = [one.format(n) for n in range(300)]
    return "".join([f"answer = {answer}\n", *functions])


@lesson.given
def written(path: Path, answer: int) -> None:
    path.write_text(module_text(answer), encoding="utf-8")
    os.utime(path, (1, 1))  # sets the modification time


@lesson.given
def imported(path: Path) -> ModuleType:
    module = ModuleType("many")
    SourceFileLoader("many", str(path)).exec_module(module)
    return module


@lesson.given
class ImportTimes(NamedTuple):
    without_s: float
    with_s: float


@lesson.given
class Imports(NamedTuple):
    turns: list[ImportTimes]
    source_bytes: int
    data: bytes
    same: bool
    stale: int
    fresh: int


@lesson.step(
    "The .pyc file that an import writes",
    predict=Choice(
        "We import a module with `answer = 1`. We change the 1 to a 2, and set the file's modification time back to the"
        " old time. What does the next import of the module give for `answer`?",
        {"a": "1", "b": "2", "c": "an error"},
    ),
    expected="a",
    wrong_reasoning="Students think that Python reads the source at each import. But it compares only the source's "
    "time and size with those in the .pyc file.",
)
def what_an_import_writes() -> Imports:
    """When Python imports a source file, it saves the code object in the folder `__pycache__`, in a *.pyc file*.

    The next import loads the code object from this file, and does not compile the module again. The first 16 bytes of
    the file contain the *magic number*, which identifies the version of the bytecode. They also contain the
    modification time and the size of the source file. If one of these three differs, Python compiles again.

    `SourceFileLoader` is the part of Python that imports a source file. Our module defines 300 short functions.
    """
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    times = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.py"
        written(path, answer=1)
        pyc = Path(cache_from_source(str(path)))
        for _ in range(20):
            pyc.unlink(missing_ok=True)
            began_s = time.perf_counter()
            imported(path)
            between_s = time.perf_counter()
            imported(path)
            again_s = time.perf_counter() - between_s
            times.append(ImportTimes(between_s - began_s, again_s))
        data, text = pyc.read_bytes(), path.read_bytes()
        code = compile(text, path, "exec")
        same = marshal.loads(data[16:]) == code  # noqa: S302 - our own file
        written(path, answer=2)
        stale = imported(path).answer
        os.utime(path, (2, 2))
        fresh = imported(path).answer
    sys.dont_write_bytecode = before
    return Imports(times, len(text), data, same, stale, fresh)


PYC_SAVES_TIME = what_an_import_writes.claim(
    "pyc-saves-time",
    "an import without a .pyc file takes more than 3 times as long as an import with it",
    at_least=3,
    unit=units.ratio,
)
MAGIC_FIRST = what_an_import_writes.claim(
    "magic-first", "a .pyc file begins with the magic number of this Python", equals=True, unit=yes_no
)
SAME_CODE = what_an_import_writes.claim(
    "same-code", "the code object in the .pyc file equals the compiled code object", equals=True, unit=yes_no
)
STALE_PYC = what_an_import_writes.claim(
    "stale-pyc",
    "if the source changes, but its size and its modification time stay the same, an import runs the old code",
    equals=True,
    unit=yes_no,
)


@what_an_import_writes.explain
def explain_import(page: Page, found: Imports) -> None:
    without_s, with_s = (median(times) for times in zip(*found.turns, strict=True))
    rows: list[Row] = [
        ("the source, many.py", found.source_bytes, without_s),
        (".pyc file", len(found.data), with_s),
    ]
    page.table(Table.of("One module, imported", {"from": None, "size": units.size, "median time": units.seconds}, rows))
    flags, time_s, size = (int.from_bytes(found.data[at : at + 4], "little") for at in (4, 8, 12))
    rows = [
        ("0 to 3", "magic number", found.data[:4].hex(" ")),
        ("4 to 7", "flags: 0 if Python compares time and size", str(flags)),
        ("8 to 11", "modification time, in seconds since 1970", str(time_s)),
        ("12 to 15", "size of the source", units.size(size)),
        ("16 to the end", "code object", units.size(len(found.data) - 16)),
    ]
    page.table(Table.of("The parts of the .pyc file", dict.fromkeys(("bytes", "content", "value")), rows))
    page.reveal({1: "a", 2: "b"}.get(found.stale), f"After a change of the time, the import gives {found.fresh}.")
    page.settle(PYC_SAVES_TIME, Interval.median(turn.without_s / turn.with_s for turn in found.turns))
    page.settle(MAGIC_FIRST, found.data[:4] == MAGIC_NUMBER)
    page.settle(SAME_CODE, found.same)
    page.settle(STALE_PYC, found.stale == 1)
    page.say(
        SAME_CODE.words(
            held="A .pyc file does not make the functions of the module faster. Their code objects are equal, with and"
            " without the file.",
            refuted="In this run, the code object in the file differs from the compiled code object.",
            unclear="This run does not show whether the file contains the same code object.",
        ),
        "A script that you start with `python FILE.py` has no .pyc file, so Python compiles it in each run.",
    )
    page.say(
        STALE_PYC.words(
            held="Python does not compare the text of the source. Programs that copy or unpack files can set old times."
            " If Python runs old code, delete the folder `__pycache__`.",
            refuted="In this run, Python noticed the change.",
            unclear="This run does not show whether Python notices the change.",
        ),
        "If the environment variable PYTHONDONTWRITEBYTECODE is set, an import writes no .pyc file.",
    )


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def formula(a: int, b: int, c: int) -> int:
    d = a + b * c
    return d  # noqa: RET504 - the step shows how d is stored and loaded


@lesson.given
class Pictures(NamedTuple):
    taken: list[StackStep]
    right: int


@lesson.step(
    "The value stack after each instruction",
    predict=Choice(
        "Python executes `d = a + b * c`. What is the largest number of values on the stack?",
        {"a": "2", "b": "3", "c": "more than 3"},
        limits=(3, 4),
    ),
    expected="b",
    wrong_reasoning="Students think of two operands, because each operator has two. But `a` waits on the stack while "
    "`b * c` is computed.",
)
def the_value_stack() -> Pictures | str:
    """CPython is a stack machine. An instruction takes its operands from a stack, and puts its result on the stack.

    `harness.bytecode.stack.steps` simulates the instructions of a function, and records the stack after each one.
    """
    try:
        taken = steps(formula, 2, 3, 4)
    except UsageError as unknown:
        return str(unknown)
    return Pictures(taken, formula(2, 3, 4))


MODEL_AGREES = the_value_stack.claim(
    "model-agrees", "the result on the recorded stack equals CPython's result", equals=0, unit=followed("apart")
)
DEPTH_KNOWN = the_value_stack.claim(
    "depth-known",
    "the stack never contains more values than the maximum that the code object declares",
    unit=followed("values"),
)
NAMES_GONE = the_value_stack.claim(
    "names-gone", "no instruction of the function searches for a local variable by its name", equals=0
)


@the_value_stack.explain
def explain_stack(page: Page, found: Pictures | str) -> None:
    if isinstance(found, str):
        page.skip_step(found, shows="the stack after each instruction")
        return
    taken, right = found
    caption = "d = a + b * c for 2, 3 and 4: the stack after each instruction"
    page.drawing(stack_text(taken), stack_svg(taken, title=caption), name="stack", caption=caption)
    deepest = max(step.depth for step in taken)
    page.reveal(Interval.exact(deepest), "Python loads all three values before it multiplies.")
    apart = taken[-1].result - right if isinstance(taken[-1].result, int) else math.nan
    page.settle(MODEL_AGREES, apart)
    page.settle(DEPTH_KNOWN, deepest, at_most=formula.__code__.co_stacksize)
    fast = [each for each in dis.get_instructions(formula) if each.opname.startswith(("LOAD_", "STORE_"))]
    by_name = sum("FAST" not in each.opname and each.opname != "LOAD_CONST" for each in fast)
    settle_opcodes(page, NAMES_GONE, by_name, 0, followed(f"of {len(fast)} instructions that load or store"))
    own = [each.opname for each in dis.get_instructions(formula)]
    page.output(printed_by_dis(formula), caption=f"The output of `dis.dis(formula)` in Python {own_version()}")
    page.say(
        "The columns show the line of the source, the opcode, the oparg and its meaning. Line 1 is the line with",
        "`def`. `RESUME`, which marks the start, has the line before it. Before Python 3.13, there is also a column",
        "with the number of the first byte of each instruction.",
    )
    if [name for name in own if name != "RESUME"] != [step.instruction.name for step in taken]:
        page.say(
            "The picture shows simplified instructions, which are the same for each version of Python since 3.11. In"
            " newer versions, some instructions differ. For example, one instruction loads two values. In Python 3.14,"
            " `LOAD_FAST_BORROW` loads a value without changing its reference count."
        )
    page.say(
        "A binary operator takes the two topmost values from the stack, and puts its result on the stack. The topmost",
        "value is the right operand. The order of the instructions replaces brackets and precedence. In the exercise,",
        "you write a stack machine.",
    )


def printed_by_dis(function: Callable[..., object]) -> str:
    """Return what `dis.dis` prints for a function with a decorator. The line of `def` has the number 1."""
    printed = io.StringIO()
    dis.dis(function.__code__.replace(co_firstlineno=0), file=printed)
    return printed.getvalue().rstrip()


def own_version() -> str:
    """Return the version of this Python, such as "3.13.0"."""
    return sys.version.split()[0]


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def operation(text: str) -> list[str]:
    code = compile(text, "<text>", "eval")
    around = {"RESUME", "LOAD_NAME", "RETURN_VALUE"}
    names = [each.opname for each in dis.get_instructions(code)]
    return [name for name in names if name not in around]


@lesson.given
class Operations(NamedTuple):
    names: dict[str, list[str]]
    for_operators: list[str]


@lesson.step(
    "Opcodes of older versions",
    predict=Choice(
        "Python has 13 binary operators for arithmetic and bits, such as `+`, `//` and `<<`. Python 3.10 has 13 opcodes"
        " for them. How many different opcodes does your Python use for them?",
        {"a": "1", "b": "2 to 12", "c": "13 or more"},
        limits=(2, 13),
    ),
    expected="a",
    wrong_reasoning="Students think that each operator has its own opcode. But newer versions use one opcode, and its "
    "argument selects the operator.",
)
def opcodes_of_older_versions() -> Operations:
    """Most new versions of Python have new opcodes. A new version therefore ignores .pyc files of older versions.

    We compile seven expressions, and leave out the instructions that load the operands and return the result. The other
    instructions do the operation. We also count the different opcodes for the 13 binary operators.
    """
    texts = ["a + b", "a * b", "a[b]", "a(b)"]
    texts += ["a.f(b)", "a is b", "not a"]
    names = {text: operation(text) for text in texts}
    used: set[str] = set()
    for sign in re.findall(r"\S+", "+ - * / // % ** @ << >> & | ^"):
        used.update(operation(f"a {sign} b"))
    return Operations(names, sorted(used))


ONE_FOR_ALL = opcodes_of_older_versions.claim(
    "one-for-all", "this Python uses one opcode for all 13 binary operators", equals=1, unit=things("opcode")
)
NOT_AS_BEFORE = opcodes_of_older_versions.claim(
    "not-as-before",
    "at least 4 of the 7 expressions have other opcodes in this Python than in Python 3.6",
    at_least=4,
    unit=followed("of 7"),
)

RECORDED = {
    "a + b": ("BINARY_ADD", "BINARY_ADD"),
    "a * b": ("BINARY_MULTIPLY", "BINARY_MULTIPLY"),
    "a[b]": ("BINARY_SUBSCR", "BINARY_SUBSCR"),
    "a(b)": ("CALL_FUNCTION", "CALL_FUNCTION"),
    "a.f(b)": ("LOAD_ATTR CALL_FUNCTION", "LOAD_METHOD CALL_METHOD"),
    "a is b": ("COMPARE_OP", "IS_OP"),
    "not a": ("UNARY_NOT", "UNARY_NOT"),
}
"""The result of `operation` for each expression, recorded with CPython 3.6.15 and 3.10.13."""


@opcodes_of_older_versions.explain
def explain_older(page: Page, found: Operations) -> None:
    heads = dict.fromkeys(("expression", "Python 3.6.15", "Python 3.10.13", f"your Python {own_version()}"))
    rows = [(text, *RECORDED[text], " ".join(names)) for text, names in found.names.items()]
    page.table(Table.of("The opcodes of an operation. The columns of older versions are recorded", heads, rows))
    used = len(found.for_operators)
    page.reveal(Interval.exact(used))
    settle_opcodes(page, ONE_FOR_ALL, used, 1)
    changed = sum(row[1] != row[3] for row in rows)
    page.settle(NOT_AS_BEFORE, changed)
    page.say(
        ONE_FOR_ALL.words(
            held=f"The oparg of {found.for_operators[0]} selects the operator, so one opcode is enough for all 13"
            " operators.",
            refuted="In this Python, one opcode is not enough for these operators.",
            unclear="This run does not show how many opcodes these operators need.",
        ),
        "A text about opcodes is right only for some versions of Python. Use `dis` to see the opcodes of your version.",
    )


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def four_lines(numbers: list[int]) -> int:
    total = 0
    for n in numbers:
        total += n * n
    return total


@lesson.given
def one_line(numbers: list[int]) -> int:
    return reduce(lambda total, n: total + n * n, numbers, 0)


@lesson.given
def a_list(numbers: list[int]) -> int:
    return sum([n * n for n in numbers])


@lesson.given
def in_c(numbers: list[int]) -> int:
    return sum(map(operator.mul, numbers, numbers))


@lesson.given
class Counts(NamedTuple):
    name: str
    first: int
    again: int
    long: int


@lesson.given
class Executed(NamedTuple):
    counts: list[Counts]
    duels: list[Duel]


@lesson.step(
    "Counting executed opcodes",
    predict=Choice(
        "The function `one_line` uses `reduce` and a lambda. The function `four_lines` is a loop that computes the "
        "same result. Which function takes longer?",
        {"a": "`one_line`", "b": "their times differ by less than 10 %", "c": "`four_lines`"},
        limits=(1 / 1.1, 1.1),
    ),
    expected="a",
    wrong_reasoning="Students think that one line is faster than four. But the lambda is called for each number, and "
    "a call costs more than a loop's instructions.",
    fast={"budget_s": 0.2},
)
def executed_opcodes(budget_s: float = 0.4) -> Executed:
    """CPython can report each executed opcode: with `sys.settrace`, and since Python 3.12 also with `sys.monitoring`.

    `harness.bytecode.instructions.count_opcodes` counts the opcodes of a function and of all Python code that it calls.
    We compare four functions that add up squares. We count the opcodes of each function twice for a list of 200
    numbers, and once for 2000 numbers. Then we compare the time of each function with the time of `four_lines`.
    """
    ways = (four_lines, one_line, a_list, in_c)
    numbers, more = list(range(200)), list(range(2000))
    counts = []
    for way in ways:
        first = count_opcodes(way, numbers).total()
        again = count_opcodes(way, numbers).total()
        long = count_opcodes(way, more).total()
        counts.append(Counts(way.__name__, first, again, long))
    given = {"numbers": numbers, **{way.__name__: way for way in ways}}
    loop = "four_lines(numbers)"
    duels = [
        duel(
            f"{way.__name__}(numbers)",
            baseline=loop,
            globals=given,
            budget_s=budget_s,
        )
        for way in ways[1:]
    ]
    return Executed(counts, duels)


COUNTS_REPEAT = executed_opcodes.claim(
    "counts-repeat", "two counts of the opcodes of the same call are equal", equals=0, unit=followed("apart")
)
FEWER_LINES = executed_opcodes.claim(
    "fewer-lines", "`four_lines` takes at most 97 % of the time of `one_line`", at_most=0.97, unit=units.ratio
)
NO_LOOP_LEFT = executed_opcodes.claim(
    "no-loop-left",
    "`in_c` executes as many opcodes for 2000 numbers as for 200 numbers",
    equals=0,
    unit=followed("opcodes more"),
)
NO_FIXED_PRICE = executed_opcodes.claim(
    "no-fixed-price",
    "on average, an opcode of `in_c` takes more than 10 times as long as an opcode of `four_lines`",
    at_least=10,
    unit=units.ratio,
)


@executed_opcodes.explain
def explain_executed(page: Page, found: Executed) -> None:
    counts, duels = found
    show_counts(page, found)
    one, loop, moved = Interval.duel(duels[0]), counts[0], counts[-1]
    page.reveal(one, f"`one_line` takes {units.ratio(1 / one.middle)} as long as `four_lines`.")
    page.settle(COUNTS_REPEAT, sum(abs(each.first - each.again) for each in counts))
    page.settle(FEWER_LINES, one, remark="time of `four_lines` ÷ time of `one_line`")
    settle_opcodes(page, NO_LOOP_LEFT, moved.long - moved.first, 0)
    fewer, last = loop.first / moved.first, duels[-1]
    page.settle(NO_FIXED_PRICE, Interval.duel(last).inverse().mapped(lambda ratio: fewer * ratio))
    page.say(
        "The number of lines does not determine the time.",
        FEWER_LINES.words(
            held="`reduce` calls the lambda for each number. In this run, these calls take more time than the loop"
            " that they replace.",
            refuted="`reduce` calls the lambda for each number. In this run, these calls take no more time than the"
            " loop.",
            unclear="`reduce` calls the lambda for each number. This run does not show clearly how much time these"
            " calls take.",
        ),
        "In `in_c`, the loop is in the C code of `sum` and `map`, so Python executes no opcodes for the loop.",
    )
    page.say(
        "The last column of the table shows the time per opcode. An opcode that calls a C function takes at least as",
        "long as this function. The number of opcodes shows how many instructions Python interprets, but not the time.",
    )
    page.say("`count_opcodes` counts a specialised opcode (step 6) as the plain opcode that it replaces.")


def show_counts(page: Page, found: Executed) -> None:
    """Print a table with the opcode counts and times of the four functions, and a bar chart of the opcode counts."""
    counts, duels = found
    base_s = duels[0].baseline_s
    times = [base_s, *(base_s / each.ratio for each in duels)]  # the baseline is the same in all duels
    heads = {"function": None, "opcodes, 200 numbers": units.count, "opcodes, 2000 numbers": units.count}
    heads |= {"time, 200 numbers": units.seconds, "time per opcode": units.seconds}
    rows = [
        (each.name, each.first, each.long, time_s, time_s / each.first)
        for each, time_s in zip(counts, times, strict=True)
    ]
    page.table(Table.of("Four functions that add up squares", heads, rows))
    caption = "Executed opcodes for 200 numbers"
    bars = [(each.name, float(each.first)) for each in counts]
    drawn = bar_chart_svg(bars, title=caption, unit=units.count)
    page.drawing(plots.bars(bars, unit=units.count), drawn, name="opcodes", caption=caption)


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def plus(a: object, b: object) -> object:
    return a + b  # type: ignore[operator]


@lesson.given
def fresh() -> FunctionType:
    return FunctionType(plus.__code__.replace(), {})


@lesson.given
def forms(function: FunctionType) -> list[str]:
    adaptive = dis.get_instructions(function, adaptive=True)
    names = [each.opname for each in adaptive]
    return [name for name in names if "RESUME" not in name]


@lesson.step(
    "Instructions that adapt",
    predict=Choice(
        "We call `plus(1, 2)` a thousand times. Which instruction then replaces BINARY_OP in the code of `plus`?",
        {"a": "none: BINARY_OP stays", "b": "an addition of integers", "c": "a load of the constant 3"},
    ),
    expected="b",
    wrong_reasoning="Students think that bytecode never changes, or that Python stores the result. But the "
    "interpreter replaces the instruction by one for the types that it meets.",
)
def instructions_that_adapt() -> dict[str, list[str]]:
    """Since Python 3.11, the interpreter changes a code object while it runs (PEP 659).

    If an instruction often gets operands of the same types, the interpreter replaces it with a specialised instruction.
    The specialised instruction checks the types of the operands. If the types are as expected, the interpreter does not
    have to search for the code that adds these types.
    """
    met = {"nothing yet": forms(fresh())}
    kinds = {"int": (1, 2), "float": (1.0, 2.0), "str": ("a", "b")}
    for kind, operands in kinds.items():
        function = fresh()
        for _ in range(1000):
            function(*operands)
        met[kind] = forms(function)
    return met


STARTS_PLAIN = instructions_that_adapt.claim(
    "starts-plain",
    "before the first call, the addition is not specialised",
    equals=0,
    unit=things("specialised addition"),
)
FOR_INTEGERS = instructions_that_adapt.claim(
    "for-integers",
    "after a thousand additions of integers, the addition is specialised for integers",
    equals=1,
    unit=things("addition of integers"),
)
BY_WHAT_IT_MEETS = instructions_that_adapt.claim(
    "by-what-it-meets",
    "the instruction of the addition differs for integers, for floats, for strings, and before the first call",
    equals=4,
    unit=things("different instruction"),
)


@instructions_that_adapt.explain
def explain_adapt(page: Page, met: dict[str, list[str]]) -> None:
    heads = dict.fromkeys(("operands of a thousand calls", "the code of `return a + b`"))
    page.table(Table.of("A new copy of the function for each type", heads, [(k, "  ".join(v)) for k, v in met.items()]))
    added = {kind: next((name for name in names if name.startswith("BINARY_OP")), "") for kind, names in met.items()}
    page.reveal(kind_of_addition(added["int"]), f"The instruction for the addition: {added['int'] or 'not found'}.")
    settle_opcodes(page, STARTS_PLAIN, added["nothing yet"] != "BINARY_OP", 0)
    settle_opcodes(page, FOR_INTEGERS, "INT" in added["int"], 1)
    settle_opcodes(page, BY_WHAT_IT_MEETS, len(set(added.values())), 4)
    page.say(
        FOR_INTEGERS.words(
            held="The interpreter has specialised the addition for integers. The first calls therefore executed a"
            " different instruction than the later calls. Warm up your code before you time it.",
            refuted="This Python did not specialise the addition for integers.",
            unclear="This run does not show whether this Python specialises the addition.",
        ),
        "A specialised instruction is used while its operands have the expected types. If a type changes, the check",
        "fails, and the interpreter executes the general instruction instead (PEP 659).",
    )


def kind_of_addition(opcode: str) -> str | None:
    """Return the letter of the right option for the opcode of the addition, or None if `opcode` is empty."""
    if not opcode:
        return None
    return "a" if opcode == "BINARY_OP" else "b"


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def added_up(numbers: list[float]) -> float:
    total = 0.0
    for x in numbers:
        total += x
    return total


@lesson.given
class Boxes(NamedTuple):
    types: list[str]
    fault: str
    boxed: float
    bare: int
    duels: list[Duel]


@lesson.step(
    "Dynamic types and boxed values",
    predict=Guess(
        "What is the memory per number of a list of floats, divided by the memory per number of a float64 tensor?",
        "times",
    ),
    expected="about 4 times",
    wrong_reasoning="Students think that a float takes 8 bytes everywhere. But a list holds references to objects, "
    "and each object has a type and a count.",
    fast={"budget_s": 0.2},
)
def types_and_boxes(
    n: int = 10_000,
    budget_s: float = 0.4,
) -> Boxes:
    """In C, each variable has a type before the program runs (static typing). Python has dynamic typing.

    A variable of Python can refer to a value of any type. Each value is an object in memory (a *box*). Besides the
    value, it contains a reference count and a pointer to its type. In usual builds, each of the two takes 8 bytes. A
    list contains one pointer per object. The types of the operands decide what `+` does. The result of `+` is again an
    object.
    """
    operands = (1, 1.0, "a", [1], torch.ones(1))
    types = [type(plus(each, each)).__name__ for each in operands]
    try:
        exec(compile("1 + 'a'", "<text>", "exec"), {})  # noqa: S102
        fault = "none"
    except TypeError as error:
        fault = f"TypeError when run: {error}"
    except SyntaxError as error:
        fault = f"SyntaxError: {error}"
    numbers = [float(i) for i in range(n)]
    boxed = sys.getsizeof(numbers) + sum(map(sys.getsizeof, numbers))
    bare = torch.tensor(numbers, dtype=torch.float64)
    names = {"added_up": added_up, "numbers": numbers, "bare": bare}
    duels = [
        duel(way, "added_up(numbers)", globals=names, budget_s=budget_s)
        for way in ("sum(numbers)", "bare.sum()")
    ]  # fmt: skip
    return Boxes(types, fault, boxed / n, bare.element_size(), duels)


ONE_CODE = types_and_boxes.claim(
    "one-code",
    "one code object adds integers, floats, strings, lists and tensors",
    equals=5,
    unit=things("type"),
)
FOUND_LATE = types_and_boxes.claim(
    "found-late",
    "Python compiles `1 + 'a'` without an error, and raises a TypeError when it executes the code",
    equals=True,
    unit=yes_no,
)
BOXES_ARE_LARGE = types_and_boxes.claim(
    "boxes-are-large",
    "a float in a list takes at least 3 times the memory of a float in a tensor",
    at_least=3,
    unit=units.ratio,
)
BOXES_ARE_SLOW = types_and_boxes.claim(
    "boxes-are-slow",
    "a Python loop over a list of floats takes more than 5 times as long as the sum of a tensor",
    at_least=5,
    unit=units.ratio,
)


@types_and_boxes.explain
def explain_boxes(page: Page, found: Boxes) -> None:
    in_one_go, unboxed = found.duels
    page.table(
        Table.of(
            "Types that one code object, `plus`, adds",
            {"type of operands and result": None},
            [(t,) for t in found.types],
        )
    )
    rows: list[Row] = [
        ("list, in a Python loop", found.boxed, unboxed.baseline_s),
        ("list, in C: sum(numbers)", found.boxed, in_one_go.candidate_s),
        ("tensor, in C: bare.sum()", found.bare, unboxed.candidate_s),
    ]
    heads = {"10 000 numbers": None, "memory per number": units.size, "time": units.seconds}
    page.table(Table.of("Three ways to compute one sum", heads, rows))
    page.reveal(
        found.boxed / found.bare,
        f"In the list, a number takes {units.size(found.boxed)}: a pointer, the object to which it points, and a share",
        "of the list's spare memory.",
    )
    page.settle(ONE_CODE, len(set(found.types)))
    page.settle(FOUND_LATE, found.fault.startswith("TypeError"), remark=found.fault)
    page.settle(BOXES_ARE_LARGE, found.boxed / found.bare)
    page.settle(BOXES_ARE_SLOW, Interval.duel(unboxed))
    page.say(
        "A tensor has one type for all its numbers, and does not store each number as a Python object. `sum(numbers)`",
        "runs the loop in C instead of the interpreter. `bare.sum()` also adds the numbers without a Python object for",
        "each number.",
    )


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def loop_text() -> str:
    return "t = 0\nfor i in range(1000):\n    t = t + i\n"


@lesson.given
def in_a_function() -> None:
    t = 0
    for i in range(1000):
        t = t + i


@lesson.given
def at_the_top() -> Callable[[], None]:
    code = compile(loop_text(), "<module>", "exec")
    return lambda: exec(code, {})  # noqa: S102 - Python runs a script in this way


@lesson.given
def that_name_t(code: CodeType) -> str:
    shown = ("t", "t, i")
    listed = dis.get_instructions(code)
    of_t = [one.opname for one in listed if one.argrepr in shown]
    return ", ".join(dict.fromkeys(of_t))


@lesson.given
class Loops(NamedTuple):
    inside: int
    top: int
    names: list[str]
    contest: Duel


@lesson.step(
    "Local and global variables",
    predict=Guess(
        "We time a loop at the top of a script, and the same loop in a function. What is the time at the top divided "
        "by the time in the function?",
        "times",
    ),
    expected="about 2.5 times",
    wrong_reasoning="Students think that the same loop takes the same time. But at the top of a script, variables are "
    "in a dictionary, and in a function they have fixed places.",
    fast={"budget_s": 0.2},
)
def locals_against_globals(budget_s: float = 0.5) -> Loops:
    """A local variable of a function has a fixed place in the frame. A variable at the top of a script is a dict entry.

    At the top of a script, Python therefore looks up the variable's name each time it reads or writes the variable. The
    instructions differ: Python executes LOAD_NAME at the top, and instructions such as LOAD_FAST in a function. More
    than half of the instructions in our loop at the top read or write a variable.
    """
    top = at_the_top()
    code = compile(loop_text(), "<module>", "exec")
    return Loops(
        count_opcodes(in_a_function).total(),
        count_opcodes(top).total(),
        [that_name_t(in_a_function.__code__), that_name_t(code)],
        duel(in_a_function, top, budget_s=budget_s),
    )


AS_MANY_OPCODES = locals_against_globals.claim(
    "as-many-opcodes",
    "the numbers of opcodes that the loop executes at the top and in a function differ by at most 20 %",
    at_least=-0.2,
    at_most=0.2,
    unit=units.percent,
)
TOP_IS_SLOW = locals_against_globals.claim(
    "top-is-slow",
    "the loop is more than 1.2 times as fast in a function as at the top of a script",
    at_least=1.2,
    unit=units.ratio,
)


@locals_against_globals.explain
def explain_locals(page: Page, found: Loops) -> None:
    contest = found.contest
    rows: list[Row] = [
        ("in a function", found.inside, contest.candidate_s, found.names[0]),
        ("at the top", found.top, contest.baseline_s, found.names[1]),
    ]
    heads = {"the loop": None, "opcodes": units.count, "time": units.seconds, "opcodes that use t": None}
    page.table(Table.of("A thousand additions", heads, rows))
    page.reveal(Interval.duel(contest))
    page.settle(AS_MANY_OPCODES, found.top / found.inside - 1)
    page.settle(TOP_IS_SLOW, Interval.duel(contest))
    page.say(
        TOP_IS_SLOW.words(
            held="Looking up names in the dict costs time. LOAD_NAME does more work than LOAD_FAST, so an opcode is not"
            " a unit of time.",
            refuted="In this run, looking up names in the dict costs little.",
            unclear="This run does not show clearly how much time the look-ups in the dict take.",
        ),
        "A benchmark at the top of a script also measures the time of these look-ups. Put the code into a function, as",
        "`timeit` does.",
    )


# ── 9 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def roots(numbers: list[float]) -> None:
    for x in numbers:
        math.sqrt(x)


@lesson.given
def cached_roots(numbers: list[float]) -> None:
    sqrt = math.sqrt
    for x in numbers:
        sqrt(x)


@lesson.given
def opcodes(text: str) -> list[tuple[str, object]]:
    code = compile(text, "<text>", "exec")
    listed = dis.get_instructions(code)
    return [(each.opname, each.argval) for each in listed]


@lesson.given
class Tricks(NamedTuple):
    cached: Duel
    differ: int
    literal: Duel


@lesson.step(
    "Old tricks, measured",
    predict=Choice.ranges(
        "A loop calls `math.sqrt(x)`. We write `sqrt = math.sqrt` before the loop, and `sqrt(x)` in the loop. What is "
        "the old time of the loop divided by the new time?",
        (1.1, 1.5),
        units.ratio,
    ),
    expected="b",
    depends_on="the version of Python",
    wrong_reasoning="Students know the trick from older guides. But newer versions of Python keep the result of the "
    "search for `math.sqrt` beside the instruction.",
    fast={"budget_s": 0.2},
)
def old_tricks(budget_s: float = 0.5) -> Tricks:
    """With a new version of Python, old advice on fast code can become wrong. We test three old tricks."""
    numbers = [float(i) for i in range(200)]
    names = {"f": roots, "g": cached_roots, "numbers": numbers}
    cached = duel(
        "g(numbers)",
        baseline="f(numbers)",
        globals=names,
        budget_s=budget_s,
    )
    one, true = opcodes("while 1: f()"), opcodes("while True: f()")
    differ = sum(a != b for a, b in zip(one, true, strict=False))
    differ += abs(len(one) - len(true))
    literal = duel("{}", "dict()", budget_s=budget_s)
    return Tricks(cached, differ, literal)


CACHED_SQRT = old_tricks.claim(
    "cached-sqrt",
    "the loop with `sqrt = math.sqrt` before it is at most twice as fast as the loop with `math.sqrt(x)`",
    at_most=2,
    unit=units.ratio,
)
WHILE_ONE = old_tricks.claim(
    "while-one", "`while 1` and `while True` compile to the same instructions", equals=0, unit=followed("differ")
)
LITERAL_WINS = old_tricks.claim(
    "literal-wins", "`{}` is more than 1.15 times as fast as `dict()`", at_least=1.15, unit=units.ratio
)


@old_tricks.explain
def explain_tricks(page: Page, found: Tricks) -> None:
    cached, differ, literal = found
    rows: list[Row] = [
        ("sqrt = math.sqrt before the loop", units.ratio(cached.ratio), str(cached.verdict)),
        ("{} instead of dict()", units.ratio(literal.ratio), str(literal.verdict)),
        ("while 1 instead of while True", "", f"{units.some(differ, 'instruction')} differ"),
    ]
    heads = dict.fromkeys(("trick", "old time ÷ new time", "result"))
    page.table(Table.of("Three old tricks on this machine", heads, rows))
    page.reveal(Interval.duel(cached))
    page.settle(CACHED_SQRT, Interval.duel(cached))
    settle_opcodes(page, WHILE_ONE, differ, 0)
    page.settle(LITERAL_WINS, Interval.duel(literal))
    page.say(
        "Without the trick, Python looks up `math` and then `sqrt` for each number. Since Python 3.11, the interpreter",
        "caches where it found the two names, and only checks that nothing has changed (PEP 659).",
        CACHED_SQRT.words(
            held=f"Without the trick, the loop takes {units.ratio(cached.ratio)} as long in this run.",
            refuted=f"Without the trick, the loop still takes {units.ratio(cached.ratio)} as long in this run.",
            unclear="This run does not show clearly how much time the trick still saves.",
        ),
    )
    page.say(
        "A program can redefine the name `dict`. For `dict()`, Python therefore looks up the name and calls the object"
        " that it finds. For `{}`, Python executes one instruction."
    )


lesson.key_points = (
    "CPython executes bytecode on a stack machine. `dis` shows the bytecode, which differs between versions of Python.",
    "The number of executed opcodes does not show the time, because one opcode can run any amount of C code.",
    "Fewer lines are not always faster, and old tricks can become wrong. Measure on your own version of Python.",
)
lesson.references = (
    "Python documentation, `dis`, with all opcodes of your version: docs.python.org/3/library/dis.html",
    "PEP 659, Specializing Adaptive Interpreter: peps.python.org/pep-0659",
    "The Faster CPython project, its plans and results: github.com/faster-cpython/ideas",
)

if __name__ == "__main__":
    main(lesson)
