"""A wrong number of calls is told with both sides worked out for the calls that decide."""

import pytest
from playing import find_task, play

TASK = find_task("12_jit_fusion", "break_even")


def remarks(source: str) -> dict[str, str]:
    game = play(TASK, source, seed=1)
    return {world.title: m.remark for world, m in zip(game.scenarios, game.mismatches, strict=True) if m}


def test_one_call_too_many_is_told_that_the_call_before_has_paid() -> None:
    wrong = remarks((TASK.known / "wrong_one_more_at_a_tie.py").read_text(encoding="utf-8"))
    assert wrong
    assert all(remark.endswith("it has paid already.") for remark in wrong.values())


def test_one_call_too_few_is_told_that_it_has_not_paid() -> None:
    wrong = remarks((TASK.known / "wrong_rounded_down.py").read_text(encoding="utf-8"))
    assert wrong
    assert all(remark.endswith("it has not paid yet.") for remark in wrong.values())


@pytest.mark.parametrize("answer", ["0", "-3", "2.5"])
def test_what_is_no_number_of_calls_is_told_so(answer: str) -> None:
    wrong = remarks(f"def break_even(compile_s, slow_s, fast_s):\n    return {answer}\n")
    assert "The answer is a whole number of calls, 1 or more." in wrong["a price like many"]
    assert "no number of calls earns the compiling back" in wrong["a compiled call is slower"]
