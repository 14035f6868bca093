"""Tests of the explanations of lesson 13, for made-up results and for a Python version that was not checked."""

import dis
import importlib
import importlib.util
import sys
from dataclasses import replace
from typing import Any

import pytest
from sessions import Play, duel, explained

from harness.bytecode import instructions
from lessons.engine.lesson import Lesson


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    whole = importlib.import_module("lessons.13_bytecode").lesson
    assert isinstance(whole, Lesson)
    return whole


def counts(in_c: int = 11) -> list[Any]:
    lesson = importlib.import_module("lessons.13_bytecode")
    rows = [
        ("four_lines", 1800, 1800, 18_000),
        ("one_line", 1200, 1200, 12_000),
        ("a_list", 1400, 1400, 14_000),
        ("in_c", 11, 11, in_c),
    ]
    return [lesson.Counts(*row) for row in rows]


def executed(*ratios: Any, in_c: int = 11) -> Any:
    """Return a result of the step `executed_opcodes`. A number stands for a duel with this ratio."""
    duels = [each if not isinstance(each, float) else duel(each) for each in ratios]
    return importlib.import_module("lessons.13_bytecode").Executed(counts(in_c), duels)


def test_a_version_that_was_not_checked_has_no_pictures_and_says_why(prepare: Play, lesson: Lesson) -> None:
    printed, standings = explained(prepare, lesson, "the_value_stack", "Python 3.99 compiles this to LOAD_ODD.")
    assert "LOAD_ODD" in printed
    assert set(standings.values()) == {"skipped"}


def test_on_an_unchecked_version_other_opcodes_skip_a_claim_and_the_same_ones_settle_it(
    prepare: Play, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instructions, "CHECKED_ON", ((3, 3),))
    never = {kind: ["LOAD_ODD", "ADD_ODD"] for kind in ("nothing yet", "int", "float", "str")}
    printed, standings = explained(prepare, lesson, "instructions_that_adapt", never)
    assert set(standings.values()) == {"skipped"}
    assert "checked on 3.3 to 3.3" in printed
    assert "This run gives no clear answer" in printed
    adapts = {"nothing yet": ["BINARY_OP"], "int": ["BINARY_OP_ADD_INT"], "float": ["BINARY_OP_F"]}
    printed, standings = explained(prepare, lesson, "instructions_that_adapt", {**adapts, "str": ["BINARY_OP_S"]})
    assert set(standings.values()) == {"held"}


@pytest.mark.parametrize(
    ("checked_on", "words"),
    [(((3, 3),), "was not checked on this version"), (None, "You see the opcodes of Python 3.")],
)
def test_the_lesson_names_its_python_and_the_versions_that_were_checked(
    prepare: Play,
    lesson: Lesson,
    monkeypatch: pytest.MonkeyPatch,
    checked_on: tuple[tuple[int, int], ...] | None,
    words: str,
) -> None:
    if checked_on:
        monkeypatch.setattr(instructions, "CHECKED_ON", checked_on)
    code, folded = (compile(text, "<text>", "exec") for text in ("d = a", "day = 86400"))
    stages = importlib.import_module("lessons.13_bytecode").Stages(["d"], "Assign()", code, folded)
    printed, standings = explained(prepare, lesson, "from_text_to_opcodes", stages)
    assert words in printed
    assert f"Python {sys.version_info.major}.{sys.version_info.minor} (checked on" in printed
    assert set(standings.values()) == {"held"}


def test_pictures_stand_beside_the_instructions_of_this_python(prepare: Play, lesson: Lesson) -> None:
    module = importlib.import_module("lessons.13_bytecode")
    printed, standings = explained(prepare, lesson, "the_value_stack", module.the_value_stack())
    assert set(standings.values()) == {"held"}
    own = [each.opname for each in dis.get_instructions(module.formula)]
    assert all(name in printed for name in own)
    assert ("simplified instructions" in printed) == (sys.version_info >= (3, 13))


def test_noise_neither_reveals_an_answer_nor_says_that_a_call_costs_nothing(prepare: Play, lesson: Lesson) -> None:
    noisy = replace(duel(0.6), low=0.2, high=1.8)
    printed, standings = explained(prepare, lesson, "executed_opcodes", executed(noisy, 1.1, 1.2))
    assert standings["fewer-lines"] == "inconclusive"
    assert "This run gives no clear answer" in printed
    assert "take no more time" not in printed
    assert "take more time" not in printed


def test_one_line_that_is_faster_is_not_called_slower(prepare: Play, lesson: Lesson) -> None:
    printed, standings = explained(prepare, lesson, "executed_opcodes", executed(1.4, 1.1, 1.2))
    assert standings["fewer-lines"] == "refuted"
    assert "Measured four_lines." in printed
    assert "these calls take no more time than the loop" in printed


def test_one_line_that_is_slower_is_explained(prepare: Play, lesson: Lesson) -> None:
    found = executed(0.6, 1.1, 1.2)
    printed, standings = explained(prepare, lesson, "executed_opcodes", found)
    assert set(standings.values()) == {"held"}
    assert "these calls take more time than the loop" in printed


def test_a_loop_left_in_python_refutes_that_there_is_none(prepare: Play, lesson: Lesson) -> None:
    _, standings = explained(prepare, lesson, "executed_opcodes", executed(0.6, 1.1, 1.2, in_c=2000))
    assert standings["no-loop-left"] == "refuted"


def test_a_python_that_does_not_adapt_refutes_it(prepare: Play, lesson: Lesson) -> None:
    never = {kind: ["LOAD_FAST", "BINARY_OP"] for kind in ("nothing yet", "int", "float", "str")}
    printed, standings = explained(prepare, lesson, "instructions_that_adapt", never)
    assert standings == {"starts-plain": "held", "for-integers": "refuted", "by-what-it-meets": "refuted"}
    assert "BINARY_OP stays" in printed


