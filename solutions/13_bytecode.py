"""Exercises of lesson 13: execute CPython's instructions yourself, and let C code do the work of Python code.

(a) `run` is a stack machine for a part of CPython's instruction set.
(b) `pairs` counts which opcodes follow each other.

Both tasks are plain Python, and their CPU time is measured.

Check your work with      fairclock check 13_bytecode
"""

# BEGIN SOLUTION
import json
from collections import Counter
from itertools import pairwise

# END SOLUTION
from typing import Any

Number = bool | int | float

# ------------------------------------------------------------------------------------------------------------
# Task (a), 10 points


def run(code: dict[str, Any], arguments: list[Number]) -> Number:
    """Return the result of a function, given the instructions that CPython compiled for it, and its arguments.

    code["parameters"]     the names of the function's parameters, in the order of `arguments`
    code["instructions"]   rows as texts in JSON, such as '["LOAD_FAST", "a"]' or '["RETURN_VALUE", null]': the name and
                           the argument of an instruction. `json.loads` reads them. The first row is executed first.

    These are the instructions. n is a whole number. A symbol is one of + - * / // % ** & | ^ << >> < <= == != > >=

    LOAD_FAST name        push a local                     COPY n     push the n-th value from the top again
    LOAD_CONST value      push a constant                  SWAP n     exchange the top with the n-th value from it
    STORE_FAST name       pop, store in a local            POP_TOP    remove the top
    BINARY_OP symbol      pop right, pop left, push        JUMP n                  continue at row n; rows count from 0
    COMPARE_OP symbol     like BINARY_OP                   POP_JUMP_IF_FALSE n     pop; if it is false, JUMP n
    UNARY_NEGATIVE, UNARY_INVERT, UNARY_NOT                POP_JUMP_IF_TRUE n      pop; if it is true, JUMP n
                          pop, push -x, ~x, not x          RETURN_VALUE            pop: the result

    The compiler of your own Python made the instructions. The names of instructions are the same for all versions of
    Python. `harness.bytecode.instructions.plain_instructions(f.__code__)` shows the instructions of any function f that
    needs only these. No program divides by zero, and no program reads a local before it is set.

    Points: 4 of 10 for right answers. For every step, the baseline reads a row and goes through a chain of comparisons.
    You get 7 points if your function is 2.8 times as fast as the baseline, and all 10 for 30 times. The timed programs
    have a loop of 1500 rounds.
    """
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Execute the instructions one by one, with a list for a stack.")
    # The meaning of an instruction is the same in every round of a loop, so decode it only once. First, run the program
    # with texts of expressions on the stack instead of values. These expressions form a Python program, which CPython
    # compiles. Compilers that translate bytecode work in the same way.
    names: dict[str, Any] = {}
    exec(translated(code["parameters"], list(map(json.loads, code["instructions"]))), names)  # noqa: S102 - the generated program
    result: Number = names["program"](*arguments)
    return result
    # END SOLUTION


# BEGIN SOLUTION
JUMPS = ("JUMP", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE")
UNARY = {"UNARY_NEGATIVE": "-", "UNARY_INVERT": "~", "UNARY_NOT": "not "}


def translated(parameters: list[str], instructions: list[Any]) -> str:
    """Return the text of an equivalent Python function: a chain of basic blocks, without jumps inside a block."""
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
    """Return the lines of one block. Store in `depths` the depth of the stack at the blocks that follow it.

    Between blocks, the stack is in the variables s0, s1, …. Within a block, it is a list of texts of expressions.
    """
    lines: list[str] = []
    stack = [f"s{level}" for level in range(depths[start])]

    def put_down(name: str = "", value: str = "") -> None:
        """Assign all texts and this value in one statement, because a text may use a variable that is assigned too."""
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
            put_down()  # so that the expression is computed only once
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
    """Return a row [first, second, times] for each pair of successive opcodes, the largest number of times first.

    `trace` holds the names of opcodes in the order of execution. A pair is an opcode and the opcode right after it.
    Sort equal numbers by the first name, and then by the second. Leave out pairs that occur only once. The developers
    of CPython use such a list to choose two opcodes to merge into one.

    Points: 4 of 10 for right answers. The baseline searches each pair in a list of rows. You get 6 points if your
    function is 10 times as fast as the baseline, and all 10 for 23.6 times. Both are timed on traces of 10,000
    opcodes.
    """
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Return rows of first, second and times.")
    # pairwise makes the pairs and Counter counts them, both in C. So the interpreter executes no opcodes for the names
    # of the trace. The remaining code executes opcodes only for each different pair, and there are few of these.
    times = Counter(pairwise(trace))
    ranked = sorted(sorted(times), key=times.__getitem__, reverse=True)
    return [[*pair, times[pair]] for pair in ranked if times[pair] > 1]
    # END SOLUTION
