"""The remark on a wrong number of calls shows both total times at a number of calls that proves it wrong."""

import pytest
from playing import find_task, play

from grader import overlays

TASK = find_task("12_jit_fusion", "break_even")


def remarks(source: str) -> dict[str, str]:
    game = play(TASK, source, seed=1)
    return {scenario.title: m.remark for scenario, m in zip(game.scenarios, game.mismatches, strict=True) if m}


def test_one_call_too_many_is_told_that_the_call_before_has_paid() -> None:
    wrong = remarks(overlays.whole(TASK.known / "wrong_one_more_at_a_tie.py"))
    assert wrong
    assert all(remark.endswith("compiling has paid already.") for remark in wrong.values())


def test_one_call_too_few_is_told_that_it_has_not_paid() -> None:
    wrong = remarks(overlays.whole(TASK.known / "wrong_rounded_down.py"))
    assert wrong
    assert all(remark.endswith("compiling has not paid yet.") for remark in wrong.values())


@pytest.mark.parametrize("answer", ["0", "-3", "2.5"])
def test_what_is_no_number_of_calls_is_told_so(answer: str) -> None:
    wrong = remarks(f"def break_even(compile_s, slow_s, fast_s):\n    return {answer}\n")
    assert "The answer must be a whole number of calls, at least 1." in wrong["an ordinary case"]
    assert "so compiling never pays: return None." in wrong["a compiled call is slower"]
