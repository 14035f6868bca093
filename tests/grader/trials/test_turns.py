"""The cost of a turn: the median time of a call, minus the request overhead."""

from grader.trials.turns import LEAST_NET, net
from harness.paired.rounds import Reading


def test_the_price_of_asking_is_its_median_and_taken_off() -> None:
    asked = [Reading(cpu_s, cpu_s + 0.5) for cpu_s in (0.5, 1.0, 9.0)]
    assert net(Reading(5.0, 6.0), asked) == Reading(4.0, 4.5)


def test_a_cost_below_the_price_of_asking_is_not_resolved() -> None:
    assert net(Reading(1.0, 1.0), [Reading(1.0, 1.0)]) == Reading(LEAST_NET, LEAST_NET)


def test_wall_time_is_never_less_than_cpu_time() -> None:
    assert net(Reading(5.0, 5.0), [Reading(1.0, 4.0)]) == Reading(4.0, 4.0)
