import mmap
import os
import subprocess
import threading
import time

import pytest

from harness.memory import looks_during, page_faults, peak_of, resident, resident_bytes

MIB = 1 << 20
MUCH = 64 * MIB


def taken() -> mmap.mmap:
    """New memory, written to: what malloc gives may have been there before."""
    memory = mmap.mmap(-1, MUCH, flags=mmap.MAP_PRIVATE)
    for _ in range(MUCH // MIB):
        memory.write(b"x" * MIB)
    return memory


def comes_and_goes() -> None:
    taken().close()


@pytest.mark.parametrize("marked", [True, False])
def test_a_peak_that_is_gone_afterwards_is_in_the_mark(marked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not marked:
        monkeypatch.setattr(resident, "_lowers_its_mark", lambda: False)
    elif not resident._lowers_its_mark():
        pytest.skip("this system keeps no mark that can be lowered")
    held = peak_of(comes_and_goes)
    assert held.exact == marked
    assert held.kept_bytes < MUCH / 4
    if marked:  # who looks from time to time may have missed it
        assert 0.9 * MUCH < held.added_bytes < 1.5 * MUCH


def test_a_result_is_held_until_it_was_looked_at() -> None:
    held = peak_of(taken)
    assert 0.9 * MUCH < held.kept_bytes <= held.added_bytes
    assert held.peak_bytes >= held.after_bytes


def test_an_earlier_peak_is_none_of_a_later_calls() -> None:
    comes_and_goes()
    assert peak_of(lambda: None).added_bytes < MUCH / 4


@pytest.mark.parametrize("marked", [True, False])
def test_what_the_call_raises_comes_out(marked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident, "_lowers_its_mark", lambda: marked)
    with pytest.raises(ZeroDivisionError):
        peak_of(lambda: 1 / 0)


def test_resident_memory_grows_with_what_is_written() -> None:
    before, faults = resident_bytes(), page_faults()
    kept = taken()
    assert resident_bytes() - before > 0.9 * MUCH
    if faults is not None:
        assert (page_faults() or 0) > faults
    assert len(kept) == MUCH


def test_looks_during_a_call_see_what_lasts_longer_than_the_time_between_two() -> None:
    def lasts() -> None:
        memory = taken()
        time.sleep(0.1)
        memory.close()

    looks = looks_during(lasts, interval_s=0.005)
    assert len(looks) > 2
    assert max(looks) - looks[0] > 0.9 * MUCH
    assert looks[-1] - looks[0] < MUCH / 4


def test_looks_too_far_apart_are_those_before_and_after() -> None:
    looks = looks_during(comes_and_goes, interval_s=60)
    assert len(looks) == 2
    assert max(looks) - min(looks) < MUCH / 4


def test_what_a_watched_call_raises_is_raised_and_nobody_goes_on_looking() -> None:
    def fails() -> None:
        raise ValueError("its own")

    before = threading.active_count()
    with pytest.raises(ValueError, match="its own"):
        looks_during(fails, interval_s=60)
    assert threading.active_count() == before


def test_no_process_is_started_to_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fork", None, raising=False)
    monkeypatch.setattr(subprocess, "Popen", None)
    assert looks_during(lambda: None, interval_s=60)
