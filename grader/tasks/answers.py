"""Reading a submission's answer: a plain value that can be anything, compared with the planted truth."""

import math
from collections.abc import Callable, Sequence

from grader.task import Mismatch
from grader.values import Value
from harness import units


def as_number(value: Value) -> float | None:
    """Return a finite number as a float; None for anything else (True and False are not numbers here)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def shown(value: Value) -> str:
    """Return a value as a student may recognise it, cut to a line."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def off_by(got: float, truth: float) -> float:
    """Return how far `got` lies above the truth, as a share of it; negative when below."""
    return got / truth - 1


def compare_rows(answer: Value, right: Sequence[Sequence[Value]], advice: str) -> Mismatch | None:
    """Compare an answer with the right rows, cell by cell and type by type; the first that differs is told."""
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
    """Compare an answer with the planted seconds a call; `allowed` is a share, `why` explains a wrong number."""
    expected = f"{units.seconds(truth_s, 4)} a call, within {units.percent(allowed)}"
    got_s = as_number(answer)
    if got_s is None:
        return Mismatch(expected, shown(answer), "Return one number: the seconds that one call takes.")
    error = off_by(got_s, truth_s)
    if abs(error) <= allowed:
        return None
    side = "long" if error > 0 else "short"
    size = f"{units.ratio(1 + error)} the truth" if error > 1 else f"{units.percent(abs(error))} too {side}"
    return Mismatch(expected, units.seconds(got_s, 4), f"That is {size}. {why(got_s)}")
