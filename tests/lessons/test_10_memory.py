"""What the lesson on memory says when a machine shows the opposite; results are planted, nothing is measured."""

import importlib

import pytest
from sessions import Play, explained

from harness.memory import Held, Line, Timeline
from lessons.engine.lesson import Lesson

MIB = 1 << 20
WHOLE = 50_000_000


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    whole = importlib.import_module("lessons.10_memory").lesson
    assert isinstance(whole, Lesson)
    return whole


def held(added: float, kept: float = 0.0, *, exact: bool = True) -> Held:
    return Held(0, round(added * WHOLE), round(kept * WHOLE), exact)


def test_every_step_asks_before_it_reveals(lesson: Lesson) -> None:
    assert all(step.predict is not None for step in lesson.steps)


def test_an_allocator_that_keeps_what_was_freed_refutes_that_new_memory_is_dear(prepare: Play, lesson: Lesson) -> None:
    turns = [{"new": (1.0, 5), "out=": (1.0, 5), "in place": (0.9, 5)}] * 3
    printed, standings = explained(prepare, lesson, "asking_takes_time", turns)
    assert "Here new memory is cheap" in printed
    assert set(standings.values()) == {"refuted"}


def test_turns_that_do_not_agree_leave_it_open(prepare: Play, lesson: Lesson) -> None:
    turns = [{"new": (s, 900), "out=": (1.0, 0), "in place": (1.0, 0)} for s in (1.0, 9.0)]
    _, standings = explained(prepare, lesson, "asking_takes_time", turns)
    assert standings == {"out-is-faster": "inconclusive", "in-place-is-faster": "inconclusive", "faults-tell": "held"}


def test_a_tensor_that_tracemalloc_sees_is_told_as_seen(prepare: Play, lesson: Lesson) -> None:
    seen = dict.fromkeys(("bytes", "tensor", "empty tensor"), (WHOLE, WHOLE))
    printed, standings = explained(prepare, lesson, "two_witnesses", seen)
    assert "All of it. It saw 47.7 MiB" in printed
    assert [id_ for id_, how in standings.items() if how == "refuted"] == ["tracemalloc-is-blind", "empty-is-not-there"]


def test_small_objects_that_went_back_change_the_words(prepare: Play, lesson: Lesson) -> None:
    found = {"large": 1.0, "large, freed": 0.0, "small": 60.0, "small, freed": 3.0, "small, in use": 1.0}
    printed, standings = explained(prepare, lesson, "freed_and_still_there", found)
    assert "Here most of it went back" in printed
    assert standings == {"large-goes-back": "held", "small-stays": "refuted"}


def test_a_table_that_saw_within_the_line_refutes_that_nobody_does(prepare: Play, lesson: Lesson) -> None:
    texts = {"b = a * 2": 1.0, "c = (a + b) * (a - b)": 3.0, "del a": -1.0}
    lines = tuple(Line(n, text, 90 * MIB, more * 40e6, 1) for n, (text, more) in enumerate(texts.items()))
    printed, standings = explained(prepare, lesson, "line_by_line", lines)
    assert "114.4 MiB. Two more" in printed
    assert standings == {"line-is-named": "held", "del-is-named": "held", "between-is-not-seen": "refuted"}


@pytest.mark.parametrize("exact", [True, False])
def test_a_system_without_a_mark_skips_what_needs_one(prepare: Play, lesson: Lesson, exact: bool) -> None:
    curve = Timeline(((0.0, 40 * MIB), (0.5, 40 * MIB), (0.6, 200 * MIB)), {"work": (0.5, 0.9)})
    printed, standings = explained(prepare, lesson, "over_time", (curve, [100, 100], held(1.0, exact=exact), [100.0]))
    assert standings == {"mprof-sees-the-peak": "held", "mark-sees-all": "held" if exact else "skipped"}
    assert "No. 0 B of it, in 2 looks" in printed


@pytest.mark.parametrize(
    ("method", "version", "words"),
    [
        ("fork", (3, 11), "does not warn of that, as Python 3.12 does"),
        ("fork", (3, 13), "and this Python warns of that"),
        ("forkserver", (3, 14), "imports your program again"),
        ("spawn", (3, 11), "imports your program again"),
    ],
)
def test_how_a_process_to_look_starts_is_said_of_this_python(method: str, version: tuple[int, int], words: str) -> None:
    module = importlib.import_module("lessons.10_memory")
    assert words in module.how_it_starts(method, version)


def test_names_that_cost_nothing_are_told_so(prepare: Play, lesson: Lesson) -> None:
    found = {"a name each": held(2.0), "one line": held(2.0), "in place": held(1.0), "in blocks, the sum": held(0.01)}
    printed, standings = explained(prepare, lesson, "fewer_lines", found)
    assert "Measured The same." in printed
    assert standings["names-keep"] == "refuted"
    assert standings["in-place-is-one"] == "held"
