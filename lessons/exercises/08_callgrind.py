"""Exercises of lesson 08: name what got worse from two counts, and take instructions out of a function.

(a) `culprit` reads two counts of a C program, recorded with Callgrind. A name is right or wrong.
(b) `by_function` is plain Python, and its instructions are counted by Callgrind: no torch, no clock, and the very same
    number each time. That takes valgrind:      apt-get install valgrind

Check your work with      python -m grader check 08_callgrind
"""

Row = tuple[str, int, int, int]


def culprit(before: list[Row], after: list[Row]) -> str:
    """Return the name of the function that was made worse between two counts of one program.

    Each count is a list of rows (function, calls, own, inclusive): how often the function was called, its own
    instructions, and those together with the instructions of everything it called meanwhile. Most instructions of
    their own come first. Give the name as it is in `before`.

    One function of the program was changed, by whoever meant well: it now does more itself, or calls others more often
    than it has to. All else is the same code. Nothing is recursive.

    What misleads: who calls the culprit has more inclusive instructions as well; who is called by it more often has
    more of its own. The program also shows a few rows more after than before, which makes little functions grow many
    times over. Sometimes everything was run more often after than before. Sometimes the compiler has cloned functions:
    these are called `name.isra.0`, `name.constprop.0` or `name.part.0` after, and `name` before.

    Points: 10 for the right name in all of seven pairs of counts.
    """
    raise NotImplementedError("Return the name of the function that was made worse.")


def by_function(lines: list[str]) -> list[list[str | int]]:
    """Return the instructions of each function, most first: rows [name, total].

    A line is a whole number, a space, and the name of a function, such as "4821 operator new(unsigned long)". A
    function has as many lines as it likes, and its total is their sum. Numbers may be below zero, as in the difference
    of two counts. Totals of zero are left out; equal totals come in order of name. No lines, no rows.

    While it is counted, it is alone with the language, its builtins and a few modules that only compute: array, bisect,
    collections, dataclasses, functools, heapq, itertools, math, operator, re, string and typing. If (a) takes another,
    import that inside (a).

    Points: 4 of 10 for right answers, all 10 for 4 times fewer instructions than the plain way takes (two lists,
    searched from the beginning). It is counted on 1000 lines of 200 functions, and all that the file does is counted,
    at import too. The CPU time is read as well: a count is believed up to the third power of the gain that it shows.
    """
    raise NotImplementedError("Return rows of name and total.")
