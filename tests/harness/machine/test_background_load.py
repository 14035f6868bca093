"""The number of cores that other processes use during a measurement."""

import subprocess
import sys
import time

import pytest

from harness.machine import background_load


def test_cpu_time_neither_idle_nor_of_this_process_is_background_load_and_never_negative() -> None:
    assert background_load.cores_of_others(4, wall_s=2.0, idle_s=5.0, own_s=2.0) == pytest.approx(0.5)
    assert background_load.cores_of_others(2, wall_s=1.0, idle_s=1.01, own_s=1.0) == 0


def test_a_busy_process_shows_up_as_background_load() -> None:
    burner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.2)
        with background_load.watch_background_load() as found:
            time.sleep(0.5)
    finally:
        burner.kill()
        burner.wait()
    assert found.is_high
