import sys
from importlib import import_module

import numpy as np
import pytest

from harness.bytecode import instructions, plain_instructions

programs = import_module("grader.tasks.lesson_13_bytecode.run")


def test_programs_hold_jumps_in_both_directions_and_all_kinds_of_operators() -> None:
    drawn = [case for seed in range(8) for case in programs.draw_cases(np.random.default_rng(seed))]
    rows = [(at, one) for case in drawn for at, one in enumerate(plain_instructions(case._called().__code__))]
    names = {one.name for _, one in rows}
    assert {"COPY", "SWAP", "UNARY_NEGATIVE", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE"} <= names
    jumps = [(at, int(one.argument or 0)) for at, one in rows if "JUMP" in one.name]
    assert any(to < at for at, to in jumps)
    assert any(to > at for at, to in jumps)


def test_a_program_names_the_python_that_compiled_it(monkeypatch: pytest.MonkeyPatch) -> None:
    this = f"compiled by Python {sys.version_info.major}.{sys.version_info.minor}"
    assert {case.title.endswith(this) for case in programs.draw_cases(np.random.default_rng(1))} == {True}
    monkeypatch.setattr(instructions, "CHECKED_ON", ((3, 3),))
    assert f"{this} (checked on 3.3 to 3.3)" in programs.draw_cases(np.random.default_rng(1))[0].title


def test_no_program_divides_by_zero_or_grows_without_end() -> None:
    for seed in range(8):
        for case in (
            *programs.draw_cases(np.random.default_rng(seed)),
            *programs.draw_timed(np.random.default_rng(seed)),
        ):
            assert abs(case.right) < 1e12, case.text


def test_what_is_timed_goes_round_often_enough_that_translating_does_not_decide() -> None:
    for scenario in programs.draw_timed(np.random.default_rng(3)):
        assert "while" in scenario.text
        assert len(plain_instructions(scenario._called().__code__)) < programs.TIMED_ROUNDS


def test_a_truth_value_is_no_number_and_a_number_no_truth_value() -> None:
    case = next(case for case in programs.draw_cases(np.random.default_rng(5)) if "a < b," in case.title)
    assert case.right is True
    assert case.judge(1) is not None
    assert case.judge(True) is None
