"""Files whose loading need not be counted: they only define functions and constants."""

from grader.trials.loading_share import LONGEST, is_cheap_to_load

FUNCTION = '''
"""What the file is for."""
import math
from collections.abc import Sequence

LIMIT = -1
PRIMES = (2, 3, 5)
WEIGHTS: Sequence[float] = (0.5, 1.5)


def total(numbers: list[int] | None, *, start: int = LIMIT, step: float = math.pi) -> int:
    """Add numbers."""
    class Local:
        known = [n * n for n in range(1000)]
    return sum(sorted(numbers or Local.known), start)
'''


def test_functions_imports_and_constants_are_cheap_to_load() -> None:
    assert is_cheap_to_load(FUNCTION)


COSTLY = (
    "KNOWN = [n * n for n in range(1000)]",
    "KNOWN = sum(range(1000))",
    "KNOWN = (0,) * 1_000_000",
    "WORDS = {'a': 1}",
    "print('hello')",
    "for n in range(1000): pass",
    "if True: KNOWN = list(range(1000))",
    "class Point: pass",
    "@math.cache\ndef f(): pass",
    "def f(known=[n for n in range(1000)]): pass",
    "def f(*, known=dict(a=1)): pass",
    "def f(known: print(1)): pass",
    "def f() -> print(1): pass",
    "async def f(known=sum(range(1000))): pass",
    "f = lambda: 1",
    "known: int = sum(range(1000))",
    "known = f'{LIMIT}'",
    "(known := 1)",
    "with open('a'): pass",
    "LIMIT += 1",
    "def f(x): return " + "-" * 90_000 + "x",
    f"{'#' * LONGEST}",
    "def f(:",
)


def test_code_that_may_cost_much_is_not() -> None:
    assert [costly for costly in COSTLY if is_cheap_to_load(f"{FUNCTION}\n{costly}\n")] == []
