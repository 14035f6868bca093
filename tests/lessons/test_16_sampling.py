"""Tests of the explanations of lesson 16, for made-up results."""

import importlib
from typing import Any

import pytest
from sessions import Play, explained

from harness.profiles import ProfiledFunction, ProfiledScript
from harness.sampling import Sample, Samples
from lessons.engine.interval import Interval
from lessons.engine.lesson import Lesson

MODULE = importlib.import_module("lessons.16_sampling")
REASON = "needs py-spy. Run: python -m pip install 'fairclock[profilers]'"


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    assert isinstance(MODULE.lesson, Lesson)
    return MODULE.lesson


def samples(*groups: tuple[int, tuple[str, ...]], file: str = "/x/program.py") -> Samples:
    """Return samples of stacks, mixed evenly: each group is a number and the names of a stack."""
    stacks = [Sample("main", tuple((name, file) for name in names)) for count, names in groups for _ in range(count)]
    step = next(step for step in (7, 11, 13, 17, 19) if len(stacks) % step) if stacks else 1
    return Samples(tuple(stacks[number * step % len(stacks)] for number in range(len(stacks))))


@pytest.mark.parametrize("number", range(8))
def test_without_py_spy_each_step_is_skipped_and_names_the_command(prepare: Play, lesson: Lesson, number: int) -> None:
    step = lesson.steps[number]
    printed, standings = explained(prepare, lesson, step.name, REASON)
    assert set(standings.values()) == {"skipped"}
    assert "fairclock[profilers]" in printed
    assert "If nothing is missing, this step shows" in printed


def test_without_python_3_15_its_own_profiler_is_skipped(prepare: Play, lesson: Lesson) -> None:
    printed, standings = explained(prepare, lesson, "from_the_standard_library", "needs Python 3.15 or newer. Run it")
    assert standings == {"standard-agrees": "skipped"}
    assert "Python 3.15" in printed


def test_a_dump_without_the_loop_refutes_the_claim_about_it(prepare: Play, lesson: Lesson) -> None:
    dumped = MODULE.Dumped("Process 1: python\nPython v3.11\n\nThread 1 (idle)\n    wait (x.py:3)\n", 0)
    printed, standings = explained(prepare, lesson, "one_look", dumped)
    assert standings == {"loop-found": "refuted", "goes-on": "refuted"}
    assert "The line of train" not in printed


def test_a_dump_names_the_line_of_the_loop(prepare: Play, lesson: Lesson) -> None:
    text = "Process 1: python\nPython v3.11\n\nThread 1 (active)\n    train (program.py:24)\n"
    printed, standings = explained(prepare, lesson, "one_look", MODULE.Dumped(text, 4))
    assert set(standings.values()) == {"held"}
    assert "line 24" in printed
    assert "Measured Nothing." in printed


@pytest.mark.parametrize(
    ("load", "clock", "standing", "words"),
    [
        (700, (7.0, 3.0), "held", "load takes more time than the training"),
        (100, (9.0, 1.0), "refuted", "the training takes more"),
    ],
)
def test_shares_are_compared_with_the_clock(
    prepare: Play, lesson: Lesson, load: int, clock: tuple[float, float], standing: str, words: str
) -> None:
    taken = samples((load, ("train", "load")), (1000 - load, ("train", "backward")))
    printed, standings = explained(prepare, lesson, "a_recording", MODULE.Recorded(taken, [clock], busy=0.95))
    assert standings == {"loading-first": standing, "clocks-agree": standing}
    assert words in printed


def test_a_disturbed_program_decides_no_claim_about_shares(prepare: Play, lesson: Lesson) -> None:
    taken = samples((900, ("train", "load")), (100, ("train", "backward")))
    _, standings = explained(prepare, lesson, "a_recording", MODULE.Recorded(taken, [(9.0, 1.0)], busy=0.1))
    assert set(standings.values()) == {"inconclusive"}


def test_no_samples_decide_nothing(prepare: Play, lesson: Lesson) -> None:
    nothing = Samples(())
    for step, result in (
        ("a_recording", MODULE.Recorded(nothing, [(1.0, 1.0)], 0.9)),
        ("c_frames", MODULE.Native(nothing, nothing, 1.0, 1.0)),
        ("inside_and_outside", MODULE.Biased(nothing, [[1.0, 1.0, 0, 0, 0, 0]] * 2, 0.9)),
        ("how_many", MODULE.Groups(0.2, [MODULE.Group(10, [], 0), MODULE.Group(40, [], 0)], 0.9)),
        ("two_runs", [MODULE.Version(nothing, 1.0, 0.9)] * 2),
    ):
        _, standings = explained(prepare, lesson, step, result)
        assert set(standings.values()) == {"inconclusive"}, step


