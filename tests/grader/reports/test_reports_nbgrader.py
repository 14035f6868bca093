import csv
import io

from exported import class_of, submission, with_a_fault

from grader.course.roll import Roll
from grader.reports import nbgrader


def rows(roll: Roll) -> list[list[str]]:
    return list(csv.reader(io.StringIO(nbgrader.render(roll), newline="")))


def test_columns_and_rows_are_those_of_nbgraders_export() -> None:
    assert rows(class_of(submission("ada"), submission("bob@uni.example", "wrong", "02_timer"))) == [
        ["assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
         "late_submission_penalty", "score", "max_score"],
        ["01_dot", "", "", "ada", "", "", "", "6.0", "0.0", "6.0", "10.0"],
        ["01_dot", "", "", "bob@uni.example", "", "", "bob@uni.example", "0.0", "0.0", "0.0", "10.0"],
        ["02_timer", "", "", "ada", "", "", "", "0.0", "0.0", "0.0", "10.0"],
        ["02_timer", "", "", "bob@uni.example", "", "", "bob@uni.example", "0.0", "0.0", "0.0", "10.0"],
    ]  # fmt: skip


def test_where_there_is_no_grade_the_scores_are_empty() -> None:
    assert rows(with_a_fault(class_of(submission("ada"))))[1][7:] == ["", "", "", "10.0"]


def test_no_name_becomes_a_formula_and_a_comma_stays_in_its_cell() -> None:
    assert [row[3] for row in rows(class_of(submission("=cmd()"), submission("Doe, Jane")))[1:3]] == [
        "'=cmd()",
        "Doe, Jane",
    ]
