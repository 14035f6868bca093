"""A course of 120 students over four weeks gets the grades that a second program computes without the grader's code."""

import csv
import html
import json
import subprocess
import sys
from pathlib import Path

import four_weeks
import pytest
from commanding import grader
from four_weeks import LESSONS, Person

from grader.desk.check import check
from grader.isolation.pool import Pool

HERE = Path(__file__).parent
Grades = dict[str, dict[str, float]]


def _points(folder: Path) -> tuple[dict[str, dict[str, dict[str, float]]], dict[str, float]]:
    """Return the points of each content as `check` grades it (lesson → content → task → points), and the most."""
    most: dict[str, float] = {}
    found: dict[str, dict[str, dict[str, float]]] = {}
    for lesson in LESSONS:
        for name, data in four_weeks.contents(lesson).items():
            if name not in {"stub", "pdf"}:
                path = folder / lesson / name / f"{lesson}{'.ipynb' if name == 'notebook' else '.py'}"
                path.parent.mkdir(parents=True)
                path.write_bytes(data)
                with Pool() as pool:
                    report = check(lesson, path, pool)
                found.setdefault(lesson, {})[name] = {one.task: one.points for one in report.verdicts}
                most[lesson] = report.max_points
    return found, most


def _second_opinion(folder: Path) -> Grades:
    done = subprocess.run([sys.executable, HERE / "second_opinion.py", folder], capture_output=True, check=True)
    found: Grades = json.loads(done.stdout)
    return found


def _grades(out: Path, roster: list[Person]) -> Grades:
    """Return the points in the gradebook by student number and lesson, and the total."""
    with (out / "gradebook.csv").open(encoding="utf-8", newline="") as file:
        head, _, *lines = csv.reader(file)
    columns = {name: next(at for at, cell in enumerate(head) if f"({name})" in cell) for name in (*LESSONS, "total")}
    labels = {one.number: f"{one.name} ({one.number})" if one.name == four_weeks.TWINS else one.name for one in roster}
    by_label = {line[0]: line for line in lines}
    return {
        number: {name: float(by_label[label][at] or 0) for name, at in columns.items()}
        for number, label in labels.items()
    }


@pytest.mark.long
def test_a_second_program_computes_the_same_grades_for_a_course_of_four_weeks(tmp_path: Path) -> None:
    folder, out = tmp_path / "course", tmp_path / "grades"
    roster, facts, exports = four_weeks.write(folder)
    points, most = _points(tmp_path / "files")
    by_hand: dict[str, dict[str, dict[str, float]]] = {}
    course: tuple[str | Path, ...] = ("--course", folder / "course.toml")

    def agree() -> None:
        record = {"handed_in": [vars(one) for one in facts], "points": points, "maximum": most, "by_hand": by_hand}
        (folder / "facts.json").write_text(json.dumps(record), encoding="utf-8")
        assert _grades(out, roster) == _second_opinion(folder)

    def give(person: Person, task: str, number: float) -> None:
        said = grader(
            "grade", out, person.email, task, "--points", str(number), "--comment", "=1+1 \x1b[31m", "--by", "Eve"
        )
        assert said.code == 0, said.err
        by_hand.setdefault(person.number, {}).setdefault(task.partition(".")[0], {})[task] = number

    for name, place in exports.items():
        lesson = LESSONS[int(name[4]) - 1]
        looked = grader("run", place, "--dry-run", *course, "--lessons", lesson)
        assert looked.code == 0, looked.err
        arguments = ("run", place, "--out", out, *course, "--lessons", lesson)
        assert grader(*arguments).code == 0
    agree()

    handed_in = {fact.person for fact in facts}
    give(next(one for one in roster if one.number in handed_in), "04_autorange.blocked_autorange", 7)
    give(next(one for one in roster if one.number not in handed_in), "02_timeit_vs_timer.repair", 2.5)
    agree()
    regraded = next(
        one for one in roster if any(fact.person == one.number and fact.lesson == LESSONS[2] for fact in facts)
    )
    regrade = ("--lessons", LESSONS[2], "--regrade", regraded.number)
    assert grader("run", exports["week3_plain"], "--out", out, *course, *regrade).code == 0
    agree()
    text = (folder / "course.toml").read_text(encoding="utf-8-sig")
    (folder / "course.toml").write_text(text.replace("percent_per_day = 10", "percent_per_day = 25"), encoding="utf-16")
    assert grader("report", out, *course).code == 2
    (folder / "course.toml").write_text(text.replace("percent_per_day = 10", "percent_per_day = 25"), encoding="utf-8")
    grader("report", out, *course)
    agree()
    slip_days = "\n[slip_days]\nbudget = 3\nper_lesson = 2\n"
    (folder / "course.toml").write_text(text + slip_days, encoding="utf-8")
    grader("report", out, *course)
    agree()
    pages = [page.read_text(encoding="utf-8") for page in out.glob("*/report.html")]
    assert any("0 of 3 slip days are left" in page for page in pages)
    names = {one.name for one in roster}
    for platform in ("canvas", "moodle", "folder"):
        assert grader("return", out, "--for", platform, "--to", tmp_path / platform).code in {0, 1}
    for page in (tmp_path / "folder").rglob("*.html"):
        there = {name for name in names if name in html.unescape(page.read_text(encoding="utf-8"))}
        assert len(there) == 1, page
