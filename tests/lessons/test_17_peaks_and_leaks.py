"""Tests of the explanations of lesson 17, for made-up results."""

import pytest
from sessions import MadeUp

from harness.memory.cuda_record import CudaMemory

LESSON = MadeUp("17_peaks_and_leaks")


def test_without_memray_its_steps_are_skipped_and_the_leak_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = "memray is missing: python -m pip install 'fairclock[profilers]'"
    monkeypatch.setattr(LESSON.module, "lacking_memray", lambda: missing)
    for name in ("each_allocation", "two_levels", "native_frames", "temporary_allocations", "live_view"):
        LESSON.check(name, getattr(LESSON, name)(fast=True), "skipped", "pip install")
    _, standings = LESSON.explained("leak_through_cycles", LESSON.leak_through_cycles(fast=True))
    assert standings.pop("leak-is-named") == "skipped"
    assert set(standings.values()) == {"held"}


def test_long_peaks_do_not_show_whether_samples_miss_them() -> None:
    for samples, length_s, standing in (
        ([100.0, 100.0, 138.0], 0.005, "held"),
        ([100.0] + [138.0] * 16, 0.005, "refuted"),
        ([100.0] + [138.0] * 5, 0.08, "inconclusive"),
    ):
        wanted = {"samples-miss": standing, "tracemalloc-misses": "held"}
        LESSON.check("between_two_samples", LESSON.Sampled(samples, [length_s] * 20, 7_000_000), wanted)


def test_a_record_of_a_gpu_is_shown_and_a_missing_record_names_the_command() -> None:
    LESSON.check("a_snapshot", None, "skipped", "python -m lessons.17_peaks_and_leaks --record")
    changes = (("segment_alloc", 100), *(("alloc", 10), ("free_completed", 10)) * 20)
    words = ("recorded on a GPU", "use a block that an earlier tensor has freed")
    LESSON.check("a_snapshot", CudaMemory("a GPU", changes), "held", *words)
