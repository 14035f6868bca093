"""Inputs nobody would think of, drawn from a seed: PyTorch's fuzzers, made to work, and labels that do not lie.

The names are those of `torch.utils.benchmark`: import them from here and use them as its manual says. Some releases of
torch, 2.13 among them, refuse every correct custom distribution as "not normalized", and with it all fuzzers for
operators: the check in `FuzzedParameter` is the wrong way round. `REPAIRED` says whether this torch has that fault; if
so, importing this module puts it right for the whole process. A test says when `_repair` can go.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from torch import Tensor
from torch.sparse import check_sparse_tensor_invariants
from torch.utils.benchmark import FuzzedParameter, FuzzedSparseTensor, FuzzedTensor, Fuzzer, ParameterAlias
from torch.utils.benchmark.op_fuzzers.binary import BinaryOpFuzzer
from torch.utils.benchmark.op_fuzzers.sparse_binary import BinaryOpSparseFuzzer
from torch.utils.benchmark.op_fuzzers.sparse_unary import UnaryOpSparseFuzzer
from torch.utils.benchmark.op_fuzzers.spectral import SpectralOpFuzzer
from torch.utils.benchmark.op_fuzzers.unary import UnaryOpFuzzer

from harness.units import TIMES

__all__ = [
    "REPAIRED",
    "BinaryOpFuzzer",
    "BinaryOpSparseFuzzer",
    "FuzzedParameter",
    "FuzzedSparseTensor",
    "FuzzedTensor",
    "Fuzzer",
    "ParameterAlias",
    "Sample",
    "SpectralOpFuzzer",
    "UnaryOpFuzzer",
    "UnaryOpSparseFuzzer",
    "label",
    "limited",
    "take",
]

TRIES: Final = 50_000
"""Draws of a limited fuzzer's parameters before it gives up."""

AnyFuzzer = TypeVar("AnyFuzzer", bound=Fuzzer)


def _refuses_what_is_right() -> bool:
    """Whether this torch has the fault: probabilities that sum to one are refused."""
    try:
        FuzzedParameter("coin", distribution={1: 0.5, 2: 0.5})
    except AssertionError:
        return True
    return False


def _repair() -> None:
    upstream = FuzzedParameter._check_distribution  # noqa: SLF001 - the fault lies there

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


REPAIRED = _refuses_what_is_right()
"""Whether this torch has the fault, and this module repaired it."""

if REPAIRED:
    _repair()


@dataclass(frozen=True, slots=True)
class Sample:
    """One draw: tensors by name, what the fuzzer says of each, and the parameters that they were made from."""

    tensors: Mapping[str, Tensor]
    properties: Mapping[str, Mapping[str, Any]]
    parameters: Mapping[str, Any]

    @property
    def label(self) -> str:
        """What the tensors are, each told once: "x 40×8 of 40×16" or "x, y 128"."""
        names: dict[str, list[str]] = {}
        for name, tensor in self.tensors.items():
            names.setdefault(label(tensor), []).append(name)
        return "; ".join(f"{', '.join(group)} {text}" for text, group in names.items())


def take(fuzzer: Fuzzer, count: int) -> Iterator[Sample]:
    """Draw `count` samples, the same from the same seed: `Fuzzer.take`, with names for its three parts.

    The tensors' contents are drawn when their turn comes, from torch's own generator, which is seeded at the start:
    whoever draws random numbers between two samples changes the contents of the second, not its shape.
    """
    draws = fuzzer.take(count)
    for _ in range(count):
        with check_sparse_tensor_invariants():  # type: ignore[no-untyped-call]  # torch warns of whoever makes a sparse tensor without a word on this
            tensors, properties, parameters = next(draws)
        yield Sample(tensors, properties, parameters)


