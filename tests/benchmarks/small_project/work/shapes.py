"""Work with classes, recursion and nested loops."""

from itertools import repeat


class Rectangle:
    """A rectangle with two sides."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height

    def area(self) -> float:
        return self.width * self.height


class Square(Rectangle):
    """A rectangle with equal sides."""

    def __init__(self, side: float) -> None:
        super().__init__(side, side)


def total_area(number: int) -> float:
    """Return the area of a number of rectangles and squares together."""
    made = [Square(2.0) if k % 2 else Rectangle(2.0, 3.0) for k in range(number)]
    areas = [shape.area() for shape in made]
    return sum(areas)


def objects() -> float:
    """Make shapes and add their areas, again and again."""
    total = 0.0
    for _ in repeat(None, 100):
        total = total_area(30)
    return total


def place(queens: tuple[int, ...], size: int) -> int:
    """Return in how many ways queens can be added to a board, so that none attacks another."""
    row = len(queens)
    if row == size:
        return 1
    ways = 0
    for column in range(size):
        if all(column != other and abs(column - other) != row - at for at, other in enumerate(queens)):
            ways += place((*queens, column), size)
    return ways


def recursion() -> int:
    """Count the ways to place six queens on a board, again and again."""
    ways = 0
    for _ in repeat(None, 500):
        ways = place((), 6)
    return ways


def edits(word: str, other: str) -> int:
    """Return the number of letters to change, to add or to remove between two words."""
    before = list(range(len(other) + 1))
    for at, letter in enumerate(word, 1):
        now = [at]
        for k, wanted in enumerate(other):
            change = before[k] + (letter != wanted)
            now.append(min(change, before[k + 1] + 1, now[k] + 1))
        before = now
    return before[-1]


def distance(word: str, other: str) -> int:
    """Compare two words, again and again."""
    changed = 0
    for _ in repeat(None, 400):
        changed = edits(word, other)
    return changed
