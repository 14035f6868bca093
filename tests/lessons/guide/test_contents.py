"""The content of the pack about each lesson. The catalogue finds the lessons, so these tests include new ones."""

from dataclasses import replace

import pytest
from teachers_pack import pages, small_page

from lessons.engine.predict import Guess
from lessons.guide import contents
from lessons.guide.claim_texts import VALUE
from lessons.guide.pages import lesson_page
from lessons.guide.rendering import html
from lessons.guide.slides import slides_page


def test_each_question_has_the_usual_wrong_reasoning_and_a_right_answer_on_the_page_or_the_slides() -> None:
    wrong = []
    for page in pages().values():
        shown, slides = lesson_page(page), slides_page(page)
        assert "What does your run say?" not in slides
        assert "the run decides" not in shown
        for step in page.steps:
            if (asked := step.asked) is None:
                continue
            reasoned = asked.wrong_reasoning.startswith("Students ") and " But " in asked.wrong_reasoning
            expected = asked.expected_shown and (asked.right is not None) == bool(asked.options)
            visible = asked.measured or (html(asked.expected_shown) in shown and html(asked.expected_shown) in slides)
            wrong += [] if reasoned and expected and visible else [f"{page.name}.{step.name}"]
    assert wrong == []


def test_the_expected_answer_is_the_recorded_one_unless_it_depends_on_the_machine() -> None:
    wrong = []
    for page in pages().values():
        for step, question in zip(page.steps, page.lesson.steps, strict=True):
            if step.asked is None or not step.asked.measured or step.asked.depends_on:
                continue
            if step.asked.options:
                same = step.asked.measured == step.asked.expected
            else:
                assert isinstance(question.predict, Guess)
                answer, measured = map(question.predict.parse, (step.asked.expected, step.asked.measured))
                same = bool(measured and question.predict.judge(answer, measured.value).right)
            wrong += [] if same else [f"{page.name}.{step.name}"]
    assert wrong == []


def test_each_exercise_has_points_and_explained_wrong_answers() -> None:
    tasks = [(page.name, task) for page in pages().values() for task in page.tasks]
    assert {name for name, _ in tasks} == set(pages())
    explained = {
        task.name: [bool(wrong.explanation and wrong.code) for wrong in task.wrong_answers] for _, task in tasks
    }
    assert [name for name, each in explained.items() if len(each) < 2 or not all(each)] == []
    assert [task.name for _, task in tasks if task.points <= 0] == []


def test_a_page_has_the_question_its_right_option_and_the_measured_claims() -> None:
    twice, four_times = small_page().steps
    assert twice.asked is not None
    assert (twice.asked.question, twice.asked.options, twice.asked.right) == (
        "Is `twice` more than once?",
        ("yes", "no"),
        0,
    )
    (claim,) = twice.claims
    assert claim.result is not None
    assert (claim.bounds, claim.result.shown, claim.said.unclear) == ("2", "2", "Two or not: unclear.")
    assert len(twice.pictures) == 1
    assert not twice.unclear
    noisy = replace(twice, claims=(replace(claim, result=replace(claim.result, verdict="inconclusive")),))
    assert noisy.unclear
    assert four_times.asked is not None
    assert (four_times.asked.question, four_times.asked.right) == ("And four times 2?", None)
    assert four_times.asked.expected_shown == "8 units"
    assert "Expected answer:</strong> 8 units. The answer depends on the first step." in lesson_page(small_page())


@pytest.mark.parametrize(
    ("measured", "option"),
    [
        ("less than 2×", "less than 2×"),
        ("Less than 2×. It took 2 s.", "less than 2×"),
        ("Less than 2× or 2× to 3×.", ""),
        ("This run gives no clear answer.", ""),
        ("", ""),
    ],
)
def test_the_right_option_is_the_first_sentence_of_a_measured_answer(measured: str, option: str) -> None:
    assert contents.right_option(measured, ("less than 2×", "less", "2× to 3×")) == option


def test_without_results_a_page_has_the_expected_answers() -> None:
    twice, four_times = small_page(None).steps
    assert twice.asked is not None
    assert four_times.asked is not None
    assert (twice.asked.measured, twice.asked.right, twice.pictures) == ("", 0, ())
    assert twice.asked.expected_shown == "a, yes"
    assert four_times.asked.question == f"And four times {VALUE}?"
    assert twice.claims[0].result is None


EXPLAINED = "… stands for a value that your run measures."


def test_a_value_that_the_results_do_not_have_is_explained() -> None:
    unknown = small_page(None)
    assert "And four times …?" in lesson_page(unknown)
    assert lesson_page(unknown).count(EXPLAINED) == 1
    assert slides_page(unknown).count(EXPLAINED) == 1
    assert EXPLAINED not in lesson_page(small_page()) + slides_page(small_page())


def test_a_text_about_a_claim_has_the_values_of_the_recorded_run() -> None:
    page = pages()["04_autorange"]
    (claim,) = (claim for step in page.steps for claim in step.claims if claim.id == "mul-sum-wins")
    assert claim.result is not None
    assert claim.result.verdict == "held"
    assert VALUE not in claim.said.held
    assert VALUE in claim.said.refuted
    for step in page.steps:
        assert not step.asked or VALUE not in step.asked.question, step.name
