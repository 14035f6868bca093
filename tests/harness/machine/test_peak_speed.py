"""The peak speed of a core. A fake clock gives each try its time, so the results are exact."""

import time
from collections.abc import Iterator

import pytest

from harness.machine import peak_speed
from harness.machine.peak_speed import LARGE_SIDE, READ_BYTES, SMALL_PRODUCTS, SMALL_SIDE, TRIES


@pytest.fixture
def tries_s(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a list for the durations of tries. Each try takes the next one, and later tries take the last one."""
    durations_s: list[float] = []

    def clock() -> Iterator[float]:
        now_s = 0.0
        while True:
            yield now_s
            now_s += durations_s.pop(0) if len(durations_s) > 1 else durations_s[0]
            yield now_s

    ticks = clock()
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks))
    return durations_s


def test_the_shortest_try_gives_the_reading_speed(tries_s: list[float]) -> None:
    tries_s += [3.0, 2.0, 4.0, 5.0]
    assert peak_speed.read_bytes_per_s(3 << 20) == (3 << 20) / 2.0
    tries_s[:] = [2.0]
    assert peak_speed.read_bytes_per_s(1000) == peak_speed.read_bytes_per_s(0) == READ_BYTES / 2.0


def test_the_better_library_gives_the_speed_of_arithmetic(tries_s: list[float]) -> None:
    small, large = 2 * SMALL_SIDE**3 * SMALL_PRODUCTS, 2 * LARGE_SIDE**3
    for per_s, expected in [(3e9, 3e9), (1e9, 2e9)]:
        tries_s[:] = [small / per_s] * TRIES + [large / 2e9]
        assert peak_speed.operations_per_s() == pytest.approx(expected)


def test_a_real_core_reads_and_computes() -> None:
    assert peak_speed.read_bytes_per_s(1 << 16) > 0
    assert peak_speed.operations_per_s() > 0
