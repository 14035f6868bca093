"""Change the inputs of tensor test cases: fewer rows or columns, a different order, a different memory layout."""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from grader.task import Array, Inputs
from grader.trials.inputs import root

Change = Callable[[Array], Array]


def _along(axis: int, part: slice) -> Change:
    return lambda array: array[part] if axis == 0 else array[..., part]


def _reversed(axis: int) -> Change:
    return lambda array: np.ascontiguousarray(np.flip(array, axis))


CHANGES: Final[tuple[tuple[str, int, Change], ...]] = (
    ("no rows", 1, _along(0, slice(0, 0))),
    ("one row", 1, _along(0, slice(0, 1))),
    ("every other row", 1, _along(0, slice(None, None, 2))),
    ("rows in reverse", 1, _reversed(0)),
    ("no columns", 2, _along(-1, slice(0, 0))),
    ("one column", 2, _along(-1, slice(0, 1))),
    ("every other column", 2, _along(-1, slice(None, None, 2))),
    ("columns in reverse", 2, _reversed(-1)),
    ("transposed", 2, lambda array: array.T),
)
"""For each change: its name, the number of dimensions that it needs, and the function that makes it."""


def varied(inputs: Inputs) -> Iterator[tuple[str, Inputs]]:
    """Yield changed copies of a test case's inputs, each with a description. A task may not allow these inputs.

    Each change is applied to all inputs together, and also to each input alone if there are several.
    """
    for words, dimensions, change in CHANGES:
        changed = [change(array) if array.ndim >= dimensions else array for array in inputs]
        fit = [at for at, array in enumerate(inputs) if array.ndim >= dimensions]
        if fit:
            yield words, tuple(changed)
        for at in fit if len(inputs) > 1 else ():
            yield f"{words} in input {at + 1}", (*inputs[:at], changed[at], *inputs[at + 1 :])


def copied(inputs: Inputs) -> tuple[Inputs, Callable[[], bool]]:
    """Return copies of the inputs, and a function that returns whether the copies are still unchanged.

    If two inputs share memory, their copies share memory too.
    """
    roots = {id(root(array)): root(array) for array in inputs}
    own = {key: array.copy() for key, array in roots.items()}
    copies = tuple(_view(array, roots[id(root(array))], own[id(root(array))]) for array in inputs)

    def unchanged() -> bool:
        return all(own[key].tobytes() == array.tobytes() for key, array in roots.items())

    return copies, unchanged


def _view(array: Array, base: Array, copy: Array) -> Array:
    if not array.size:
        return array.copy()
    at = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return np.ndarray(array.shape, array.dtype, copy.reshape(-1).view(np.uint8).data, at, array.strides)
