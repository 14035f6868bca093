"""Lesson 13: what the interpreter really does.

Read it top to bottom: it is the screen's own order. Instructions are those of the Python that runs it. What the lesson
says of them was checked on the versions in `harness.bytecode.CHECKED_ON`. On another version, a claim about opcodes
that does not hold is skipped, with this reason.
"""

import ast
import dis
import io
import math
import operator
import sys
import tokenize
from collections.abc import Callable
from functools import reduce
from types import CodeType, FunctionType

import torch

from harness import plots, units
from harness.bar_chart import bar_chart_svg
from harness.bytecode import (
    Step,
    checked,
    executed,
    stack_svg,
    stack_text,
    steps,
    versions,
)
from harness.duel import Duel, duel
from harness.errors import UsageError
from harness.tables import Row, Table
from lessons.engine import Choice, Guess, Lesson, Page, Standing
from lessons.engine.words import followed, things

lesson = Lesson(
    __file__,
    title="What the interpreter really does",
    objective="Afterwards you can read bytecode, count what is executed of it, and say why a count is no time.",
    minutes=20,
)


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "From text to opcodes",
    predict=Choice(
        "`day = 60 * 60 * 24`: how many multiplications are there in what Python executes?",
        {"a": "two", "b": "one", "c": "none"},
    ),
    claims={
        "pairs-of-bytes": "every instruction begins at an even byte: an opcode, and beside it its oparg",
        "folded": "what can be worked out beforehand is: no multiplication is left to be executed",
    },
)
def from_text_to_opcodes() -> tuple[list[str], str, CodeType, CodeType]:
    """CPython takes a text in stages: to tokens, to a tree, to a code object. Only that is ever executed.

    A code object holds bytes, two for each instruction: which one (the *opcode*), and a small number beside it (the
    *oparg*), which says which name, which constant, which operator. `dis` shows them to people.
    """
    text = "d = a + b * c"
    read = io.StringIO(text).readline
    tokens = [each.string for each in tokenize.generate_tokens(read)]
    tree = ast.parse(text)
    code = compile(tree, "<text>", "exec")
    folded = compile("day = 60 * 60 * 24", "<text>", "exec")
    return tokens, ast.dump(tree.body[0]), code, folded


@from_text_to_opcodes.observe
def explain_stages(page: Page, found: tuple[list[str], str, CodeType, CodeType]) -> None:
    tokens, tree, code, folded = found
    page.output(" ".join(f"[{token}]" for token in tokens if token.strip()), caption="Tokens")
    page.output(broken(tree, 80), caption="The tree: * hangs below +, so it comes first")
    rows: list[Row] = [
        (each.offset, each.opcode, each.opname, "" if each.arg is None else str(each.arg), each.argrepr)
        for each in dis.get_instructions(code)
    ]
    heads = {"byte": units.count, "opcode": units.count, "its name": None, "oparg": None, "which is": None}
    page.table(Table.of(f"The code object, {units.size(len(code.co_code))}", heads, rows))
    left = sum(each.opname == "BINARY_OP" for each in dis.get_instructions(folded))
    page.reveal("abc"[2 - min(left, 2)], f"Its constants are {folded.co_consts}.")
    odd = sum(each.offset % 2 for code_ in (code, folded) for each in dis.get_instructions(code_))
    claim_of_opcodes(page, "pairs-of-bytes", odd, 0, followed("at odd ones"))
    claim_of_opcodes(page, "folded", left, 0, things("multiplication"))
    page.say(
        "Bytes that are missing between two instructions are room for the interpreter's notes, as step 4 shows.",
        "The opcodes themselves are nobody's promise: they differ from one version of Python to the next.",
    )
    page.say(
        f"You see {versions()}."
        if checked()
        else f"You see {versions()}: this lesson was not checked against its opcodes. Where one is"
        " unknown, the lesson leaves the step out and says so."
    )


def claim_of_opcodes(page: Page, id_: str, measured: float, wanted: float, unit: Callable[[float], str]) -> None:
    """Settle a claim about opcodes; on a version that was not checked, one that does not hold is skipped."""
    if measured != wanted and not checked():
        page.skip(id_, f"opcodes differ on {versions()}")
    else:
        page.claim(id_, measured, wanted, wanted, unit=unit)


