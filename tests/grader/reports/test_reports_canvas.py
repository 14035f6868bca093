import csv
import io
from dataclasses import replace

import pytest
from classroom import KIT, TASKS
from exported import CANVAS, class_of, submission, with_a_fault

from grader.course.roll import HandIn, Roll, TaskPoints
from grader.reports import canvas
from grader.reports.csv_file import Filled
from harness.errors import UsageError


def filled(roll: Roll, text: str = CANVAS, columns: dict[str, str] | None = None, *, scale: bool = False) -> Filled:
    return canvas.fill(roll, text.encode(), "export.csv", columns or {}, scale=scale)


def differing(before: str, after: bytes) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the cells that differ, old and new text, by login and column heading."""
    tables = [list(csv.reader(io.StringIO(text.removeprefix("\ufeff")))) for text in (before, after.decode())]
    head = tables[0][0]
    return {
        (old[3], head[place]): (old[place], new[place])
        for old, new in zip(*tables, strict=True)
        for place in range(len(head))
        if old[place] != new[place]
    }


def test_points_stand_in_the_lessons_column_and_every_other_byte_is_as_it_was() -> None:
    done = filled(class_of(submission("ada"), submission("bob", "edge")))
    assert done.data.decode() == CANVAS.replace("ada,Tuesday,,", "ada,Tuesday,6,").replace('y",4.00,', 'y",10,')
    assert (done.written, done.changed, done.missing) == (2, 2, [])


@pytest.mark.parametrize(
    "name", ["zoe@uni.example", "ZOE@UNI.EXAMPLE", "zoe", "S-3", "103", "oneilzoe_103", "O'Neil, Zoë", "zoë_o'neil"]
)
def test_a_student_is_found_by_login_number_address_or_name(name: str) -> None:
    text = CANVAS.replace("Thursday,EX", "Thursday,")
    assert differing(text, filled(class_of(submission(name)), text).data) == {
        ("zoe@uni.example", "Dot (9001)"): ("", "6")
    }


def test_who_was_found_by_name_alone_is_told() -> None:
    by_name = "Ada Lovelace was matched only by name, with 'Lovelace, Ada'."
    assert by_name in filled(class_of(submission("Ada Lovelace"))).notes
    assert "by name" not in "".join(filled(class_of(submission("ada"))).notes)


def test_who_stands_in_no_row_is_named_with_the_points_and_nothing_is_added() -> None:
    done = filled(class_of(submission("ada"), submission("mallory")))
    assert done.missing == ["mallory, 01_dot: 6 points, but 'mallory' matches no row"]
    assert len(done.data.splitlines()) == len(CANVAS.splitlines())


def test_two_rows_of_one_name_are_not_guessed_between() -> None:
    text = CANVAS + '"Lovelace, Ada",106,S-6,ada2,Thursday,,,,,,,\n'
    done = filled(class_of(submission("Ada Lovelace")), text)
    assert done.missing == ["Ada Lovelace, 01_dot: 6 points, but 'Ada Lovelace' matches 2 rows (4, 9)"]
    assert done.data.decode() == text


def test_two_students_of_one_row_both_get_nothing_and_an_id_goes_before_a_name() -> None:
    done = filled(class_of(submission("S-1"), submission("101")))
    assert [one.partition(", but ")[2] for one in done.missing] == ["'101' matches row 4, which also matches another student", "'S-1' matches row 4, which also matches another student"]  # fmt: skip  # noqa: E501
    done = filled(class_of(submission("ada"), submission("Ada Lovelace", "edge")))
    assert done.missing == [
        "Ada Lovelace, 01_dot: 10 points, but 'Ada Lovelace' matches row 4, which also matches another student"
    ]
    assert differing(CANVAS, done.data) == {("ada", "Dot (9001)"): ("", "6")}


def test_an_excused_student_and_one_without_the_assignment_keep_what_canvas_says() -> None:
    done = filled(
        class_of(submission("zoe"), submission("bob", lesson="02_timer")), columns={"02_timer": "Homework 2: timers"}
    )
    assert differing(CANVAS, done.data) == {}
    assert done.missing == [
        "bob, 02_timer: 6 points, but the cell in Canvas contains N/A",
        "zoe, 01_dot: 6 points, but the cell in Canvas contains EX",
    ]


@pytest.mark.parametrize("named", ["Homework 2: timers", "homework 2:  TIMERS", "9002", "Homework 2: timers (9002)"])
def test_a_column_is_named_by_title_number_or_heading(named: str) -> None:
    done = filled(class_of(submission("ada", lesson="02_timer")), columns={"02_timer": named})
    assert differing(CANVAS, done.data) == {("ada", "Homework 2: timers (9002)"): ("", "6")}
    text = "LastName,FirstName,ID,SIS Login ID,Section,Dot (01_dot) (9001)\nPoints Possible,,,,,10\nDoe,Ada,101,al,T,\n"
    assert b"al,T,6" in filled(class_of(submission("ada doe")), text).data, "Canvas made this title of our gradebook"


def test_many_lessons_without_a_column_are_told_in_one_sentence() -> None:
    roll = class_of(submission("ada"))
    more = (TaskPoints(lesson, f"{lesson}.task", 10.0) for lesson in ("03_sync", "04_blocks"))
    said = [line for line in filled(replace(roll, tasks=(*roll.tasks, *more))).notes if "column" in line]
    assert said == [
        "Not exported: 02_timer, 03_sync, 04_blocks have no column. Name the column with --column LESSON=TITLE."
    ]


def test_the_sum_of_all_lessons_has_a_column_when_one_is_named() -> None:
    text = CANVAS.replace("10.00,10.00", "10.00,20.00")
    both = class_of(submission("ada"), submission("ada", lesson="02_timer"))
    done = filled(both, text, {"total": "9002"})
    assert differing(text, done.data)["ada", "Homework 2: timers (9002)"] == ("", "12")


def test_other_points_possible_are_refused_or_scaled_but_never_mixed() -> None:
    text = CANVAS.replace("10.00,10.00", "100.00,10.00")
    with pytest.raises(UsageError, match=r"has 100 points in Canvas, but 01_dot has 10\. .* --scale"):
        filled(class_of(submission("ada")), text)
    assert differing(text, filled(class_of(submission("ada")), text, scale=True).data)["ada", "Dot (9001)"] == (
        "",
        "60",
    )


def test_where_decimals_have_a_comma_ours_have_one() -> None:
    text = (
        CANVAS.replace(", ", "¤").replace(",", ";").replace("¤", ", ").replace("10.00", "5,00").replace("4.00", "4,0")
    )
    done = filled(
        class_of(submission("ada"), submission("bob", "edge")), text.replace("5,00;5,00", "15,00;5,00"), scale=True
    )
    assert b"ada;Tuesday;9;" in done.data
    done = filled(class_of(submission("ada")), text.replace("5,00;5,00", "7,50;5,00"), scale=True)
    assert b"ada;Tuesday;4,5;" in done.data


def test_a_fault_of_ours_and_a_wait_are_not_filled_in_and_are_named() -> None:
    waiting = (HandIn("bob", "01_dot", "bob/01_dot.py", "00"),)
    done = filled(with_a_fault(class_of(submission("ada"), waiting=waiting)))
    assert done.missing == ["ada, 01_dot: no grade yet", "bob, 01_dot: no grade yet"]
    assert done.data.decode() == CANVAS


@pytest.mark.parametrize(
    ("text", "columns", "says"),
    [
        ("a,b,c\n1,2,3\n", {}, "is not a Canvas gradebook"),
        (CANVAS.replace("Points Possible", "Points"), {}, "no row `Points Possible`"),
        (
            CANVAS.replace("Dot", "Product"),
            {},
            r"no column with the name of a lesson. Its assignments are: 'Product \(9001\)'",
        ),
        (CANVAS, {"01_dot": "Final Score"}, "is computed by Canvas"),
        (CANVAS, {"01_dot": "Nothing"}, "has no column 'Nothing'. Its assignments are: 'Dot"),
        (CANVAS.replace("Homework 2: timers", "Dot"), {}, "has 2 columns '01_dot'"),
        (CANVAS, {"07_none": "Dot"}, "has no lesson 07_none. --column accepts: 01_dot, 02_timer, total"),
    ],
)
def test_what_does_not_fit_is_refused_and_says_what_would(text: str, columns: dict[str, str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        filled(class_of(submission("ada")), text, columns)


def gradebook_rows(of: Roll) -> list[list[str]]:
    return list(csv.reader(io.StringIO(canvas.render(of), newline="")))


def test_the_file_has_canvas_columns_and_the_row_of_possible_points() -> None:
    table = gradebook_rows(class_of(submission("ada"), submission("ada", lesson="02_timer")))
    assert table == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Dot (01_dot)", "Timer (02_timer)"],
        ["Points Possible", "", "", "", "", "10", "10"],
        ["ada", "", "", "ada", "", "6", "6"],
    ]


def test_a_refused_hand_in_earns_zero_and_where_there_is_no_grade_the_cell_is_empty() -> None:
    waiting = (HandIn("bob", "01_dot", "bob/01_dot.py", "00"),)
    refused = replace(submission("ada"), source=None, refusal="It is a folder.")
    table = gradebook_rows(class_of(refused, waiting=waiting))
    assert [row[5:] for row in table[2:]] == [["0", ""], ["", ""]]
    assert gradebook_rows(with_a_fault(class_of(submission("ada"))))[2][5] == "", "an internal error is no grade"


def test_no_name_becomes_a_formula_and_any_other_name_stays_in_its_cell() -> None:
    formulas, plain = ("=cmd()", "+1", "-1", "@sum", "  =1", "\uff1d1"), ("a, b", '"q"', "two\nlines", "名前")
    table = gradebook_rows(Roll("hw1", KIT, (*formulas, *plain), TASKS, (), (), ()))
    shown = [*(f"'{name}" for name in formulas), *plain]
    assert [row[0] for row in table[2:]] == [row[3] for row in table[2:]] == shown
    assert {len(row) for row in table} == {7}
