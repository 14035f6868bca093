"""The explanations of lessons 08 to 11, 16 and 17, for made-up results."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sessions import MadeUp
from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import FunctionCount, FunctionCounts

from harness.machine.clocks import BackgroundLoad
from harness.memory.resident import MemoryUse, Timeline
from harness.profiles.kineto import Event, Operator, Trace
from harness.profiles.stats import ProfiledFunction
from harness.sampling.pyspy import Samples, StackSample

CALLGRIND = MadeUp("08_callgrind")


def counts(*rows: tuple[int, str]) -> FunctionCounts:
    return FunctionCounts(tuple(FunctionCount(*row) for row in rows), False)


def test_a_chain_that_loses_counts_is_noticed() -> None:
    plain, delta = counts((100, "a.cpp:f(int)"), (40, "???:fast_set_up(int)")), counts((5, "a.cpp:f(int)"))
    found = CALLGRIND.Difference(plain, delta, counts(), counts((4, "f")))
    wanted = {"chain-keeps-sum": "refuted", "difference-adds-up": "held"}
    CALLGRIND.check("what_a_broadcast_costs", found, wanted)


CPROFILE = MadeUp("09_cprofile")


def looks(sampled: Counter[str], traced: Counter[str], tracing_s: float, little: int = 40_000) -> Any:
    found = {"counting": Counter(little=little, much=4, program=1), "sampling": sampled, "tracing": traced}
    turns = [{"plain": 1.0, "counting": 3.0, "sampling": 1.1, "tracing": tracing_s}] * 5
    return CPROFILE.Looks(found, turns)


def test_few_samples_decide_nothing_and_equal_calls_refute_that_counts_know_no_time() -> None:
    few = looks(Counter(little=1, much=2), Counter(little=600, much=400), tracing_s=2.0)
    unclear = {"counts-know-no-time": "inconclusive", "tracing-blames-calls": "inconclusive", "tracing-costs": "held"}
    CPROFILE.check("three_ways_to_look", few, unclear)
    equal_calls = looks(Counter(little=30, much=70), Counter(little=6, much=4), tracing_s=2.0, little=4)
    CPROFILE.check("three_ways_to_look", equal_calls, {"counts-know-no-time": "refuted"})


def test_a_server_that_others_can_reach_and_that_does_not_end_refutes_the_claims_about_it(tmp_path: Path) -> None:
    train, kept = ProfiledFunction("train", "script.py", 1, 1, 1.0, 1.0, {}), tmp_path / "train.html"
    kept.write_text('<script src="/static/x.js">', encoding="utf-8")
    for listens_on, standing in ((("192.0.2.7",), "refuted"), ((), "skipped")):
        pictures = CPROFILE.Pictures((train,), kept, "no page", listens_on, ended=False)
        _, standings = CPROFILE.explained("in_pictures", pictures)
        assert standings.pop("loopback-only") == standing
        assert set(standings.values()) == {"refuted"}


MEMORY = MadeUp("10_memory")
MIB = 1 << 20


def test_a_system_without_a_stored_peak_skips_the_claim_about_it() -> None:
    curve = Timeline(((0.0, 40 * MIB), (0.5, 40 * MIB), (0.6, 200 * MIB)), {"work": (0.5, 0.9)})
    for exact, standing in ((True, "held"), (False, "skipped")):
        found = MEMORY.OverTime(curve, [100, 100], MemoryUse(0, 50_000_000, 0, exact), [100.0])
        wanted = {"mprof-sees-the-peak": "held", "mark-sees-all": standing}
        MEMORY.check("over_time", found, wanted, "Less than a tenth. 2 samples showed a growth of 0 B.")


TORCH_PROFILER = MadeUp("11_torch_profiler")


def event(name: str, start_us: float, duration_us: float) -> Event:
    return Event(name, "cpu_op", ("1", "1"), start_us, duration_us)


def test_stacks_without_keep_stacks_refute_all_claims_about_stacks() -> None:
    stacks = "a.py(1):_run;a.py(2):_step;b.py(3):_backward 4\na.py(1):_run 1\n"
    rows = (Operator("backward", 1, 4e-6, 4e-6), Operator("other", 1, 1e-3, 1e-3))
    found = TORCH_PROFILER.Stacks("a 1", stacks, rows, BackgroundLoad(0.0))
    words = ("this PyTorch no longer needs it", "is above the function that started the backward pass")
    TORCH_PROFILER.check("a_flame_graph", found, "refuted", *words)
    busy = found._replace(others=BackgroundLoad(1.5))
    unclear = "does not show to which functions the time of the backward"
    TORCH_PROFILER.check("a_flame_graph", busy, {"backward-is-forward": "inconclusive"}, unclear)
    none = TORCH_PROFILER.Stacks("", "", (Operator("backward", 1, 1.0, 1.0),), BackgroundLoad(0.0))
    wanted = {"empty-unasked": "held", "hardly-any-lost": "refuted"}
    TORCH_PROFILER.check("a_flame_graph", none, wanted, absent=["time by stack"])


def test_a_torch_that_deprecates_or_lacks_with_modules_is_named() -> None:
    def exported(events: int | None, warning: str) -> Any:
        return TORCH_PROFILER.Exported(
            Trace((event("aten::conv2d", 0, 5),), Counter(X=1)),
            Operator("aten::conv2d", 1, 5e-6, 5e-6),
            TORCH_PROFILER.NamedModules(events, warning),
        )

    held, skipped = ({"modules-need-script": each} for each in ("held", "skipped"))
    warns = f"The installed torch, {TORCH_PROFILER.TORCH}, warns"
    TORCH_PROFILER.check("the_trace", exported(0, ""), held, absent=[warns])
    TORCH_PROFILER.check("the_trace", exported(0, "with_modules is deprecated"), held, warns)
    TORCH_PROFILER.check("the_trace", exported(None, ""), skipped, "which this torch no longer has")


def test_without_tensorboard_the_lesson_shows_the_recorded_pages_with_versions_and_date() -> None:
    trace = Trace((event("ProfilerStep#5", 0, 5),), Counter(X=1))  # the traces differ from the schedule
    board = TORCH_PROFILER.TensorBoard("needs TensorBoard")
    found = TORCH_PROFILER.Scheduled(["NONE", "RECORD"], [trace], ["lesson.json"], 3, 0, [5, 5], board)
    printed, _ = TORCH_PROFILER.explained("not_all_of_it", found)
    pages = json.loads((TORCH_PROFILER.lesson.recorded / "pages.json").read_text(encoding="utf-8"))
    assert f"TensorBoard {pages['board']} with version {pages['plugin']} of the plugin showed them on" in printed
    for view in pages["views"]:
        assert f"{view['name']}: {view['title'] or view['note']}"[:60] in printed
        assert (f"{view['name']}: a picture of the page" in printed) == bool(view["picture"])


SAMPLING = MadeUp("16_sampling")
REASON = "needs py-spy. Run: python -m pip install 'fairclock[profilers]'"


def samples(*groups: tuple[int, tuple[str, ...]], file: str = "/x/program.py") -> Samples:
    """Return samples of stacks, mixed evenly: each group is a number and the names of a stack."""
    stacks = [
        StackSample("main", tuple((name, file) for name in names)) for count, names in groups for _ in range(count)
    ]
    step = next(step for step in (7, 11, 13, 17, 19) if len(stacks) % step) if stacks else 1
    return Samples(tuple(stacks[number * step % len(stacks)] for number in range(len(stacks))))


def test_without_py_spy_or_python_3_15_a_step_is_skipped_and_names_the_command() -> None:
    for step in SAMPLING.lesson.steps[:8]:
        SAMPLING.check(step.name, REASON, "skipped", "fairclock[profilers]", "If nothing is missing, this step shows")
    SAMPLING.check("from_the_standard_library", "needs Python 3.15 or newer. Run it", "skipped", "Python 3.15")


def test_shares_are_compared_with_the_clock_unless_the_program_was_disturbed() -> None:
    for load, clock, busy, standing in (
        (700, (7.0, 3.0), 0.95, "held"),
        (100, (9.0, 1.0), 0.95, "refuted"),
        (900, (9.0, 1.0), 0.1, "inconclusive"),
    ):
        taken = samples((load, ("train", "load")), (1000 - load, ("train", "backward")))
        SAMPLING.check("a_recording", SAMPLING.Recorded(taken, [clock], busy=busy), standing)


def test_no_samples_decide_nothing() -> None:
    nothing = Samples(())
    for step, result in (
        ("a_recording", SAMPLING.Recorded(nothing, [(1.0, 1.0)], 0.9)),
        ("c_frames", SAMPLING.Native(nothing, nothing, 1.0, 1.0)),
        ("inside_and_outside", SAMPLING.Biased(nothing, [[1.0, 1.0, 0, 0, 0, 0]] * 2, 0.9)),
        ("how_many", SAMPLING.Groups(0.2, [SAMPLING.Group(10, [], 0), SAMPLING.Group(40, [], 0)], 0.9)),
        ("two_runs", [SAMPLING.Version(nothing, 1.0, 0.9)] * 2),
    ):
        SAMPLING.check(step, result, "inconclusive")


def test_c_frames_refute_only_if_they_are_few_all_the_time() -> None:
    """The samples of a program that waits for a core show the same place again and again. p is Python, and c is C."""
    python, native = samples((50, ("backward",))), samples((50, ("backward", "gemm")), file="libtorch_cpu.so")
    wanted = {"no-c-without": "refuted", "c-with-native": "held"}
    SAMPLING.check("c_frames", SAMPLING.Native(native, native, 9.0, 5.0), wanted)
    wanted = {"no-c-without": "held", "c-with-native": "skipped"}
    SAMPLING.check("c_frames", SAMPLING.Native(python, python, 9.0, 5.0), wanted)
    kinds = {"p": python.taken[0], "c": native.taken[0]}
    for tops, standing in (
        ("p" * 14 + "c", "inconclusive"),
        ("p" * 30 + "c" * 8, "inconclusive"),
        ("ppppc" * 8, "refuted"),
    ):
        found = SAMPLING.Native(python, Samples(tuple(kinds[top] for top in tops)), 9.0, 5.0)
        SAMPLING.check("c_frames", found, {"c-with-native": standing})


def test_shares_of_inner_samplers_are_compared_with_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    def biased(inner: tuple[int, int], outer: tuple[int, int]) -> Any:
        taken = samples((outer[0], ("in_python",)), (outer[1], ("in_c",)))
        return SAMPLING.Biased(taken, [[3.0, 7.0, 0, 0, 0, 0], [3.0, 7.0, *inner, *inner]], 0.95)

    SAMPLING.check("inside_and_outside", biased((900, 100), (300, 700)), "held")
    SAMPLING.check("inside_and_outside", biased((300, 700), (990, 10)), "refuted")
    monkeypatch.setattr("sys._is_gil_enabled", lambda: False, raising=False)
    wanted = {"thread-misses-c": "skipped", "signal-misses-c": "held", "outside-agrees": "held"}
    SAMPLING.check("inside_and_outside", biased((900, 100), (300, 700)), wanted)


PEAKS = MadeUp("17_peaks_and_leaks")


def test_without_memray_its_steps_are_skipped_and_the_leak_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = "memray is missing: python -m pip install 'fairclock[profilers]'"
    monkeypatch.setattr(PEAKS.module, "lacking_memray", lambda: missing)
    for name in ("each_allocation", "two_levels", "native_frames", "temporary_allocations", "live_view"):
        PEAKS.check(name, getattr(PEAKS, name)(fast=True), "skipped", "pip install")
    _, standings = PEAKS.explained("leak_through_cycles", PEAKS.leak_through_cycles(fast=True))
    assert standings.pop("leak-is-named") == "skipped"
    assert set(standings.values()) == {"held"}


def test_long_peaks_do_not_show_whether_samples_miss_them() -> None:
    for samples, length_s, standing in (
        ([100.0, 100.0, 138.0], 0.005, "held"),
        ([100.0] + [138.0] * 16, 0.005, "refuted"),
        ([100.0] + [138.0] * 5, 0.08, "inconclusive"),
    ):
        wanted = {"samples-miss": standing, "tracemalloc-misses": "held"}
        PEAKS.check("between_two_samples", PEAKS.Sampled(samples, [length_s] * 20, 7_000_000), wanted)


def test_a_record_of_a_gpu_is_shown_and_a_missing_record_names_the_command() -> None:
    PEAKS.check("a_snapshot", None, "skipped", "python -m lessons.17_peaks_and_leaks --record")
    changes = [("segment_alloc", 100), *[("alloc", 10), ("free_completed", 10)] * 20]
    words = ("recorded on a GPU", "use a block that an earlier tensor has freed")
    PEAKS.check("a_snapshot", PEAKS.CudaMemory("a GPU", changes), "held", *words)
