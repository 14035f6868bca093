"""The rules for comparing answers: which are right, which are wrong, and the text that a student reads."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from grader.task import Mismatch
from grader.trials.correctness import DTYPES, Answer, Expected, judge, right
from grader.trials.inputs import SharedMemory
from grader.trials.known_mistakes import KnownMistakes, is_alike, shortened

NAN, INF = float("nan"), float("inf")


@pytest.fixture
def outputs() -> Iterator[SharedMemory]:
    memory = SharedMemory(64)
    memory.poison(64)
    yield memory
    memory.close()


def expected(want: list[float], allowed: float = 0.0, dtype: str = "float32") -> Expected:
    return Expected(np.array(want), np.full(len(want), allowed), np.dtype(dtype))


def tensor(got: Any, dtype: str = "float32", *, unchanged: bool = True) -> Answer:
    return Answer(np.array(got, dtype), "Tensor", unchanged)


def refused(want: Expected, answer: Answer) -> Mismatch:
    mismatch = judge(want, answer)
    assert mismatch is not None
    return mismatch


RIGHT = [(1.0, 1.0, 0.0), (1.0, 1.5, 0.5), (1.0, 0.5, 0.5), (0.0, -0.0, 0.0), (INF, INF, 0.0), (NAN, NAN, NAN)]
RIGHT += [(3.0, 3.0, NAN)]
WRONG = [(1.0, 1.5000001, 0.5), (INF, -INF, INF), (INF, 3.0, INF), (INF, NAN, INF), (3.0, INF, 1.0), (NAN, 3.0, NAN)]
WRONG += [(NAN, INF, INF), (3.0, NAN, 1.0), (3.0, 4.0, NAN), (1e308, -1e308, 1.0)]
"""Elements that are expected, those that are given, and the allowed errors."""


def test_an_element_is_right_within_what_is_allowed_and_nowhere_else() -> None:
    for want, got, allowed in [*RIGHT, *WRONG]:
        is_right = (want, got, allowed) in RIGHT
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert right(np.array([want]), np.array([got]), np.array([allowed])).tolist() == [is_right]
            assert (judge(expected([want], allowed, "float64"), tensor([got], "float64")) is None) is is_right


def test_shape_comes_before_dtype_and_dtype_before_changed_inputs_and_elements() -> None:
    want = expected([1.0, 2.0])
    assert refused(want, tensor([[1.0, 2.0]], "float64")) == Mismatch("shape (2,)", "shape (1, 2)")
    assert refused(want, tensor([1.0], "float32")).got == "shape (1,)"
    assert "dtype float64" in refused(want, tensor([9.0, 9.0], "float64")).got
    assert "inputs left as they were" in refused(want, tensor([1.0, 2.0], unchanged=False)).expected
    assert refused(want, tensor([9.0, 9.0])).expected == "[1., 2.]"


def test_a_small_answer_is_shown_whole_and_a_large_one_by_its_worst_element() -> None:
    small = refused(expected([1.0, 2.0, 3.0]), tensor([1.0, 2.5, 3.0]))
    assert (small.expected, small.got) == ("[1., 2., 3.]", "[1. , 2.5, 3. ]")
    assert small.remark == "25 % too large, allowed 0 %"
    large = refused(expected([1.0] * 100), tensor([1.0] * 98 + [1.5, 3.0]))
    assert (large.expected, large.got) == ("1.", "3.")
    assert large.remark.startswith("2 of 100 elements wrong, the worst at [99]: 3 times too large")


def test_a_signaling_nan_is_wrong_and_nobody_is_warned_of_it() -> None:
    for dtype, bits, size in (("float16", 0x7C01, 1), ("float32", 0x7F800001, 7), ("float64", 0x7FF << 52 | 1, 40)):
        values = np.full(size, bits, f"uint{8 * np.dtype(dtype).itemsize}").view(dtype)
        answer = Answer(values, "Tensor", inputs_unchanged=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            wrong = refused(expected([1.0] * size, dtype=dtype), answer)
            assert "NaN instead of a number" in wrong.remark
            assert judge(expected([NAN] * size, dtype=dtype), answer) is None
            assert is_alike(shortened(answer.plain), answer.plain, 0.0)


def test_the_bytes_left_behind_are_read_in_the_dtype_claimed(outputs: SharedMemory) -> None:
    for dtype in DTYPES:
        values = np.array([[0, 1, 1]]).astype(dtype)
        outputs.bytes[: values.nbytes] = values.reshape(-1).view(np.uint8)
        answer = Answer.read({"dtype": dtype, "shape": [1, 3]}, outputs, inputs_unchanged=True)
        assert answer.array is not None
        assert answer.array.dtype == values.dtype
        np.testing.assert_array_equal(answer.array, values)


def test_a_claim_that_fits_no_bytes_is_no_tensor(outputs: SharedMemory) -> None:
    shapes: list[Any] = [3, [1.0], [True], [-1], [1] * 9, [17], [1 << 40] * 8]
    odd: list[dict[str, Any]] = [
        {},
        {"dtype": "float32"},
        {"dtype": "object", "shape": [1]},
        {"dtype": ["float32"], "shape": [1]},
    ]
    for claim in [*odd, {"type": "x" * 10**6}, *({"dtype": "float32", "shape": shape} for shape in shapes)]:
        answer = Answer.read(claim, outputs, inputs_unchanged=True)
        assert answer.array is None
        assert 0 < len(refused(expected([1.0]), answer).got) < 120


def test_answers_are_alike_apart_from_rounding_errors() -> None:
    nothing = Answer(None, "list", inputs_unchanged=True)
    one, allowed = tensor([1.0, NAN, INF]), 0.5
    others = [tensor([1.6, NAN, INF]), tensor([1.0, 0.0, INF]), tensor([[1.0, NAN, INF]]), tensor([1.0, NAN])]
    others += [tensor([1.0, NAN, INF], "float64"), tensor([1.0, NAN, INF], unchanged=False), nothing]
    values: list[tuple[Any, Any, bool]] = [
        (one.plain, tensor([1.4, NAN, INF]).plain, True),
        *((one.plain, other.plain, False) for other in others),
        *(([*range(100)], [*range(size)], size == 100) for size in (100, 99, 0)),
        ([[1.0], True, "a", None], [[1.0 + 1e-7], True, "a", None], True),
        ({"a": [1], "b": 2}, {"b": 2, "a": [1]}, True),
        ({"a": [1], "b": 2}, {"b": 2, "a": [2]}, False),
        *((each, other, False) for each, other in ((True, 1), (1, "1"), ([], None), (10**400, 1.0), (0.0, 10**400))),
    ]
    for known, answer, alike in values:
        assert is_alike(shortened(known), answer, allowed) is alike, (known, answer)


def test_a_mistake_is_explained_if_all_answers_are_its_and_one_is_wrong_and_no_other_mistake_gives_them() -> None:
    answers = {"You add.": [3, 5], "You add too.": [3, 5], "You subtract.": [1, 5], "You guess.": [3, 6]}
    known = KnownMistakes([0, 4], [0.0, 0.0], answers=answers)
    for given, wrong, text in (
        ([1, 5], [True, False], "You subtract."),
        ([1, 5], [False, False], ""),
        ([3, 5], [True, True], ""),
        ([1, 4], [True, True], ""),
    ):
        assert known.explanation([*zip(given, wrong, strict=True)]) == text, given
