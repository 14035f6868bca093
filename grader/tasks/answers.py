"""Compare a submission's answer, which can be any plain value, with the right answer."""

import math
from collections.abc import Callable, Sequence

from grader.task import Mismatch
from grader.values import Value
from harness.rendering import units


def as_number(value: Value) -> float | None:
    """Return a finite number as a float, or None for any other value, True and False included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def shown(value: Value) -> str:
    """Return the repr of a value, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def off_by(got: float, truth: float) -> float:
    """Return the relative error of `got`: positive above the truth, negative below."""
    return got / truth - 1


def compare_rows(answer: Value, right: Sequence[Sequence[Value]], advice: str) -> Mismatch | None:
    """Return a `Mismatch` for the first row that differs from the right row in a value or a type, or None."""
    if not isinstance(answer, list):
        return Mismatch("a list of rows", shown(answer), advice)
    for number, row in enumerate(right):
        got = answer[number] if number < len(answer) else "nothing"
        if got != row or any(type(one) is not type(other) for one, other in zip(got, row, strict=True)):
            return Mismatch(f"{row} as row {number + 1}", shown(got), advice)
    if len(answer) > len(right):
        return Mismatch(units.some(len(right), "row"), units.count(len(answer)), advice)
    return None


def compare_seconds(answer: Value, truth_s: float, allowed: float, why: Callable[[float], str]) -> Mismatch | None:
    """Return a `Mismatch` if the relative error of an answer exceeds `allowed`, else None.

    `truth_s` is the right answer in seconds. `why` returns the explanation of a wrong number.
    """
    expected = f"{units.seconds(truth_s, 4)} per call, within {units.percent(allowed)}"
    got_s = as_number(answer)
    if got_s is None:
        return Mismatch(expected, shown(answer), "Return one number: the seconds that one call takes.")
    error = off_by(got_s, truth_s)
    if abs(error) <= allowed:
        return None
    side = "long" if error > 0 else "short"
    size = f"{units.ratio(1 + error)} the right time" if error > 1 else f"{units.percent(abs(error))} too {side}"
    return Mismatch(expected, units.seconds(got_s, 4), f"That is {size}. {why(got_s)}")
