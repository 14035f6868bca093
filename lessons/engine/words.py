"""How lessons write what they have measured, where `harness.units` alone does not: with a sign, with a noun, as a yes.

Each can be the `unit` of a claim or what shows a column of a table.
"""

from collections.abc import Callable

from harness import units


def signed(unit: Callable[[float], str]) -> Callable[[float], str]:
    """Return what writes a value in `unit` with its sign: 0.03 is "+3 %", of percent."""
    return lambda value: f"{'+' if value > 0 else ''}{unit(value)}"


def change(fraction: float) -> str:
    """Return what something grew by, in percent with its sign: 0.03 is "+3 %"; less than a millionth is nothing."""
    return signed(units.percent)(round(fraction, 6))


def followed(words: str, unit: Callable[[float], str] = units.count) -> Callable[[float], str]:
    """Return what writes a value and then `words`: 4 is "4 of 5", a share "28 % of the rows"."""
    return lambda value: f"{unit(value)} {words}"


def things(one: str) -> Callable[[float], str]:
    """Return what writes a number of things, whose plural ends in s: "1 row", "2 rows"."""
    return lambda value: units.some(value, one)


def yes_no(value: float) -> str:
    """Return a truth value in words."""
    return "yes" if value else "no"
