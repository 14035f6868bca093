"""Task (c) of lesson 11: `without_echo(x, hall, door, room, mix)`, a pipeline of matrix products in a bad order.

`outward` multiplies room @ door @ hall @ x from the left, so it multiplies large matrices by each other. The table by
operator has one row for all products, and only the shapes show the two expensive ones. The loop over small products
looks expensive but is cheap. The way back begins with the small matrix, so its order from the left is good. Code that
removes one of the two expensive products gains 1.8×, and code that removes both gains 7 to 10×.
"""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from grader.kinds.timing import TIME
from grader.task import Array, Inputs, Task, TensorExam, Tier

LENGTH, COLUMNS = 640, 16
SQUARE = ((1, 1), (2, 2), (3, 1), (4, 3), (6, 5), (12, 4))
"""The numbers of rows and columns of `x` in test cases with square filters."""
OBLONG = ((3, 5, 4, 7, 6), (2, 9, 7, 8, 3), (5, 4, 11, 3, 8), (1, 20, 1, 6, 1), (6, 24, 33, 17, 29), (0, 4, 3, 5, 4))
"""The number of columns of `x`, its number of rows, and the numbers of rows of hall, door and room."""
ROUNDS = 6


def cases(rng: np.random.Generator) -> list[Inputs]:
    """Return sounds with filters of all shapes in float32 and float64, then views, and very loud and quiet sounds."""
    drawn: list[Inputs] = []
    for dtype in ("float32", "float64"):
        drawn += [_drawn(rng, (columns, *[rows] * 4), dtype) for rows, columns in SQUARE]
        drawn += [_drawn(rng, sizes, dtype) for sizes in OBLONG]
        x, hall, door, room, mix = _drawn(rng, (6, 8, 8, 8, 8), dtype)
        drawn += [(x, hall.T, door.T, room.T, mix.T), (x, hall, hall, hall.T, mix)]
        drawn += [(x[:, ::2], hall, door[::2], room[:, 1::2], mix[::2, 1::2]), (x[::2], hall[:, ::2], door, room, mix)]
        drawn.append((np.broadcast_to(x[:1], x.shape), hall, door, room, mix))
        drawn += [((x * size).astype(dtype), hall, door, room, mix) for size in (100, 0.01, 0)]
    return drawn


def timed(rngs: Iterator[np.random.Generator]) -> Iterator[Inputs]:
    """Yield random sounds and filters of the timed sizes without end.

    A filter computes weighted means, mostly of near numbers. Rounding errors then stay small.
    """
    for rng in rngs:
        x = 4 * rng.standard_normal((LENGTH, COLUMNS), dtype=np.float32)
        mix = rng.random((COLUMNS, COLUMNS), dtype=np.float32)
        yield (x, *(_filter(rng) for _ in range(3)), mix / mix.sum(0))


def oracle(x: Array, hall: Array, door: Array, room: Array, mix: Array) -> NDArray[np.float64]:
    """Return the sounds without their echo, in float64. The products are in the slow order of the baseline."""
    sound, *others = (each.astype(np.float64) for each in (x, hall, door, room, mix))
    answer: NDArray[np.float64] = sound - _echo(sound, *others, limit=1.0)
    return answer


def allowed(x: Array, hall: Array, door: Array, room: Array, mix: Array) -> NDArray[np.float64]:
    """Return the allowed error: 8 roundings of the sum of the magnitudes of all terms.

    The errors of single sums partly cancel each other. With any order of the products, and with sums in float32 from
    the first term to the last, errors were at most 1.8 roundings. Products in bfloat16, or of weights near the diagonal
    alone, have larger errors. With 300 roundings allowed, such products reached the tier.
    """
    sound, *others = (np.abs(each.astype(np.float64)) for each in (x, hall, door, room, mix))
    sizes = sound + _echo(sound, *others, limit=np.inf)
    bound: NDArray[np.float64] = 8 * np.finfo(x.dtype).eps * sizes
    return bound


def operations(x: Array, hall: Array, door: Array, room: Array, mix: Array) -> float:
    """Return the operations of the products in the cheapest order: two with each filter, and `ROUNDS` with `mix`.

    Strassen's algorithm saves at most a quarter of them: it adds blocks of the large matrix, and the other matrix has
    only 16 columns.
    """
    columns = x.shape[1]
    filters = 2 * columns * (hall.size + door.size + room.size)
    return float(2 * (filters + ROUNDS * len(room) * columns * mix.shape[1]))


def _echo(
    x: NDArray[np.float64],
    hall: NDArray[np.float64],
    door: NDArray[np.float64],
    room: NDArray[np.float64],
    mix: NDArray[np.float64],
    *,
    limit: float,
) -> NDArray[np.float64]:
    way = _product(_product(room, door), hall)
    y = np.clip(_product(way, x), -limit, limit)
    for _ in range(ROUNDS):
        y = (y + _product(y, mix)) / 2
    return _product(way.T, y)


def _product(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a matrix product, computed one row at a time."""
    return np.array([row @ other for row in one]).reshape(len(one), other.shape[1])


def _drawn(rng: np.random.Generator, sizes: tuple[int, ...], dtype: str) -> Inputs:
    """Return a sound and filters with numbers of both signs. About half of the echo's numbers exceed the limit."""
    columns, *rows = sizes
    filters = (rng.standard_normal((out, into)) / np.sqrt(into) for into, out in pairwise(rows))
    x = 1.5 * rng.standard_normal((rows[0], columns))
    mix = rng.standard_normal((columns, columns)) / np.sqrt(max(columns, 1))
    return tuple(each.astype(dtype) for each in (x, *filters, mix))


def _filter(rng: np.random.Generator) -> Array:
    weights = rng.random((LENGTH, LENGTH), dtype=np.float32)
    weights *= _nearness()
    weights /= weights.sum(1, keepdims=True)
    return weights


@cache
def _nearness() -> Array:
    place = np.arange(LENGTH, dtype=np.float32)
    nearness: Array = (1 + np.abs(place[:, None] - place)) ** -2
    return nearness


WITHOUT_ECHO = Task(
    summary="find expensive calls among many cheap ones with torch.profiler, and remove them",
    cost=TIME,
    tiers=(Tier(3.0, 1.0),),
    hints=(
        "Profile plain as the exercise describes. Which shapes has the row with the largest own time? How many calls?",
        (
            "The expensive calls multiply two matrices of shape (640, 640). Which function multiplies two large "
            "matrices before it uses a small one? If y has 16 columns, how many multiplications does (room @ door) @ y "
            "need? How many does room @ (door @ y) need?"
        ),
        (
            "outward computes ((room @ door) @ hall) @ x. Compute room @ (door @ (hall @ x)) there. Do not change the "
            "order in back: its small matrix y.T is on the left. Profile your function again: no row should have two "
            "matrices of shape (640, 640)."
        ),
    ),
    exam=TensorExam(("x", "hall", "door", "room", "mix"), cases, timed, oracle, allowed, operations=operations),
    read="lesson 11, “Which convolution?”",
    idea=(
        "A matrix product does not depend on where you put the parentheses, but its cost does. Each product of two "
        "large matrices needs 640 · 640 · 640 multiplications. Each product of a large and a small matrix needs only "
        "640 · 640 · 16. All products have the same name in the profile, so only the shapes show the expensive ones. "
        "The loop calls many small products, but together they take little time."
    ),
    references=(
        "The documentation of torch.linalg.multi_dot, which chooses the cheapest order. Introduction to Algorithms "
        "(Cormen and others), the section on matrix-chain multiplication."
    ),
)
