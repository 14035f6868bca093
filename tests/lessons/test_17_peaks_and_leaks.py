"""Tests of the explanations of lesson 17, for made-up results."""

import importlib
from typing import Any

import pytest
from sessions import Play, explained

from harness.memory import Allocated, LiveStage, MemoryUse, Recording
from harness.memory.cuda_record import CudaMemory
from harness.memory.tensors import TensorMemory
from lessons.engine.lesson import Lesson

LARGE = 40_000_000
TENSOR = 8_000_000
MISSING = "memray is missing: python -m pip install 'fairclock[profilers]'"
OF_MEMRAY = ("each_allocation", "two_levels", "native_frames", "temporary_allocations", "live_view")

MODULE = importlib.import_module("lessons.17_peaks_and_leaks")


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    assert isinstance(MODULE.lesson, Lesson)
    return MODULE.lesson


def recording(peak: float, all_: float = 0.0, allocations: int = 1, **lists: tuple[Allocated, ...]) -> Recording:
    found = {"at_peak": (), "temporary": (), "kept": ()} | lists
    return Recording(round(peak), round(all_), allocations, **found)


def block(n_bytes: float, *stack: str) -> Allocated:
    return Allocated(round(n_bytes), 1, "malloc", stack)


def tensors(*changes: float) -> TensorMemory:
    return TensorMemory(tuple(round(change * TENSOR) for change in changes))


@pytest.mark.parametrize("name", OF_MEMRAY)
def test_without_memray_a_step_is_skipped_and_names_the_command(
    name: str, prepare: Play, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MODULE, "lacking_memray", lambda: MISSING)
    step = next(step for step in lesson.steps if step.name == name)
    printed, standings = explained(prepare, lesson, name, step(fast=True))
    assert set(standings.values()) == {"skipped"}
    assert "memray is missing: python -m pip" in printed or "[profilers]" in printed  # a narrow screen wraps it


def test_without_memray_the_leak_is_measured_and_only_its_line_is_skipped(
    prepare: Play, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MODULE, "lacking_memray", lambda: MISSING)
    found = MODULE.leak_through_cycles(fast=True)
    _, standings = explained(prepare, lesson, "leak_through_cycles", found)
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
    prepare: Play, lesson: Lesson, samples: list[float], length_s: float, standing: str, words: str
) -> None:
    found = MODULE.Sampled(samples, [length_s] * 20, 7_000_000)
    printed, standings = explained(prepare, lesson, "between_two_samples", found)
    assert standings == {"samples-miss": standing, "tracemalloc-misses": "held"}
    assert words in printed


def test_the_peak_belongs_to_the_line_that_memray_names(prepare: Play, lesson: Lesson) -> None:
    program = recording(1.2 * LARGE, 20.4 * LARGE, at_peak=(block(LARGE, "program:7"), block(7e6, "make_texts:2")))
    resident = MemoryUse(0, 1000, 0, exact=True)
    found = MODULE.Recorded(program, recording(LARGE), resident, 20)
    printed, standings = explained(prepare, lesson, "each_allocation", found)
    assert set(standings.values()) == {"held"}
    assert "More than a half. The peak is 45.8 MiB" in printed


def test_a_peak_of_another_function_refutes_the_claim(prepare: Play, lesson: Lesson) -> None:
    program = recording(LARGE, LARGE, at_peak=(block(LARGE, "other:7"),))
    found = MODULE.Recorded(program, recording(LARGE), MemoryUse(0, LARGE, 0, exact=True), 20)
    printed, standings = explained(prepare, lesson, "each_allocation", found)
    assert "gives the bytes of the tensor to another function" in printed
    assert standings["memray-counts-requests"] == "held"
    assert [id_ for id_, how in standings.items() if how == "refuted"] == [
        "memray-sees-the-peak",
        "memray-sees-all",
        "empty-is-not-resident",
    ]


def test_a_python_without_an_allocator_of_its_own_changes_the_words(prepare: Play, lesson: Lesson) -> None:
    found = MODULE.TwoLevels(100_000, recording(1, 1, 100_000), recording(1, 1, 100_000))
    printed, standings = explained(prepare, lesson, "two_levels", found)
    assert "does not use pymalloc" in printed
    assert standings == {"few-pieces": "refuted", "each-block": "held"}


@pytest.mark.parametrize(
    ("stack", "standing", "words"),
    [
        (("c10::alloc_cpu(unsigned long)", "at::empty(long)", "at::ones<int>(long)"), "held", "A function of torch"),
        (("<lambda>:3", "record_allocations:60"), "refuted", "found no names of C++ functions"),
    ],
)
def test_native_frames_are_shown_by_their_short_names(
    prepare: Play, lesson: Lesson, stack: tuple[str, ...], standing: str, words: str
) -> None:
    printed, standings = explained(prepare, lesson, "native_frames", block(LARGE, *stack))
    assert standings == {"cpp-below": standing}
    assert words in printed
    assert "unsigned long" not in printed


def test_a_short_run_looks_up_no_native_frames(prepare: Play, lesson: Lesson, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "lacking_memray", lambda: "")
    printed, standings = explained(prepare, lesson, "native_frames", None)
    assert standings == {"cpp-below": "skipped"}
    assert "a short run does" in printed


