"""Tests of the explanations of lesson 14, for made-up results and for machines without a compiler."""

import importlib
from types import ModuleType
from typing import Any, cast

import pytest
from sessions import Play, explained
from torch.utils.benchmark import Measurement
from torch.utils.benchmark.utils.common import TaskSpec

from harness.machine.background_load import HIGH_LOAD, BackgroundLoad
from lessons.engine.lesson import Lesson

LESSON = importlib.import_module("lessons.14_extensions")

MODULE = LESSON.Built(
    {"compile": 0.2, "import": 1e-3, "first call": 1e-4}, 0, [60.0] * 9, "builtin_function_or_method", False
)
BROKEN = {
    "functions": LESSON.Failure("call", "SystemError: returned NULL"),
    "method table": LESSON.Failure("call", "AttributeError: nothing"),
    "module definition": LESSON.Failure("call", "AttributeError: nothing"),
    "init function": LESSON.Failure("import", "ImportError: no PyInit_runs"),
}
NO_GCC = "a C compiler is missing: apt-get install gcc"


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return LESSON


@pytest.fixture(scope="module")
def lesson(module: ModuleType) -> Lesson:
    assert isinstance(module.lesson, Lesson)
    return module.lesson


def explained_after(
    play: Play, lesson: Lesson, name: str, result: object, first: object = MODULE
) -> tuple[str, dict[str, str]]:
    """Explain a made-up result of a step. Later steps use a made-up result of the first step."""

    def prepared(whole: Lesson) -> Any:
        played = play(whole)
        played.session._page(whole.steps[0]).results["a_module_in_c"] = first
        return played

    return explained(cast("Play", prepared), lesson, name, result)


def measured(seconds: float) -> Measurement:
    return Measurement(1, [seconds] * 3, TaskSpec("x", "pass"))


def test_every_step_asks_before_it_reveals(lesson: Lesson) -> None:
    assert all(step.predict is not None for step in lesson.steps)


