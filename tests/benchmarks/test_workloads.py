import timeit

import pytest
from reach import _PROCESSES
from verdicts import TRUTHS
from workloads import ALL_WORKS, Work


@pytest.mark.parametrize("work", ALL_WORKS, ids=lambda work: work.name)
def test_the_candidate_does_the_same_work_for_a_larger_count(work: Work) -> None:
    for truth in {*TRUTHS, *_PROCESSES}:
        sides = work.sides(truth)
        candidate_count = round(work.count * truth)
        assert sides.candidate == sides.baseline.replace(str(work.count), str(candidate_count))


@pytest.mark.parametrize("work", ALL_WORKS, ids=lambda work: work.name)
def test_both_sides_run_after_the_setup(work: Work) -> None:
    sides = work.sides(1.25)
    for statement in (sides.baseline, sides.candidate):
        assert timeit.timeit(statement, sides.setup, number=1) > 0


def test_a_ratio_that_is_no_whole_count_is_refused() -> None:
    with pytest.raises(ValueError, match="not a whole number"):
        ALL_WORKS[1].sides(1.005)
