"""Exercises of lesson 08: find a regression from two counts, and remove work from a function.

(a) `culprit` compares two instruction counts of a C program. It returns the name of the function that became worse.
(b) `by_function` is plain Python, and its CPU time is measured.

Check your work with      fairclock check 08_callgrind
"""

Row = tuple[str, int, int, int]


def culprit(before: list[Row], after: list[Row]) -> str:
    """Return the name of the function that became worse between two counts of one program.

    A count is a list of rows (function, calls, own, inclusive), as in the output of Callgrind. The programs and their
    counts are simulated. `own` is the number of instructions in the function itself. `inclusive` also has the
    instructions of all functions that it called. Rows with the most own instructions come first. Return the name as it
    is in `before`.

    One function of the program was changed. It now does more itself, or calls other functions more often than
    necessary. All other code of the program is the same. No function is recursive.

    Four things can mislead you:

    - a function that calls the culprit has more inclusive instructions too. A function that the culprit calls more
      often has more own instructions;
    - the program also prints a few more rows after the change, so some small functions execute many times more
      instructions;
    - in some pairs of counts, the program repeated its whole work more often after the change;
    - in some pairs of counts, the compiler has cloned functions. After the change, the clones are called `name.isra.0`,
      `name.constprop.0` or `name.part.0`, and before it `name`.

    Points: 10 for the right name in all of seven pairs of counts.
    """
    raise NotImplementedError("Return the name of the function that was made worse.")


def by_function(lines: list[str]) -> list[list[str | int]]:
    """Return the instructions of each function as rows [name, total], the largest total first.

    A line is a whole number, a space, and the name of a function, such as "4821 operator new(unsigned long)". A
    function may have several lines, and its total is their sum. Numbers may be negative, as in the difference of two
    counts. Leave out totals of zero. Sort equal totals by name. For an empty list of lines, return an empty list.

    Points: 4 of 10 for right answers, all 10 if your function is 3.3 times as fast as the baseline. For each line, the
    baseline searches two lists from the beginning. Both are timed on 1500 lines of 600 functions.
    """
    raise NotImplementedError("Return rows of name and total.")
