"""Exercise of lesson 16: estimate a function's share from few samples, and find the functions that changed.

Check your work with      fairclock check 16_sampling
"""

import math
from collections.abc import Callable


def share(sample: Callable[[], list[str]], name: str, margin: float) -> float:
    """Return the share of the time in which the function `name` is on the stack, from as few samples as possible.

    sample    sample() takes one sample of a live program: the names on the stack, the outermost function first
    name      the name of the function
    margin    how far your answer may be from the true share: 0.05 is 5 percentage points

    The program is simulated, and its samples are independent. A sample is an empty list if the program was idle at this
    moment. The share is the part of the other samples whose stack contains `name`. A function that calls itself is on
    the stack several times.

    The grader calls your function with 72 programs and knows the true shares. Some are near 0 or near 1. An answer is
    wrong if it is farther from the true share than `margin`. At most 10 of the 72 answers may be wrong. You may take up
    to 20000 samples of each program.

    A lucky answer from too few samples is also wrong. From your samples and Jeffreys' prior distribution, the grader
    computes the probability that the share is within `margin` of your answer. It must be at least 90 %.

    Points: 4 of 10 if enough answers are right. The baseline takes samples until the program was not idle in 4 /
    margin² of them. You get 6 points for 1.4 times fewer samples than the baseline, 8 for 3 times fewer, and all 10 for
    6.8 times fewer.
    """
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Take samples, and return the share of those that contain the name.")
    hits = total = 0
    while True:
        stack = sample()
        if not stack:
            continue
        total += 1
        hits += name in stack
        p = hits / total
        # Half of the width of Wilson's interval with z = 2. It is not 0 if all samples agree.
        half = 2 * math.sqrt(p * (1 - p) / total + 1 / total**2) / (1 + 4 / total)
        if half <= margin:
            return (hits + 2) / (total + 4)  # the middle of the interval
    # END SOLUTION


def changes(before: list[str], after: list[str]) -> list[list[str | int]]:
    """Return a row [function, samples before, samples after] for each function whose share changed significantly.

    `before` and `after` are the lines of two simulated recordings, in the format of `py-spy record --format raw`. A
    line is a stack and its number of samples:

        <module> (main.py:9);load (data.py:4);parse (data.py:7) 42

    The frames are separated by semicolons, and the outermost frame comes first. A frame is a name, a blank, and in
    parentheses the file and the line that ran. A function of C has no line: "gemm (libtorch_cpu.so)". A name may
    contain blanks, parentheses and colons, and a file may contain blanks and colons. Neither contains a semicolon.

    A function is a name and a file. So the same function can have several lines in a recording, and functions with the
    same name in different files are different. In a row, the function is written as name and file, without the line:
    "parse (data.py)". The samples of a function are all samples whose stack contains it. A sample counts once, even if
    the function calls itself.

    Let n and m be the numbers of all samples before and after. If one of them is 0, no change is significant. Let a and
    b be the numbers of samples with the function before and after, and p = (a + b) / (n + m). The change is significant
    if the difference of the shares, |a / n - b / m|, is larger than two standard errors:

        2 * sqrt(p * (1 - p) * (1 / n + 1 / m))

    No function is near this limit.

    Order the rows by function. Points: 10 if the answer is right for every pair of recordings that the grader tries.
    """
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Return a row for each function whose share changed significantly.")
    (n, seen_before), (m, seen_after) = counted(before), counted(after)
    rows: list[list[str | int]] = []
    for function in sorted({*seen_before, *seen_after}):
        a, b = seen_before.get(function, 0), seen_after.get(function, 0)
        if n and m:
            p = (a + b) / (n + m)
            if abs(a / n - b / m) > 2 * math.sqrt(p * (1 - p) * (1 / n + 1 / m)):
                rows.append([function, a, b])
    return rows
    # END SOLUTION


# BEGIN SOLUTION
def counted(lines: list[str]) -> tuple[int, dict[str, int]]:
    """Return the number of all samples, and the number of samples with each function."""
    total, seen = 0, dict[str, int]()
    for line in lines:
        stack, _, number = line.rpartition(" ")
        total += int(number)
        for function in {without_line(frame) for frame in stack.split(";")}:
            seen[function] = seen.get(function, 0) + int(number)
    return total, seen


def without_line(frame: str) -> str:
    """Return a frame without the number of its line."""
    head, _, line = frame[:-1].rpartition(":")
    return f"{head})" if head and line.isdigit() else frame


# END SOLUTION
