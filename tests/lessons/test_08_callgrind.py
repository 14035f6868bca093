"""Tests of lesson 08: its explanations for made-up counts, and the two scripts of its second step."""

import pytest
from sessions import MadeUp
from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import FunctionCount, FunctionCounts

from harness.callgrind.script import count_scripts

LESSON = MadeUp("08_callgrind")


def counts(*rows: tuple[int, str]) -> FunctionCounts:
    return FunctionCounts(tuple(FunctionCount(*row) for row in rows), False)


@pytest.mark.long
@pytest.mark.valgrind
def test_the_two_loops_of_the_second_step_execute_as_many_instructions() -> None:
    """An earlier example filled memory. Callgrind counted its `rep stosb` once per byte, as 50 million instructions."""
    n = 20_000
    setup = LESSON.two_orders(n)
    alone, in_order, jumping = count_scripts([setup, f"{setup}visit(in_order)\n", f"{setup}visit(jumping)\n"])
    loop = in_order.instructions - alone.instructions
    assert loop > 10 * n
    assert abs(jumping.instructions - in_order.instructions) < 0.01 * n
    by_function = jumping.exclusive - alone.exclusive
    assert by_function.filter(lambda function: "memset" in function or "memcpy" in function).sum() < 0.01 * loop


def test_a_chain_that_loses_counts_is_noticed() -> None:
    plain, delta = counts((100, "a.cpp:f(int)"), (40, "???:fast_set_up(int)")), counts((5, "a.cpp:f(int)"))
    found = LESSON.Difference(plain, delta, counts(), counts((4, "f")))
    wanted = {"chain-keeps-sum": "refuted", "difference-adds-up": "held"}
    LESSON.check("what_a_broadcast_costs", found, wanted)
