"""A bare script under Callgrind: the same count each time, whatever runs beside it."""

import pytest

from harness.callgrind import count_script, count_scripts
from harness.errors import UsageError

SHORT, LONG = "print(sum(range(10)))", "print(sum(range(10_000)))"


@pytest.mark.valgrind
def test_scripts_counted_side_by_side_have_the_counts_that_each_has_alone() -> None:
    short, long, again = count_scripts([SHORT, LONG, SHORT])
    assert short.instructions == again.instructions == count_script(SHORT).instructions
    assert long.instructions > short.instructions
    assert [each.printed for each in (short, long, again)] == ["45\n", "49995000\n", "45\n"]


@pytest.mark.valgrind
def test_a_script_that_fails_is_told_with_its_last_words() -> None:
    with pytest.raises(UsageError, match="ZeroDivisionError"):
        count_scripts([SHORT, "1 / 0"])
