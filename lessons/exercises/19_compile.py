"""Exercises of lesson 19: find the causes of recompilations, and put statements into few graphs.

(a) `recompilations` reads the log of torch.
(b) `fewest_graphs` orders the statements of a function. Its cost is the number of graphs.

Check your work with      fairclock check 19_compile
"""

import re

# ------------------------------------------------------------------------------------------------------------
# Task (a), 10 points


def recompilations(log: list[str]) -> list[list[str | int]]:
    """Return a row [function, place, cause, number] for each function and each cause of its recompilations.

    `log` are the lines of a program that ran with TORCH_LOGS=recompiles,graph_breaks. A message about a recompilation
    has several lines. Each line begins with the time and a place in torch. An example, shortened at both ends:

        … [0/2] [__recompiles] Recompiling function step in /app/train.py:10
        … [0/2] [__recompiles]     triggered by the following guard failure(s):
        … [0/2] [__recompiles]     - 0/0: tensor 'x' size mismatch at index 0. expected 8, actual 9
        … [0/2] [__recompiles]     - 0/1: n == 1                             # return x * n  …

    The place is the text after " in ", here "/app/train.py:10". For each earlier graph, a line states the guard that
    failed. The number of the graph is after the slash: here graphs 0 and 1. The lines come in any order, and there can
    be other lines between them, such as a stack trace. The newest graph has the highest number, here 1. Its guard is
    the cause of the recompilation. There are eight causes:

        size, stride, rank, dtype, requires_grad    tensor 'x' size mismatch at index 0. …
        mode                                        GLOBAL_STATE changed: grad_mode
        range                                       2 <= x.size()[0] <= 16
        value                                       all other guards, such as n == 1

    So the row of the example is ["step", "/app/train.py:10", "value", 1]. A guard on a value can contain any text,
    such as mode == 'size mismatch'. After a guard, there can be a comment, which begins with two blanks and #. A place
    and a guard can contain blanks. The log also has messages about graph breaks, and output of the program. Ignore
    them.

    Order the rows by function, place and cause. Points: 10 if the answer is right for every log that the grader tries.
    """
    raise NotImplementedError("Return rows of function, place, cause and number.")


# ------------------------------------------------------------------------------------------------------------
# Task (b), 10 points


def fewest_graphs(statements: list[tuple[str, list[int]]]) -> list[int]:
    """Return the numbers of the statements in an order with few graphs.

    Each statement is a row [kind, uses]. The kind is "torch" or "python". `uses` are the numbers of the earlier
    statements whose results it uses. Torch statements that follow each other are in one graph. A Python statement, such
    as a line of a log, ends the graph. An example with three graphs:

        0  torch   []
        1  python  [0]      writes to a log
        2  torch   [0]
        3  python  [2]      computes a number
        4  torch   [2, 3]

    The order [0, 2, 1, 3, 4] has two graphs: 0 and 2, and then 4. Your order must follow these rules:

    - It contains each statement once.
    - A statement comes after all statements that it uses.
    - The Python statements keep their order, because a user can see what they print.

    There is at least one torch statement.

    Points: 4 of 10 for an order that follows the rules. The baseline keeps the given order. Your ratio is the number of
    its graphs divided by the number of your graphs. It is the geometric mean over the functions that the grader tries.
    You get 7 points for a ratio of 2, and all 10 for a ratio of 4.2.
    """
    raise NotImplementedError("Return the numbers of the statements.")