def broken(text: str, width: int) -> str:
    """Return a text in lines of at most `width` characters, broken at spaces."""
    lines = [""]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += f"{word} "
    return "\n".join(line.rstrip() for line in lines)


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def formula(a: int, b: int, c: int) -> int:
    d = a + b * c
    return d  # noqa: RET504 - it is looked at on its way


@lesson.step(
    "The value stack, picture by picture",
    predict=Choice(
        "`d = a + b * c`: how many values lie on the stack at most?",
        {"a": "2", "b": "3", "c": "5"},
    ),
    claims={
        "model-agrees": "the stack in the pictures ends with CPython's own result",
        "depth-known": "the stack never gets deeper than the compiler had noted in the code object",
        "names-gone": "no instruction searches for a local by its name: each has a place, given by a number",
    },
)
def the_value_stack() -> tuple[list[Step], int] | str:
    """CPython is a stack machine: an instruction takes its operands from a stack of values and leaves its result there.

    `harness.bytecode.steps` does the same with values that we can see, and keeps a picture after each instruction.
    """
    try:
        taken = steps(formula, 2, 3, 4)
    except UsageError as unknown:
        return str(unknown)
    return taken, formula(2, 3, 4)


@the_value_stack.observe
def explain_stack(page: Page, found: tuple[list[Step], int] | str) -> None:
    if isinstance(found, str):
        page.reveal(None)
        for id_ in page.sentences:
            page.skip(id_, found)
        page.say("On a version that it knows, this step shows the stack after each instruction.")
        return
    taken, right = found
    caption = "d = a + b * c for 2, 3 and 4: the stack after each instruction"
    page.drawing(stack_text(taken), stack_svg(taken, title=caption), name="stack", caption=caption)
    deepest = max(step.depth for step in taken)
    page.reveal("a" if deepest == 2 else "b" if deepest == 3 else "c", "All three are loaded before * can begin.")
    apart = taken[-1].result - right if isinstance(taken[-1].result, int) else math.nan
    page.claim("model-agrees", apart, 0, 0, unit=followed("apart"))
    noted = formula.__code__.co_stacksize
    page.claim("depth-known", deepest, high=noted, unit=followed("values"))
    fast = [each for each in dis.get_instructions(formula) if each.opname.startswith(("LOAD_", "STORE_"))]
    by_name = sum("FAST" not in each.opname and each.opname != "LOAD_CONST" for each in fast)
    claim_of_opcodes(page, "names-gone", by_name, 0, followed(f"of {len(fast)}"))
    own = [each.opname for each in dis.get_instructions(formula)]
    pictured = [step.instruction.name for step in taken]
    page.output(broken("  ".join(own), 80), caption=f"The same function as Python {sys.version.split()[0]} has it")
    if [name for name in own if name != "RESUME"] != pictured:
        page.say(
            "The pictures use one plain set of instructions for all versions. Newer versions write some of them"
            " differently: two loads as one instruction, or a load that borrows the value and leaves its reference"
            " count alone (`LOAD_FAST_BORROW`)."
        )
    page.say(
        "An operator takes the two topmost values, the right one first, and pushes one. So brackets and precedence",
        "need no instruction: the order of the instructions has settled them. The exercise has you write such a",
        "machine.",
    )


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────


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


@lesson.step(
    "Executed opcodes, counted",
    predict=Choice(
        "The one line with `reduce` and a lambda, against the loop of four lines: which takes longer?",
        {"a": "the four lines", "b": "the one line", "c": "both the same"},
    ),
    claims={
        "counts-repeat": "two counts of the same are equal, to the opcode",
        "fewer-lines": "the one line takes longer than the four",
        "no-loop-left": "with the loop moved into C, the number of opcodes does not grow with the list",
        "no-fixed-price": "an opcode there takes more than 10 times as long as one of the loop",
    },
    fast={"budget_s": 0.2},
)
def executed_opcodes(
    budget_s: float = 0.4,
) -> tuple[list[tuple[str, int, int, int]], list[Duel]]:
    """The interpreter tells of each opcode that it executes: `sys.settrace`, and `sys.monitoring` since Python 3.12.

    `harness.bytecode.executed` counts them, in a function and in all Python code it calls. Four ways to add up squares,
    counted twice on a list, once on one that is ten times as long, and then timed against the loop.
    """
    ways = (four_lines, one_line, a_list, in_c)
    numbers, more = list(range(200)), list(range(2000))
    counts = []
    for way in ways:
        first = executed(way, numbers).total()
        again = executed(way, numbers).total()
        long = executed(way, more).total()
        counts.append((way.__name__, first, again, long))
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
    return counts, duels


