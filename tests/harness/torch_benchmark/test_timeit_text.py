import subprocess
import sys

import pytest

from harness.errors import UsageError
from harness.torch_benchmark import timeit_text


def test_times_are_read_in_every_unit() -> None:
    printed = "raw times: 1.5 sec, 20 msec, 300 usec, 4e+03 nsec\n\n200 loops, best of 4: 20 nsec per loop\n"
    loops, figure_s, raw_s = timeit_text.read(printed)
    assert loops == 200
    assert figure_s == pytest.approx(20e-9)
    assert raw_s == pytest.approx([1.5, 0.02, 300e-6, 4e-6])


def test_colour_codes_of_newer_pythons_and_a_warning_of_timeit_are_ignored() -> None:
    printed = (
        "raw times: \x1b[36m2 msec\x1b[0m, 9 msec\n\n"
        "\x1b[1;32m10 loops\x1b[0m, best of 2: \x1b[1;36m200 usec\x1b[0m per loop\n"
        ":0: UserWarning: The test results are likely unreliable. The worst time (900 usec) was more than four "
        "times slower than the best time (200 usec).\n"
    )
    loops, figure_s, raw_s = timeit_text.read(printed)
    assert loops == 10
    assert figure_s == pytest.approx(200e-6)
    assert raw_s == pytest.approx([2e-3, 9e-3])


def test_the_output_of_this_python_is_read() -> None:
    command = [sys.executable, "-m", "timeit", "-v", "-n", "1", "-r", "3", "pass"]
    printed = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
    loops, figure_s, raw_s = timeit_text.read(printed)
    assert (loops, len(raw_s)) == (1, 3)
    assert figure_s == pytest.approx(min(raw_s), rel=0.01)
    with pytest.raises(UsageError, match="not the output of python -m timeit -v"):
        timeit_text.read("5 loops, best of 5: 3 nsec per loop\n")
