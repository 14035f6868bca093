"""Tests of the explanations of lesson 17, for made-up results."""

import pytest
from sessions import MadeUp

from harness.memory import Allocated, MemoryUse, Recording
from harness.memory.cuda_record import CudaMemory
from harness.memory.tensors import TensorMemory

LESSON = MadeUp("17_peaks_and_leaks")
LARGE = 40_000_000
TENSOR = 8_000_000


def recording(peak: float, all_: float = 0.0, allocations: int = 1, **lists: tuple[Allocated, ...]) -> Recording:
    found = {"at_peak": (), "temporary": (), "kept": ()} | lists
    return Recording(round(peak), round(all_), allocations, **found)


def block(n_bytes: float, *stack: str) -> Allocated:
    return Allocated(round(n_bytes), 1, "malloc", stack)


def tensors(*changes: float) -> TensorMemory:
    return TensorMemory(tuple(round(change * TENSOR) for change in changes))


def test_without_memray_its_steps_are_skipped_and_the_leak_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = "memray is missing: python -m pip install 'fairclock[profilers]'"
    monkeypatch.setattr(LESSON.module, "lacking_memray", lambda: missing)
    for name in ("each_allocation", "two_levels", "native_frames", "temporary_allocations", "live_view"):
        LESSON.check(name, getattr(LESSON, name)(fast=True), "skipped", "pip install")
    _, standings = LESSON.explained("leak_through_cycles", LESSON.leak_through_cycles(fast=True))
    assert standings.pop("leak-is-named") == "skipped"
    assert set(standings.values()) == {"held"}


@pytest.mark.parametrize(
    ("samples", "length_s", "standing", "words"),
    [
        ([100.0, 100.0, 138.0], 0.005, "held", "Fewer than 5. The samples showed 1 of 20 tensors."),
        ([100.0] + [138.0] * 16, 0.005, "refuted", "happened to contain a sample"),
        ([100.0, 138.0], 0.08, "inconclusive", "the peaks were so long"),
        ([100.0] + [138.0] * 5, 0.08, "inconclusive", "no clear answer. The samples showed 5 of 20 tensors."),
    ],
)
def test_samples_are_explained_as_they_were_measured(
    samples: list[float], length_s: float, standing: str, words: str
) -> None:
    wanted = {"samples-miss": standing, "tracemalloc-misses": "held"}
    LESSON.check("between_two_samples", LESSON.Sampled(samples, [length_s] * 20, 7_000_000), wanted, words)


def test_the_peak_belongs_to_the_line_that_memray_names() -> None:
    program = recording(1.2 * LARGE, 20.4 * LARGE, at_peak=(block(LARGE, "program:7"), block(7e6, "make_texts:2")))
    found = LESSON.Recorded(program, recording(LARGE), MemoryUse(0, 1000, 0, exact=True), 20)
    LESSON.check("each_allocation", found, "held", "More than a half. The peak is 45.8 MiB")
    program = recording(LARGE, LARGE, at_peak=(block(LARGE, "other:7"),))
    found = LESSON.Recorded(program, recording(LARGE), MemoryUse(0, LARGE, 0, exact=True), 20)
    wanted = dict.fromkeys(("memray-sees-the-peak", "memray-sees-all", "empty-is-not-resident"), "refuted")
    words = "gives the bytes of the tensor to another function"
    LESSON.check("each_allocation", found, {**wanted, "memray-counts-requests": "held"}, words)


def test_page_faults_are_explained_as_they_were_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    LESSON.check("used_again", LESSON.Faults([977] * 20, [0] * 5), "refuted", "the process has another allocator")
    monkeypatch.setattr(LESSON.module, "page_faults", lambda: None)
    LESSON.check("used_again", LESSON.Faults([0] * 20, [0] * 5), "skipped")


def test_a_step_of_training_counts_in_outputs() -> None:
    found = LESSON.StepMemory(TENSOR, tensors(*[1] * 32), tensors(1, 1, -1, -1))
    wanted = {"one-per-layer": "refuted", "inference-is-small": "held"}
    LESSON.check("peak_of_a_step", found, wanted, "More than 26", "autograd saves another number of tensors")
    nothing = LESSON.StepMemory(TENSOR, tensors(), tensors())
    LESSON.check("peak_of_a_step", nothing, "inconclusive", "torch recorded no memory")


def test_a_record_of_a_gpu_is_shown_and_a_missing_record_names_the_command() -> None:
    LESSON.check("a_snapshot", None, "skipped", "python -m lessons.17_peaks_and_leaks --record")
    changes = (("segment_alloc", 100), *(("alloc", 10), ("free_completed", 10)) * 20)
    words = ("recorded on a GPU", "use a block that an earlier tensor has freed")
    LESSON.check("a_snapshot", CudaMemory("a GPU", changes), "held", *words)
