import os
import subprocess
import sys
import time

from harness.machine import background_load


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
    assert found.cores <= (os.cpu_count() or 1)
