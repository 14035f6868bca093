import csv
import io

import pytest
from classroom import KIT, TASKS
from exported import with_a_fault
from test_reports_gradescope import roll, submission

from grader.course.roll import HandIn, Roll
from grader.reports import gradebook


def rows(of: Roll) -> list[list[str]]:
    return list(csv.reader(io.StringIO(gradebook.render(of), newline="")))


def test_the_file_has_canvas_columns_and_the_row_of_possible_points() -> None:
    table = rows(roll(submission("right"), submission("right", lesson="02_timer")))
    assert table == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Dot (01_dot)", "Timer (02_timer)"],
        ["Points Possible", "", "", "", "", "10", "10"],
        ["ada", "", "", "ada", "", "6", "6"],
    ]


def test_a_refused_hand_in_earns_zero_and_where_there_is_no_grade_the_cell_is_empty() -> None:
    waiting = (HandIn("bob", "01_dot", "bob/01_dot.py", "00"),)
    table = rows(roll(submission(None, refusal="It is a folder."), waiting=waiting))
    assert [row[5:] for row in table[2:]] == [["0", ""], ["", ""]]
    assert rows(with_a_fault(roll(submission("right"))))[2][5] == "", "an internal error of the grader is no grade"


@pytest.mark.parametrize("name", ["=cmd()", "+1", "-1", "@sum", "  =1", "\uff1d1"])
def test_no_name_becomes_a_formula(name: str) -> None:
    row = rows(Roll("hw1", KIT, (name,), TASKS, (), (), ()))[2]
    assert (row[0], row[3]) == ("'" + name, "'" + name)


@pytest.mark.parametrize("name", ["a, b", '"q"', "two\nlines", "名前"])
def test_any_name_stays_in_its_cell(name: str) -> None:
    table = rows(Roll("hw1", KIT, (name,), TASKS, (), (), ()))
    assert [len(row) for row in table] == [7, 7, 7]
    assert table[2][0] == name
