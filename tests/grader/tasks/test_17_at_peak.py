"""Task (a) of lesson 17: recordings with known blocks, and their right answers."""

from importlib import import_module

import numpy as np
import pytest

from harness.memory.allocations import lacking_memray

blocks = import_module("grader.tasks.lesson_17_peaks_and_leaks.at_peak")
recorded = import_module("grader.tasks.lesson_17_peaks_and_leaks.at_peak")


def test_the_recording_in_the_exercise_has_the_answer_that_it_shows() -> None:
    events = (("alloc", 7, 300, "load"), ("alloc", 9, 100, "parse"), ("free", 7, 0, ""), ("alloc", 7, 400, "parse"))
    assert blocks.Blocks("as shown", events).right == [["parse", 500]]


def test_recordings_are_real_ones_with_frees_and_addresses_used_again() -> None:
    for program, events in recorded.load().items():
        addresses = [address for kind, address, _, _ in events if kind == "alloc"]
        assert len(set(addresses)) < len(addresses), program
        assert {kind for kind, *_ in events} == {"alloc", "free"}, program
        assert all(bool(name) == bool(n_bytes) == (kind == "alloc") for kind, _, n_bytes, name in events), program


def test_no_address_is_used_by_two_blocks_at_once() -> None:
    for case in blocks.draw_cases(np.random.default_rng(3)):
        in_use: set[int] = set()
        for kind, address, n_bytes, _ in case.events:
            assert kind == "free" or (address not in in_use and n_bytes > 0), case.title
            (in_use.add if kind == "alloc" else in_use.discard)(address)


@pytest.mark.skipif(bool(lacking_memray()), reason=lacking_memray())
def test_a_program_is_recorded_as_its_events() -> None:
    record = import_module("grader.tasks.lesson_17_peaks_and_leaks.record")

    def keep_and_drop() -> bytearray:
        kept = bytearray(3000)
        for _ in range(3):
            bytearray(2000)
        return kept

    events = record.recorded(keep_and_drop)
    large = [i for i, event in enumerate(events) if event[3] == "keep_and_drop" and event[2] > 1900]
    assert [events[i][2] // 1000 for i in large] == [3, 2, 2, 2]
    frees = [("free", events[i][1], 0, "") for i in large]
    freed = [free in events[i:j] for free, i, j in zip(frees, large, [*large[1:], None], strict=True)]
    assert freed == [False, True, True, True]
