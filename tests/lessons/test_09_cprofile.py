"""Tests of the explanations of lesson 09, for made-up results."""

import importlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sessions import Play, explained

from harness.machine.background_load import BackgroundLoad
from harness.machine.environment import GIL_OFF, GIL_ON
from harness.profiles import ProfiledFunction, ProfiledScript
from lessons.engine.lesson import Lesson

MODULE = importlib.import_module("lessons.09_cprofile")


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    assert isinstance(MODULE.lesson, Lesson)
    return MODULE.lesson


def function(
    name: str, calls: int, own_s: float, cumulative_s: float, outer_calls: int | None = None
) -> ProfiledFunction:
    return ProfiledFunction(
        name, "script.py", calls, calls if outer_calls is None else outer_calls, own_s, cumulative_s, {}
    )


def looks(sampled: Counter[str], traced: Counter[str], tracing_s: float, little: int = 40_000) -> Any:
    found = {"counting": Counter(little=little, much=4, program=1), "sampling": sampled, "tracing": traced}
    turns = [{"plain": 1.0, "counting": 3.0, "sampling": 1.1, "tracing": tracing_s}] * 5
    return MODULE.Looks(found, turns)


def test_each_step_has_a_question(lesson: Lesson) -> None:
    assert all(step.predict is not None for step in lesson.steps)


def test_a_tracer_that_costs_nothing_and_agrees_with_the_samples_refutes_the_claims_about_its_cost(
    prepare: Play, lesson: Lesson
) -> None:
    seen = Counter(little=300, much=700, program=0)
    printed, standings = explained(prepare, lesson, "three_ways_to_look", looks(seen, seen, tracing_s=1.0))
    assert standings == {
        "counts-know-no-time": "held",
        "tracing-costs": "refuted",
        "sampling-costs-less": "refuted",
        "tracing-blames-calls": "refuted",
    }
    assert "did not make the share of much smaller" in printed
    assert "sampling costs more CPU time than tracing" in printed
    assert "Measured Counting each call" in printed


def test_only_a_python_with_a_global_lock_explains_how_long_the_sampler_waits_for_it() -> None:
    assert "After waiting for 5 ms" in MODULE.sampler_text(0.005, GIL_ON)
    assert MODULE.sampler_text(0.005, GIL_OFF) == ""


def test_few_samples_decide_no_claim_about_shares(prepare: Play, lesson: Lesson) -> None:
    seen, traced = Counter(little=1, much=2), Counter(little=600, much=400)
    _, standings = explained(prepare, lesson, "three_ways_to_look", looks(seen, traced, tracing_s=2.0))
    assert standings["counts-know-no-time"] == "inconclusive"
    assert standings["tracing-blames-calls"] == "inconclusive"
    assert standings["tracing-costs"] == "held"


def test_functions_with_as_many_calls_as_each_other_refute_the_claim_about_counts(
    prepare: Play, lesson: Lesson
) -> None:
    found = looks(Counter(little=30, much=70), Counter(little=6, much=4), tracing_s=2.0, little=4)
    _, standings = explained(prepare, lesson, "three_ways_to_look", found)
    assert standings["counts-know-no-time"] == "refuted"


def test_a_main_with_much_own_time_refutes_the_claims_about_it(prepare: Play, lesson: Lesson) -> None:
    functions = (
        function("main", 1, 5.0, 6.0),
        function("<module>", 1, 1.0, 10.0),
        function("fib", 9, 1.0, 1.0, outer_calls=2),
    )
    _, standings = explained(prepare, lesson, "own_and_cumulative", MODULE.ScriptProfile(functions, "", 0.5))
    assert set(standings.values()) == {"refuted"}


def test_callers_that_do_not_add_up_refute_the_claims_about_callers(prepare: Play, lesson: Lesson) -> None:
    clean = ProfiledFunction("clean", "script.py", 3, 3, 1.0, 4.0, {"load": (2, 2.0), "report": (1, 1.0)})
    _, standings = explained(prepare, lesson, "who_called_it", MODULE.Callers((clean,), ""))
    assert standings == {"callers-add-up": "refuted", "one-call-counts": "refuted"}


def ran(printed: str, fib: int) -> ProfiledScript:
    names = ("clean", "load", "report", "main")
    return ProfiledScript(printed, (function("fib", fib, 0.1, 0.1), *(function(name, 1, 0.1, 0.1) for name in names)))


def test_a_fast_profile_and_a_printed_table_refute_the_claims_about_the_command_line(
    prepare: Play, lesson: Lesson
) -> None:
    table = "0.5\n   ncalls  tottime\n   3  0.1\n   7  0.1\n"
    runs = MODULE.CommandRuns(ran(table, 5), [MODULE.Tracers(ran(table, 5), ran(table, 6))])
    printed, standings = explained(prepare, lesson, "from_the_command_line", runs)
    assert set(standings.values()) == {"refuted"}
    assert "Measured 1 times." in printed