def test_the_explanation_of_copies_follows_the_sums(prepare: Play, lesson: Lesson) -> None:
    whole = 4_000_000
    found = {
        "joined": recording(2 * whole, 50.5 * whole, temporary=(block(49.5 * whole, "joined:4"),)),
        "filled": recording(whole, whole),
    }
    printed, standings = explained(prepare, lesson, "temporary_allocations", found)
    assert set(standings.values()) == {"held"}
    assert "20× to 80×" in printed
    found["joined"] = recording(whole, whole)
    printed, standings = explained(prepare, lesson, "temporary_allocations", found)
    assert "does not copy the earlier blocks each time" in printed
    assert standings["joined-copies"] == standings["most-is-temporary"] == "refuted"


@pytest.mark.parametrize(
    ("load", "prepared", "answer"), [(0.0, 3e7, "Only prepare"), (2e7, 3e7, "load and prepare"), (0.0, 0.0, "None,")]
)
def test_the_live_view_lists_what_is_in_use(
    prepare: Play, lesson: Lesson, load: float, prepared: float, answer: str
) -> None:
    stages = (
        LiveStage("loaded", {"load": 20_000_000, "prepare": 0}),
        LiveStage("prepared", {"load": round(load), "prepare": round(prepared)}),
    )
    printed, standings = explained(prepare, lesson, "live_view", stages)
    assert f"Measured {answer}" in printed
    assert standings == {"live-sees": "held", "live-forgets": "refuted" if load else "held"}


def test_objects_that_are_freed_refute_that_cycles_leak(prepare: Play, lesson: Lesson) -> None:
    found = MODULE.Leaks(tensors(1, -1), tensors(0), tensors(1, -1), recording(TENSOR))
    printed, standings = explained(prepare, lesson, "leak_through_cycles", found)
    assert "the objects were freed, although they refer to themselves" in printed
    assert standings == {
        "cycles-leak": "refuted",
        "cycles-are-collected": "refuted",
        "plain-is-freed": "held",
        "leak-is-named": "inconclusive",
    }


def test_a_cache_that_finds_results_refutes_that_it_keeps_both(prepare: Play, lesson: Lesson) -> None:
    printed, standings = explained(prepare, lesson, "leak_through_a_cache", MODULE.Cached(tensors(2), 5, tensors(2)))
    assert "Measured 2." in printed
    assert "keeps fewer tensors, or more tensors" in printed
    assert standings == {"no-hits": "refuted", "keeps-both": "refuted", "bounded": "held"}


def test_page_faults_are_explained_as_they_were_measured(
    prepare: Play, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed, standings = explained(prepare, lesson, "used_again", MODULE.Faults([977] * 20, [0] * 5))
    assert set(standings.values()) == {"refuted"}
    assert "the process has another allocator" in printed
    monkeypatch.setattr(MODULE, "page_faults", lambda: None)
    _, standings = explained(prepare, lesson, "used_again", MODULE.Faults([0] * 20, [0] * 5))
    assert set(standings.values()) == {"skipped"}


def test_a_step_of_training_counts_in_outputs(prepare: Play, lesson: Lesson) -> None:
    found = MODULE.StepMemory(TENSOR, tensors(*[1] * 32), tensors(1, 1, -1, -1))
    printed, standings = explained(prepare, lesson, "peak_of_a_step", found)
    assert "More than 26" in printed
    assert "autograd saves another number of tensors" in printed
    assert standings == {"one-per-layer": "refuted", "inference-is-small": "held"}


def test_a_torch_that_records_no_memory_decides_nothing(prepare: Play, lesson: Lesson) -> None:
    found = MODULE.StepMemory(TENSOR, tensors(), tensors())
    printed, standings = explained(prepare, lesson, "peak_of_a_step", found)
    assert "torch recorded no memory" in printed
    assert set(standings.values()) == {"inconclusive"}


def checkpointed(*peaks: float) -> list[Any]:
    rows = zip((0, 2, 4, 16), peaks, (16, 24, 28, 31), strict=True)
    return [MODULE.Checkpointed(segments, tensors(peak), calls) for segments, peak, calls in rows]


@pytest.mark.parametrize(
    ("peaks", "answer", "standing", "words"),
    [
        ((20, 13, 11, 20), "4 segments", "held", "about √n segments are best"),
        ((20, 20, 20, 10), "16 segments", "refuted", "many segments need no more memory"),
    ],
)
def test_the_number_of_segments_follows_the_peaks(
    prepare: Play, lesson: Lesson, peaks: tuple[float, ...], answer: str, standing: str, words: str
) -> None:
    printed, standings = explained(prepare, lesson, "checkpointing", checkpointed(*peaks))
    assert f"Measured {answer}." in printed
    assert words in printed
    assert standings == {"four-save": standing, "more-is-not-less": standing, "runs-again": "held"}


def test_a_missing_record_of_a_gpu_names_the_command(prepare: Play, lesson: Lesson) -> None:
    printed, standings = explained(prepare, lesson, "a_snapshot", None)
    assert set(standings.values()) == {"skipped"}
    assert "python -m lessons.17_peaks_and_leaks --record" in printed


def test_a_record_of_a_gpu_is_shown(prepare: Play, lesson: Lesson) -> None:
    changes = (("segment_alloc", 100), *(("alloc", 10), ("free_completed", 10)) * 20)
    printed, standings = explained(prepare, lesson, "a_snapshot", CudaMemory("a GPU", changes))
    assert set(standings.values()) == {"held"}
    assert "recorded on a GPU" in printed
    assert "use a block that an earlier tensor has freed" in printed
