"""Exercises of lesson 13: execute CPython's instructions yourself, and let C code do the work of Python code.

(a) `run` is a stack machine for a part of CPython's instruction set.
(b) `pairs` counts which opcodes follow each other.

Both tasks are plain Python, and their CPU time is measured.

Check your work with      fairclock check 13_bytecode
"""

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
    raise NotImplementedError("Execute the instructions one by one, with a list for a stack.")


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
    raise NotImplementedError("Return rows of first, second and times.")
