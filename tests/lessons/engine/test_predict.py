import io

import pytest
from rich.console import Console

from harness.rendering import units
from lessons.engine.interval import Interval
from lessons.engine.predict import Answer, Choice, Guess, Judgement, ask
from lessons.engine.screen import Screen

CHOICE = Choice("How many?", {"a": "one", "b": "two"})
GUESS = Guess("How many calls?", "calls")


@pytest.mark.parametrize("typed", ["B", " b ", "b)", "Two"])
def test_a_choice_is_made_by_its_letter_or_its_words(typed: str) -> None:
    assert CHOICE.parse(typed) == Answer("b", "two")


@pytest.mark.parametrize("typed", ["c", "1", "twofold"])
def test_other_text_is_not_an_answer(typed: str) -> None:
    assert CHOICE.parse(typed) is None


def test_a_guess_must_be_a_positive_number() -> None:
    answer = GUESS.parse("2 000")
    assert answer is not None
    assert answer.value == 2000
    assert [typed for typed in ("many", "", "-3", "nan", "3 apples") if GUESS.parse(typed) is not None] == []


def test_a_wrong_choice_is_answered_with_the_right_one() -> None:
    right, wrong = CHOICE.judge(Answer("a", "one"), "a"), CHOICE.judge(Answer("a", "one"), "b")
    assert (right.right, right.words) == (True, "Your answer: one. That is right.")
    assert (wrong.right, wrong.words) == (False, "Your answer: one. The right answer: two.")
    assert CHOICE.judge(None, "b") == Judgement(None, "two", "two.")


def test_a_guess_within_a_factor_of_two_is_right() -> None:
    answer = Answer(100.0, "100 calls")
    assert GUESS.judge(answer, 200).right
    assert GUESS.judge(answer, 50).right
    far = GUESS.judge(answer, 2000)
    assert not far.right
    assert far.words == f"Your answer: 100 calls, {units.ratio(20)} too low. Measured: 2 000 calls."
    assert "too high" in GUESS.judge(answer, 10).words


def test_the_question_repeats_until_the_answer_can_be_read() -> None:
    typed, shown = iter(["what?", "b"]), list[str]()
    assert ask(CHOICE, lambda: next(typed), shown.append) == Answer("b", "two")
    assert shown == ["This is not one of the answers. Type a or b. Press Enter to skip."]


def test_text_that_is_not_a_number_gets_one_line_with_examples() -> None:
    typed, shown = iter(["many", "60k"]), list[str]()
    assert ask(GUESS, lambda: next(typed), shown.append) == Answer(60_000.0, "60 000 calls")
    (line,) = shown
    assert "Type a number of calls above 0, such as 3, 2.5e3, 1,000, 60k. Press Enter to skip." in line
    assert "\n" not in line


def test_enter_skips() -> None:
    assert ask(CHOICE, lambda: "", lambda _text: None) is None


def test_options_that_do_not_fit_on_one_line_have_a_line_each() -> None:
    short, long = (Choice("Which?", {"a": words, "b": words, "c": words}) for words in ("yes", "a long answer " * 3))
    for choice, lines in ((short, 1), (long, 3)):
        out = io.StringIO()
        Screen(Console(file=out, width=80)).ask(choice.question, choice.offer())
        assert len(out.getvalue().strip().splitlines()) == 1 + lines


TIMES = Choice.ranges("How many times?", (1.5, 5), units.ratio)


def test_a_question_about_ranges_has_one_option_per_range() -> None:
    assert list(TIMES.options.values()) == ["less than 1.5×", "1.5× to 5×", "5× or more"]
    with pytest.raises(ValueError, match="one limit fewer than options"):
        Choice("How many?", {"a": "one", "b": "two"}, limits=(1, 2))
    with pytest.raises(ValueError, match="no limits"):
        CHOICE.judge(None, 3.0)


@pytest.mark.parametrize(
    ("interval", "right", "truth"),
    [
        (Interval(2, 1.5, 4.9), True, "1.5× to 5×"),
        (Interval(1, 0.9, 1.4), False, "less than 1.5×"),
        (Interval(4, 3, 6), None, None),
        (Interval(4, 2, 4).widened(1), None, None),
        (Interval(6, 5, 7), False, "5× or more"),
        (Interval.unknown(), None, None),
        (Interval.exact(3).void_if(True), None, None),
    ],
)
def test_an_interval_decides_only_if_it_lies_within_one_option(
    interval: Interval, right: bool | None, truth: str | None
) -> None:
    judged = TIMES.judge(TIMES.parse("b"), interval)
    assert (judged.right, judged.truth) == (right, truth)
    if right is None:
        assert judged.words == "Your answer: 1.5× to 5×. This run gives no clear answer."


def test_an_answer_outside_all_possible_options_is_wrong() -> None:
    judged = TIMES.judge(TIMES.parse("a"), Interval(4, 3, 6))
    assert (judged.right, judged.truth) == (False, "1.5× to 5× or 5× or more")
    assert TIMES.judge(None, Interval(4, 3, 6)) == Judgement(None, None, "This run gives no clear answer.")


def test_an_interval_decides_a_guess_only_if_all_of_it_agrees() -> None:
    answer = GUESS.parse("100")
    assert GUESS.judge(answer, Interval(150, 120, 190)).right is True
    assert GUESS.judge(answer, Interval(300, 250, 350)).right is False
    assert GUESS.judge(answer, Interval(200, 150, 250)).right is None
    assert GUESS.judge(answer, Interval(300, 10, 900)).right is None
    assert GUESS.judge(answer, Interval.exact(100).void_if(True)).right is None
    assert GUESS.judge(answer, 0.0).words == "Your answer: 100 calls, far too high. Measured: 0 calls."
    assert GUESS.judge(answer, Interval.unknown()).words == "Your answer: 100 calls. This run gives no clear answer."
    assert GUESS.judge(None, Interval.unknown()).truth is None