def limited(
    fuzzer: AnyFuzzer,
    *,
    max_elements: int | None = None,
    min_elements: int | None = None,
    max_allocation_bytes: int | None = None,
) -> AnyFuzzer:
    """Set bounds of all tensors of a fuzzer, and return it; None leaves one as it is.

    PyTorch's fuzzers for operators draw up to 32 million elements and 2 GB, which is not what a laptop needs to see.
    Under narrow bounds few draws fit, and torch gives up after 1000 of them. So sizes that no tensor could have are no
    longer drawn at all, and a limited fuzzer tries 50 times as often before it raises the same `ValueError`.
    """
    for tensor in fuzzer._tensors:  # noqa: SLF001 - there is no public way to bound an operator's fuzzer
        tensor._max_elements = _either(max_elements, tensor._max_elements)  # noqa: SLF001
        tensor._min_elements = _either(min_elements, tensor._min_elements)  # noqa: SLF001
        tensor._max_allocation_bytes = _either(max_allocation_bytes, tensor._max_allocation_bytes)  # noqa: SLF001
    if max_elements is not None:
        for parameter in fuzzer._parameters:  # noqa: SLF001
            if parameter.name.startswith("k"):
                _bound(parameter, max_elements)
    fuzzer._generate = partial(_generate, fuzzer)  # type: ignore[method-assign]  # noqa: SLF001
    return fuzzer


def _generate(fuzzer: Fuzzer, state: object) -> dict[str, Any]:
    """Draw parameters until they fit, like `Fuzzer._generate`: those called strict once, the others for each try."""
    strict = {each.name: each.sample(state) for each in fuzzer._parameters if each.strict}  # noqa: SLF001
    for _ in range(TRIES):
        drawn = {
            each.name: strict[each.name] if each.strict else each.sample(state)
            for each in fuzzer._parameters  # noqa: SLF001
        }
        resolved: dict[str, Any] = fuzzer._resolve_aliases(drawn)  # noqa: SLF001
        fuzzer._total_generated += 1  # noqa: SLF001
        fits = all(rule(resolved) for rule in fuzzer._constraints)  # noqa: SLF001
        if fits and all(tensor.satisfies_constraints(resolved) for tensor in fuzzer._tensors):  # noqa: SLF001
            return resolved
        fuzzer._rejections += 1  # noqa: SLF001
    raise ValueError(f"None of {TRIES} draws fits the bounds of these tensors; widen them.")


def _bound(size: FuzzedParameter, most: int) -> None:
    """Leave sizes above `most` out of a parameter's range, or of its choices."""
    choices = size._distribution  # noqa: SLF001
    if isinstance(choices, dict):
        kept = {value: share for value, share in choices.items() if not isinstance(value, int) or value <= most}
        size._distribution = {value: share / sum(kept.values()) for value, share in kept.items()}  # noqa: SLF001
    elif size._maxval is not None:  # noqa: SLF001
        size._maxval = min(size._maxval, most)  # noqa: SLF001


def label(tensor: Tensor) -> str:
    """Say what a tensor is: its shape, and if its memory is no plain row after row, how it lies.

    Read off the tensor itself. A label made from the parameters of a fuzzer shows three sizes where the tensor has
    one dimension, and keeps quiet about strides.
    """
    shape = TIMES.join(map(str, tensor.shape)) or "scalar"
    if tensor.is_sparse:
        state = "coalesced" if tensor.is_coalesced() else "not coalesced"
        return f"{shape} sparse, {tensor._nnz()} values, {state}"  # noqa: SLF001 - nnz() is for coalesced ones only
    if tensor.is_contiguous():
        return shape
    return f"{shape}, {', '.join(_layout(tensor.shape, tensor.stride()))}"


def _layout(shape: Sequence[int], strides: Sequence[int]) -> Iterator[str]:
    """Say how memory is walked through: in another order, in steps, or again and again."""
    moving = [axis for axis, size in enumerate(shape) if size > 1]
    if any(strides[axis] == 0 for axis in moving):
        yield "expanded"
    order = [axis for axis in sorted(moving, key=lambda axis: -strides[axis]) if strides[axis]]
    if order != sorted(order):
        yield "transposed" if len(order) == 2 else f"permuted {tuple(order)}"
    dense = 1
    steps = []
    for axis in reversed(order):
        step = max(strides[axis] // dense, 1)
        steps.append(step)
        dense = step * dense * shape[axis]
    if any(step > 1 for step in steps):
        yield f"steps of {max(steps)}"


def _either(wanted: int | None, present: int | None) -> int | None:
    return present if wanted is None else wanted
