"""What the lesson on counting says when a Python shows the opposite; results are planted, nothing is counted."""

import importlib

import pytest
from sessions import Play, explained
from torch.utils.benchmark.utils.common import TaskSpec
from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import CallgrindStats, FunctionCount, FunctionCounts

from harness.callgrind import Counted, lookups
from lessons.engine.lesson import Lesson

SEARCH = "???:0x0000000000530910 [/usr/bin/python3.13]"
EVAL = "???:_PyEval_EvalFrameDefault [/usr/bin/python3.13]"
NAMED = "Objects/dictobject.c:unicodekeys_lookup_unicode [/usr/lib/libpython3.11.so.1.0]"


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    whole = importlib.import_module("lessons.08_callgrind").lesson
    assert isinstance(whole, Lesson)
    return whole


def counts(*rows: tuple[int, str]) -> FunctionCounts:
    return FunctionCounts(tuple(FunctionCount(*row) for row in rows), False)


def collected(*rows: tuple[int, str]) -> CallgrindStats:
    none, own = counts(), counts(*rows)
    return CallgrindStats(TaskSpec("x * y", "pass"), 100, False, none, none, own, own, None)


@pytest.mark.parametrize(
    ("found", "standing", "words"),
    [
        (frozenset(), "refuted", "neither by its name nor by an experiment"),
        (frozenset({"???:0x0000000000530910"}), "held", "without the names of its inner functions"),
    ],
)
def test_a_python_without_names_is_told_how_its_search_was_found(
    prepare: Play,
    lesson: Lesson,
    monkeypatch: pytest.MonkeyPatch,
    found: frozenset[str],
    standing: str,
    words: str,
) -> None:
    monkeypatch.setattr(lookups, "nameless", lambda: found)
    runs = tuple(collected((more, SEARCH), (900, EVAL)) for more in (300, 200))
    printed, standings = explained(prepare, lesson, "a_statement_of_torch", {"Python": Counted(runs)})
    assert standings == {"python-varies": "held", "lookups-are-noise": standing}
    assert words in printed
    assert "It took out nothing" in printed


def test_a_repeat_without_any_search_refutes_that_each_has_some(prepare: Play, lesson: Lesson) -> None:
    runs = (collected((300, NAMED), (900, EVAL)), collected((900, EVAL), (5, "Objects/dictobject.c:lookup [/x]")))
    _, standings = explained(prepare, lesson, "a_statement_of_torch", {"Python": Counted(runs)})
    assert standings["lookups-are-noise"] == "refuted"


def test_a_search_with_a_name_is_said_to_have_one(prepare: Play, lesson: Lesson) -> None:
    runs = (collected((300, NAMED), (900, EVAL)),) * 2
    printed, standings = explained(prepare, lesson, "a_statement_of_torch", {"Python": Counted(runs)})
    assert standings == {"python-varies": "refuted", "lookups-are-noise": "held"}
    assert "knows the names of today" in printed
