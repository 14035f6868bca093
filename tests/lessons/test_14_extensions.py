"""What lesson 14 says where a machine shows the opposite, or has no compiler; results are planted."""

import importlib
from types import ModuleType
from typing import Any, cast

import pytest
from sessions import Play, explained
from torch.utils.benchmark import Measurement
from torch.utils.benchmark.utils.common import TaskSpec

from harness.others import CROWD, Others
from lessons.engine.lesson import Lesson

MODULE = ({"compile": 0.2, "import": 1e-3, "first call": 1e-4}, 0, [60.0] * 9, "builtin_function_or_method", False)
BROKEN = {
    "functions": ("call", "SystemError: returned NULL"),
    "method table": ("call", "AttributeError: nothing"),
    "module definition": ("call", "AttributeError: nothing"),
    "init function": ("import", "ImportError: no PyInit_runs"),
}
NO_GCC = "a C compiler is missing: apt-get install gcc"


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return importlib.import_module("lessons.14_extensions")


@pytest.fixture(scope="module")
def lesson(module: ModuleType) -> Lesson:
    assert isinstance(module.lesson, Lesson)
    return module.lesson


def told(play: Play, lesson: Lesson, name: str, result: object, first: object = MODULE) -> tuple[str, dict[str, str]]:
    """Explain a planted result, with one planted for the first step that others look back at."""

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
    printed, standings = told(prepare, lesson, step, None)
    assert set(standings.values()) == {"skipped"}
    assert "apt-get install gcc" in printed
    assert "With it, this step shows" in printed


@pytest.mark.parametrize("step", ["from_cpp", "timed_in_both"])
def test_without_a_cpp_compiler_torch_steps_give_up_before_they_begin(
    prepare: Play, lesson: Lesson, module: ModuleType, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(module, "lacking_cpp", lambda: "a C++ compiler is missing: apt-get install g++")
    printed, standings = told(prepare, lesson, step, getattr(module, step)())
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
    found = (MODULE[0], 3, [2.0] * 9, "function", True)
    printed, standings = told(prepare, lesson, "a_module_in_c", found)
    assert set(standings.values()) == {"refuted"}
    assert "3 of 200 differ" in printed


def test_broken_parts_that_break_otherwise_are_told(prepare: Play, lesson: Lesson) -> None:
    printed, standings = told(prepare, lesson, "one_part_broken", BROKEN)
    assert set(standings.values()) == {"held"}
    assert "At the import" in printed
    printed, standings = told(prepare, lesson, "one_part_broken", {"init function": ("compiling", "MachineError: no")})
    assert set(standings.values()) == {"refuted"}
    assert "While it is compiled" in printed


def test_an_extension_that_knows_types_refutes_that_it_sees_bytes(prepare: Play, lesson: Lesson) -> None:
    _, standings = told(prepare, lesson, "an_extension_is_no_jit", ([1, 1, 2, 3], 0.5, [100, 800]))
    assert set(standings.values()) == {"held"}
    printed, standings = told(prepare, lesson, "an_extension_is_no_jit", ([1, 1, 1, 1], 1e-3, [100, 100]))
    assert set(standings.values()) == {"refuted"}
    assert "The truth is" in printed or "100" in printed


def test_types_that_ctypes_guesses_right_refute_that_it_does_not(prepare: Play, lesson: Lesson) -> None:
    _, standings = told(prepare, lesson, "c_without_python", (0, 6_000_000_000, 6_000_000_000))
    assert standings == {"same-by-ctypes": "held", "nothing-is-checked": "refuted", "declared-is-right": "held"}


def test_calls_that_all_cost_the_same_refute_their_prices(prepare: Play, lesson: Lesson) -> None:
    idle = {way: [1e-7] * 9 for way in ("Python function", "extension", "C by ctypes", "torch, one + one")}
    loops = {f"{n} {way}": [1e-6] * 9 for n in (4, 4096) for way in ("python", "c")}
    _, standings = told(prepare, lesson, "price_of_a_call", (idle, loops))
    assert set(standings.values()) == {"refuted"}


@pytest.mark.parametrize(("others", "last"), [(0.1, "held"), (CROWD, "inconclusive")])
def test_two_threads_are_judged_where_nobody_else_uses_the_cores(
    prepare: Play, lesson: Lesson, module: ModuleType, monkeypatch: pytest.MonkeyPatch, others: float, last: str
) -> None:
    monkeypatch.setattr(module, "CORES", 2)
    held, released = (0, 1.0, 1.0, Others(others)), (90, 0.5, 1.0, Others(others))
    found = {"extension": held, "extension, released": released, "ctypes.PyDLL": held, "ctypes.CDLL": released}
    _, standings = told(prepare, lesson, "held_or_released", found)
    assert standings.pop("released-at-once") == last
    assert set(standings.values()) == {"held"}


def test_a_lock_that_nobody_holds_refutes_that_it_stops_anybody(prepare: Play, lesson: Lesson) -> None:
    free, stuck = (90, 0.5, 1.0, Others(0.0)), (0, 1.0, 1.0, Others(0.0))
    found = {"extension": free, "extension, released": stuck, "ctypes.PyDLL": free, "ctypes.CDLL": stuck}
    printed, standings = told(prepare, lesson, "held_or_released", found)
    assert set(standings.values()) <= {"refuted", "skipped"}
    assert "Runs" in printed


def test_one_core_skips_what_takes_two(
    prepare: Play, lesson: Lesson, module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CORES", 1)
    same = (0, 1.0, 1.0, Others())
    found = dict.fromkeys(("extension", "extension, released", "ctypes.PyDLL", "ctypes.CDLL"), same)
    _, standings = told(prepare, lesson, "held_or_released", found)
    assert standings["released-at-once"] == "skipped"


def test_a_binding_that_costs_nothing_and_checks_nothing_is_told(
    prepare: Play, lesson: Lesson, module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = {"pybind11": [1e-7] * 9, "method table": [1e-7] * 9}
    _, standings = told(prepare, lesson, "from_cpp", (0.3, 2, "3", calls))
    assert set(standings.values()) == {"refuted"}
    monkeypatch.setattr(module, "lacking", lambda: NO_GCC)
    _, standings = told(prepare, lesson, "from_cpp", (20.0, 0, "longest_run takes uint8", {"pybind11": [1e-7]}), None)
    assert standings.pop("same-by-torch") == standings.pop("wrong-type-is-told") == "held"
    assert set(standings.values()) == {"skipped"}


@pytest.mark.parametrize(("python_s", "words"), [(2e-6, "time it from C++"), (1e-6, "too small to be told")])
def test_what_python_adds_is_told_as_it_came_out(prepare: Play, lesson: Lesson, python_s: float, words: str) -> None:
    printed, standings = told(prepare, lesson, "timed_in_both", [(measured(python_s), measured(1e-6))] * 9)
    assert words in printed
    assert standings["python-on-top"] == ("held" if python_s > 1.5e-6 else "refuted")
    assert "published" in printed
