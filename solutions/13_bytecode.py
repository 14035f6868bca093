"""Exercises of lesson 13: run CPython's instructions yourself, and get a result with fewer of them.

(a) `run` is a stack machine for a part of CPython's instruction set.
(b) `pairs` counts which opcodes follow each other.

Both are plain Python. The opcodes that they execute are counted by Python itself: the same number each time.

Check your work with      python -m grader check 13_bytecode
"""

# BEGIN SOLUTION
from collections import Counter
from itertools import pairwise

# END SOLUTION
from typing import Any

Number = bool | int | float

# ------------------------------------------------------------------------------------------------------------
# Task (a), 10 points


def run(code: dict[str, Any], arguments: list[Number]) -> Number:
    """Return what CPython returns for a function, given its instructions and what it is called with.

    code["parameters"]     the names of its parameters, in the order of `arguments`
    code["instructions"]   rows [name, argument], beginning with the first to be executed

    The instructions, where a symbol is one of + - * / // % ** & | ^ << >> < <= == != > >= and n a whole number:

    LOAD_FAST name        push a local                     COPY n     push the n-th value from the top once more
    LOAD_CONST value      push a constant                  SWAP n     exchange the top with the n-th from the top
    STORE_FAST name       pop, and name it                 POP_TOP    drop the top
    BINARY_OP symbol      pop right, pop left, push        JUMP n                  go on at row n, the first is 0
    COMPARE_OP symbol     the same                         POP_JUMP_IF_FALSE n     pop; if it is false, go on at row n
    UNARY_NEGATIVE, UNARY_INVERT, UNARY_NOT                POP_JUMP_IF_TRUE n      pop; if it is true, go on at row n
                          pop, push -x, ~x, not x          RETURN_VALUE            pop: the result

    It is what your Python's compiler gives, in one spelling for all versions: `harness.bytecode.plain(f.__code__)`
    shows that of any function f which needs no more than this. Nothing divides by zero, and no local is read before it
    is set.

    While it is counted, it is alone with the language, its builtins and a few modules that only compute: array, bisect,
    collections, dataclasses, functools, heapq, itertools, math, operator, re, string and typing.

    Points: 4 of 10 for right answers, 7 for 1.6 times fewer opcodes than the plain way takes (a chain of comparisons
    for every step), all 10 for 5.2 times. The programs that are counted go round in loops. Opcodes count in all Python
    code that runs, at import and in what you compile, too; a builtin that works in C is one opcode. The CPU time is
    read as well: a count is believed up to the third power of the gain that it shows.
    """
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Execute the instructions one by one, with a list for a stack.")
    # What an instruction means does not change from one round of a loop to the next, so it is worked out once. The
    # program is run beforehand with texts on the stack in place of values; what these texts come to is a program in
    # Python, and CPython compiles that. Compilers from bytecode work like this.
    names: dict[str, Any] = {}
    exec(translated(code["parameters"], code["instructions"]), names)  # noqa: S102 - what we wrote
    result: Number = names["program"](*arguments)
    return result
    # END SOLUTION


