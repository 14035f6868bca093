"""Points in the files of Canvas and Moodle: only the filled cells differ from the file that the system exported."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from classroom import TASKS
from exported import CANVAS, MOODLE, class_of, submission, with_a_fault
from hypothesis import assume, given
from hypothesis import strategies as st

from grader.course.course_file import parse
from grader.course.results import HandIn, TaskPoints
from grader.course.roll import Roll
from grader.course.roster import Person, Roster
from grader.records import LeftOut, Sender
from grader.reports import canvas, class_page, grade_texts, gradescope, junit, moodle, student_page
from grader.reports.csv_file import CsvFile
from harness.errors import UsageError

DOT = "Dot (9001)"


def in_canvas(roll: Roll, text: str = CANVAS, columns: dict[str, str] | None = None, *, scale: bool = False) -> CsvFile:
    return canvas.fill(roll, text.encode(), "export.csv", columns or {}, scale=scale)


def in_moodle(roll: Roll, text: str = MOODLE, lessons: Sequence[str] = ("01_dot",), *, scale: bool = False) -> CsvFile:
    return moodle.fill(roll.only(lessons), text.encode(), "sheet.csv", scale=scale)


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


def refused(says: str, fill: object, *arguments: object) -> None:
    with pytest.raises(UsageError, match=says):
        fill(class_of(submission("ada")), *arguments)  # type: ignore[operator]


@st.composite
def csv_files(draw: st.DrawFn) -> tuple[str, list[list[str]], list[str], str]:
    """Draw a text before the table, the cells as they stand in the file, the end of each row, and the separator."""
    sign = draw(st.sampled_from(",;\t"))
    inside = st.text(st.characters(codec="utf-8", exclude_characters='\0\ufeff"'), max_size=9)
    bare = inside.filter(lambda text: not set(text) & {sign, "\r", "\n"})
    quoted = st.tuples(st.sampled_from(["", " "]), inside, st.sampled_from(['""', ""]))
    cell = st.one_of(bare, quoted.map(lambda parts: f'{parts[0]}"{parts[1]}{parts[2]}"'))
    rows = draw(st.lists(st.lists(cell, min_size=1, max_size=4), max_size=6))
    kinds = draw(st.sampled_from([["\n", "\r\n"], ["\r"]]))
    ends = [draw(st.sampled_from(kinds)) for _ in range(len(rows) + 1)]
    before = draw(st.sampled_from(["", "\ufeff"])) + draw(st.sampled_from(["", f"sep={sign}\r\n"]))
    return before, [["head", "of", "table"], *rows], [*ends[:-1], draw(st.sampled_from(["", ends[-1]]))], sign


def file_text(before: str, rows: list[list[str]], ends: list[str], sign: str) -> str:
    return before + "".join(sign.join(row) + end for row, end in zip(rows, ends, strict=True))


@given(csv_files(), st.data())
def test_whatever_the_dialect_only_the_filled_cell_differs(
    file: tuple[str, list[list[str]], list[str], str], data: st.DataObject
) -> None:
    before, rows, ends, sign = file
    assume(ends[-1] or rows[-1] != [""])  # without a line end, an empty last row does not exist
    sheet = CsvFile(file_text(*file).encode(), "a.csv")
    assert sheet.data == file_text(*file).encode()
    plain = [[cell.removeprefix(" ") if cell.startswith(' "') else cell for cell in row] for row in rows]
    read = csv.reader(io.StringIO(file_text("", plain, ends, sign), newline=""), delimiter=sign)
    assert sheet.rows == [row or [""] for row in read], "as the standard library reads it"
    row, text = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.sampled_from(["9.5", f'x{sign} "y"']))
    column = data.draw(st.integers(0, len(rows[row])))  # the cell after the last one may be missing
    was = (rows[row] + [""])[column]
    if sheet.fill(row, column, text):
        quoted = '"' + text.replace('"', '""') + '"'
        rows[row][column:] = [quoted if '"' in was + text else text, *rows[row][column + 1 :]]
    assert sheet.data == file_text(before, rows, ends, sign).encode()


def test_what_is_no_such_file_is_refused_in_one_sentence() -> None:
    for data, part in (
        (b"", "a.csv is empty"),
        (b"PK\x03\x04\0\0", "a.csv is not a CSV file"),
        (b'a,b\r1,"x"\r\n\n2,"open\n', "a.csv, line 4: a quote is not closed"),
        (b",,\r\n \n", "a.csv is empty"),
        ("Åsa,1".encode("utf-16"), "a.csv is not UTF-8"),
        ("Åsa,1".encode("latin-1"), "a.csv is not UTF-8"),
    ):
        with pytest.raises(UsageError, match=part):
            CsvFile(data, "a.csv")


def test_a_student_is_found_by_login_number_address_or_name() -> None:
    text = CANVAS.replace("Thursday,EX", "Thursday,")
    for name in ("zoe@uni.example", "ZOE@UNI.EXAMPLE", "zoe", "S-3", "103", "zoë_o'neil"):
        cells = differing(text, in_canvas(class_of(submission(name)), text).data)
        assert cells == {("zoe@uni.example", "Dot (9001)"): ("", "6")}, name
    by_name = "Ada Lovelace was matched only by name, with 'Lovelace, Ada'."
    assert by_name in in_canvas(class_of(submission("Ada Lovelace"))).notes
    assert "by name" not in "".join(in_canvas(class_of(submission("ada"))).notes)


def test_who_matches_no_row_or_a_row_with_somebody_else_is_named_with_the_points_and_nothing_is_added() -> None:
    two = CANVAS + '"Lovelace, Ada",106,S-6,ada2,Thursday,,,,,,,\n'
    both = "matches row 4, which also matches another student"
    ada = {("ada", DOT): ("", "6")}
    for text, names, missing, cells in (
        (CANVAS, ("ada", "mallory"), ["mallory, 01_dot: 6 points, but 'mallory' matches no row"], ada),
        (two, ("Ada Lovelace",), ["Ada Lovelace, 01_dot: 6 points, but 'Ada Lovelace' matches 2 rows (4, 9)"], {}),
        (CANVAS, ("S-1", "101"), [f"{name}, 01_dot: 6 points, but '{name}' {both}" for name in ("101", "S-1")], {}),
        (CANVAS, ("ada", "Ada Lovelace"), [f"Ada Lovelace, 01_dot: 6 points, but 'Ada Lovelace' {both}"], ada),
    ):
        done = in_canvas(class_of(*map(submission, names)), text)
        assert (done.missing, differing(text, done.data)) == (missing, cells), "an id goes before a name"


def test_an_excused_student_and_one_without_the_assignment_keep_what_canvas_says() -> None:
    class_ = class_of(submission("zoe"), submission("bob", lesson="02_timer"))
    done = in_canvas(class_, columns={"02_timer": "Homework 2: timers"})
    assert differing(CANVAS, done.data) == {}
    assert done.missing == [
        "bob, 02_timer: 6 points, but the cell in Canvas contains N/A",
        "zoe, 01_dot: 6 points, but the cell in Canvas contains EX",
    ]


def test_a_column_is_named_by_title_number_or_heading() -> None:
    for named in ("Homework 2: timers", "homework 2:  TIMERS", "9002", "Homework 2: timers (9002)"):
        done = in_canvas(class_of(submission("ada", lesson="02_timer")), columns={"02_timer": named})
        assert differing(CANVAS, done.data) == {("ada", "Homework 2: timers (9002)"): ("", "6")}
    text = CANVAS.replace("10.00,10.00", "10.00,20.00")
    both = class_of(submission("ada"), submission("ada", lesson="02_timer"))
    cells = differing(text, in_canvas(both, text, {"total": "9002"}).data)
    assert cells["ada", "Homework 2: timers (9002)"] == ("", "12")
    more = replace(both, tasks=(*both.tasks, TaskPoints("03_sync", "03_sync.task", 10.0)))
    told = "Not exported: 02_timer, 03_sync have no column. Name the column with --column LESSON=TITLE."
    assert [line for line in in_canvas(more).notes if "column" in line] == [told]


def test_who_missed_a_lesson_that_is_due_gets_0_points_and_is_named() -> None:
    rules = 'students = ["ada", "eve", "zoe", "bob"]\n[lessons.01_dot]\ndue = 2026-11-20T18:00:00Z\n'
    of = replace(class_of(submission("ada")), course=parse(rules, "course.toml"), at=datetime(2026, 11, 21, tzinfo=UTC))
    of = replace(
        of,
        students=("ada", "bob", "eve", "zoe"),
        tasks=TASKS[:1],
        left_out=(LeftOut("bob", "bob/1.py", "", "Unknown.", misnamed=True),),
    )
    done = in_canvas(of)
    assert differing(CANVAS, done.data) == {("ada", "Dot (9001)"): ("", "6"), ("eve", "Dot (9001)"): ("", "0")}
    assert "zoe, 01_dot: 0 points, but the cell in Canvas contains EX" in done.missing
    assert "0 points, because no attempt was handed in (2): eve (01_dot); zoe (01_dot)." in done.notes
    rows = moodle_rows(in_moodle(of, MOODLE.replace("10.00,No", "10.00,Yes")).data)
    assert rows[2]["Feedback comments"] == "Graded by fairclock: 01_dot 0 (no attempt was handed in)"
    eve = dict(of.one_by_one())["eve"]
    assert "01_dot: 0 points, because no attempt" in json.loads(gradescope.render(eve))["output"]
    assert 'message="no attempt was handed in"' in junit.render(eve)
    before = replace(of, at=datetime(2026, 11, 20, tzinfo=UTC))
    assert (in_canvas(before).written, [row[5] for row in gradebook_rows(before)[2:]]) == (1, ["6", "", "", ""])
    assert [row[5] for row in gradebook_rows(of)[2:]] == ["6", "", "0", "0"]


def test_a_course_with_weights_has_one_total_and_every_system_gets_the_same_share() -> None:
    rules = "[lessons]\n01_dot.weight = 3\n02_timer = {weight = 2, extra_credit = true}\n03_sync.weight = 1\n"
    both = class_of(submission("ada", "edge"), submission("ada", lesson="02_timer"), submission("bob"))
    of = replace(
        both, tasks=(*TASKS, TaskPoints("03_sync", "03_sync.task", 10.0)), course=parse("drop_lowest = 1\n" + rules, "")
    )
    # ada: 3 of 3 and 1.2 of extra credit; bob: 1.8 of 3
    assert [row[5:] for row in gradebook_rows(of)[1:]] == [
        ["10", "10", "10", "100"],
        ["10", "6", "", "140"],
        ["6", "", "", "60"],
    ]
    assert gradebook_rows(with_a_fault(of))[2][5:] == ["", "6", "", ""]
    for most, ada in (("10.00", "14"), ("250", "350"), ("", "140")):
        text = CANVAS.replace("10.00,10.00", f"10.00,{most}").replace("N/A", "")
        cells = differing(text, in_canvas(of, text, {"total": "9002"}).data)
        assert cells["ada", "Homework 2: timers (9002)"] == ("", ada)
    text = MOODLE.replace("10.00", "50.00")
    done = moodle.fill(of, text.encode(), "a.csv")
    assert [row["Grade"] for row in moodle_rows(done.data)] == ["", "30", ""]
    assert done.missing == ["Participant 1001: 70 points, but Moodle accepts at most 50"]
    (alone,) = (alone for student, alone in of.one_by_one() if student == "bob")
    for shown in (class_page.render(of), student_page.render(alone)):
        assert "60 %" in shown
        assert "so far" not in shown
    assert "so far" in class_page.render(with_a_fault(of))
    later = parse("drop_lowest = 1\n" + rules.replace("03_sync.weight = 1", "03_sync.due = 2026-11-20T18:00:00Z"), "")
    for day, final in ((20, False), (21, True)):
        found = grade_texts.totals(replace(of, course=later, at=datetime(2026, 11, day, tzinfo=UTC)))
        assert [one.is_final for one in found.values()] == [final] * 2, (
            "a lesson that is not due can still be handed in"
        )
    assert not grade_texts.totals(both)
    assert not grade_texts.totals(of.only(["01_dot"])), "a part of the lessons has no total"


def test_the_roster_and_the_platforms_numbers_find_a_row() -> None:
    alone = class_of(submission("Ada L"))
    for person, sender in (
        (Person("Ada L", "S-1"), Sender("x")),
        (Person("Ada L", email="ADA@uni.example"), Sender("x")),
        (Person("Ada L", other_names=("ada",)), Sender("x")),
        (Person("Ada L", "7"), Sender("Ada L", "Ada L", ("101",))),
        (None, Sender("Ada L", "", ("101",))),
    ):
        of = replace(alone, roster=Roster((person,) if person else ()), senders=(sender,))
        assert in_canvas(of).missing == []
        login = (person.email if person else "") or "Ada L"
        assert gradebook_rows(of)[2][2:4] == [person.id if person else "", login]
    participants = [replace(alone, senders=(Sender("Ada L", "", (number_,)),)) for number_ in ("101", "1001")]
    assert [in_moodle(one).written for one in participants] == [0, 1]


def test_what_does_not_fit_canvas_is_refused_and_says_what_would() -> None:
    unnamed = CANVAS.replace("Dot", "Product")
    for text, columns, says in (
        ("a,b,c\n1,2,3\n", {}, "line 1: the column 'ID' of a Canvas gradebook is missing"),
        (CANVAS.replace("Notes", "Section"), {}, "line 1: 2 columns are named 'section'"),
        (CANVAS + "Points Possible,,,,,10\n", {}, "line 9 has a second row `Points Possible`"),
        *((CANVAS.replace("10.00", most, 1), {}, "line 3: 'Dot .* as its maximum") for most in ("0", "ten", "nan")),
        (CANVAS.replace("Points Possible", "Points"), {}, "no row `Points Possible`"),
        (unnamed, {}, r"no column with the name of a lesson. Its assignments are: 'Product \(9001\)'"),
        (CANVAS, {"01_dot": "Nothing"}, "has no column 'Nothing'. Its assignments are: 'Dot"),
        (CANVAS.replace("Homework 2: timers", "Dot"), {}, "has 2 columns '01_dot'"),
        (CANVAS, {"02_timer": "Dot"}, r"'Dot \(9001\)' would get the points of 01_dot and of 02_timer"),
        (CANVAS, {"07_none": "Dot"}, "has no lesson 07_none. --column accepts: 01_dot, 02_timer, total"),
    ):
        refused(says, in_canvas, text, columns)


def gradebook_rows(of: Roll) -> list[list[str]]:
    return list(csv.reader(io.StringIO(canvas.render(of), newline="")))


def test_the_new_file_has_canvas_columns_and_no_grade_is_an_empty_cell() -> None:
    waiting = (HandIn("bob", "01_dot", "bob/01_dot.py", "00"),)
    nothing = submission("eve", None, refusal="It is a folder.")
    assert gradebook_rows(class_of(submission(), submission("ada", lesson="02_timer"), nothing, waiting=waiting)) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Dot (01_dot)", "Timer (02_timer)"],
        ["Points Possible", "", "", "", "", "10", "10"],
        ["ada", "", "", "ada", "", "6", "6"],
        ["bob", "", "", "bob", "", "", ""],
        ["eve", "", "", "eve", "", "0", ""],
    ]
    assert gradebook_rows(with_a_fault(class_of(submission("ada"))))[2][5] == "", "an internal error is no grade"


def moodle_rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))


def test_a_student_is_found_by_address_participant_folder_or_name_and_no_row_is_invented() -> None:
    for name in ("ada", "ada@uni.example", "Participant 1001", "Ada Lovelace"):
        assert moodle_rows(in_moodle(class_of(submission(name))).data)[0]["Grade"] == "6", name
    done = in_moodle(class_of(submission("ada"), submission("mallory"), submission("zoe")))
    assert len(moodle_rows(done.data)) == 3
    assert done.missing == [
        "mallory: 01_dot 6, but 'mallory' matches no row",
        "Participant 1003: 6 points, but the grade is locked in Moodle",
    ]


def test_a_persons_comment_stays_and_ours_is_replaced() -> None:
    first = in_moodle(class_of(submission("ada"), submission("bob", "edge"))).data
    comments = [row["Feedback comments"] for row in moodle_rows(first)]
    assert comments[:2] == ["Graded by fairclock: 01_dot 6", 'Well, "nearly".']
    second = in_moodle(class_of(submission("ada", "edge")), first.decode()).data
    assert moodle_rows(second)[0]["Feedback comments"] == "Graded by fairclock: 01_dot 10"


def test_lessons_are_added_up_and_another_maximum_is_refused_or_scaled() -> None:
    both = class_of(submission("ada"), submission("ada", lesson="02_timer"))
    done = in_moodle(both, MOODLE.replace("10.00,", "20.00,"), ("01_dot", "02_timer"))
    assert moodle_rows(done.data)[0]["Grade"] == "12"
    text = MOODLE.replace("10.00,", "100.00,")
    refused(r"has 100 points there, but 10 here.*--scale", in_moodle, text)
    for most, grade in (("100.00,", "60"), ('"7,50",', "4,5")):
        done = in_moodle(class_of(submission("ada")), MOODLE.replace("10.00,", most), scale=True)
        assert moodle_rows(done.data)[0]["Grade"] == grade
    german = "ID,Vollständiger Name,Bewertung,Zuletzt geändert (Bewertung)\nTeilnehmer/in 7,Ada,,-\n"
    for says, text in (
        ("line 1: the column 'identifier' .* language of Moodle to English", german),
        ("line 2: the assignment has 'Pass/Fail' as its maximum", MOODLE.replace("10.00,", "Pass/Fail,")),
        ("uses a scale of words", MOODLE.replace("Maximum Grade", "Scale")),
        ("line 3: the assignment has 20 points there", MOODLE.replace("4.00,10.00", "4.00,20.00")),
    ):
        refused(says, in_moodle, text)
    with pytest.raises(UsageError, match="uses 2 maximum grades"):
        in_moodle(class_of(submission("ada")), MOODLE.replace("4.00,10.00", "4.00,20.00"), scale=True)


@pytest.mark.parametrize("before", ["", "\n", ",,,\r\n  \r\n", "\ufeff", "sep=,\n", "\ufeffSEP=,\r\n"])
def test_odd_rows_change_nothing_but_the_filled_cell(before: str) -> None:
    body = CANVAS.removeprefix("\ufeff")
    blank = ("\n", ",,,,,\n", " , \n", "    \n", " Muted \n")
    for text in (*(body.replace("\n", "\n" + row) for row in blank), body.replace("\n", "\r"), body[:-1]):
        done = in_canvas(class_of(submission("ada")), before + text)
        assert done.data.decode() == before + text.replace("ada,Tuesday,,", "ada,Tuesday,6,")
        assert (done.written, done.missing) == (1, [])
    short = body.replace("ada,Tuesday,,,,,,,", "ada").replace(",,Manual Posting,,,,,", "")
    assert in_canvas(class_of(submission("ada")), before + short).data.decode() == before + short.replace(
        ",ada\n", ",ada,,6\n"
    )
    sheet = MOODLE.removeprefix("\ufeff").replace("\n", "\n\n").replace(" - Graded", "").replace(",No,-,-,\n", "\n")
    text = before + sheet + ",,,\n" + '"Participant 1004",Cyd\n'
    done = in_moodle(class_of(submission("Participant 1004")), text)
    filled = text.replace('1004",Cyd\n', '1004",Cyd,,,6,,,,,Graded by fairclock: 01_dot 6\n')
    assert (done.data.decode(), done.missing) == (filled, [])


@pytest.mark.parametrize(
    ("most", "separator", "written"),
    [("1,000", ",", "600"), ("1.000,00", ",", "600"), ("1.000", ";", "600"), ("7,50", ";", "4,5"), ("7.50", ";", "4.5"),
     ("10.000", ",", "6"), ("1\N{NO-BREAK SPACE}000", ",", "600"), ("1'000.0", ",", "600"),
     ("1.234.567", ",", "740740.2"), ("1\N{NARROW NO-BREAK SPACE}000,5", ";", "600,3")],
)  # fmt: skip
def test_numbers_are_read_and_written_as_in_the_file(most: str, separator: str, written: str) -> None:
    row = separator.join
    head, possible = row(["Student", "ID", "Section", "Dot (7001)"]), row(["    Points Possible", "", "", f'"{most}"'])
    text = "\n".join([head, possible, row(['"Ota, Ren"', "9", "1", ""])])
    if most != "10.000":
        refused("line 2: 'Dot .7001.' .* --scale", in_canvas, text)
    done = in_canvas(class_of(submission("9")), text, scale=True)
    assert done.data.decode() == text + (f'"{written}"' if separator in written else written)