def test_c_frames_without_the_option_refute_and_none_with_it_are_skipped(prepare: Play, lesson: Lesson) -> None:
    python, native = samples((50, ("backward",))), samples((50, ("backward", "gemm")), file="libtorch_cpu.so")
    _, standings = explained(prepare, lesson, "c_frames", MODULE.Native(native, native, 9.0, 5.0))
    assert standings == {"no-c-without": "refuted", "c-with-native": "held"}
    _, standings = explained(prepare, lesson, "c_frames", MODULE.Native(python, python, 9.0, 5.0))
    assert standings == {"no-c-without": "held", "c-with-native": "skipped"}


@pytest.mark.parametrize(
    ("tops", "standing"),
    [("p" * 14 + "c", "inconclusive"), ("p" * 30 + "c" * 8, "inconclusive"), ("ppppc" * 8, "refuted")],
)
def test_few_c_frames_refute_only_if_they_are_few_all_the_time(
    prepare: Play, lesson: Lesson, tops: str, standing: str
) -> None:
    """The samples of a program that waits for a core show the same place again and again. p is Python, and c is C."""
    python = samples((50, ("backward",)))
    kinds = {"p": python.taken[0], "c": samples((1, ("backward", "gemm")), file="libtorch_cpu.so").taken[0]}
    found = MODULE.Native(python, Samples(tuple(kinds[top] for top in tops)), 9.0, 5.0)
    _, standings = explained(prepare, lesson, "c_frames", found)
    assert standings["c-with-native"] == standing


def turn(py_spy: float, often: float, thread: float, cprofile: float) -> dict[str, float]:
    return dict(zip(("none", *MODULE.WAYS), (1.0, py_spy, often, thread, cprofile), strict=True))


def test_a_cprofile_that_costs_nothing_refutes_the_claims_about_costs(prepare: Play, lesson: Lesson) -> None:
    printed, standings = explained(prepare, lesson, "costs", [turn(1.5, 1.8, 1.2, 1.0)] * 6)
    assert set(standings.values()) == {"refuted"}
    assert "py-spy slows this program more" in printed
    assert "Measured Py-spy, 1000 samples per second." in printed


def traced(*names: str) -> ProfiledScript:
    return ProfiledScript("", tuple(ProfiledFunction(name, "program.py", 1, 1, 1.0, 1.0, {}) for name in names))


@pytest.mark.parametrize(
    ("usual", "with_option", "names", "standing", "words"),
    [
        (("in_main", "in_thread"), ("in_main", "in_child"), ("in_main",), "held", "only the thread that started it"),
        (("in_main", "in_child"), ("in_main",), ("in_main", "in_thread"), "refuted", "calls of the second thread"),
    ],
)
def test_the_seen_places_are_those_of_the_samples(
    prepare: Play,
    lesson: Lesson,
    usual: tuple[str, ...],
    with_option: tuple[str, ...],
    names: tuple[str, ...],
    standing: str,
    words: str,
) -> None:
    record, option = (samples(*((50, ("run", name)) for name in each)) for each in (usual, with_option))
    found = MODULE.Places(record, option, traced(*names))
    printed, standings = explained(prepare, lesson, "threads_and_children", found)
    assert set(standings.values()) == {standing}
    assert words in printed


@pytest.mark.parametrize(
    ("names", "letter"),
    [(("in_main",), "a"), (("in_main", "in_thread"), "b"), (("in_main", "in_thread", "in_child"), "c"), ((), None)],
)
def test_the_letter_of_the_seen_places(names: tuple[str, ...], letter: str | None) -> None:
    assert MODULE.seen_places(samples(*((3, (name,)) for name in names))) == letter


@pytest.mark.parametrize(
    ("inner", "outer", "standing"), [((900, 100), (300, 700), "held"), ((300, 700), (990, 10), "refuted")]
)
def test_shares_of_inner_samplers_are_compared_with_the_clock(
    prepare: Play, lesson: Lesson, inner: tuple[int, int], outer: tuple[int, int], standing: str
) -> None:
    rows = [[3.0, 7.0, 0, 0, 0, 0], [3.0, 7.0, *inner, *inner]]
    taken = samples((outer[0], ("in_python",)), (outer[1], ("in_c",)))
    _, standings = explained(prepare, lesson, "inside_and_outside", MODULE.Biased(taken, rows, 0.95))
    assert set(standings.values()) == {standing}


