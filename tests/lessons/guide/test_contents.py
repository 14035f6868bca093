"""The content of the pack about each lesson. The catalogue finds the lessons, so these tests include new ones."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import small_lesson
from teachers_pack import pages, small_page

from harness.errors import UsageError
from lessons.engine.predict import Guess
from lessons.guide import contents, task_texts
from lessons.guide.claim_texts import VALUE, Said, filled, joined, said_about_claims
from lessons.guide.pages import lesson_page
from lessons.guide.rendering import html
from lessons.guide.results import RECORDED
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


def test_a_text_about_a_claim_is_read_from_the_source_and_filled_with_recorded_values() -> None:
    said = said_about_claims(Path(small_lesson.__file__))
    texts = Said("It is two.", "It is not two.", "Two or not: unclear.")
    assert said == {"twice-is-two": [Said("It always is."), texts]}
    assert joined(["It always is.", "", VALUE, f"It takes {VALUE} s."]) == f"It always is. It takes {VALUE} s."
    paragraphs = ["Two calls. It takes 2.5 s.", "There are 4. 3 functions are fast. In step 2, `a` is first."]
    for text, found in (
        ("It takes … s.", "It takes 2.5 s."),
        ("… functions are fast.", "3 functions are fast."),
        ("In …, … is first.", "In step 2, `a` is first."),
        ("It takes … minutes.", "It takes … minutes."),
        ("…", "…"),
    ):
        assert filled(text.replace("…", VALUE), paragraphs) == found.replace("…", VALUE)


def test_each_recorded_png_file_belongs_to_a_step() -> None:
    listed = {each["file"]: each for each in contents.listed_photos()}
    assert set(listed) == {str(path.relative_to(RECORDED)) for path in RECORDED.glob("*/*.png")}
    for file, each in listed.items():
        page = pages()[file.partition("/")[0]]
        (step,) = (step for step in page.steps if step.name == each["step"])
        assert each["caption"] in [photo.caption for photo in step.photos]


def test_the_tasks_of_each_lesson_come_from_the_grader(monkeypatch: pytest.MonkeyPatch) -> None:
    (task,) = pages()["04_autorange"].tasks
    assert (task.name, task.points, task.points_if_right) == ("blocked_autorange", 10, 4)
    assert [each.points for each in task.thresholds] == [6, 8, 10]
    assert len(task.hints) == 3
    (mean,) = (wrong for wrong in task.wrong_answers if wrong.name == "mean")
    assert mean.explanation.startswith("The mean of the samples gives these wrong answers.")
    failed = subprocess.CompletedProcess([], 1, "", "Traceback …\nImportError: no grader\n")
    monkeypatch.setattr(subprocess, "run", lambda *_arguments, **_options: failed)
    with pytest.raises(UsageError, match=r"cannot be listed \(ImportError: no grader\)\. Run: python -m grader"):
        task_texts.load()