# BEGIN SOLUTION
JUMPS = ("JUMP", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE")
UNARY = {"UNARY_NEGATIVE": "-", "UNARY_INVERT": "~", "UNARY_NOT": "not "}


def translated(parameters: list[str], instructions: list[Any]) -> str:
    """Return a Python function of the same meaning: a chain of blocks, each entered at its first line alone."""
    after_jumps = (at + 1 for at, (name, _) in enumerate(instructions) if name in JUMPS)
    targets = (argument for name, argument in instructions if name in JUMPS)
    starts = sorted({0, *after_jumps, *targets, len(instructions)})
    ends = dict(pairwise(starts))
    depths, blocks = {0: 0}, dict[int, list[str]]()
    while waiting := depths.keys() - blocks.keys():
        start = min(waiting)
        blocks[start] = block(instructions, start, ends[start], depths)
    lines = [f"def program({', '.join(f'v_{name}' for name in parameters)}):", " block = 0", " while True:"]
    for start in sorted(blocks):
        lines += [f"  if block == {start}:", *(f"   {line}" for line in blocks[start])]
    return "\n".join(lines)


def block(instructions: list[Any], start: int, end: int, depths: dict[int, int]) -> list[str]:
    """Return the lines of one block, and note how deep the stack is where it leads to.

    Between blocks, the stack is in variables s0, s1, …; within one, it is the texts of expressions.
    """
    lines: list[str] = []
    stack = [f"s{level}" for level in range(depths[start])]

    def put_down(name: str = "", value: str = "") -> None:
        """Work the texts out at once, and this one with them: each may mention what the others are put in."""
        slots = [f"s{level}" for level in range(len(stack))]
        moves = [move for move in zip([*slots, name], [*stack, value], strict=True) if move[0] != move[1]]
        if moves:
            lines.append(" = ".join(map(", ".join, zip(*moves, strict=True))))
        stack[:] = slots

    for name, argument in instructions[start:end]:
        if name == "LOAD_FAST":
            stack.append(f"v_{argument}")
        elif name == "LOAD_CONST":
            stack.append(f"({argument!r})")
        elif name in ("BINARY_OP", "COMPARE_OP"):
            right, left = stack.pop(), stack.pop()
            stack.append(f"({left} {argument} {right})")
        elif name in UNARY:
            stack.append(f"({UNARY[name]}{stack.pop()})")
        elif name == "STORE_FAST":
            put_down(f"v_{argument}", stack.pop())
        elif name == "COPY":
            put_down()  # so that an expression is worked out once
            stack.append(stack[-argument])
        elif name == "SWAP":
            stack[-1], stack[-argument] = stack[-argument], stack[-1]
        elif name == "POP_TOP":
            stack.pop()
        elif name == "RETURN_VALUE":
            return [*lines, f"return {stack.pop()}"]
        else:
            put_down("true", "True" if name == "JUMP" else stack.pop())
            yes, no = (end, argument) if name == "POP_JUMP_IF_FALSE" else (argument, end)
            lines.append(f"block = {argument}" if name == "JUMP" else f"block = {yes} if true else {no}")
            depths.update(dict.fromkeys((argument,) if name == "JUMP" else (argument, end), len(stack)))
            return [*lines, f"if block <= {start}: continue"] if argument <= start else lines
    put_down()
    depths[end] = len(stack)
    return [*lines, f"block = {end}"]


# END SOLUTION
# ------------------------------------------------------------------------------------------------------------
# Task (b), 10 points


def pairs(trace: list[str]) -> list[list[str | int]]:
    """Return which opcodes follow each other most often: rows [first, second, times], most often first.

    `trace` are the names of opcodes in the order in which they were executed. A pair is one opcode and the one right
    after it. Equal numbers come in order of the names, first and then second. A pair that occurs only once is left out.
    From such a list the makers of CPython choose which two opcodes to make one.

    While it is counted, it is alone with the language, its builtins and a few modules that only compute: array, bisect,
    collections, dataclasses, functools, heapq, itertools, math, operator, re, string and typing. If (a) takes another,
    import that inside (a).

    Points: 4 of 10 for right answers, 6 for 9 times fewer opcodes than the plain way executes (it looks for each pair
    in a list of rows), 8 for 50 times, all 10 for 150 times. Again a builtin that works in C is one opcode, however
    much it does, and the CPU time is read as well.
    """
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Return rows of first, second and times.")
    # pairwise puts each name beside the next and Counter counts what it gives, both in C: no opcode is executed for a
    # name of the trace. Only the pairs that are different cost some, and there are few.
    times = Counter(pairwise(trace))
    ranked = sorted(sorted(times), key=times.__getitem__, reverse=True)
    return [[*pair, times[pair]] for pair in ranked if times[pair] > 1]
    # END SOLUTION