@pytest.mark.parametrize(
    "step",
    [
        *("a_module_in_c", "one_part_broken", "an_extension_is_no_jit"),
        *("c_without_python", "price_of_a_call", "held_or_released"),
    ],
)
def test_without_a_compiler_a_step_says_what_it_would_have_shown(
    prepare: Play, lesson: Lesson, module: ModuleType, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(module, "lacking", lambda **_: NO_GCC)
    assert getattr(module, step)() is None
    printed, standings = explained_after(prepare, lesson, step, None)
    assert set(standings.values()) == {"skipped"}
    assert "apt-get install gcc" in printed
    assert "If nothing is missing, this step shows" in printed


@pytest.mark.parametrize("step", ["from_cpp", "timed_in_both"])
def test_without_a_cpp_compiler_torch_steps_give_up_before_they_begin(
    prepare: Play, lesson: Lesson, module: ModuleType, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(module, "lacking_cpp", lambda: "a C++ compiler is missing: apt-get install g++")
    printed, standings = explained_after(prepare, lesson, step, getattr(module, step)())
    assert set(standings.values()) == {"skipped"}
    assert "apt-get install g++" in printed


@pytest.mark.parametrize("step", ["from_cpp", "timed_in_both"])
def test_a_short_run_compiles_none_of_torchs_headers(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(module, "lacking_cpp", lambda: "")
    monkeypatch.setattr(module, "compiled_before", lambda _: False)
    assert "without --fast" in getattr(module, step).function(compiling=0)


def test_a_module_that_is_wrong_and_slow_refutes_what_was_hoped(prepare: Play, lesson: Lesson) -> None:
    found = LESSON.Built(MODULE.times, 3, [2.0] * 9, "function", True)
    printed, standings = explained_after(prepare, lesson, "a_module_in_c", found)
    assert set(standings.values()) == {"refuted"}
    assert "3 of 200 differ" in printed


def test_broken_parts_that_break_otherwise_are_reported(prepare: Play, lesson: Lesson) -> None:
    printed, standings = explained_after(prepare, lesson, "one_part_broken", BROKEN)
    assert set(standings.values()) == {"held"}
    assert "At the import" in printed
    printed, standings = explained_after(
        prepare, lesson, "one_part_broken", {"init function": LESSON.Failure("compiling", "MachineError: no")}
    )
    assert set(standings.values()) == {"refuted"}
    assert "When the module is compiled" in printed


def test_an_extension_that_knows_types_refutes_that_it_sees_bytes(prepare: Play, lesson: Lesson) -> None:
    _, standings = explained_after(
        prepare, lesson, "an_extension_is_no_jit", LESSON.Versions([1, 1, 2, 3], 0.5, 100, 800)
    )
    assert set(standings.values()) == {"held"}
    printed, standings = explained_after(
        prepare, lesson, "an_extension_is_no_jit", LESSON.Versions([1, 1, 1, 1], 1e-3, 100, 100)
    )
    assert set(standings.values()) == {"refuted"}
    assert "The right answer: 100" in printed or "100" in printed


def test_types_that_ctypes_guesses_right_refute_that_it_does_not(prepare: Play, lesson: Lesson) -> None:
    _, standings = explained_after(prepare, lesson, "c_without_python", LESSON.Answers(0, 6_000_000_000, 6_000_000_000))
    assert standings == {"same-by-ctypes": "held", "nothing-is-checked": "refuted", "declared-is-right": "held"}


def test_calls_that_all_cost_the_same_refute_their_prices(prepare: Play, lesson: Lesson) -> None:
    idle = {way: [1e-7] * 9 for way in ("Python function", "extension", "C through ctypes", "torch, one + one")}
    loops = {f"{n} {way}": [1e-6] * 9 for n in (4, 4096) for way in ("python", "c")}
    _, standings = explained_after(prepare, lesson, "price_of_a_call", LESSON.Prices(idle, loops))
    assert set(standings.values()) == {"refuted"}


@pytest.mark.parametrize(("others", "together"), [(0.1, "held"), (HIGH_LOAD, "inconclusive")])
def test_two_threads_are_judged_where_nobody_else_uses_the_cores(
    prepare: Play, lesson: Lesson, module: ModuleType, monkeypatch: pytest.MonkeyPatch, others: float, together: str
) -> None:
    monkeypatch.setattr(module, "CORES", 2)
    load = BackgroundLoad(others)
    held, released = LESSON.Spins(0, 1.0, 1.0, load), LESSON.Spins(90, 0.5, 1.0, load)
    found = {"extension": held, "extension, released": released, "ctypes.PyDLL": held, "ctypes.CDLL": released}
    _, standings = explained_after(prepare, lesson, "held_or_released", found)
    assert standings.pop("released-at-once") == together
    assert standings.pop("held-in-turn") == together
    assert set(standings.values()) == {"held"}


def test_a_lock_that_nobody_holds_refutes_that_it_stops_anybody(prepare: Play, lesson: Lesson) -> None:
    load = BackgroundLoad(0.0)
    free, stuck = LESSON.Spins(90, 0.5, 1.0, load), LESSON.Spins(0, 1.0, 1.0, load)
    found = {"extension": free, "extension, released": stuck, "ctypes.PyDLL": free, "ctypes.CDLL": stuck}
    printed, standings = explained_after(prepare, lesson, "held_or_released", found)
    assert set(standings.values()) <= {"refuted", "skipped"}
    assert "This run gives no clear answer" in printed


@pytest.mark.parametrize(
    ("ran", "answer"),
    [
        (set(), "a"),
        ({"extension, released"}, "b"),
        ({"extension, released", "ctypes.CDLL"}, "c"),
        ({"extension", "extension, released", "ctypes.PyDLL", "ctypes.CDLL"}, "d"),
        ({"ctypes.CDLL"}, None),
    ],
)
def test_the_ways_in_which_a_second_thread_ran_choose_the_answer(
    module: ModuleType, ran: set[str], answer: str | None
) -> None:
    ways = ("extension", "extension, released", "ctypes.PyDLL", "ctypes.CDLL")
    found = {way: LESSON.Spins(90 if way in ran else 0, 1.0, 1.0, BackgroundLoad()) for way in ways}
    assert module.thread_answer(found) == answer


def test_a_build_without_the_gil_skips_the_claims_about_it(
    prepare: Play, lesson: Lesson, module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "has_gil", lambda: False)
    spins = LESSON.Spins(90, 0.5, 1.0, BackgroundLoad())
    found = dict.fromkeys(("extension", "extension, released", "ctypes.PyDLL", "ctypes.CDLL"), spins)
    printed, standings = explained_after(prepare, lesson, "held_or_released", found)
    assert set(standings.values()) == {"skipped"}
    assert "without the GIL" in printed


def test_one_core_skips_what_takes_two(
    prepare: Play, lesson: Lesson, module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CORES", 1)
    same = LESSON.Spins(0, 1.0, 1.0, BackgroundLoad())
    found = dict.fromkeys(("extension", "extension, released", "ctypes.PyDLL", "ctypes.CDLL"), same)
    _, standings = explained_after(prepare, lesson, "held_or_released", found)
    assert standings["released-at-once"] == "skipped"


def test_a_binding_that_costs_nothing_and_checks_nothing_is_reported(
    prepare: Play, lesson: Lesson, module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = {"pybind11": [1e-7] * 9, "method table": [1e-7] * 9}
    _, standings = explained_after(prepare, lesson, "from_cpp", LESSON.FromCpp(0.3, 2, "3", calls))
    assert set(standings.values()) == {"refuted"}
    monkeypatch.setattr(module, "lacking", lambda: NO_GCC)
    found = LESSON.FromCpp(20.0, 0, "longest_run takes uint8", {"pybind11": [1e-7]})
    _, standings = explained_after(prepare, lesson, "from_cpp", found, None)
    assert standings.pop("same-by-torch") == standings.pop("wrong-type-is-told") == "held"
    assert set(standings.values()) == {"skipped"}


@pytest.mark.parametrize(("python_s", "words"), [(2e-6, "time the statement from C++"), (1e-6, "less than a tenth")])
def test_what_python_adds_is_reported_as_measured(prepare: Play, lesson: Lesson, python_s: float, words: str) -> None:
    printed, standings = explained_after(
        prepare, lesson, "timed_in_both", [LESSON.Turn(measured(python_s), measured(1e-6))] * 9
    )
    assert words in printed
    assert standings["python-on-top"] == ("held" if python_s > 1.5e-6 else "refuted")
    assert "published" in printed
