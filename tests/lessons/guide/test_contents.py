"""The content of the pack: pages, slides, charts, courses and projects. The catalogue finds the lessons."""

import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import small_lesson
from teachers_pack import RESULTS, pages, parsed, small_page

from grader import catalogue
from harness.charts import plots
from harness.errors import UsageError
from harness.rendering import units
from lessons.engine.predict import Guess
from lessons.engine.route import FULL, lessons_of
from lessons.guide import contents, project, syllabus, task_texts
from lessons.guide.charts import MOST_ROWS, drawn, with_charts
from lessons.guide.claim_texts import VALUE, Said, filled, joined, said_about_claims
from lessons.guide.pages import lesson_page
from lessons.guide.pictures import MOST_FACTOR, claim_chart
from lessons.guide.rendering import html
from lessons.guide.results import RECORDED, ClaimResult, Shown
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
    shown = {(page.name, task.name): task.points for page in pages().values() for task in page.tasks}
    assert shown == {(task.lesson, task.name): task.points for task in catalogue.all_tasks()}
    assert all(wrong.explanation for page in pages().values() for task in page.tasks for wrong in task.wrong_answers)
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
    assert 'alt="three samples of 2 &lt; 3 µs"' in page
    assert "http" not in page.partition("<script>")[2]
    assert "<code>twice</code>" in page
    assert "<em>small</em>" in page


def test_a_recorded_table_is_shown_if_it_fits_and_if_there_is_no_picture() -> None:
    rows = (("a", "n"),)
    short, long = Shown("short", ("", "n"), rows), Shown("long", ("", "n"), rows * 20)
    text = Shown("text", text="a tree\n└ b")
    for given, best in (((long, short, text), short), ((long, text), text), ((long,), None)):
        found = replace(RESULTS, pictures={}, shown={"twice": given})
        (answer, _) = (slide for slide in slides_of(small_page(found)) if slide.kind == "answer")
        assert answer.shown == best
    with_picture = replace(RESULTS, shown={"twice": (short,)})
    assert not [slide for slide in slides_of(small_page(with_picture)) if slide.shown]
    page = slides_page(small_page(replace(RESULTS, pictures={}, shown={"twice": (short,)})))
    assert "<td>a</td><td>n</td>" in page


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
        assert (loaded.points, bool(loaded.optional)) == (100, True)
        assert [row.criterion for row in loaded.rubric if len({row.full, row.half, row.none}) < 3] == []
        assert [task.text for task in loaded.tasks if any(taught[needed] > task.week for needed in task.needs)] == []
        when = [task.week for task in loaded.tasks]
        assert starts <= when[0]
        assert when == sorted(when)
        assert when[-1] == len(weeks)


TIMES = Shown(
    "Times of `f`",
    ("", "first", "median", "first ÷ median"),
    (("a", "4 s", "2 s", "2×"), ("b", "3 s", "", ""), ("c", "2 s", "1 s", "2×")),
)


def words(drawing: str) -> list[str]:
    return [each.text or "" for each in parsed(drawing).findall(".//{*}text")]


def described(drawing: str) -> str:
    return parsed(drawing).findtext("{*}desc") or ""


def test_the_columns_with_the_most_frequent_unit_are_drawn_to_scale_with_their_recorded_texts() -> None:
    drawing = drawn(TIMES)
    assert words(drawing) == ["Times of f", "first", "median", "a", "4 s", "2 s", "b", "3 s", "c", "2 s", "1 s"]
    assert described(drawing) == "a: first 4 s, median 2 s; b: first 3 s; c: first 2 s, median 1 s."
    rects = parsed(drawing).findall(".//{*}rect")
    bars = [float(each.get("width", "0")) for each in rects if each.get("height") == "11"]
    assert [round(bar / bars[0], 2) for bar in bars] == [1, 0.5, 0.75, 0.5, 0.25]
    own = "<svg><title>Times of f</title></svg>"
    assert with_charts([own], [TIMES]) == (own,), "the lesson has drawn this table"
    assert with_charts([], [TIMES]) == (drawing,)


def test_what_has_no_comparable_numbers_is_not_drawn() -> None:
    for shown in (
        Shown("Words", ("", "answer"), (("a", "right"), ("b", "wrong"))),
        Shown("One row", ("", "time"), (("a", "1 s"),)),
        Shown("Long", ("", "time"), (("a", "1 s"),) * (MOST_ROWS + 1)),
        Shown("Different meanings", ("", "eps", "error"), (("a", "1", "2"), ("b", "2", "3"))),
        Shown("Codes", ("byte", "opcode"), (("0", "151"), ("2", "101"))),
        Shown("Text", text="a tree\n└ b"),
        Shown("Sparkline", text="250 MiB ▁▁▁█▁▁▆▁ 273 MiB"),
    ):
        assert drawn(shown) == "", shown.title


def test_bars_and_histograms_that_were_printed_as_text_are_drawn() -> None:
    text = plots.bars([("counting", 5.17), ("with two words", 1.07), ("none", 0.0)], unit=units.ratio)
    bars = drawn(Shown("Cost", text=text))
    assert words(bars) == ["Cost", "counting", "5.17×", "with two words", "1.07×", "none", "0×"]
    drawing = drawn(Shown("Samples", text=plots.histogram([1.0, 1.0, 1.0, 1.5, 2.0])))
    assert words(drawing) == ["Samples", "1 s", "2 s"]
    heights = [float(each.get("height", "0")) for each in parsed(drawing).findall(".//{*}rect[@class='bar']")]
    assert len(heights) == 3
    assert heights[0] == max(heights)


def result(
    measured: float | None, low: float | None = None, high: float | None = None, ends: tuple[float, float] | None = None
) -> ClaimResult:
    return ClaimResult("held", "", "", measured, low, high, ends)


def chart_of(claim: ClaimResult) -> str:
    return claim_chart(small_page(replace(RESULTS, claims={"twice-is-two": claim})))


def test_the_chart_of_claims_has_a_dot_for_each_margin_and_a_wide_line_for_an_interval() -> None:
    drawing = claim_chart(small_page())
    assert len(parsed(drawing).findall(".//{*}circle")) == 1
    assert "twice one is two: 1× (held)" in described(drawing)
    assert 'class="interval"' not in drawing
    assert chart_of(result(None, low=2.0, ends=(3.0, 8.0))).count('class="interval"') == 1
    assert claim_chart(small_page(None)) == ""
    largest, larger = (chart_of(result(2 * factor, low=2.0)) for factor in (MOST_FACTOR, 1e6))
    places = {tuple(each.items()) for chart in (largest, larger) for each in parsed(chart).findall(".//{*}circle")}
    assert len(places) == 1, "a very large margin does not move the other dots together"
    assert words(larger)[-1] == "1 000 000×"
