"""Questions: what a student may type, the right answers and the score, and recall of an earlier lesson."""

import io

import pytest
from rich.console import Console

from harness.rendering import units
from lessons.engine import recall, route
from lessons.engine.interval import Interval
from lessons.engine.numbers import positive
from lessons.engine.predict import Choice, Guess, Judgement, PredictionResult, Score, StudentAnswer, ask
from lessons.engine.progress import LessonProgress
from lessons.engine.screen import Screen

CHOICE = Choice("How many?", {"a": "one", "b": "two"})
GUESS = Guess("How many calls?", "calls")
TIMES = Choice.ranges("How many times?", (1.5, 5), units.ratio)
UNCLEAR = "This run gives no clear answer."

RIGHT = PredictionResult("How `many`?", "two", "two", right=True)
WRONG = PredictionResult("How long?", "2 s", "30 s", right=False)
UNDECIDED = PredictionResult("Which?", "the first", None, None)
SKIPPED = PredictionResult("Why?", None, "because", None)


def test_a_choice_is_made_by_its_letter_or_its_words() -> None:
    assert {CHOICE.parse(typed) for typed in ("B", " b ", "b)", "Two")} == {StudentAnswer("b", "two")}
    assert {CHOICE.parse(typed) for typed in ("c", "1", "twofold")} == {None}


def test_numbers_are_read_as_students_write_them_and_no_other_text() -> None:
    for typed, unit, value in (
        ("1,5 million calls", "calls", 1.5e6),
        ("2M", "elements", 2e6),
        ("60 k calls", "calls", 60_000),
        ("2.5e3", "calls", 2500),
        ("1,000", "calls", 1000),
        ("1'000'000", "calls", 1e6),
        ("about 300", "events", 300),
        ("3 ×", "times", 3),
        ("1 call", "calls", 1),
        ("3 ms", "µs", 3000),
        ("0,5 seconds", "ms", 500),
        ("50%", "times", 0.5),
        ("50 %", "%", 50),
    ):
        assert positive(typed, unit) == pytest.approx(value), typed
    for typed in ("5 apples", "3 ms", "50 %", "-3", "0", "nan", "1e999", "1.2.3", "k", ""):
        assert positive(typed, "calls") is None, typed
    assert positive("1m", "ms") is None


def test_the_question_repeats_until_the_answer_can_be_read_and_enter_skips() -> None:
    numbers = "Type a number of calls above 0, such as 3, 2.5e3, 1,000, 60k."
    for question, typed, answer, hint in (
        (CHOICE, "b", StudentAnswer("b", "two"), "Type a or b."),
        (GUESS, "60k", StudentAnswer(60_000.0, "60 000 calls"), numbers),
    ):
        shown = list[str]()
        assert ask(question, iter(["what?", typed]).__next__, shown.append) == answer
        assert shown == [f"This is not one of the answers. {hint} Press Enter to skip."]
    assert ask(CHOICE, lambda: "", lambda _text: None) is None


def test_an_interval_decides_only_if_it_lies_within_one_option() -> None:
    for interval, right, truth in (
        (Interval(2, 1.5, 4.9), True, "1.5× to 5×"),
        (Interval(1, 0.9, 1.4), False, "less than 1.5×"),
        (Interval(4, 3, 6), None, None),
        (Interval(4, 2, 4).widened(1), None, None),
        (Interval.unknown(), None, None),
        (Interval.exact(3).void_if(True), None, None),
    ):
        judged = TIMES.judge(TIMES.parse("b"), interval)
        assert (judged.right, judged.truth) == (right, truth)
        assert right is not None or judged.words == f"Your answer: 1.5× to 5×. {UNCLEAR}"
    outside = TIMES.judge(TIMES.parse("a"), Interval(4, 3, 6))
    assert (outside.right, outside.truth) == (False, "1.5× to 5× or 5× or more")
    assert TIMES.judge(None, Interval(4, 3, 6)) == Judgement(None, None, UNCLEAR)


def test_a_guess_is_right_if_all_of_the_interval_is_within_a_factor_of_two() -> None:
    answer = StudentAnswer(100.0, "100 calls")
    for measured, right in (
        (200.0, True),
        (50.0, True),
        (Interval(150, 120, 190), True),
        (Interval(300, 250, 350), False),
        (Interval(200, 150, 250), None),
        (Interval(300, 10, 900), None),
        (Interval.exact(100).void_if(True), None),
    ):
        assert GUESS.judge(answer, measured).right is right, measured
    for number, words in (
        (2000.0, f"Your answer: 100 calls, {units.ratio(20)} too low. Measured: 2 000 calls."),
        (10.0, f"Your answer: 100 calls, {units.ratio(10)} too high. Measured: 10 calls."),
        (0.0, "Your answer: 100 calls, far too high. Measured: 0 calls."),
    ):
        assert GUESS.judge(answer, number) == Judgement(False, words.rpartition(": ")[2][:-1], words)
    assert GUESS.judge(answer, Interval.unknown()).words == f"Your answer: 100 calls. {UNCLEAR}"
    assert GUESS.judge(None, Interval.unknown()).truth is None


def test_only_decided_answers_count_in_the_score() -> None:
    for predictions, sentence in (
        ([RIGHT, RIGHT, WRONG], "2 of 3 predictions right."),
        ([WRONG, UNDECIDED, SKIPPED], "0 of 1 prediction right. 1 answer could not be decided."),
        ([UNDECIDED, UNDECIDED], "2 answers could not be decided."),
        ([SKIPPED], ""),
    ):
        assert Score.of(predictions).sentence() == sentence
    total = sum([Score.of([RIGHT]), Score.of([WRONG, UNDECIDED])], Score())
    assert (total.right, total.decided, total.undecided) == (1, 2, 1)


QUESTIONS = recall.load()
DONE = LessonProgress("2026-01-02T03:04:05+00:00", complete=True, steps_done=1)


def test_the_questions_are_about_the_last_complete_lesson_of_the_chosen_path() -> None:
    done = {"02_timeit_vs_timer": DONE, "08_callgrind": DONE, "04_autorange": DONE}
    assert recall.about_last_lesson("09_cprofile", done) == ("08_callgrind", QUESTIONS["08_callgrind"])
    route.choose("short")
    assert recall.about_last_lesson("09_cprofile", done) == ("04_autorange", QUESTIONS["04_autorange"])
    assert recall.about_last_lesson("02_timeit_vs_timer", done) == ("", ())
    started = {"02_timeit_vs_timer": LessonProgress(DONE.last_run_utc, complete=False, steps_done=2)}
    assert recall.about_last_lesson("04_autorange", started) == ("", ())


def test_a_wrong_answer_shows_the_right_one(monkeypatch: pytest.MonkeyPatch) -> None:
    out, lines = io.StringIO(), iter(["c", "what?", "c", ""])
    screen = Screen(Console(file=out, width=80))
    monkeypatch.setattr(screen, "read", lambda: next(lines))
    recall.play("02_timeit_vs_timer", QUESTIONS["02_timeit_vs_timer"], screen)
    text = " ".join(out.getvalue().split())
    assert "Your answer: the shortest time. The right answer: the time of all calls. Divide its result" in text
    assert "This is not one of the answers. Type a, b or c." in text
    assert "Your answer: the shortest run. That is right. A disturbance only adds time" in text
    assert "Answer They sort a list that is already sorted. The first call sorts the list" in text
    assert "Recall 3 of 3" in text
    assert max(map(len, out.getvalue().splitlines())) <= 80
