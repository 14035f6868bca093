"""The task of lesson 14: the drawn inputs, and the oracle, which must agree with the baseline."""

from itertools import islice

import numpy as np
from playing import agrees_with_its_oracle, find_task

from grader.seeds import generator, independent
from grader.task import TensorExam
from grader.trials import native
from grader.trials.inputs import pack, root

TASK = find_task("14_extensions", "checksum")


def exam() -> TensorExam:
    assert isinstance(TASK.exam, TensorExam)
    return TASK.exam


def test_the_oracle_is_what_the_plain_baseline_gives() -> None:
    assert agrees_with_its_oracle(TASK, native.baseline(TASK))


def test_the_oracle_is_the_checksum_that_is_published_for_nine_digits() -> None:
    data = np.frombuffer(b"123456789", np.uint8)
    assert bytes(exam().oracle(data).astype(np.uint8)) == 0xCBF43926.to_bytes(4, "little")


def test_cases_are_empty_and_lie_at_every_address_among_other_bytes() -> None:
    arrays = [x for (x,) in exam().cases(generator("a seed"))]
    assert sum(x.size == 0 for x in arrays) == 2
    layouts = [pack((x,)).layouts[0] for x in arrays if x.size]
    assert {layout["offset"] % 8 for layout in layouts} == set(range(8))
    assert any(root(x).size > x.size + layout["offset"] for x, layout in zip(arrays[2:], layouts, strict=True))
    assert any((x > 127).any() for x in arrays)


def test_what_is_timed_is_new_each_time_and_of_the_size_that_is_told() -> None:
    (first,), (second,) = islice(exam().timed(independent(generator("a seed"))), 2)
    assert first.size == second.size == 131072
    assert not np.array_equal(first, second)