def group(size: int, shares: list[float], contained: int) -> Any:
    return MODULE.Group(size, shares, contained)


def test_shares_that_spread_as_computed_hold_and_a_wide_spread_refutes(prepare: Play, lesson: Lesson) -> None:
    usual = MODULE.Groups(0.5, [group(10, [0.34, 0.66] * 40, 76), group(40, [0.42, 0.58] * 10, 20)], 0.95)
    printed, standings = explained(prepare, lesson, "how_many", usual)
    assert set(standings.values()) == {"held"}
    assert "About 2." in printed
    wide = MODULE.Groups(0.5, [group(10, [0.0, 1.0] * 40, 0), group(40, [0.0, 1.0] * 10, 0)], 0.95)
    _, standings = explained(prepare, lesson, "how_many", wide)
    assert set(standings.values()) == {"refuted"}


@pytest.mark.parametrize(("after_s", "standing"), [(0.5, "held"), (2.0, "refuted")])
def test_seconds_per_round_are_compared_and_not_shares(
    prepare: Play, lesson: Lesson, after_s: float, standing: str
) -> None:
    before = MODULE.Version(samples((600, ("parse",)), (400, ("total",))), 1.0, 0.95)
    after = MODULE.Version(samples((100, ("parse",)), (900, ("total",))), after_s, 0.95)
    _, standings = explained(prepare, lesson, "two_runs", [before, after])
    assert standings == {"share-grows": "held", "time-stays": standing}


def test_the_pictures_of_two_runs_are_saved(prepare: Play, lesson: Lesson) -> None:
    played = prepare(lesson)
    step = next(step for step in lesson.steps if step.name == "two_runs")
    page = played.session._page(step)
    page.prediction = step.question(page)
    version = MODULE.Version(samples((60, ("parse",)), (40, ("total",))), 1.0, 0.95)
    assert step.explanation is not None
    step.explanation(page, [version, version])
    assert [name[name.index("difference") :] for name in played.saved] == ["difference-before", "difference-after"]


@pytest.mark.parametrize(("in_c", "standing"), [(0.6, "held"), (0.05, "refuted")])
def test_the_profiler_of_python_is_compared_with_the_clock(
    prepare: Play, lesson: Lesson, in_c: float, standing: str
) -> None:
    found = MODULE.Standard(5000, in_c, 0.6, 0.95, 1.01)
    _, standings = explained(prepare, lesson, "from_the_standard_library", found)
    assert standings == {"standard-agrees": standing}


def test_few_samples_have_no_interval() -> None:
    few = samples((10, ("f",)))
    assert MODULE.across(few, lambda part: part.share("f")).compare(at_least=0) == "inconclusive"
    many = MODULE.across(samples((400, ("f",)), (400, ("g",))), lambda part: part.share("f"))
    assert isinstance(many, Interval)
    assert many.low <= 0.5 <= many.high


@pytest.mark.parametrize(("count", "total"), [(0, 10), (3, 10), (10, 10), (500, 1000)])
def test_wilsons_interval_is_never_empty_and_contains_the_share(count: int, total: int) -> None:
    low, high = MODULE.interval(count, total)
    assert low - 1e-9 <= count / total <= high + 1e-9
    assert high - low > 0.05


def test_the_mean_of_the_last_rounds_covers_the_given_seconds() -> None:
    assert MODULE.mean_s(["9.0", "0.1", "0.1", "0.1", "0.1"], 0.35) == pytest.approx(0.1)
    assert MODULE.mean_s(["0.2", "0.4"], 100.0) == pytest.approx(0.3)


def test_without_the_global_lock_the_claim_about_it_is_skipped(
    prepare: Play, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys._is_gil_enabled", lambda: False, raising=False)
    rows = [[3.0, 7.0, 0, 0, 0, 0], [3.0, 7.0, 300, 700, 900, 100]]
    taken = samples((300, ("in_python",)), (700, ("in_c",)))
    _, standings = explained(prepare, lesson, "inside_and_outside", MODULE.Biased(taken, rows, 0.95))
    assert standings == {"thread-misses-c": "skipped", "signal-misses-c": "held", "outside-agrees": "held"}


def test_too_few_samples_do_not_show_that_the_child_is_missed(prepare: Play, lesson: Lesson) -> None:
    few = samples((10, ("run", "in_main")))
    _, standings = explained(prepare, lesson, "threads_and_children", MODULE.Places(few, few, traced("in_main")))
    assert standings["child-seen"] == "inconclusive"
