"""A script has the same instruction count in each run under Callgrind, also while other programs run."""

import pytest

from harness.callgrind import count_script, count_scripts
from harness.errors import UsageError

SHORT, LONG = "print(sum(range(10)))", "print(sum(range(10_000)))"


@pytest.mark.valgrind
def test_scripts_counted_at_the_same_time_have_the_same_counts_as_alone() -> None:
    short, long = count_scripts([SHORT, LONG])
    assert short.instructions == count_script(SHORT).instructions
    assert long.instructions > short.instructions
    assert [each.printed for each in (short, long)] == ["45\n", "49995000\n"]


@pytest.mark.valgrind
def test_the_error_for_a_failing_script_has_its_last_line() -> None:
    with pytest.raises(UsageError, match="ZeroDivisionError"):
        count_scripts(["1 / 0"])