def test_a_network_that_learns_nothing_and_a_slow_loop_refute_the_claims_about_training(
    prepare: Play, lesson: Lesson
) -> None:
    names = ("a", "b", "c", "torch._C._EngineBase.run_backward")
    functions = (function("train", 1, 9.0, 10.0), *(function(name, 1, 0.1, 0.1) for name in names))
    found = MODULE.Training([2.0, 2.0], functions, BackgroundLoad(0.0))
    printed, standings = explained(prepare, lesson, "a_network_trained", found)
    assert set(standings.values()) == {"refuted"}
    assert "train, which contains the training loop. train has an own time of 9 s." in printed
    _, standings = explained(prepare, lesson, "a_network_trained", found._replace(others=BackgroundLoad(1.5)))
    assert standings["backward-near-the-top"] == standings["loop-hardly-works"] == "inconclusive"


def test_a_tracer_that_slows_both_loops_alike_refutes_that_inlining_looks_better(prepare: Play, lesson: Lesson) -> None:
    unchanged = MODULE.Turn(with_calls=2.0, with_calls_traced=2.0, inlined=1.0, inlined_traced=1.0)
    printed, standings = explained(prepare, lesson, "what_asking_changes", [unchanged] * 3)
    assert standings == {"calls-are-slowed": "refuted", "inlining-gains": "held", "gain-looks-larger": "held"}
    assert "tracing hardly slows it" in printed
    slower = unchanged._replace(inlined=2.5, inlined_traced=5.0)
    printed, standings = explained(prepare, lesson, "what_asking_changes", [slower] * 3)
    assert set(standings.values()) == {"refuted"}
    assert "The inlined loop is slower with tracing too" in printed
    assert "did not exaggerate the speedup" in printed


def test_turns_that_disagree_print_no_result_as_certain(prepare: Play, lesson: Lesson) -> None:
    """If a loop is slower in one repetition and faster in the next, the text calls it neither slowed nor unchanged."""
    fast = MODULE.Turn(with_calls=2.0, with_calls_traced=2.0, inlined=1.0, inlined_traced=1.0)
    turns = [fast, fast._replace(inlined_traced=2.0)]
    printed, standings = explained(prepare, lesson, "what_asking_changes", turns)
    assert standings["gain-looks-larger"] == "inconclusive"
    assert "does not show whether tracing also slows the inlined loop" in printed
    assert "does not show that tracing exaggerates the speedup" in printed


@pytest.mark.parametrize(("version", "words"), [((3, 11), "Python 3.11 does not use"), ((3, 13), "another cause")])
def test_the_reason_for_a_slow_loop_without_calls_depends_on_the_version(version: tuple[int, int], words: str) -> None:
    assert words in MODULE.why_inlined_is_slower(version)


@pytest.mark.parametrize(
    ("version", "words"), [((3, 14), "Python 3.15 moves"), ((3, 15), "Python 3.17 will remove `profile`")]
)
def test_the_future_of_profile_depends_on_the_version(version: tuple[int, int], words: str) -> None:
    assert words in MODULE.future_of_profile(version)


@pytest.mark.parametrize(("field", "option"), [("2", "a"), ("3", "b"), ("1", None)])
def test_the_width_of_a_box_is_read_from_the_code_of_the_page(field: str, option: str | None) -> None:
    assert MODULE.width_option(f"var node_time = stats[node_name]['stats'][{field}];") == option


def test_a_name_with_an_address_is_shown_without_it() -> None:
    """The address differs in each run, so tables with addresses cannot be compared."""
    assert MODULE.bare("torch._C._VariableFunctionsClass.relu") == "_VariableFunctionsClass.relu"
    assert "0x" not in MODULE.bare("torch._VariableFunctions of type object at 0x7f0fb445ea00")


@pytest.mark.parametrize("listens_on", [("192.0.2.7",), ()])
def test_a_server_that_others_can_reach_and_that_does_not_end_refutes_the_claims_about_it(
    prepare: Play, lesson: Lesson, tmp_path: Path, listens_on: tuple[str, ...]
) -> None:
    kept = tmp_path / "train.html"
    kept.write_text('<script src="/static/x.js">', encoding="utf-8")
    pictures = MODULE.Pictures((function("train", 1, 1.0, 1.0),), kept, "no page", listens_on, ended=False)
    _, standings = explained(prepare, lesson, "in_pictures", pictures)
    assert standings.pop("loopback-only") == ("refuted" if listens_on else "skipped")
    assert set(standings.values()) == {"refuted"}


def taken(cprofile: float, trace: float, samples: int) -> list[Any]:
    """Return a result of the step `memory_of_a_profiler`. The first two arguments are the factors of the growth."""
    return [
        MODULE.Taken("counting", 50_000, 50_000),
        MODULE.Taken("sampling", 80, samples),
        MODULE.Taken("with_cprofile", 200_000, round(200_000 * cprofile)),
        MODULE.Taken("each_event", 1_000_000, round(1_000_000 * trace)),
    ]


@pytest.mark.parametrize(
    ("found", "standing", "words"),
    [
        (taken(1.0, 10.0, 0), "held", ("Less than 2×", "profile a program for hours", "A trace keeps each call")),
        (
            taken(9.0, 1.0, 1_000_000),
            "refuted",
            ("5× or more", "grew to more than 1.5 times", "to less than three times"),
        ),
    ],
)
def test_the_memory_of_profilers_is_explained_as_it_was_measured(
    prepare: Play, lesson: Lesson, found: list[Any], standing: str, words: tuple[str, ...]
) -> None:
    printed, standings = explained(prepare, lesson, "memory_of_a_profiler", found)
    assert set(standings.values()) == {standing}
    assert all(each in printed for each in words)