@pytest.mark.parametrize(
    ("ratio", "standing", "words"), [(2.2, "held", "not a unit of time"), (1.0, "refuted", "in the dict costs little")]
)
def test_the_price_of_a_global_is_told_as_it_came_out(
    prepare: Play, lesson: Lesson, ratio: float, standing: str, words: str
) -> None:
    module = importlib.import_module("lessons.13_bytecode")
    found = module.Loops(7010, 7017, ["LOAD_FAST", "LOAD_NAME"], duel(ratio))
    printed, standings = explained(prepare, lesson, "locals_against_globals", found)
    assert standings == {"as-many-opcodes": "held", "top-is-slow": standing}
    assert words in printed


@pytest.mark.parametrize(
    ("gain", "standing", "words"),
    [
        (1.05, "held", "Without the trick, the loop takes 1.05×"),
        (2.9, "refuted", "Without the trick, the loop still takes 2.90×"),
    ],
)
def test_an_old_trick_that_still_gains_is_not_called_a_myth(
    prepare: Play, lesson: Lesson, gain: float, standing: str, words: str
) -> None:
    module = importlib.import_module("lessons.13_bytecode")
    printed, standings = explained(prepare, lesson, "old_tricks", module.Tricks(duel(gain), 2, duel(1.5)))
    assert standings == {"cached-sqrt": standing, "while-one": "refuted", "literal-wins": "held"}
    assert words in printed
    assert "2 instructions differ" in printed


def test_inline_caches_are_counted_where_they_are_mentioned(prepare: Play, lesson: Lesson) -> None:
    module = importlib.import_module("lessons.13_bytecode")
    found = module.from_text_to_opcodes()
    printed, _ = explained(prepare, lesson, "from_text_to_opcodes", found)
    hidden = len(found.code.co_code) - 2 * len(list(dis.get_instructions(found.code)))
    assert hidden > 0
    assert f"does not list {hidden} B of the code object" in printed


def test_the_lesson_states_how_specialised_opcodes_are_counted(prepare: Play, lesson: Lesson) -> None:
    printed, _ = explained(prepare, lesson, "executed_opcodes", executed(0.6, 1.1, 1.2))
    assert "counts a specialised opcode (step 6) as the plain opcode" in printed


def imports(stale: int = 1, fresh: int = 2, *, same: bool = True, with_s: float = 1e-4) -> Any:
    """Return a result of the step `what_an_import_writes`. An import without a .pyc file takes 5 ms."""
    lesson = importlib.import_module("lessons.13_bytecode")
    head = importlib.util.MAGIC_NUMBER + b"".join(number.to_bytes(4, "little") for number in (0, 1, 13_000))
    return lesson.Imports([lesson.ImportTimes(5e-3, with_s)] * 9, 13_000, head + bytes(30_000), same, stale, fresh)


def test_a_real_import_writes_a_pyc_file_that_a_change_of_the_time_makes_invalid(
    prepare: Play, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    found = importlib.import_module("lessons.13_bytecode").what_an_import_writes()
    assert sys.dont_write_bytecode
    _, standings = explained(prepare, lesson, "what_an_import_writes", found)
    assert {id_: standings[id_] for id_ in standings if id_ != "pyc-saves-time"} == {
        "magic-first": "held",
        "same-code": "held",
        "stale-pyc": "held",
    }


@pytest.mark.parametrize(
    ("found", "claim", "standing", "words"),
    [
        (imports(), "stale-pyc", "held", "Measured 1. After a change of the time, the import gives 2."),
        (imports(fresh=1), "stale-pyc", "held", "After a change of the time, the import gives 1."),
        (imports(stale=2), "stale-pyc", "refuted", "Python noticed the change"),
        (imports(same=False), "same-code", "refuted", "differs from the compiled code object"),
        (imports(with_s=4e-3), "pyc-saves-time", "refuted", "4 ms"),
    ],
)
def test_a_pyc_file_is_explained_as_it_was_found(
    prepare: Play, lesson: Lesson, found: Any, claim: str, standing: str, words: str
) -> None:
    printed, standings = explained(prepare, lesson, "what_an_import_writes", found)
    assert standings[claim] == standing
    assert words in printed
    assert "size of the source 12.7 KiB" in printed


def test_old_opcodes_stand_beside_those_of_this_python(prepare: Play, lesson: Lesson) -> None:
    module = importlib.import_module("lessons.13_bytecode")
    found = module.opcodes_of_older_versions()
    assert set(found.names) == set(module.RECORDED)
    printed, standings = explained(prepare, lesson, "opcodes_of_older_versions", found)
    assert set(standings.values()) == {"held"}
    assert "BINARY_ADD BINARY_ADD BINARY_OP" in printed
    assert module.own_version() in printed


def test_a_python_with_an_opcode_per_operator_is_not_said_to_need_one(prepare: Play, lesson: Lesson) -> None:
    module = importlib.import_module("lessons.13_bytecode")
    old = {text: both[0].split() for text, both in module.RECORDED.items()}
    found = module.Operations(old, [f"BINARY_{n}" for n in range(13)])
    printed, standings = explained(prepare, lesson, "opcodes_of_older_versions", found)
    assert standings == {"one-for-all": "refuted", "not-as-before": "refuted"}
    assert "Measured 13 or more." in printed
    assert "one opcode is not enough" in printed


def test_the_output_of_dis_counts_lines_from_the_definition_of_the_function() -> None:
    module = importlib.import_module("lessons.13_bytecode")
    printed = module.printed_by_dis(module.formula)
    assert {line.split()[0] for line in printed.splitlines() if line[:4].strip()} == {"0", "2", "3"}
