"""PyTorch's fuzzers, which draw random test inputs from a seed, with labels for tensors and with a bug fix.

In some versions of torch, such as 2.13, a check in `FuzzedParameter` is inverted, so all fuzzers for operators fail.
Importing this module repairs this bug for the whole process.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from torch import Tensor
from torch.sparse import check_sparse_tensor_invariants
from torch.utils.benchmark import FuzzedParameter, FuzzedSparseTensor, FuzzedTensor, Fuzzer, ParameterAlias  # noqa: F401
from torch.utils.benchmark.op_fuzzers.binary import BinaryOpFuzzer  # noqa: F401
from torch.utils.benchmark.op_fuzzers.sparse_binary import BinaryOpSparseFuzzer  # noqa: F401
from torch.utils.benchmark.op_fuzzers.sparse_unary import UnaryOpSparseFuzzer  # noqa: F401
from torch.utils.benchmark.op_fuzzers.spectral import SpectralOpFuzzer  # noqa: F401
from torch.utils.benchmark.op_fuzzers.unary import UnaryOpFuzzer  # noqa: F401

from harness.rendering.units import TIMES

ROUNDS: Final = 50  # a fuzzer from `limited` raises `ValueError` after these rounds of 1000 draws

AnyFuzzer = TypeVar("AnyFuzzer", bound=Fuzzer)


def _repair() -> None:
    upstream = FuzzedParameter._check_distribution  # noqa: SLF001 - the function with the bug

    def check(self: FuzzedParameter, distribution: object) -> object:
        if not isinstance(distribution, dict):
            return upstream(self, distribution)  # type: ignore[no-untyped-call]
        if min(distribution.values(), default=0.0) < 0:
            raise AssertionError("Probabilities cannot be negative")
        if abs(sum(distribution.values()) - 1) > 1e-5:
            raise AssertionError("Distribution is not normalized")
        if self._minval is not None or self._maxval is not None:
            raise AssertionError("When passing a custom distribution, 'minval' and 'maxval' must be None")
        return distribution

    FuzzedParameter._check_distribution = check  # type: ignore[method-assign]  # noqa: SLF001


REPAIRED = False
"""Whether the installed torch has the inverted check. If it has, this module has repaired it."""
try:
    FuzzedParameter("coin", distribution={1: 0.5, 2: 0.5})
except AssertionError:
    REPAIRED = True
    _repair()


@dataclass(frozen=True, slots=True)
class Sample:
    """One random input: tensors by name, and the parameters that were drawn."""

    tensors: Mapping[str, Tensor]
    parameters: Mapping[str, Any]

    @property
    def label(self) -> str:
        """The labels of the tensors, such as "x, y 128"."""
        names: dict[str, list[str]] = {}
        for name, tensor in self.tensors.items():
            names.setdefault(label(tensor), []).append(name)
        return "; ".join(f"{', '.join(group)} {text}" for text, group in names.items())


def take(fuzzer: Fuzzer, count: int) -> Iterator[Sample]:
    """Yield `count` samples of a fuzzer. The same seed gives the same samples, if nobody else draws random numbers."""
    draws = fuzzer.take(count)
    for _ in range(count):
        with check_sparse_tensor_invariants():  # type: ignore[no-untyped-call]  # torch warns about sparse tensors without this setting
            tensors, _, parameters = next(draws)
        yield Sample(tensors, parameters)


def limited(
    fuzzer: AnyFuzzer,
    *,
    max_elements: int | None = None,
    min_elements: int | None = None,
    max_allocation_bytes: int | None = None,
) -> AnyFuzzer:
    """Set limits for the sizes of all tensors of a fuzzer, and return the fuzzer. None leaves a limit unchanged.

    PyTorch's fuzzers draw tensors of up to 2 GB, and raise `ValueError` if none of 1000 draws is within the limits. The
    limited fuzzer does not draw a size above `max_elements`, and raises this error only after 50,000 draws.
    """
    limits = {"max_elements": max_elements, "min_elements": min_elements, "max_allocation_bytes": max_allocation_bytes}
    for tensor in fuzzer._tensors:  # noqa: SLF001 - there is no public way to set the bounds
        vars(tensor).update({f"_{name}": limit for name, limit in limits.items() if limit is not None})
    if max_elements is not None:
        for parameter in fuzzer._parameters:  # noqa: SLF001
            if parameter.name.startswith("k"):
                _bound(parameter, max_elements)
    fuzzer._generate = partial(_generate, fuzzer._generate)  # type: ignore[method-assign]  # noqa: SLF001
    return fuzzer


def _generate(upstream: Callable[[object], dict[str, Any]], state: object) -> dict[str, Any]:
    for _ in range(ROUNDS):
        with suppress(ValueError):
            return upstream(state)
    raise ValueError(f"None of {ROUNDS * 1000} draws is within the bounds of these tensors; widen the bounds.")


def _bound(size: FuzzedParameter, most: int) -> None:
    choices = size._distribution  # noqa: SLF001
    if isinstance(choices, dict):
        kept = {value: share for value, share in choices.items() if not isinstance(value, int) or value <= most}
        size._distribution = {value: share / sum(kept.values()) for value, share in kept.items()}  # noqa: SLF001
    elif size._maxval is not None:  # noqa: SLF001
        size._maxval = min(size._maxval, most)  # noqa: SLF001


def label(tensor: Tensor) -> str:
    """Return the shape of a tensor as text, and its memory layout if it is not contiguous."""
    shape = TIMES.join(map(str, tensor.shape)) or "scalar"
    if tensor.is_sparse:
        state = "coalesced" if tensor.is_coalesced() else "not coalesced"
        return f"{shape} sparse, {tensor._nnz()} values, {state}"  # noqa: SLF001 - nnz() works only for coalesced tensors
    if tensor.is_contiguous():
        return shape
    return f"{shape}, {', '.join(_layout(tensor.shape, tensor.stride()))}"


def _layout(shape: Sequence[int], strides: Sequence[int]) -> Iterator[str]:
    moving = [axis for axis, size in enumerate(shape) if size > 1]
    if any(strides[axis] == 0 for axis in moving):
        yield "expanded"
    order = [axis for axis in sorted(moving, key=lambda axis: -strides[axis]) if strides[axis]]
    if order != sorted(order):
        yield "transposed" if len(order) == 2 else f"permuted {tuple(order)}"
    dense, widest = 1, 1
    for axis in reversed(order):
        step = max(strides[axis] // dense, 1)
        dense, widest = step * dense * shape[axis], max(step, widest)
    if widest > 1:
        yield f"steps of {widest}"
