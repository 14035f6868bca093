"""Tests of the explanations of lesson 10, for made-up results."""

import importlib
from typing import Any

import pytest
from sessions import Play, explained

from harness.compilers import lacking
from harness.memory import Line, MemoryUse, Timeline
from lessons.engine.lesson import Lesson

MIB = 1 << 20
WHOLE = 50_000_000


MODULE = importlib.import_module("lessons.10_memory")


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    assert isinstance(MODULE.lesson, Lesson)
    return MODULE.lesson


def rounds(new: list[tuple[float, int]], out: tuple[float, int], in_place: tuple[float, int]) -> list[Any]:
    return [
        {"new": MODULE.Timing(*each), "out=": MODULE.Timing(*out), "in place": MODULE.Timing(*in_place)} for each in new
    ]


def held(added: float, kept: float = 0.0, *, exact: bool = True) -> MemoryUse:
    return MemoryUse(0, round(added * WHOLE), round(kept * WHOLE), exact)


def test_each_step_has_a_question(lesson: Lesson) -> None:
    assert all(step.predict is not None for step in lesson.steps)


def test_an_allocator_that_keeps_what_was_freed_refutes_that_new_memory_is_expensive(
    prepare: Play, lesson: Lesson
) -> None:
    turns = rounds([(1.0, 5)] * 3, (1.0, 5), (0.9, 5))
    printed, standings = explained(prepare, lesson, "asking_takes_time", turns)
    assert "new memory adds less than half of the time" in printed
    assert set(standings.values()) == {"refuted"}


def test_rounds_that_do_not_agree_decide_no_claim_about_time(prepare: Play, lesson: Lesson) -> None:
    turns = rounds([(1.0, 900), (9.0, 900)], (1.0, 0), (1.0, 0))
    printed, standings = explained(prepare, lesson, "asking_takes_time", turns)
    assert "does not show how much new memory costs" in printed
    assert "new memory adds less than half" not in printed
    assert standings == {"out-is-faster": "inconclusive", "in-place-is-faster": "inconclusive", "faults-tell": "held"}


def test_a_tensor_that_tracemalloc_counts_refutes_that_it_counts_none(prepare: Play, lesson: Lesson) -> None:
    seen = dict.fromkeys(("bytearray", "tensor", "empty tensor"), MODULE.Seen(WHOLE, WHOLE))
    printed, standings = explained(prepare, lesson, "two_witnesses", seen)
    assert "Nine tenths or more. tracemalloc counted 47.7 MiB" in printed
    assert [id_ for id_, how in standings.items() if how == "refuted"] == ["tracemalloc-is-blind", "empty-is-not-there"]


def test_small_objects_that_went_back_change_the_words(prepare: Play, lesson: Lesson) -> None:
    found = MODULE.Freed(100, 0, 60, 3, 1)
    printed, standings = explained(prepare, lesson, "freed_and_still_there", found)
    assert "most of the memory returned to the system" in printed
    assert "can therefore stay large" not in printed
    assert standings == {"large-goes-back": "held", "small-stays": "refuted"}


def test_objects_that_add_no_memory_decide_nothing(prepare: Play, lesson: Lesson) -> None:
    _, standings = explained(prepare, lesson, "freed_and_still_there", MODULE.Freed(0, 0, 0, 0, 1))
    assert standings == {"large-goes-back": "inconclusive", "small-stays": "inconclusive"}


def test_a_table_with_temporary_arrays_refutes_that_it_omits_them(prepare: Play, lesson: Lesson) -> None:
    texts = {"b = a * 2": 1.0, "c = (a + b) * (a - b)": 3.0, "del a": -1.0}
    lines = tuple(Line(n, text, 90 * MIB, more * 40e6, 1) for n, (text, more) in enumerate(texts.items()))
    printed, standings = explained(prepare, lesson, "line_by_line", lines)
    assert "114.4 MiB. The line also needs temporary arrays" in printed
    assert standings == {"line-is-named": "held", "del-is-named": "held", "between-is-not-seen": "refuted"}


@pytest.mark.parametrize("exact", [True, False])
def test_a_system_without_a_stored_peak_skips_the_claim_about_it(prepare: Play, lesson: Lesson, exact: bool) -> None:
    curve = Timeline(((0.0, 40 * MIB), (0.5, 40 * MIB), (0.6, 200 * MIB)), {"work": (0.5, 0.9)})
    found = MODULE.OverTime(curve, [100, 100], held(1.0, exact=exact), [100.0])
    printed, standings = explained(prepare, lesson, "over_time", found)
    assert standings == {"mprof-sees-the-peak": "held", "mark-sees-all": "held" if exact else "skipped"}
    assert "Less than a tenth. 2 samples showed a growth of 0 B." in printed


