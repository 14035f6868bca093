"""Work on values: dictionaries, sorting and generators."""

from collections.abc import Iterable, Iterator
from itertools import repeat

WORDS = ("one", "two", "three", "two")
ROWS = [(k * 37 % 101, f"row {k * 53 % 97}") for k in range(100)]


def add_all(counts: dict[str, int], words: Iterable[str]) -> None:
    """Count words in a dictionary."""
    for word in words:
        counts[word] = counts.get(word, 0) + 1


def counting() -> int:
    """Count the same words, again and again."""
    counts: dict[str, int] = {}
    for _ in repeat(None, 200):
        add_all(counts, WORDS)
        counts.clear()
    return len(WORDS)


def second_of(row: tuple[int, str]) -> str:
    """Return the text of a row."""
    name = row[1]
    return name[-1] + name


def ordering() -> int:
    """Sort rows by their texts, again and again."""
    first = 0
    for _ in repeat(None, 200):
        ordered = sorted(ROWS, key=second_of)
        first = ordered[1][0]
    return first


def odd(numbers: Iterable[int]) -> Iterator[int]:
    """Yield the odd numbers."""
    for number in numbers:
        if number % 2:
            yield number


def squares(numbers: Iterable[int]) -> Iterator[int]:
    """Yield the squares of numbers."""
    for number in numbers:
        square = number * number
        yield square


def pipeline() -> int:
    """Add the squares of odd numbers, again and again."""
    total = 0
    for _ in repeat(None, 100):
        total = sum(squares(odd(range(40))))
    return total