@executed_opcodes.observe
def explain_executed(page: Page, found: tuple[list[tuple[str, int, int, int]], list[Duel]]) -> None:
    counts, duels = found
    times = [duels[0].baseline_s, *(each.candidate_s for each in duels)]
    heads = {"": None, "opcodes, 200 numbers": units.count, "2000 numbers": units.count}
    heads |= {"time, 200 numbers": units.seconds, "for one opcode": units.seconds}
    rows = [
        (name, first, long, time_s, time_s / first)
        for (name, first, _, long), time_s in zip(counts, times, strict=True)
    ]
    page.table(Table.of("The sum of squares, four ways", heads, rows))
    caption = "Executed opcodes for 200 numbers"
    bars = [(name, float(first)) for name, first, _, _ in counts]
    drawn = bar_chart_svg(bars, title=caption, unit=units.count)
    page.drawing(plots.bars(bars, unit=units.count), drawn, name="opcodes", caption=caption)
    (_, plain_opcodes, _, _), _, _, (_, few, _, few_long) = counts
    one = duels[0]
    same = one.low > 0.9 and one.high < 1.1
    longer = "b" if one.high < 1 else "a" if one.low > 1 else "c" if same else None
    page.reveal(longer, f"It takes {units.ratio(1 / one.ratio)} as long.")
    page.claim("counts-repeat", sum(abs(first - again) for _, first, again, _ in counts), 0, 0, unit=followed("apart"))
    fewer = page.claim_duel("fewer-lines", one, high=0.97, remark="the loop's time ÷ the line's")
    claim_of_opcodes(page, "no-loop-left", few_long - few, 0, followed("opcodes more"))
    dearer = (times[3] / few) / (times[0] / plain_opcodes)
    page.claim("no-fixed-price", dearer, low=10, unit=units.ratio)
    page.say(
        "A line is nothing to the interpreter. The lambda is a function, and calling it for each number costs more than"
        " the loop that it replaced, even where it is fewer opcodes: a call is a long one."
        if fewer.standing is Standing.HELD
        else "A line is nothing to the interpreter. The lambda is called for each number, and here that costs no more."
        if fewer.standing is Standing.REFUTED
        else "A line is nothing to the interpreter. The lambda is a function, and it is called for each number.",
        "What does help is to leave the interpreter: `sum` and `map` go round in C.",
    )
    page.say(
        "Yet beware of the last column. An opcode that calls into C takes as long as the work there, so counts of",
        "opcodes say how much is interpreted, and nothing about time.",
    )


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────


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
        "After a thousand calls of `plus(1, 2)`, what stands in its code where BINARY_OP was?",
        {"a": "BINARY_OP, as ever", "b": "an opcode for whole numbers", "c": "the constant 3"},
    ),
    claims={
        "starts-plain": "before the first call, the addition is not specialised",
        "for-integers": "after a thousand additions of whole numbers, the addition is one for whole numbers",
        "by-what-it-meets": "floats and texts each turn the same instruction into one of their own",
    },
)
def instructions_that_adapt() -> dict[str, list[str]]:
    """Since Python 3.11 a code object changes while it runs (PEP 659).

    An instruction that always meets the same types is overwritten by one for just these: it only checks that they are
    still the same, and skips the search for what + means.
    """
    met = {"nothing yet": forms(fresh())}
    kinds = {"int": (1, 2), "float": (1.0, 2.0), "str": ("a", "b")}
    for kind, operands in kinds.items():
        function = fresh()
        for _ in range(1000):
            function(*operands)
        met[kind] = forms(function)
    return met