@pytest.mark.parametrize(
    ("method", "version", "words"),
    [
        ("fork", (3, 11), "This Python does not warn about this risk"),
        ("fork", (3, 13), "hides it by default"),
        ("forkserver", (3, 14), "imports your program again"),
        ("spawn", (3, 11), "imports your program again"),
    ],
)
def test_the_text_describes_how_this_python_starts_a_process(method: str, version: tuple[int, int], words: str) -> None:
    assert words in MODULE.how_it_starts(method, version)


def test_names_that_cost_nothing_refute_that_they_do(prepare: Play, lesson: Lesson) -> None:
    found = {"with names": held(2.0), "one line": held(2.0), "in place": held(1.0), "in blocks, the sum": held(0.01)}
    printed, standings = explained(prepare, lesson, "fewer_lines", found)
    assert "Measured Less than 20 %." in printed
    assert standings["names-keep"] == "refuted"
    assert standings["in-place-is-one"] == "held"


@pytest.mark.parametrize(("stays", "cycle", "letter"), [(False, 0, "a"), (True, WHOLE, "b"), (True, 0, None)])
def test_the_answer_about_a_cycle_follows_the_measurement(stays: bool, cycle: int, letter: str | None) -> None:
    assert MODULE.when_freed(MODULE.LetGo(2, True, stays, cycle, WHOLE)) == letter


def test_the_text_about_references_follows_the_number() -> None:
    assert "Before Python 3.14 it returned 2" in MODULE.owners_text(1)
    assert "is the argument of this call" in MODULE.owners_text(2)


def on_the_heap(malloc: float, leaked: float, freed: float, *, again: int = 0, deeper: int = 10_400) -> Any:
    """Return a result of the step `stack_and_heap`. The growths are fractions of the block."""
    growth = {"malloc": malloc, "writing": 1.0, "del and gc.collect": leaked, "free": freed}
    return MODULE.StackAndHeap({after: round(part * WHOLE) for after, part in growth.items()}, again, deeper)


@pytest.mark.parametrize(
    ("found", "standing", "words"),
    [
        (on_the_heap(0.0, 1.0, 0.0), "held", ("Less than a tenth", "memory leak", "The stack needs no free")),
        (
            on_the_heap(1.0, 0.0, 1.0, again=16, deeper=9_000),
            "refuted",
            ("Nine tenths or more", "without a call of free", "used other bytes of the stack"),
        ),
    ],
)
def test_a_block_is_freed_only_by_free(
    prepare: Play, lesson: Lesson, monkeypatch: pytest.MonkeyPatch, found: Any, standing: str, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr(MODULE, "lacking", lambda: "")
    printed, standings = explained(prepare, lesson, "stack_and_heap", found)
    assert set(standings.values()) == {standing}
    assert all(each in printed for each in words)


def test_without_a_compiler_the_heap_is_measured_and_the_stack_is_skipped(
    prepare: Play, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MODULE, "lacking", lambda: "a C++ compiler is missing: apt-get install g++")
    found = MODULE.stack_and_heap()
    printed, standings = explained(prepare, lesson, "stack_and_heap", found)
    assert [id_ for id_, how in standings.items() if how == "skipped"] == ["stack-is-reused", "deeper-is-lower"]
    assert standings["del-does-not-free"] == "held"
    assert "apt-get install g++" in printed
    assert "The stack needs no free" not in printed


@pytest.mark.skipif(bool(lacking()), reason="needs a C++ compiler")
def test_a_call_inside_a_call_takes_more_of_the_stack() -> None:
    found = MODULE.stack_and_heap()
    assert found.again == 0
    assert found.deeper >= 10_000


def training(forward: float, backward: float) -> tuple[Line, ...]:
    """Return the table of two training steps. The growths are for one step, in outputs of the hidden layer."""
    hidden_bytes = 4 * 75_000 * 128
    return (
        Line(1, "    loss = cross_entropy(network(x), y)", 3e8, 2 * forward * hidden_bytes, 2),
        Line(2, "    slopes = grad(loss, weights)", 3e8, 2 * backward * hidden_bytes, 2),
        Line(3, "        w.sub_(slope, alpha=0.5)", 3e8, 1e5, 8),
        Line(4, ""),
    )


@pytest.mark.parametrize(
    ("lines", "standing", "words"),
    [
        (training(1.1, -1.1), "held", ("The forward pass, loss", "keeps numbers for the backward pass", "frees them")),
        (training(0.1, 0.2), "refuted", ("The backward pass, slopes", "keeps little memory", "frees little memory")),
    ],
)
def test_the_memory_of_training_is_explained_as_it_was_measured(
    prepare: Play, lesson: Lesson, lines: tuple[Line, ...], standing: str, words: tuple[str, ...]
) -> None:
    printed, standings = explained(prepare, lesson, "memory_of_training", lines)
    assert standings == {"forward-keeps": standing, "backward-frees": standing}
    assert all(each in printed for each in words)
