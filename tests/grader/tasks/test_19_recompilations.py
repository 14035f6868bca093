"""Task (a) of lesson 19: logs of recompilations with known causes."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from grader import paths

logs = import_module("grader.tasks.lesson_19_compile.logs")
recorded = import_module("grader.tasks.lesson_19_compile.recorded")


def drawn(seed: int = 1) -> tuple[Any, ...]:
    return tuple(logs.draw_scenarios(np.random.default_rng(seed)))


def solve(lines: list[str]) -> object:
    names: dict[str, Any] = {}
    exec(paths.solution("19_compile").read_text(encoding="utf-8"), names)  # noqa: S102 - the reference solution
    return names["recompilations"](lines)


def test_the_log_in_the_exercise_has_the_row_that_it_shows() -> None:
    text = paths.solution("19_compile").read_text(encoding="utf-8")
    shown = [line.strip() for line in text.splitlines() if "… [0/2]" in line]
    assert len(shown) == 4
    assert solve(shown) == [["step", "/app/train.py:10", "value", 1]]


def test_the_newest_guard_of_each_recorded_message_shows_the_change_of_the_program() -> None:
    for block in recorded.load().blocks:
        lines = [block.prefix + line for line in (*block.head, *(line for each in block.reasons for line in each))]
        assert solve(lines) == [[recorded.FUNCTION, f"{recorded.FILE}:10", block.change, 1]]


def test_each_cause_is_recorded_and_some_messages_have_more_than_ten_guards() -> None:
    blocks = recorded.load().blocks
    assert sorted({block.change for block in blocks}) == sorted(logs.CAUSES)
    assert sum(len(block.reasons) > 10 for block in blocks) >= 2
    assert all(len(block.reasons) == len({reason[0].split(":")[0] for reason in block.reasons}) for block in blocks)


def test_renamed_messages_name_no_recorded_function_or_file() -> None:
    messages = [part for log in drawn() for part in log.parts if isinstance(part, logs.Message)]
    assert all(part.function in part.lines[0] and part.place in part.lines[0] for part in messages)
    assert not any(recorded.FUNCTION in line or recorded.FILE in line for part in messages for line in part.lines)


def test_two_places_have_one_name_and_different_rows() -> None:
    log = next(log for log in drawn() if log.title == "one name in two places")
    assert len({row[0] for row in log.right}) == 1
    assert len({row[1] for row in log.right}) == 2


@pytest.mark.long
def test_a_recorded_program_gives_messages_with_the_change_before_the_call() -> None:
    record = import_module("grader.tasks.lesson_19_compile.record")
    blocks, others = record.recorded("breaks")
    assert [block.change for block in blocks] == ["breaks"] * len(blocks)
    assert len(blocks) >= 2
    assert any("[__graph_breaks]" in line for line in others)
    assert all(line.startswith("    - ") for block in blocks for reason in block.reasons for line in reason)
    assert not any("fairclock-record" in line for block in blocks for reason in block.reasons for line in reason)
