"""A backend of `torch.compile` that counts graphs, and functions that each use one construct of Python."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn


class Graphs:
    """A backend that counts how many graphs torch compiles, and how often torch calls them. It runs them unchanged."""

    def __init__(self) -> None:
        self.compiled = 0
        self.called = 0

    def __call__(self, graph: torch.fx.GraphModule, _: list[Tensor]) -> Callable[..., object]:
        """Count a graph, and return a function that runs it."""
        self.compiled += 1

        def run(*inputs: object) -> object:
            self.called += 1
            return graph.forward(*inputs)

        return run


class Model(nn.Module):
    """A module that calls a function."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:  # noqa: D102 - defined by torch
        return self.function(x)


def _branch(x: Tensor) -> Tensor:
    return x * 2 if x.sum() > 0 else x - 1


def _numpy_sort(x: Tensor) -> Tensor:
    return torch.from_numpy(np.sort(x.numpy()))


def _mixed_dict(x: Tensor) -> Tensor:
    options = {"scale": 2.0, "name": "relu", "shift": None}
    return x * options["scale"]  # type: ignore[operator]


def _try_except(x: Tensor) -> Tensor:
    try:
        factor = {"b": 2}["a"]
    except KeyError:
        factor = 3
    return x * factor


def _inner_function(x: Tensor) -> Tensor:
    def shifted(y: Tensor) -> Tensor:
        return y + x

    return shifted(x * 2)


def _more_options(x: Tensor, **options: float) -> Tensor:
    return x * options.get("scale", 2.0)


def _lambda_function(x: Tensor) -> Tensor:
    act: Callable[[Tensor], Tensor] = lambda y: y.clamp(min=0)  # noqa: E731
    return act(x)


def _match_case(x: Tensor) -> Tensor:
    match x.dim():
        case 1:
            return x * 2
        case _:
            return x


CONSTRUCTS = (
    _branch,
    _numpy_sort,
    _mixed_dict,
    _try_except,
    _inner_function,
    _more_options,
    _lambda_function,
    _match_case,
)
"""Functions of a tensor. Each uses one construct of Python that older compilers of torch do not accept."""
