"""Resident memory of this process, and of scripts under memory_profiler and mprof."""

import mmap
import threading
import time

import pytest

from harness.errors import UsageError
from harness.memory import resident
from harness.memory.lines import MIB, Line, line_table, parse_table, timeline
from harness.memory.resident import memory_samples, peak_of

MUCH = 64 * MIB


def taken() -> mmap.mmap:
    """Return new memory that was written to, because malloc may return pages that are resident already."""
    memory = mmap.mmap(-1, MUCH, flags=mmap.MAP_PRIVATE)
    for _ in range(MUCH // MIB):
        memory.write(b"x" * MIB)
    return memory


def comes_and_goes() -> None:
    taken().close()


@pytest.mark.parametrize("marked", [True, False])
def test_a_peak_that_is_freed_again_is_measured(marked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not marked:
        monkeypatch.setattr(resident, "_resets_peak", lambda: False)
    elif not resident._resets_peak():
        pytest.skip("this system keeps no mark that can be lowered")
    comes_and_goes()  # an earlier peak does not count
    assert peak_of(lambda: None).added_bytes < MUCH / 4
    held = peak_of(comes_and_goes)
    assert held.exact == marked
    assert held.kept_bytes < MUCH / 4
    if marked:  # samples from time to time may miss it
        assert 0.9 * MUCH < held.added_bytes < 1.5 * MUCH
    held = peak_of(taken)
    assert 0.9 * MUCH < held.kept_bytes <= held.added_bytes, "the result exists until the last measurement"


def test_samples_show_memory_that_lasts_longer_than_the_interval_and_an_exception_passes_through() -> None:
    def lasts() -> None:
        memory = taken()
        time.sleep(0.1)
        memory.close()

    looks = memory_samples(lasts, interval_s=0.005)
    assert len(looks) > 2
    assert max(looks) - looks[0] > 0.9 * MUCH
    assert looks[-1] - looks[0] < MUCH / 4
    before, after = memory_samples(comes_and_goes, interval_s=60)
    assert abs(after - before) < MUCH / 4
    running = threading.active_count()
    with pytest.raises(ZeroDivisionError):
        memory_samples(lambda: 1 / 0, interval_s=60)
    assert threading.active_count() == running


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