@instructions_that_adapt.observe
def explain_adapt(page: Page, met: dict[str, list[str]]) -> None:
    heads = dict.fromkeys(("met a thousand times", "the code of `return a + b`"))
    page.table(Table.of("One function, copied afresh for each", heads, [(k, "  ".join(v)) for k, v in met.items()]))
    added = {kind: next((name for name in names if name.startswith("BINARY_OP")), "") for kind, names in met.items()}
    page.reveal({"BINARY_OP": "a", "": None}.get(added["int"], "b"), f"{added['int']}." if added["int"] else "")
    claim_of_opcodes(page, "starts-plain", added["nothing yet"] != "BINARY_OP", 0, things("specialised one"))
    claim_of_opcodes(page, "for-integers", "INT" in added["int"], 1, things("addition of integers"))
    claim_of_opcodes(page, "by-what-it-meets", len(set(added.values())), 4, things("different form"))
    page.say(
        "So code is fast where each place in it sees one type. The first calls are not: whoever times code that has",
        "not warmed up times another program. If a type changes, the guard fails and the plain instruction takes over.",
    )


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def added_up(numbers: list[float]) -> float:
    total = 0.0
    for x in numbers:
        total += x
    return total


@lesson.step(
    "Types found late, values in boxes",
    predict=Guess("A list of floats against a float64 tensor: how many times the memory for each number?", "times"),
    claims={
        "one-code": "one code object adds whole numbers, floats, texts, lists and tensors",
        "found-late": "the compiler lets `1 + 'a'` pass; only running it finds the fault",
        "boxes-are-large": "a boxed number takes 3 times the memory of a bare one, or more",
        "boxes-are-slow": "adding boxed numbers, opcode by opcode, takes more than 5 times as long as adding bare ones",
    },
    fast={"budget_s": 0.2},
)
def types_and_boxes(
    n: int = 10_000,
    budget_s: float = 0.4,
) -> tuple[list[str], str, tuple[float, int], list[Duel]]:
    """In C a variable's type is fixed before the program runs: static typing, and + is one machine instruction.

    In Python a value brings its type along, in a box with a reference count: dynamic typing. What + means is looked up
    at each addition, and the sum goes into a box of its own.
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
    return types, fault, (boxed / n, bare.element_size()), duels


@types_and_boxes.observe
def explain_boxes(page: Page, found: tuple[list[str], str, tuple[float, int], list[Duel]]) -> None:
    types, fault, (boxed, bare), (in_one_go, unboxed) = found
    page.table(Table.of("`plus`, one code object", {"operands and result": None}, [(name,) for name in types]))
    loop_s = unboxed.baseline_s
    rows: list[Row] = [
        ("boxed, in a loop of opcodes", boxed, loop_s),
        ("boxed, in C: sum(numbers)", boxed, in_one_go.candidate_s),
        ("bare, in C: bare.sum()", bare, unboxed.candidate_s),
    ]
    heads = {"10 000 numbers": None, "memory for each": units.size, "time": units.seconds}
    page.table(Table.of("One sum, three ways", heads, rows))
    page.reveal(boxed / bare, f"{units.size(boxed)}: a pointer in the list, and the box it points to.")
    page.claim("one-code", len(set(types)), 5, 5, unit=things("type"))
    page.claim("found-late", fault.startswith("TypeError"), 1, 1, unit=followed("of 1"), remark=fault)
    page.claim("boxes-are-large", boxed / bare, low=3, unit=units.ratio)
    page.claim_duel("boxes-are-slow", unboxed, low=5)
    page.say(
        "That is what an array library sells: the type is looked up once for the whole array, and the numbers lie",
        "bare, side by side. One takes the interpreter out, the other the boxes; the middle row has only the first.",
    )


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────


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
    return lambda: exec(code, {})  # noqa: S102 - as a script is


@lesson.given
def that_name_t(code: CodeType) -> str:
    shown = ("t", "t, i")
    listed = dis.get_instructions(code)
    of_t = [one.opname for one in listed if one.argrepr in shown]
    return ", ".join(dict.fromkeys(of_t))


@lesson.step(
    "Locals against globals",
    predict=Guess("The same loop at the top of a script, not in a function: how many times as long?", "times"),
    claims={
        "as-many-opcodes": "both execute about as many opcodes, within 20 %",
        "top-is-slow": "in a function the loop is more than 1.2 times as fast",
    },
    fast={"budget_s": 0.2},
)
def locals_against_globals(
    budget_s: float = 0.5,
) -> tuple[int, int, list[str], Duel]:
    """A local has a number: its place in the frame. A name at the top of a script is a key of a dict.

    So it is searched for whenever it is read or written. Only the instructions' names tell: LOAD_FAST in one,
    LOAD_NAME in the other.
    """
    top = at_the_top()
    code = compile(loop_text(), "<module>", "exec")
    return (
        executed(in_a_function).total(),
        executed(top).total(),
        [that_name_t(in_a_function.__code__), that_name_t(code)],
        duel(in_a_function, top, budget_s=budget_s),
    )


@locals_against_globals.observe
def explain_locals(page: Page, found: tuple[int, int, list[str], Duel]) -> None:
    inside, top, names, contest = found
    rows: list[Row] = [
        ("in a function", inside, contest.candidate_s, names[0]),
        ("at the top", top, contest.baseline_s, names[1]),
    ]
    heads = {"": None, "opcodes": units.count, "time": units.seconds, "for t": None}
    page.table(Table.of("A thousand additions", heads, rows))
    page.reveal(contest.ratio)
    page.claim("as-many-opcodes", top / inside - 1, -0.2, 0.2, unit=units.percent)
    slow = page.claim_duel("top-is-slow", contest, low=1.2)
    page.say(
        "The counts are much the same, and the times are not: an opcode is no unit of time, even without C in between."
        if slow.standing is Standing.HELD
        else "Here the dict costs little: this version of Python remembers where in it a name was found.",
        "A benchmark at the top of a script measures its dict as well. Put the code into a function, as `timeit` does.",
    )


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────


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


@lesson.step(
    "Old tricks, measured",
    predict=Choice(
        "`sqrt = math.sqrt` before the loop, `sqrt(x)` in it. What does the trick gain on your Python?",
        {"a": "less than 1.1 times", "b": "1.1 to 1.5 times", "c": "more than 1.5 times"},
    ),
    claims={
        "cached-sqrt": "a cached `math.sqrt` gains less than 1.4 times",
        "while-one": "`while 1` and `while True` are the same instructions",
        "literal-wins": "`{}` is more than 1.15 times as fast as `dict()`: this one still holds",
    },
    fast={"budget_s": 0.2},
)
def old_tricks(budget_s: float = 0.5) -> tuple[Duel, int, Duel]:
    """Advice outlives the interpreter it was true of. Each of these was good advice once; ask the Python at hand."""
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
    return cached, differ, duel("{}", "dict()", budget_s=budget_s)


@old_tricks.observe
def explain_tricks(page: Page, found: tuple[Duel, int, Duel]) -> None:
    cached, differ, literal = found
    rows: list[Row] = [
        ("sqrt = math.sqrt before the loop", units.ratio(cached.ratio), str(cached.verdict)),
        ("{} in place of dict()", units.ratio(literal.ratio), str(literal.verdict)),
        ("while 1 in place of while True", "", "the same code" if not differ else f"{differ} instructions differ"),
    ]
    heads = dict.fromkeys(("the trick", "gain", "found"))
    page.table(Table.of("What each gains here", heads, rows))
    page.reveal("a" if cached.ratio < 1.1 else "b" if cached.ratio <= 1.5 else "c", f"{units.ratio(cached.ratio)}.")
    myth = page.claim_duel("cached-sqrt", cached, high=1.4)
    claim_of_opcodes(page, "while-one", differ, 0, followed("differ"))
    page.claim_duel("literal-wins", literal, low=1.15)
    page.say(
        "`math.sqrt` in a loop was two searches in dicts, once. The adaptive interpreter notes where it found them and"
        " only checks that nothing has changed: the trick is left with little to save."
        if myth.standing is Standing.HELD
        else "On this Python the trick still saves something: two lookups for each number are not free here.",
    )
    page.say("`dict` is a name that anybody may redefine, so it is looked up and called; `{}` is an instruction.")


lesson.take_along(
    "What runs is bytecode for a stack machine; `dis` shows it, and it differs between versions of Python.",
    "Opcodes executed say how much is interpreted. They repeat exactly, and they are no time: C inside is not counted.",
    "Fewer lines are not fewer opcodes, and old tricks age. Ask the interpreter that you have.",
)
lesson.read_on(
    "Python documentation, `dis`, with every opcode of your version: docs.python.org/3/library/dis.html",
    "PEP 659, Specializing Adaptive Interpreter: peps.python.org/pep-0659",
    "Brandt Bucher and Mark Shannon on the faster CPython project: github.com/faster-cpython/ideas",
)

if __name__ == "__main__":
    lesson.main()
