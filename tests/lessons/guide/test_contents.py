"""The content of the pack: pages, slides, charts, courses and projects. The catalogue finds the lessons."""

import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import small_lesson
from teachers_pack import pages, parsed, small_page

from grader import catalogue
from harness.errors import UsageError
from harness.rendering.tables import Cell, Table
from lessons.engine.claim import Claim, SettledClaim
from lessons.engine.document import Shown
from lessons.engine.explain import Picture, Said
from lessons.engine.figures import Rows
from lessons.engine.interval import ClaimStanding, Interval
from lessons.engine.predict import Guess
from lessons.engine.route import FULL, lessons_of
from lessons.engine.templates import Place, Template
from lessons.guide import project, syllabus, task_texts
from lessons.guide.charts import MOST_ROWS, drawn
from lessons.guide.pages import lesson_page
from lessons.guide.pictures import MOST_FACTOR, claim_chart
from lessons.guide.rendering import html
from lessons.guide.slides import MOST_LINES, in_chunks, slides_of, slides_page


def test_each_question_has_the_usual_wrong_reasoning_and_a_right_answer_on_the_page_or_the_slides() -> None:
    wrong = []
    for page in pages().values():
        shown, slides = lesson_page(page), slides_page(page)
        assert "What does your run say?" not in slides
        assert "the run decides" not in shown
        for step in page.steps:
            if (asked := step.asked) is None:
                continue
            reasoned = (
                asked.block.wrong_reasoning.startswith("Students ") and " but " in asked.block.wrong_reasoning.lower()
            )
            expected = asked.expected_shown and (asked.right is not None) == bool(asked.options)
            visible = asked.measured or (html(asked.expected_shown) in shown and html(asked.expected_shown) in slides)
            wrong += [] if reasoned and expected and visible else [f"{page.name}.{step.name}"]
    assert wrong == []


def test_the_expected_answer_is_the_recorded_one_unless_it_depends_on_the_machine() -> None:
    wrong = []
    for page in pages().values():
        for step in page.steps:
            if step.asked is None or not step.asked.measured or step.asked.block.depends_on:
                continue
            if step.asked.options:
                same = step.asked.measured == step.asked.expected
            else:
                guess = Guess("", step.asked.block.guess or "", step.asked.block.near)
                answer, measured = map(guess.parse, (step.asked.expected, step.asked.measured))
                same = bool(measured and guess.judge(answer, measured.value).right)
            wrong += [] if same else [f"{page.name}.{step.name}"]
    assert wrong == []


def test_a_page_has_the_question_its_right_option_and_the_measured_claims() -> None:
    twice, four_times = small_page().steps
    assert twice.asked is not None
    assert (twice.asked.prediction.question, twice.asked.options, twice.asked.right) == (
        "Is `twice` more than once?",
        ("yes", "no"),
        0,
    )
    (claim,) = twice.claims
    assert claim.result is not None
    assert (claim.bounds, claim.result.shown, claim.said) == (
        "2", "2", Said("It is two.", "It is not two.", "Two or not: unclear."),
    )  # fmt: skip
    assert len(twice.pictures) == 1
    assert not twice.unclear
    noisy = replace(twice, claims=(replace(claim, result=replace(claim.result, standing=ClaimStanding.INCONCLUSIVE)),))
    assert noisy.unclear
    assert four_times.asked is not None
    assert (four_times.asked.prediction.question, four_times.asked.right) == ("And four times …?", None)
    assert four_times.asked.expected_shown == "8 units"
    assert "Expected answer:</strong> 8 units. The answer depends on the first step." in lesson_page(small_page())


def test_a_text_without_a_result_has_no_values() -> None:
    block = small_lesson.lesson.step("four_times").document.question
    assert block
    assert block.text.without_values("…") == "And four times …?"
    assert small_page(None).has_unknown_values


