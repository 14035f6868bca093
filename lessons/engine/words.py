"""Functions that format measured values, in addition to those of `harness.rendering.units`.

A format is a function that turns a number into text. It can be the `unit` of a claim or of a table's column.
"""

from collections.abc import Callable

from harness.rendering import units


def signed(unit: Callable[[float], str]) -> Callable[[float], str]:
    """Return a format that prints a plus sign before positive numbers. With `units.percent`, 0.03 is "+3 %"."""
    return lambda value: f"{'+' if value > 0 else ''}{unit(value)}"


def change(fraction: float) -> str:
    """Return a relative change in percent with its sign: 0.03 is "+3 %". Changes of less than a millionth are "0 %"."""
    return signed(units.percent)(round(fraction, 6))


def followed(words: str, unit: Callable[[float], str] = units.count) -> Callable[[float], str]:
    """Return a format that adds `words` after the value. With the words "of 5", 4 is "4 of 5"."""
    return lambda value: f"{unit(value)} {words}"


def things(one: str) -> Callable[[float], str]:
    """Return a format for a number of things, such as "1 row" and "2 rows". The plural of `one` must end in s."""
    return lambda value: units.some(value, one)


def yes_no(value: float) -> str:
    """Return "yes" for 1 and "no" for 0."""
    return "yes" if value else "no"
