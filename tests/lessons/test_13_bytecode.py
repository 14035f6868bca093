"""Tests of the explanations of lesson 13, for made-up results and for a Python version that was not checked."""

import sys

import pytest
from sessions import MadeUp

from harness.bytecode import instructions

LESSON = MadeUp("13_bytecode")
UNCLEAR = "This run gives no clear answer"
KINDS = ("nothing yet", "int", "float", "str")


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


def test_a_real_import_writes_a_pyc_file_that_a_change_of_the_time_makes_invalid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    found = LESSON.what_an_import_writes()
    assert sys.dont_write_bytecode
    wanted = dict.fromkeys(("magic-first", "same-code", "stale-pyc"), "held")
    LESSON.check("what_an_import_writes", found, wanted)
