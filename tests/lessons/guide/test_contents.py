"""The content of the pack about each lesson. The catalogue finds the lessons, so these tests include new ones."""

from dataclasses import replace

import pytest
from teachers_pack import pages, small_page

from lessons.engine.catalogue import lesson_names
from lessons.engine.lesson import Lesson
from lessons.engine.predict import Guess
from lessons.guide import contents
from lessons.guide.claim_texts import VALUE
from lessons.guide.contents import LessonPage
from lessons.guide.pages import lesson_page
from lessons.guide.rendering import html
from lessons.guide.slides import slides_page


@pytest.fixture(params=lesson_names())
def page(request: pytest.FixtureRequest) -> LessonPage:
    return pages()[request.param]


def test_each_question_has_the_usual_wrong_reasoning(page: LessonPage) -> None:
    for step in page.steps:
        if step.asked:
            assert step.asked.wrong_reasoning.startswith("Students "), step.name
            assert " But " in step.asked.wrong_reasoning, step.name
            assert max(len(each.split()) for each in step.asked.wrong_reasoning.split(". ")) <= 25, step.name


def test_each_question_has_a_measured_answer_or_an_expected_one(page: LessonPage) -> None:
    shown = lesson_page(page)
    for step in page.steps:
        if step.asked:
            assert step.asked.expected_shown, step.name
            assert (step.asked.right is not None) == bool(step.asked.options), step.name
            assert step.asked.measured or html(step.asked.expected_shown) in shown, step.name
            assert step.asked.measured or html(step.asked.expected_shown) in slides_page(page), step.name
    assert "What does your run say?" not in slides_page(page)
    assert "the run decides" not in shown


def test_the_expected_answer_is_the_recorded_one_unless_it_depends_on_the_machine(page: LessonPage) -> None:
    for step, question in zip(page.steps, page.lesson.steps, strict=True):
        if step.asked and step.asked.measured and not step.asked.depends_on:
            if step.asked.options:
                assert step.asked.measured == step.asked.expected, step.name
            else:
                assert isinstance(question.predict, Guess)
                answer, measured = map(question.predict.parse, (step.asked.expected, step.asked.measured))
                assert measured
                assert question.predict.judge(answer, measured.value).right, step.name


def test_each_exercise_has_points_and_explained_wrong_answers(page: LessonPage) -> None:
    assert page.tasks
    for task in page.tasks:
        assert task.points > 0
        assert len(task.wrong_answers) >= 2
        assert all(wrong.explanation and wrong.code for wrong in task.wrong_answers)


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


def test_a_lesson_that_is_added_later_needs_nothing_but_its_file() -> None:
    lesson = Lesson(__file__, title="Later", objective="You know it.")
    lesson.entry = small_page().entry  # this file calls no Lesson with literals
    page = contents.page_of(lesson, (), (), (), None)
    assert (page.steps, page.points, page.minutes) == ((), 0, small_page().minutes)
