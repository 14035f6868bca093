"""Exercises of lesson 13: execute CPython's instructions yourself, and compute a result with fewer instructions.

(a) `run` is a stack machine for a part of CPython's instruction set.
(b) `pairs` counts which opcodes follow each other.

Both tasks are plain Python. Python itself counts the executed opcodes, and the count is the same each time.

Check your work with      python -m grader check 13_bytecode
"""

from typing import Any

Number = bool | int | float

# ------------------------------------------------------------------------------------------------------------
# Task (a), 10 points


def run(code: dict[str, Any], arguments: list[Number]) -> Number:
    """Return the result of a function, given the instructions that CPython compiled for it, and its arguments.

    code["parameters"]     the names of the function's parameters, in the order of `arguments`
    code["instructions"]   rows [name, argument]; the first row is executed first

    These are the instructions. n is a whole number. A symbol is one of + - * / // % ** & | ^ << >> < <= == != > >=

    LOAD_FAST name        push a local                     COPY n     push the n-th value from the top again
    LOAD_CONST value      push a constant                  SWAP n     exchange the top with the n-th value from it
    STORE_FAST name       pop, store in a local            POP_TOP    remove the top
    BINARY_OP symbol      pop right, pop left, push        JUMP n                  continue at row n; rows count from 0
    COMPARE_OP symbol     like BINARY_OP                   POP_JUMP_IF_FALSE n     pop; if it is false, JUMP n
    UNARY_NEGATIVE, UNARY_INVERT, UNARY_NOT                POP_JUMP_IF_TRUE n      pop; if it is true, JUMP n
                          pop, push -x, ~x, not x          RETURN_VALUE            pop: the result

    The compiler of your own Python made the instructions. The names of instructions are the same for all versions of
    Python. `harness.bytecode.plain_instructions(f.__code__)` shows the instructions of any function f that needs only
    these. No program divides by zero, and no program reads a local before it is set.

    During the count, your code can import only array, bisect, collections, dataclasses, functools, heapq, itertools,
    math, operator, re, string and typing.

    Points: 4 of 10 for right answers. The baseline goes through a chain of comparisons for every step. You get 7 points
    for 1.6 times fewer opcodes than the baseline, and all 10 for 5.2 times fewer. The counted programs contain loops.
    All Python code counts, also at import and in code that you compile. The work of a builtin in C executes no opcodes,
    only its call does. The grader also measures the CPU time: each tier needs a gain in CPU time too.
    """
    raise NotImplementedError("Execute the instructions one by one, with a list for a stack.")


# ------------------------------------------------------------------------------------------------------------
# Task (b), 10 points


def pairs(trace: list[str]) -> list[list[str | int]]:
    """Return a row [first, second, times] for each pair of successive opcodes, the largest number of times first.

    `trace` holds the names of opcodes in the order of execution. A pair is an opcode and the opcode right after it.
    Sort equal numbers by the first name, and then by the second. Leave out pairs that occur only once. The developers
    of CPython use such a list to choose two opcodes to merge into one.

    During the count, your code can import only array, bisect, collections, dataclasses, functools, heapq, itertools,
    math, operator, re, string and typing. If task (a) needs another module, import it inside `run`.

    Points: 4 of 10 for right answers. The baseline searches each pair in a list of rows. You get 6 points for 9 times
    fewer opcodes than the baseline, 8 for 50 times fewer, and all 10 for 150 times fewer. As in task (a), the work of a
    builtin in C executes no opcodes, even if it takes a long time. The grader also measures the CPU time.
    """
    raise NotImplementedError("Return rows of first, second and times.")
