"""The blocks of calls that a pair of processes times, and what a run knows about its machine."""

import platform

import pytest

from harness.gate.measuring import _machine
from harness.gate.pairing import _calls_in_a_block
from harness.gate.settings import GateCost
from harness.gate.worker_process import OneCall


@pytest.mark.parametrize(
    ("cpu_s", "wall_s", "whole_s", "by_cpu", "by_wall"),
    [
        (1e-6, 1e-6, 1e-6, 400, 400),
        (1e-6, 1e-6, 5e-3, 1, 1),  # a setup before each call takes 5 ms
        (1e-6, 1e-4, 1e-4, 40, 4),  # the call sleeps
        (1e-3, 1e-3, 1e-3, 1, 1),
    ],
)
def test_a_block_is_short_with_the_waits_and_the_setups_of_its_calls(
    cpu_s: float, wall_s: float, whole_s: float, by_cpu: int, by_wall: int
) -> None:
    one = OneCall(cpu_s, wall_s, whole_s, on_gpu=False, can_fork=True)
    assert [_calls_in_a_block(one, each) for each in (GateCost.CPU, GateCost.WALL)] == [by_cpu, by_wall]


def test_a_run_names_its_machine() -> None:
    assert _machine().endswith(f", {platform.python_implementation()} {platform.python_version()}")
    assert " core" in _machine()
