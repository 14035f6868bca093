"""What others use of the cores while we measure."""

import subprocess
import sys
import time

import pytest

from harness import others


def test_what_is_neither_idle_nor_ours_is_theirs() -> None:
    assert others.used_by_others(4, wall_s=2.0, idle_s=5.0, own_s=2.0) == pytest.approx(0.5)


def test_coarse_clocks_make_no_negative_neighbours() -> None:
    assert others.used_by_others(2, wall_s=1.0, idle_s=1.01, own_s=1.0) == 0


def test_half_a_core_is_a_crowd_and_a_tenth_is_none() -> None:
    assert others.Others(0.5).crowd
    assert not others.Others(0.1).crowd
    assert not others.Others().crowd


def test_a_busy_neighbour_is_seen_by_what_it_uses() -> None:
    burner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.2)
        with others.others_watched() as found:
            time.sleep(0.5)
    finally:
        burner.kill()
        burner.wait()
    assert found.crowd
