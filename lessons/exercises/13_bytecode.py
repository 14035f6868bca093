"""Exercises of lesson 13: run CPython's instructions yourself, and get a result with fewer of them.

(a) `run` is a stack machine for a part of CPython's instruction set.
(b) `pairs` counts which opcodes follow each other.

Both are plain Python. The opcodes that they execute are counted by Python itself: the same number each time.

Check your work with      python -m grader check 13_bytecode
"""

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
    raise NotImplementedError("Execute the instructions one by one, with a list for a stack.")


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
    raise NotImplementedError("Return rows of first, second and times.")
