"""Check a submission's tensor against the right answer in float64, and compare two submissions' answers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from grader.task import Array, Inputs, Mismatch, TensorExam
from grader.trials.inputs import SharedMemory
from grader.trials.known_mistakes import few
from grader.values import Value
from harness.rendering.units import deviation, number, percent

SHOWN: Final = 6
"""Arrays with more elements are not shown in full in a message."""

DIGITS: Final = (5, 9, 17)
"""Numbers of decimal places in a message. The smallest number that shows the difference is used."""

DTYPES: Final = frozenset(
    ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]
)

INPUTS_CHANGED: Final = Mismatch("inputs left as they were", "an input that was changed by the call")


@dataclass(frozen=True)
class Answer:
    """The answer to one call. `array` is None if the answer is not a tensor; `type_name` then names its type."""

    array: Array | None
    type_name: str
    inputs_unchanged: bool

    @classmethod
    def read(cls, claim: Mapping[str, Any], outputs: SharedMemory, *, inputs_unchanged: bool) -> "Answer":
        """Return the answer of a process. `array` is None if its message `claim` describes no tensor that fits."""
        dtype, shape = claim.get("dtype"), claim.get("shape")
        if not (isinstance(dtype, str) and dtype in DTYPES and isinstance(shape, list) and _sizes(shape)):
            return cls(None, str(claim.get("type", f"tensor of {dtype}"))[:80], inputs_unchanged)
        extent_bytes = np.dtype(dtype).itemsize * math.prod(max(n, 1) for n in shape)
        if extent_bytes > outputs.bytes.size:
            return cls(None, f"tensor of shape {shape!s:.60}, far larger than asked for", inputs_unchanged)
        array = np.frombuffer(outputs.read(extent_bytes), dtype=dtype, count=math.prod(shape)).reshape(shape)
        return cls(array, "Tensor", inputs_unchanged)

    @property
    def plain(self) -> Value:
        """The answer in plain values, as known mistakes are recorded: of many elements, a few at equal distances."""
        if self.array is None:
            return self.type_name
        elements = few(self.array.reshape(-1))
        if elements.dtype.kind in "iu":  # a rounding error may change a whole number by 1, so it has a tolerance, too
            elements = elements.astype(np.float64)
        return [str(self.array.dtype), list(self.array.shape), self.inputs_unchanged, elements.tolist()]


@dataclass(frozen=True)
class Expected:
    """The right answer to one input: its elements in float64, the error allowed for each, and the dtype."""

    want: NDArray[np.float64]
    allowed: NDArray[np.float64]
    dtype: np.dtype[np.generic]

    @classmethod
    def of(cls, exam: TensorExam, inputs: Inputs) -> "Expected":
        """Return the right answer to these inputs, computed by the task's slow and exact function."""
        return cls(exam.oracle(*inputs), exam.allowed(*inputs), inputs[0].dtype)


def judge(expected: Expected, answer: Answer) -> Mismatch | None:
    """Return how an answer differs (type, shape, dtype, changed inputs, elements), or None if it is right."""
    got, want = answer.array, expected.want
    if got is None:
        advice = "Return a plain, dense torch.Tensor. For example, torch.from_numpy converts an array."
        return Mismatch(f"a tensor of shape {want.shape}", f"a {answer.type_name}", advice)
    if got.shape != want.shape:
        return Mismatch(f"shape {want.shape}", f"shape {got.shape}")
    if got.dtype != expected.dtype:
        return Mismatch(f"dtype {expected.dtype}, as the inputs have", f"dtype {got.dtype}")
    if not answer.inputs_unchanged:
        return INPUTS_CHANGED
    with np.errstate(invalid="ignore"):  # the conversion of a signaling NaN gives a warning
        elements = got.astype(np.float64)
    return _elements(want, elements, expected.allowed)


def right(want: NDArray[np.float64], got: Array, allowed: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which elements of `got` are right: within the allowed error, or the expected infinity or NaN."""
    with np.errstate(invalid="ignore", over="ignore"):
        near: NDArray[np.bool_] = np.isfinite(want) & (np.abs(got - want) <= allowed)
    if not near.all():  # usually all are near, and hundreds of checks need no further comparisons
        near |= (got == want) | (np.isnan(got) & np.isnan(want))
    return near


def _elements(want: NDArray[np.float64], got: NDArray[np.float64], allowed: NDArray[np.float64]) -> Mismatch | None:
    wrong = ~right(want, got, allowed)
    if not wrong.any():
        return None
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.where(np.isfinite(got - want), np.abs(got - want), np.inf)
    worst = np.unravel_index(int(np.argmax(np.where(wrong, off, -1.0))), want.shape)
    remark = _off(float(want[worst]), float(got[worst]), float(np.broadcast_to(allowed, want.shape)[worst]))
    if right(np.sort(want, None), np.sort(got, None), allowed.min(keepdims=True).ravel()).all():
        remark += ". The elements are right, but their order is not"
    if want.size > SHOWN:
        at = ", ".join(str(int(i)) for i in worst)
        remark = f"{int(wrong.sum())} of {want.size} elements wrong, the worst at [{at}]: {remark}"
        want, got = want[worst], got[worst]
    return Mismatch(*_apart(want, got), remark)


def _off(want: float, got: float, allowed: float) -> str:
    if not (math.isfinite(want) and math.isfinite(got)):
        return deviation(got, want)
    relative = allowed < abs(want)
    return f"{deviation(got, want)}, allowed {percent(allowed / abs(want)) if relative else number(allowed)}"


def _apart(want: NDArray[np.float64], got: NDArray[np.float64]) -> tuple[str, str]:
    for digits in DIGITS:
        one, other = (np.array2string(values, precision=digits, separator=", ") for values in (want, got))
        if one != other:
            break
    return one, other


def _sizes(shape: list[Any]) -> bool:
    return len(shape) <= 8 and all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 1 << 63 for n in shape)
