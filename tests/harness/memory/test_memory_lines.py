"""The table of memory_profiler and the curve of mprof: read from text, and from one real run."""

import pytest

from harness.errors import UsageError
from harness.memory import Line, line_table, timeline
from harness.memory.lines import MIB, parse_samples, parse_table

PRINTED = """Filename: script.py

Line #    Mem usage    Increment  Occurrences   Line Contents
=============================================================
     4     39.5 MiB     39.5 MiB           1   @profile
     5                                         def work():
     6     77.7 MiB     38.2 MiB           1       a = np.ones(5_000_000)
     7                                     
     8     39.6 MiB    -38.1 MiB           3       del a


"""  # noqa: W291 - as it is printed
SCRIPT = """
@profile
def work():
    held = bytearray(b"x") * (40 << 20)
    del held

work()
"""


def test_rows_are_read_with_their_figures_and_lines_never_run_without() -> None:
    first, head, made, empty, gone = parse_table(PRINTED)
    assert first == Line(4, "@profile", 39.5 * MIB, 39.5 * MIB, 1)
    assert head == Line(5, "def work():")
    assert made.text == "    a = np.ones(5_000_000)"
    assert empty == Line(7, "")
    assert (gone.more_bytes, gone.times) == (-38.1 * MIB, 3)


def test_samples_are_in_order_of_time_and_functions_have_begin_and_end() -> None:
    data = "CMDLINE x\nMEM 2.0 100.5\nFUNC m.work 1.0 100.2 3.0 101.0\nMEM 1.0 100.0\n"
    looks, functions = parse_samples(data)
    assert looks == ((0.0, MIB), (0.5, 2.0 * MIB))
    began_s, ended_s = functions["work"]
    assert (round(began_s, 6), round(ended_s, 6)) == (0.2, 1.0)


def test_a_script_that_fails_or_profiles_nothing_is_an_error_with_the_cause() -> None:
    for script, cause in {"1 / 0": "ZeroDivisionError", "pass": "@profile"}.items():
        with pytest.raises(UsageError, match=cause):
            line_table(script)


@pytest.mark.slow
def test_a_real_script_is_measured_line_by_line_and_over_time() -> None:
    more = {line.text.strip(): line.more_bytes for line in line_table(SCRIPT)}
    assert more['held = bytearray(b"x") * (40 << 20)'] == pytest.approx(40 * MIB, rel=0.1)
    assert more["del held"] == pytest.approx(-40 * MIB, rel=0.1)
    curve = timeline(SCRIPT.replace("    del", "    import time; time.sleep(0.2)\n    del"), title="a < b")
    assert curve.peak_bytes - curve.samples[0][1] > 36 * MIB
    assert "work" in curve.functions
    assert "<title>a &lt; b</title>\n<desc>" in curve.svg
