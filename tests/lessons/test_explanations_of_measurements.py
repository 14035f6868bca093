"""The explanations of lessons 01 to 11, 16 and 17, for made-up results and for machines that lack a part."""

from itertools import product
from math import isnan

import psutil  # type: ignore[import-untyped]
import pytest
import torch
from sessions import MadeUp
from torch.utils.benchmark import Measurement
from torch.utils.benchmark.utils.common import TaskSpec

from harness.machine.clocks import BackgroundLoad
from harness.machine.environment import Environment
from harness.memory.resident import MemoryUse, Timeline
from harness.sampling.pyspy import StackSamples
from harness.torch_benchmark.grid import Grid
from lessons.probes.neighbours import neighbours

CORRECT_FIRST = MadeUp("01_correct_first")


def test_the_bound_accepts_any_order_of_the_sum_and_nothing_beyond_rounding() -> None:
    for dtype in (torch.bfloat16, torch.float32, torch.float64):
        a, b = torch.randn(2, 50, 63).to(dtype)
        for order in (torch.arange(63), torch.randperm(63), torch.arange(63).flip(0)):
            got = CORRECT_FIRST.mul_sum(a[:, order], b[:, order])
            assert CORRECT_FIRST.three_checks(got, a, b)[2]
        magnitude = (a.double() * b.double()).abs().sum(-1)
        beyond = (a.double() * b.double()).sum(-1) + 70 * torch.finfo(dtype).eps * magnitude
        assert not CORRECT_FIRST.three_checks(beyond, a, b)[2]


def test_neighbours_are_ended_when_the_measurement_fails() -> None:
    with pytest.raises(ZeroDivisionError), neighbours(per_core=2):
        raise ZeroDivisionError
    left = [str(each.cmdline()) for each in psutil.Process().children(recursive=True)]
    assert [each for each in left if "time() % 0.1" in each] == []


COMPARE = MadeUp("05_compare")


def test_times_with_several_threads_are_withheld_if_other_programs_use_the_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    names, sizes, threads = ("mul_sum", "bmm"), (64, 1_048_576), (1, 2)
    cells = {
        (name, size, number): Measurement(
            1, [1e-5] * 8, TaskSpec("pass", "pass", sub_label=str(size), description=name, num_threads=number)
        )
        for name, size, number in product(names, sizes, threads)
    }
    measured = Grid("", names, sizes, threads, cells, Environment.capture())
    for cores, shown in ((0.0, True), (2.0, False)):
        text, claims = COMPARE.explained("sizes_and_threads", (measured, [1.0], BackgroundLoad(cores)))
        assert ("2 threads: ---" in text, "mul_sum, 2 threads" in text) == (shown, shown)
        assert (claims["threads-move-margin"] != "inconclusive") == shown


AB_TESTING = MadeUp("06_ab_testing")


def test_an_aa_test_of_a_record_with_drift_errs_back_to_back_and_not_in_abba_order() -> None:
    record = [1 + 0.001 * turn for turn in range(400)]
    errors = {name: AB_TESTING.aa_errors(record, order) for name, order in AB_TESTING.ORDERS.items()}
    assert all(len(each) == 10 for each in errors.values())
    assert min(errors["back to back"]) > 0.01
    assert max(map(abs, errors["ABBA"])) < 0.001


FUZZING = MadeUp("07_fuzzing")


def test_a_size_counts_as_slow_only_if_each_repetition_is_slow() -> None:
    ratios = {512: [9.0, 9.5], 256: [1.1, 1.2], 128: [3.1, 4.0], 64: [2.9, 3.2], 32: [1.0, 2.0]}
    slow = FUZZING.smallest_slow(ratios)
    assert (slow.low, slow.middle, slow.high) == (64, 128, 128)
    assert isnan(FUZZING.smallest_slow({64: [2.9, 3.2]}).middle)


MEMORY = MadeUp("10_memory")


def test_a_system_without_a_stored_peak_skips_the_claim_about_it() -> None:
    for exact, standing in ((True, "held"), (False, "skipped")):
        found = Timeline(((0.0, 4e7),)), [100, 100], MemoryUse(0, 50_000_000, 0, exact), 100.0
        MEMORY.check("over_time", found, {"mark-sees-all": standing})


TORCH_PROFILER = MadeUp("11_torch_profiler")


def test_a_backward_pass_belongs_to_the_forward_pass_only_if_the_lost_time_cannot_change_that() -> None:
    place = TORCH_PROFILER.place_of_backward
    assert place(1.0, above_s=0.1, lost_s=0.1) == "b"
    assert place(1.0, above_s=0.1, lost_s=0.5) is None
    assert place(1.0, above_s=0.6, lost_s=0.0) is None


SAMPLING = MadeUp("16_sampling")


def test_no_samples_decide_nothing() -> None:
    nothing = StackSamples(())
    for step, result in (
        ("a_recording", (nothing, [[1.0, 1.0]], 0.9)),
        ("inside_and_outside", (nothing, [[1.0, 1.0, 0, 0, 0, 0]] * 2, 0.9)),
        ("how_many", (0.2, {10: [], 40: []}, 0.9)),
        ("two_runs", [(nothing, 1.0, 0.9)] * 2),
    ):
        SAMPLING.check(step, result, "inconclusive")


PEAKS = MadeUp("17_peaks_and_leaks")


def test_without_memray_its_steps_are_skipped_and_the_leak_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = "memray is missing: python -m pip install 'fairclock[profilers]'"
    monkeypatch.setattr(PEAKS.module, "lacking_memray", lambda: missing)
    for name in ("each_allocation", "temporary_allocations"):
        PEAKS.check(name, getattr(PEAKS, name)(), "skipped", "pip install")
    found = PEAKS.leak_through_cycles()
    PEAKS.check("leak_through_cycles", found, {"cycles-leak": "held", "leak-is-named": "skipped"})


def test_a_record_of_a_gpu_is_shown_and_a_missing_record_names_the_command() -> None:
    PEAKS.check("a_snapshot", None, "skipped", "python -m lessons.17_peaks_and_leaks --record")
    changes = [("segment_alloc", 100), *[("alloc", 10), ("free_completed", 10)] * 20]
    PEAKS.check("a_snapshot", PEAKS.CudaMemory("a GPU", changes), "held", "recorded on a GPU")
