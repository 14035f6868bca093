"""Tests of the explanations of lesson 16, for made-up results."""

from typing import Any

import pytest
from sessions import MadeUp

from harness.sampling.pyspy import Samples, StackSample

LESSON = MadeUp("16_sampling")
REASON = "needs py-spy. Run: python -m pip install 'fairclock[profilers]'"


def samples(*groups: tuple[int, tuple[str, ...]], file: str = "/x/program.py") -> Samples:
    """Return samples of stacks, mixed evenly: each group is a number and the names of a stack."""
    stacks = [
        StackSample("main", tuple((name, file) for name in names)) for count, names in groups for _ in range(count)
    ]
    step = next(step for step in (7, 11, 13, 17, 19) if len(stacks) % step) if stacks else 1
    return Samples(tuple(stacks[number * step % len(stacks)] for number in range(len(stacks))))


def test_without_py_spy_or_python_3_15_a_step_is_skipped_and_names_the_command() -> None:
    for step in LESSON.lesson.steps[:8]:
        LESSON.check(step.name, REASON, "skipped", "fairclock[profilers]", "If nothing is missing, this step shows")
    LESSON.check("from_the_standard_library", "needs Python 3.15 or newer. Run it", "skipped", "Python 3.15")


def test_shares_are_compared_with_the_clock_unless_the_program_was_disturbed() -> None:
    for load, clock, busy, standing in (
        (700, (7.0, 3.0), 0.95, "held"),
        (100, (9.0, 1.0), 0.95, "refuted"),
        (900, (9.0, 1.0), 0.1, "inconclusive"),
    ):
        taken = samples((load, ("train", "load")), (1000 - load, ("train", "backward")))
        LESSON.check("a_recording", LESSON.Recorded(taken, [clock], busy=busy), standing)


def test_no_samples_decide_nothing() -> None:
    nothing = Samples(())
    for step, result in (
        ("a_recording", LESSON.Recorded(nothing, [(1.0, 1.0)], 0.9)),
        ("c_frames", LESSON.Native(nothing, nothing, 1.0, 1.0)),
        ("inside_and_outside", LESSON.Biased(nothing, [[1.0, 1.0, 0, 0, 0, 0]] * 2, 0.9)),
        ("how_many", LESSON.Groups(0.2, [LESSON.Group(10, [], 0), LESSON.Group(40, [], 0)], 0.9)),
        ("two_runs", [LESSON.Version(nothing, 1.0, 0.9)] * 2),
    ):
        LESSON.check(step, result, "inconclusive")


def test_c_frames_refute_only_if_they_are_few_all_the_time() -> None:
    """The samples of a program that waits for a core show the same place again and again. p is Python, and c is C."""
    python, native = samples((50, ("backward",))), samples((50, ("backward", "gemm")), file="libtorch_cpu.so")
    wanted = {"no-c-without": "refuted", "c-with-native": "held"}
    LESSON.check("c_frames", LESSON.Native(native, native, 9.0, 5.0), wanted)
    wanted = {"no-c-without": "held", "c-with-native": "skipped"}
    LESSON.check("c_frames", LESSON.Native(python, python, 9.0, 5.0), wanted)
    kinds = {"p": python.taken[0], "c": native.taken[0]}
    for tops, standing in (
        ("p" * 14 + "c", "inconclusive"),
        ("p" * 30 + "c" * 8, "inconclusive"),
        ("ppppc" * 8, "refuted"),
    ):
        found = LESSON.Native(python, Samples(tuple(kinds[top] for top in tops)), 9.0, 5.0)
        LESSON.check("c_frames", found, {"c-with-native": standing})


def test_shares_of_inner_samplers_are_compared_with_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    def biased(inner: tuple[int, int], outer: tuple[int, int]) -> Any:
        taken = samples((outer[0], ("in_python",)), (outer[1], ("in_c",)))
        return LESSON.Biased(taken, [[3.0, 7.0, 0, 0, 0, 0], [3.0, 7.0, *inner, *inner]], 0.95)

    LESSON.check("inside_and_outside", biased((900, 100), (300, 700)), "held")
    LESSON.check("inside_and_outside", biased((300, 700), (990, 10)), "refuted")
    monkeypatch.setattr("sys._is_gil_enabled", lambda: False, raising=False)
    wanted = {"thread-misses-c": "skipped", "signal-misses-c": "held", "outside-agrees": "held"}
    LESSON.check("inside_and_outside", biased((900, 100), (300, 700)), wanted)
