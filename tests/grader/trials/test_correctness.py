"""The rules for comparing answers: which are right, which are wrong, and the text that a student reads."""

import warnings
from typing import Any

import numpy as np

from grader.task import Mismatch
from grader.trials.correctness import Answer, Expected, judge, right
from grader.trials.known_mistakes import KnownMistakes, is_alike, shortened

NAN, INF = float("nan"), float("inf")


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
