import json
import stat
from pathlib import Path

import pytest
from classroom import KIT, grade, hand_in, run

from grader import reports, seeds
from grader.hand_ins.layouts import PLAIN
from grader.records import Report, Submission


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for student, text in (("ada", "right"), ("bob", "wrong"), ("eve", "cheat"), ("may", "edge")):
        hand_in(tmp_path / "hw1", student, text)
    hand_in(tmp_path / "hw1", "ada", "right", "02_timer")
    (tmp_path / "hw1" / "zoe" / "01_dot.py").mkdir(parents=True)
    return tmp_path / "hw1"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "grades"


def test_a_class_is_graded_with_one_secret_seed_and_every_report_written(folder: Path, out: Path) -> None:
    seeds_given = set()

    def remembering(submission: Submission, seed: str) -> Report:
        seeds_given.add(seed)
        return grade(submission)

    summary, said = run(folder, out, remembering)
    assert (summary.exit_code, summary.graded, summary.interrupted) == (0, 6, False)
    assert said.splitlines()[:2] == [f"hw1, read as {PLAIN}: 5 students, 6 hand-ins, 7 tasks · kit {KIT}", "2 lanes"]
    assert summary.lines()[0].endswith(
        "Points: median 0 of 20. To check by hand: 1 broke the rules; 1 refused; 1 right, close to a tier."
    )
    assert (out / reports.PAGE).is_file()
    assert (out / "ada" / reports.PAGE).is_file()
    assert len((out / reports.GRADEBOOK).read_text().splitlines()) == 7
    assert json.loads((out / "ada" / reports.RESULTS).read_text())["score"] == 12.0
    assert seeds_given == {seed := (out / seeds.FILE).read_text().strip()}
    assert stat.S_IMODE((out / seeds.FILE).stat().st_mode) == 0o600
    shown = [path for path in out.rglob("*") if path.is_file() and path.name != seeds.FILE]
    assert not any(seed.encode() in path.read_bytes() for path in shown)


def test_a_student_who_left_is_in_no_report_and_keeps_the_grade(folder: Path, out: Path) -> None:
    run(folder, out)
    before = (out / reports.GRADEBOOK).read_text()
    assert "<bdi>ada</bdi>" in (out / reports.PAGE).read_text()
    (folder / "ada").rename(folder.with_name("ada"))
    assert run(folder, out)[0].roll.students == ("bob", "eve", "may", "zoe")
    assert "<bdi>ada</bdi>" not in (out / reports.PAGE).read_text()
    assert "ada," not in (out / reports.GRADEBOOK).read_text()
    folder.with_name("ada").rename(folder / "ada")
    assert run(folder, out)[0].graded == 0
    assert (out / reports.GRADEBOOK).read_text() == before


def test_a_hand_in_that_the_noise_kept_from_being_timed_is_repeated_after_all_others(folder: Path, out: Path) -> None:
    hand_in(folder, "bob", "noisy")
    order: list[str] = []

    def noisy_first(given: Submission, _seed: str) -> Report:
        order.append(given.student)
        return grade(given if order.count("bob") < 4 else Submission(*_fields(given), "right"))

    summary, _ = run(folder, out, noisy_first)
    assert (summary.exit_code, summary.faults) == (3, 1)
    assert (order.count("bob"), order[-1]) == (2, "bob")
    assert summary.lines()[1] == (
        "1 hand-in could not be timed, because other programs disturbed this machine too much. To time it, run the "
        "same command again when fewer programs run."
    )
    assert "bob,,,bob,,," in (out / reports.GRADEBOOK).read_text()
    for page in (out / reports.PAGE, out / "bob" / reports.PAGE):
        assert "not graded (machine too noisy)" in page.read_text()

    summary, _ = run(folder, out, noisy_first)
    assert (summary.exit_code, summary.faults, summary.graded, order[-2:]) == (0, 0, 1, ["bob", "bob"])
    assert "bob,,,bob,,6," in (out / reports.GRADEBOOK).read_text()


def _fields(given: Submission) -> tuple[str, str, str, str]:
    return given.student, given.lesson, given.path, given.sha256


def test_only_the_user_can_read_the_grades_unless_the_user_shares_the_folder(tmp_path: Path) -> None:
    hand_in(tmp_path / "hw", "ada")
    for out in (tmp_path / "new" / "out", tmp_path / "empty"):
        if out.name == "empty":
            out.mkdir(mode=0o755)
        summary, _ = run(tmp_path / "hw", out)
        assert not [path for path in (out, *out.rglob("*")) if path.stat().st_mode & 0o077]
        assert "chmod" not in "".join(summary.lines())
    out.chmod(0o770)
    hand_in(tmp_path / "hw", "bob")
    summary, _ = run(tmp_path / "hw", out)
    assert f"chmod -R go= {out}" in "".join(summary.lines()), "it is told, and kept"
    assert stat.S_IMODE((out / "bob" / "report.html").stat().st_mode) == 0o660
