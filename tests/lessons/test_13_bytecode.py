"""Tests of the explanations of lesson 13, for made-up results and for a Python version that was not checked."""

import dis
import importlib.util
import sys
from dataclasses import replace
from typing import Any

import pytest
from sessions import MadeUp, duel

from harness.bytecode import instructions

LESSON = MadeUp("13_bytecode")
UNCLEAR = "This run gives no clear answer"
KINDS = ("nothing yet", "int", "float", "str")


def executed(*ratios: Any, in_c: int = 11) -> Any:
    """Return a result of the step `executed_opcodes`. A number stands for a duel with this ratio."""
    rows = (
        ("four_lines", 1800, 1800, 18_000),
        ("one_line", 1200, 1200, 12_000),
        ("a_list", 1400, 1400, 14_000),
        ("in_c", 11, 11, in_c),
    )
    duels = [each if not isinstance(each, float) else duel(each) for each in ratios]
    return LESSON.Executed([LESSON.Counts(*row) for row in rows], duels)


def test_on_an_unchecked_version_other_opcodes_skip_a_claim_and_the_same_ones_settle_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    LESSON.check("the_value_stack", "Python 3.99 compiles this to LOAD_ODD.", "skipped", "LOAD_ODD")
    monkeypatch.setattr(instructions, "CHECKED_ON", ((3, 3),))
    never = {kind: ["LOAD_ODD", "ADD_ODD"] for kind in KINDS}
    LESSON.check("instructions_that_adapt", never, "skipped", "checked on 3.3 to 3.3", UNCLEAR)
    adapts = {kind: [f"BINARY_OP{suffix}"] for kind, suffix in zip(KINDS, ("", "_ADD_INT", "_F", "_S"), strict=True)}
    LESSON.check("instructions_that_adapt", adapts, "held")
    code, folded = (compile(text, "<text>", "exec") for text in ("d = a", "day = 86400"))
    stages = LESSON.Stages(["d"], "Assign()", code, folded)
    LESSON.check("from_text_to_opcodes", stages, "held", "was not checked on this version")


def test_pictures_stand_beside_the_instructions_of_this_python() -> None:
    own = [each.opname for each in dis.get_instructions(LESSON.formula)]
    LESSON.check("the_value_stack", LESSON.the_value_stack(), "held", *own)
    printed = LESSON.printed_by_dis(LESSON.formula)  # lines are counted from the definition of the function
    assert {line.split(maxsplit=1)[0] for line in printed.splitlines() if line[:4].strip()} == {"0", "2", "3"}


def test_the_duels_of_the_loops_are_explained_as_they_came_out() -> None:
    step, noisy = "executed_opcodes", replace(duel(0.6), low=0.2, high=1.8)
    LESSON.check(step, executed(0.6, 1.1, 1.2), "held", "these calls take more time than the loop")
    absent = ["take no more time", "take more time"]
    LESSON.check(step, executed(noisy, 1.1, 1.2), {"fewer-lines": "inconclusive"}, UNCLEAR, absent=absent)
    words = ("four_lines.", "these calls take no more time than the loop")
    LESSON.check(step, executed(1.4, 1.1, 1.2), {"fewer-lines": "refuted"}, *words)
    LESSON.check(step, executed(0.6, 1.1, 1.2, in_c=2000), {"no-loop-left": "refuted"})


def test_a_python_that_does_not_adapt_refutes_it() -> None:
    never = {kind: ["LOAD_FAST", "BINARY_OP"] for kind in KINDS}
    wanted = {"starts-plain": "held", "for-integers": "refuted", "by-what-it-meets": "refuted"}
    LESSON.check("instructions_that_adapt", never, wanted, "BINARY_OP stays")


def test_the_price_of_a_global_and_the_gain_of_an_old_trick_are_told_as_they_came_out() -> None:
    for ratio, standing, words in ((2.2, "held", "not a unit of time"), (1.0, "refuted", "in the dict costs little")):
        found = LESSON.Loops(7010, 7017, ["LOAD_FAST", "LOAD_NAME"], duel(ratio))
        LESSON.check("locals_against_globals", found, {"as-many-opcodes": "held", "top-is-slow": standing}, words)
    for gain, standing, words in (
        (1.05, "held", "Without the trick, the loop takes 1.05×"),
        (2.9, "refuted", "Without the trick, the loop still takes 2.90×"),
    ):
        wanted = {"cached-sqrt": standing, "while-one": "refuted", "literal-wins": "held"}
        LESSON.check("old_tricks", LESSON.Tricks(duel(gain), 2, duel(1.5)), wanted, words, "2 instructions differ")


def test_inline_caches_are_counted_where_they_are_mentioned() -> None:
    found = LESSON.from_text_to_opcodes()
    hidden = len(found.code.co_code) - 2 * len(list(dis.get_instructions(found.code)))
    assert hidden > 0
    LESSON.check("from_text_to_opcodes", found, {}, f"does not list {hidden} B of the code object")


def test_a_real_import_writes_a_pyc_file_that_a_change_of_the_time_makes_invalid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    found = LESSON.what_an_import_writes()
    assert sys.dont_write_bytecode
    wanted = dict.fromkeys(("magic-first", "same-code", "stale-pyc"), "held")
    LESSON.check("what_an_import_writes", found, wanted)


def test_a_pyc_file_is_explained_as_it_was_found() -> None:
    def imports(stale: int = 1, fresh: int = 2, *, same: bool = True, with_s: float = 1e-4) -> Any:
        """Return a result. An import without a .pyc file takes 5 ms."""
        head = importlib.util.MAGIC_NUMBER + b"".join(number.to_bytes(4, "little") for number in (0, 1, 13_000))
        turns = [LESSON.ImportTimes(5e-3, with_s)] * 9
        return LESSON.Imports(turns, 13_000, head + bytes(30_000), same, stale, fresh)

    for found, claim, standing, words in (
        (imports(), "stale-pyc", "held", "1. After a change of the time, the import gives 2."),
        (imports(fresh=1), "stale-pyc", "held", "After a change of the time, the import gives 1."),
        (imports(stale=2), "stale-pyc", "refuted", "Python noticed the change"),
        (imports(same=False), "same-code", "refuted", "differs from the compiled code object"),
        (imports(with_s=4e-3), "pyc-saves-time", "refuted", "4 ms"),
    ):
        LESSON.check("what_an_import_writes", found, {claim: standing}, words, "size of the source 12.7 KiB")


def test_old_opcodes_stand_beside_those_of_this_python() -> None:
    found = LESSON.opcodes_of_older_versions()
    assert set(found.names) == set(LESSON.RECORDED)
    words = ("BINARY_ADD BINARY_ADD BINARY_OP", LESSON.own_version())
    LESSON.check("opcodes_of_older_versions", found, "held", *words)
    old = {text: both[0].split() for text, both in LESSON.RECORDED.items()}
    found = LESSON.Operations(old, [f"BINARY_{n}" for n in range(13)])
    LESSON.check("opcodes_of_older_versions", found, "refuted", "13 or more.", "one opcode is not enough")