def test_the_tasks_of_each_lesson_come_from_the_grader(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = {(page.name, task.name): task.points for page in pages().values() for task in page.tasks}
    assert shown == {(task.lesson, task.name): task.points for task in catalogue.all_tasks()}
    assert all(wrong.explanation for page in pages().values() for task in page.tasks for wrong in task.wrong_answers)
    (task,) = pages()["04_autorange"].tasks
    assert (task.name, task.points, task.points_if_right) == ("blocked_autorange", 10, 4)
    assert [each["points"] for each in task.thresholds] == [6, 8, 10]
    assert len(task.hints) == 3
    (mean,) = (wrong for wrong in task.wrong_answers if wrong.name == "mean")
    assert mean.explanation.startswith("The mean of the samples gives these wrong answers.")
    failed = subprocess.CompletedProcess([], 1, "", "Traceback …\nImportError: no grader\n")
    monkeypatch.setattr(subprocess, "run", lambda *_arguments, **_options: failed)
    with pytest.raises(UsageError, match=r"cannot be listed \(ImportError: no grader\)\. Run: python -m grader"):
        task_texts.load()


def test_each_step_has_its_code_its_question_and_its_answer() -> None:
    slides = list(slides_of(small_page()))
    kinds = [slide.kind for slide in slides]
    assert (kinds[0], kinds[-2:]) == ("title", ["points", "exercise"])
    assert Counter(kinds) == Counter(
        {"title": 1, "code": 2, "question": 2, "answer": 2, "picture": 1, "points": 1, "exercise": 1}
    )
    assert "picture" not in [slide.kind for slide in slides_of(small_page(None))]


def test_the_page_contains_everything_that_it_shows() -> None:
    page = slides_page(small_page())
    assert page.count('<section class="slide') == len(list(slides_of(small_page())))
    assert 'src="data:image/svg+xml;base64,' in page
    assert 'alt="three samples' in page
    assert "http" not in page.partition("<script>")[2]
    assert "<code>twice</code>" in page
    assert "<em>small</em>" in page


def test_a_table_is_shown_if_it_fits_and_if_there_is_no_picture() -> None:
    short, long = (Table(f"{number} rows", ("", "n"), [["a", "n"]] * number, []) for number in (1, 20))
    text = Picture("tree", "a tree\n└ b", "", "text")
    page = small_page()
    twice = page.steps[0]
    for given, best in (((long, short, text), short), ((long, text), text), ((long,), None)):
        steps = (replace(twice, pictures=(), shown=given), page.steps[1])
        (answer, _) = (slide for slide in slides_of(replace(page, steps=steps)) if slide.kind == "answer")
        assert answer.shown == best
    with_picture = replace(page, steps=(replace(twice, shown=(short,)), page.steps[1]))
    assert not [slide for slide in slides_of(with_picture) if slide.shown]
    without = replace(page, steps=(replace(twice, pictures=(), shown=(short,)), page.steps[1]))
    assert "<td>a</td><td>n</td>" in slides_page(without)


def test_functions_stay_whole_on_a_slide_or_are_divided_at_an_empty_line() -> None:
    short, long = "def a():\n    return 1", "def b():\n" + "    pass\n" * 22
    assert list(in_chunks(short, short)) == [f"{short}\n\n\n{short}"]
    assert list(in_chunks(f"{short}\n\n\n{long.strip()}", short)) == [short, long.strip(), short]
    first, second = in_chunks("def f():\n" + "    first()\n" * 19 + "\n" + "    second()\n" * 19)
    assert first.endswith("first()")
    assert second.strip().startswith("second()")
    assert max(len(chunk.splitlines()) for chunk in (first, second)) <= MOST_LINES


def test_the_long_course_has_all_lessons_in_the_order_of_the_full_path() -> None:
    course = syllabus.twelve_weeks(pages())
    assert tuple(page.name for page in course.lessons) == lessons_of(FULL)
    assert len(course.weeks) == 12
    assert [week.number for week in course.weeks if not week.lessons] == [7, 12]
    assert [week.number for week in course.weeks if week.event] == [7, 8, 12]
    assert course.points == sum(page.points for page in pages().values())
    assert course.before_midterm == tuple(page for week in course.weeks[:6] for page in week.lessons)
    minutes = [week.class_minutes + week.homework_minutes for week in course.weeks if week.lessons]
    assert max(minutes) <= 2 * sum(minutes) / len(minutes)


def test_a_project_has_a_hundred_points_and_its_tasks_come_after_the_lessons_that_they_need() -> None:
    for name, weeks, starts in (
        (project.FULL, syllabus.twelve_weeks(pages()).weeks, syllabus.PROJECT_STARTS),
        (project.SHORT, syllabus.four_weeks(pages()).weeks, syllabus.SHORT_PROJECT_STARTS),
    ):
        loaded, taught = project.load()[name], {page.name: week.number for week in weeks for page in week.lessons}
        assert (loaded["points"], bool(loaded["optional"])) == (100, True)
        rows, tasks = loaded["rubric"], loaded["tasks"]
        assert [row["criterion"] for row in rows if len({row["full"], row["half"], row["none"]}) < 3] == []
        assert [task["text"] for task in tasks if any(taught[needed] > task["week"] for needed in task["needs"])] == []
        when = [task["week"] for task in tasks]
        assert starts <= when[0]
        assert when == sorted(when)
        assert when[-1] == len(weeks)


PLACE = Place(Path("x.md"), 1)


def chart(title: str, columns: tuple[tuple[str, str], ...], *rows: tuple[Cell, ...]) -> str:
    return drawn(Shown("table", "figure", Template("", PLACE), columns, (), "", PLACE), Rows(rows), title)


def words(drawing: str) -> list[str]:
    return [each.text or "" for each in parsed(drawing).findall(".//{*}text")]


def described(drawing: str) -> str:
    return parsed(drawing).findtext("{*}desc") or ""


def test_the_columns_with_the_most_frequent_unit_are_drawn_to_scale_with_their_texts() -> None:
    heads = (("", ""), ("first", "seconds"), ("median", "seconds"), ("first ÷ median", "ratio"))
    drawing = chart("Times of f", heads, ("a", 4.0, 2.0, 2.0), ("b", 3.0, None, None), ("c", 2.0, 1.0, 2.0))
    assert words(drawing) == ["Times of f", "first", "median", "a", "4 s", "2 s", "b", "3 s", "c", "2 s", "1 s"]
    assert described(drawing) == "a: first 4 s, median 2 s; b: first 3 s; c: first 2 s, median 1 s."
    rects = parsed(drawing).findall(".//{*}rect")
    bars = [float(each.get("width", "0")) for each in rects if each.get("height") == "11"]
    assert [round(bar / bars[0], 2) for bar in bars] == [1, 0.5, 0.75, 0.5, 0.25]


def test_what_has_no_comparable_numbers_is_not_drawn() -> None:
    time = (("", ""), ("time", "seconds"))
    assert chart("Words", (("", ""), ("answer", "")), ("a", "right"), ("b", "wrong")) == ""
    assert chart("One row", time, ("a", 1.0)) == ""
    assert chart("Long", time, *[("a", 1.0)] * (MOST_ROWS + 1)) == ""
    assert chart("Counts", (("byte", "count"), ("opcode", "count")), (0, 151), (2, 101)) == ""


def result(measured: Interval, low: float) -> SettledClaim:
    return Claim("twice-is-two", "twice one is two", at_least=low).settled(measured)


def chart_of(claim: SettledClaim) -> str:
    page = small_page()
    (shown,) = page.steps[0].claims
    return claim_chart(replace(page, steps=(replace(page.steps[0], claims=(replace(shown, result=claim),)),)))


def test_the_chart_of_claims_has_a_dot_for_each_margin_and_a_wide_line_for_an_interval() -> None:
    drawing = claim_chart(small_page())
    assert len(parsed(drawing).findall(".//{*}circle")) == 1
    assert "twice one is two: 1× (held)" in described(drawing)
    assert 'class="interval"' not in drawing
    assert chart_of(result(Interval(4.0, 3.0, 8.0), 2.0)).count('class="interval"') == 1
    assert claim_chart(small_page(None)) == ""
    largest, larger = (chart_of(result(Interval.exact(2 * factor), 2.0)) for factor in (MOST_FACTOR, 1e6))
    places = {tuple(each.items()) for chart in (largest, larger) for each in parsed(chart).findall(".//{*}circle")}
    assert len(places) == 1, "a very large margin does not move the other dots together"
    assert words(larger)[-1] == "1 000 000×"
