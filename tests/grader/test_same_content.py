"""Equal content gets equal grades, from any student and at any time."""

from dataclasses import replace
from pathlib import Path

import pytest
from classroom import ROUNDS, grade, hand_in, notebook
from classroom import run as graded
from commanding import rows
from outline import Outline
from small_tasks import COUNT_UP, search
from small_tasks import hand_in as small

from grader import reports
from grader.class_run import journal
from grader.class_run.grading import Grade
from grader.class_run.summary import Summary
from grader.grade import grade_task
from grader.isolation.pool import Pool
from grader.records import Report, Submission
from grader.session import Session


class Drifting:
    """A fake grader that gives 1 point at its first call, 2 points at its second, and so on."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, submission: Submission, _seed: str) -> Report:
        report = grade(submission)
        self.seen.append(f"{submission.student}/{submission.lesson}")
        verdicts = tuple(replace(one, points=float(len(self.seen))) for one in report.verdicts)
        return replace(report, verdicts=verdicts)


def run(folder: Path, grade_one: Grade, *regrade: str) -> tuple[Summary, str]:
    return graded(folder, None, grade_one, regrade=regrade, jobs=1)


def points(summary: Summary, lesson: str = "01_dot") -> dict[str, float | None]:
    return {student: grades[lesson] for student, grades in summary.roll.grades().items() if lesson in grades}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for student in ("ada", "bob", "carla"):
        hand_in(tmp_path / "hw1", student, "right")
    hand_in(tmp_path / "hw1", "dora", "right # mine")
    return tmp_path / "hw1"


def test_the_hidden_inputs_do_not_depend_on_the_student(tmp_path: Path) -> None:
    task = search(tmp_path)
    with Pool(sandboxed=False) as pool:
        told = []
        for student in ("ada", "zoe"):
            with pool.one_hand_in(tensors=False) as trees:
                verdict = grade_task(task, small(COUNT_UP, student), Session("secret", trees))
            told.append((verdict.points, verdict.attempt.speed))
    assert told[0] == told[1]


def test_equal_content_is_graded_once_and_all_students_have_its_grade(folder: Path) -> None:
    drifting = Drifting()
    summary, said = run(folder, drifting)
    assert drifting.seen == ["ada/01_dot", "dora/01_dot"]
    assert points(summary) == {"ada": 1.0, "bob": 1.0, "carla": 1.0, "dora": 2.0}
    assert (summary.graded, summary.exit_code) == (2, 0)
    assert "4 hand-ins have 2 different contents: hand-ins with equal content are graded once." in said
    assert len(list(summary.roll.gradings())) == 2
    for student in ("emil", "dora"):
        hand_in(folder, student, "right")
    summary, _ = run(folder, drifting)
    assert len(drifting.seen) == 2, "who hands in later gets the grade that the content has"
    assert points(summary) == dict.fromkeys(("ada", "bob", "carla", "dora", "emil"), 1.0)


def test_each_student_has_the_evidence_under_their_own_name(folder: Path) -> None:
    run(folder, Drifting())
    out = folder.with_name("out")
    with journal.read(out) as book:
        for student in ("ada", "bob", "carla"):
            (report,) = book.reports(student)
            assert (report.submission.student, report.submission.path) == (student, f"{student}/01_dot.py")
            assert report.verdicts[0].attempt.rounds == ROUNDS
    query = "SELECT student, path, rounds != '[]' FROM attempts ORDER BY student"
    assert rows(out, query) == [(name, f"{name}/01_dot.py", 1) for name in ("ada", "bob", "carla", "dora")]
    for student in ("ada", "bob", "carla"):
        page = (out / student / reports.PAGE).read_text()
        assert "Ratio of each round of 01_dot.batched: 2 values from" in page
        assert not [other for other in ("ada", "bob", "carla", "dora") if other != student and other in page]


def test_a_new_grade_of_one_is_the_new_grade_of_all_with_that_content(folder: Path) -> None:
    drifting = Drifting()
    run(folder, drifting)
    summary, _ = run(folder, drifting, "carla")
    assert drifting.seen[2:] == ["carla/01_dot"]
    assert points(summary) == {"ada": 3.0, "bob": 3.0, "carla": 3.0, "dora": 2.0}
    out = folder.with_name("out")
    assert rows(out, "SELECT count(*) FROM gradings") == [(3,)]
    page = Outline((out / reports.PAGE).read_text()).text
    assert "ada , bob , carla (graded again; the newest grade counts for all)" in page
    assert "The file was graded again, and the newest grade counts" in (out / "ada" / reports.PAGE).read_text()
    assert points(run(folder, drifting)[0]) == points(summary)
    assert run(folder, drifting, "ada", "bob")[0].graded == 1, "two students with one content cost one grading"


def test_a_notebook_a_python_file_and_refused_files_of_equal_bytes_are_different_contents(tmp_path: Path) -> None:
    folder, drifting, data = tmp_path / "hw1", Drifting(), notebook("# right")
    for student, suffix in (("ada", "ipynb"), ("bob", "ipynb"), ("eve", "py")):
        (folder / student).mkdir(parents=True)
        (folder / student / f"01_dot.{suffix}").write_bytes(data)
    for student in ("may", "zoe"):
        (folder / student / "01_dot.py").mkdir(parents=True)
    summary, _ = run(folder, drifting)
    assert sorted(drifting.seen) == ["ada/01_dot", "eve/01_dot", "may/01_dot", "zoe/01_dot"]
    found = points(summary)
    assert found["ada"] == found["bob"] != found["eve"]
    refused = [one.submission for one in summary.roll.reports if one.submission.refused]
    assert [one.refusal.partition(" ")[0] for one in refused] == ["may/01_dot.py", "zoe/01_dot.py"]
    assert [one.students for one in summary.roll.same_content] == [("ada", "bob")]


def test_the_class_page_names_who_handed_in_the_same_and_apart_from_it_who_began_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "hw1"
    for student, text in (("ada", "right"), ("bob", "right"), ("eve", "stub"), ("may", "stub"), ("zoe", "right ")):
        hand_in(folder, student, text)

    def with_stubs(submission: Submission, seed: str) -> Report:
        report = grade(submission, seed)
        if submission.source != "stub":
            return report
        attempt = replace(report.verdicts[0].attempt, help="not written yet")
        return replace(report, verdicts=(replace(report.verdicts[0], attempt=attempt),))

    summary, _ = run(folder, with_stubs)
    assert [(one.students, one.untouched) for one in summary.roll.same_content] == [
        (("ada", "bob"), False),
        (("eve", "may"), True),
    ]
    text = Outline((folder.with_name("out") / reports.PAGE).read_text()).text
    assert "Dot 2 ada , bob" in text
    assert "Dot, 2 students: eve , may" in text
