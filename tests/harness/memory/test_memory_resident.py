import mmap
import os
import subprocess
import threading
import time
from functools import partial

import pytest

from harness.memory import memory_samples, page_faults, peak_of, resident, resident_bytes

MIB = 1 << 20
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


def test_the_result_is_referenced_until_the_last_measurement() -> None:
    held = peak_of(taken)
    assert 0.9 * MUCH < held.kept_bytes <= held.added_bytes
    assert held.peak_bytes >= held.after_bytes


@pytest.mark.parametrize("marked", [True, False])
def test_an_exception_of_the_call_passes_through(marked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident, "_resets_peak", lambda: marked)
    before = threading.active_count()
    for measure in (peak_of, partial(memory_samples, interval_s=60)):
        with pytest.raises(ZeroDivisionError):
            measure(lambda: 1 / 0)
    assert threading.active_count() == before


def test_resident_memory_grows_with_written_pages() -> None:
    before, faults = resident_bytes(), page_faults()
    kept = taken()
    assert resident_bytes() - before > 0.9 * MUCH
    if faults is not None:
        assert (page_faults() or 0) > faults
    assert len(kept) == MUCH


def test_samples_show_memory_that_lasts_longer_than_the_interval() -> None:
    def lasts() -> None:
        memory = taken()
        time.sleep(0.1)
        memory.close()

    looks = memory_samples(lasts, interval_s=0.005)
    assert len(looks) > 2
    assert max(looks) - looks[0] > 0.9 * MUCH
    assert looks[-1] - looks[0] < MUCH / 4


def test_with_a_long_interval_there_are_samples_only_before_and_after_and_no_process_is_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "fork", None, raising=False)
    monkeypatch.setattr(subprocess, "Popen", None)
    before, after = memory_samples(comes_and_goes, interval_s=60)
    assert abs(after - before) < MUCH / 4
