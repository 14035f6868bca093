import io

import pytest
from rich.console import Console

from harness import units
from lessons.engine.predict import Answer, Choice, Guess, ask
from lessons.engine.screen import Screen

CHOICE = Choice("How many?", {"a": "one", "b": "two"})
GUESS = Guess("How many calls?", "calls")


@pytest.mark.parametrize("typed", ["b", "B", " b ", "b)", "two", "Two"])
def test_a_choice_is_made_by_its_letter_or_its_words(typed: str) -> None:
    assert CHOICE.parse(typed) == Answer("b", "two")


@pytest.mark.parametrize("typed", ["c", "ab", "1", "twofold"])
def test_what_is_no_option_is_no_answer(typed: str) -> None:
    assert CHOICE.parse(typed) is None


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("2000", 2000),
        ("2 000", 2000),
        ("2,000", 2000),
        ("2e3", 2000),
        ("0,5", 0.5),
        ("0.5", 0.5),
        ("3 calls", 3),
    ],
)
def test_a_guess_takes_numbers_as_people_write_them(typed: str, value: float) -> None:
    answer = GUESS.parse(typed)
    assert answer is not None
    assert answer.value == value


@pytest.mark.parametrize("typed", ["many", "", "-3", "0", "nan", "inf", "1e999", "3 apples", "1.2.3"])
def test_a_guess_takes_nothing_but_positive_numbers(typed: str) -> None:
    assert GUESS.parse(typed) is None


def test_a_choice_is_told_what_it_was_instead() -> None:
    right, wrong = CHOICE.judge(Answer("a", "one"), "a"), CHOICE.judge(Answer("a", "one"), "b")
    assert (right.right, right.words) == (True, "You said one, and so it is.")
    assert (wrong.right, wrong.words) == (False, "You said one. It was two.")


def test_a_guess_within_a_factor_of_two_is_near() -> None:
    answer = Answer(100.0, "100 calls")
    assert GUESS.judge(answer, 200).right
    assert GUESS.judge(answer, 50).right
    far = GUESS.judge(answer, 2000)
    assert not far.right
    assert far.words == f"You said 100 calls: {units.ratio(20)} too low. It was 2 000 calls."
    assert "too high" in GUESS.judge(answer, 10).words


def test_asking_goes_on_until_the_answer_is_understood() -> None:
    typed, told = iter(["what?", "b"]), list[str]()
    assert ask(CHOICE, lambda: next(typed), told.append) == Answer("b", "two")
    assert told == ["That is none of the answers. Type a or b; Enter alone skips."]


def test_a_wrong_answer_gets_one_line_that_says_which_numbers_are_understood() -> None:
    typed, told = iter(["many", "60k"]), list[str]()
    assert ask(GUESS, lambda: next(typed), told.append) == Answer(60_000.0, "60 000 calls")
    (line,) = told
    assert "Type a number of calls above 0, such as 3, 2.5e3, 1,000, 60k; Enter alone skips." in line
    assert "\n" not in line


def test_enter_skips() -> None:
    assert ask(CHOICE, lambda: "", lambda _text: None) is None


def test_answers_that_do_not_fit_on_a_line_stand_below_each_other() -> None:
    short, long = (Choice("Which?", {"a": words, "b": words, "c": words}) for words in ("yes", "a long answer " * 3))
    for choice, lines in ((short, 1), (long, 3)):
        out = io.StringIO()
        Screen(Console(file=out, width=80)).ask(choice.question, choice.offer())
        assert len(out.getvalue().strip().splitlines()) == 1 + lines
