"""Write all files of the pack: pages, slides, question files, midterm and project."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from harness.errors import UsageError
from harness.machine.environment import Environment
from harness.storage.user_files import refuse_edited
from lessons.engine.catalogue import lesson_names
from lessons.engine.check_claims import LessonRun
from lessons.guide import bank, project, question_files, results, syllabus
from lessons.guide.contents import LessonPage, load_all
from lessons.guide.rendering import render
from lessons.guide.slides import slides_page

INSTALL: Final = "python3 -m venv .venv && .venv/bin/pip install -e ."
ACTIVATE: Final = "source .venv/bin/activate"
"""The commands that install fairclock, and that make `python` mean `.venv/bin/python` in a terminal."""
FULL, SHORT = "project.html", "project_short.html"
"""The pages of the two projects."""
RESULTS: Final = "results"
"""The folder in the pack for the results of `--run`."""


def write(
    out: Path, *, results_folder: Path | None, run: bool, seed: int, force: bool, report: Callable[[str], None]
) -> tuple[int, list[LessonRun]]:
    """Write the pack to the folder `out`. Return the number of files, and the runs of lessons that failed.

    With `run`, run all lessons first, and show their results. Otherwise show the results in `results_folder`, or the
    recorded results of this kit. `seed` draws the questions of the midterm. Without `force`, raise `UsageError` if the
    folder contains a pack already. `report` is called with what happens now.
    """
    refuse_edited(out / "index.html", force=force)
    if run and results_folder is not None:
        raise UsageError("--run makes new results, and --results names old ones. Use one of the two options.")
    try:
        out.mkdir(parents=True, exist_ok=True)
        failed = results.run_all(lesson_names(), out / RESULTS, lambda name: report(f"lesson {name}")) if run else []
        report("the pack")
        chosen = out / RESULTS if run else results_folder
        found = results.load(chosen) if chosen else results.recorded()
        files = dict(files_of(load_all(found), seed=seed))
        for name, content in files.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be written ({error.strerror}). Name another folder.") from error
    return len(files), failed


def files_of(pages: Mapping[str, LessonPage], *, seed: int) -> Iterator[tuple[str, str | bytes]]:
    """Yield the path and the content of each file of the pack. `seed` draws the questions of the midterm."""
    questions = [question for page in pages.values() for question in bank.questions_of(page)]
    courses = {
        "syllabus_12_weeks.html": syllabus.twelve_weeks(pages),
        "syllabus_4_weeks.html": syllabus.four_weeks(pages),
    }
    midterm, projects = bank.draw_exam(courses["syllabus_12_weeks.html"].before_midterm, seed), project.load()
    for name, course in courses.items():
        is_long = len(course.weeks) > syllabus.SHORT_WEEKS
        work, link = (projects[project.FULL], FULL) if is_long else (projects[project.SHORT], SHORT)
        yield name, render("syllabus.html", syllabus=course, has_midterm=is_long, exam=midterm, project=work, link=link)
    for page in pages.values():
        yield f"lessons/{page.name}.html", lesson_page(page)
        yield f"slides/{page.name}.html", slides_page(page)
    yield "midterm.html", render("midterm.html", exam=midterm, answers=False)
    yield "midterm_answers.html", render("midterm.html", exam=midterm, answers=True)
    yield FULL, render("project.html", project=projects[project.FULL], weeks=syllabus.LONG_WEEKS)
    yield SHORT, render("project.html", project=projects[project.SHORT], weeks=syllabus.SHORT_WEEKS)
    yield from _question_files(questions, midterm)
    yield (
        "index.html",
        render(
            "index.html",
            pages=list(pages.values()),
            first=courses["syllabus_12_weeks.html"].lessons[0],
            total=len(questions),
            kinds=bank.KINDS,
            counts=Counter(question.kind for question in questions),
            version=Environment.capture(ask_cuda=False).kit,
            exam=midterm,
            project=projects[project.FULL],
            short=projects[project.SHORT],
            install=INSTALL,
            activate=ACTIVATE,
        ),
    )


def _question_files(questions: list[bank.Question], midterm: bank.Exam) -> Iterator[tuple[str, str | bytes]]:
    title, exam_title, drawn = "fairclock question bank", "fairclock midterm", list(midterm.questions)
    yield "questions/questions.csv", "\ufeff" + question_files.as_csv(questions)  # Excel needs the mark to read UTF-8
    yield "questions/questions_moodle.xml", question_files.as_moodle_xml(questions, category=title)
    yield "questions/questions_canvas.zip", question_files.as_qti(questions, title=title, bank=True)
    yield "questions/midterm_moodle.xml", question_files.as_moodle_xml(drawn, category=exam_title)
    yield "questions/midterm_canvas.zip", question_files.as_qti(drawn, title=exam_title, bank=False)


def lesson_page(page: LessonPage) -> str:
    """Return the instructor's page about one lesson, as HTML."""
    return render(
        "lesson.html",
        page=page,
        before=before_class(page),
        student=for_students(page),
        install=INSTALL,
        activate=ACTIVATE,
    )


def before_class(page: LessonPage) -> list[str]:
    """Return the commands with which an instructor prepares the class."""
    run = f"fairclock lessons {page.short}"
    return [
        f"{run} --list-steps",
        f"{run} --no-input --plots pictures",
        f"{run} --notebook {page.name}.ipynb",
        f"fairclock check solutions/{page.name}.py",
    ]


def for_students(page: LessonPage) -> list[str]:
    """Return the commands with which students take the lesson and work on its exercise."""
    check = f"fairclock check {page.short}"
    return [f"fairclock lessons {page.short}", check, f"{check} --hint", "fairclock submit"]
