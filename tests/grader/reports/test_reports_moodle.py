import csv
import io

import pytest
from exported import MOODLE, class_of, submission, with_a_fault

from grader.course.roll import Roll
from grader.reports import moodle
from grader.reports.csv_file import Filled
from harness.errors import UsageError


def filled(roll: Roll, text: str = MOODLE, lessons: tuple[str, ...] = ("01_dot",), *, scale: bool = False) -> Filled:
    return moodle.fill(roll, text.encode(), "sheet.csv", lessons, scale=scale)


def rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))


def test_grade_and_comment_are_filled_in_and_every_other_byte_is_as_it_was() -> None:
    done = filled(class_of(submission("ada")))
    expected = MOODLE.replace('- ",,10.00,Yes', '- ",6,10.00,Yes', 1).replace(
        "-,\n", "-,Graded by fairclock: 01_dot 6\n", 1
    )
    assert done.data.decode() == expected
    assert (done.written, done.changed, done.missing) == (1, 1, [])


@pytest.mark.parametrize(
    "name", ["ada", "ada@uni.example", "Participant 1001", "Ada Lovelace_1001_assignsubmission_file", "Ada Lovelace"]
)
def test_a_student_is_found_by_address_participant_folder_or_name(name: str) -> None:
    assert rows(filled(class_of(submission(name))).data)[0]["Grade"] == "6"


def test_no_row_is_invented_and_who_has_none_is_named_with_the_points() -> None:
    done = filled(class_of(submission("ada"), submission("mallory")))
    assert len(rows(done.data)) == 3
    assert done.missing == ["mallory: 01_dot 6, but 'mallory' matches no row"]


def test_a_grade_that_cannot_be_changed_is_left_and_named() -> None:
    done = filled(class_of(submission("zoe")))
    assert done.missing == ["Participant 1003: 6 points, but the grade is locked in Moodle"]
    assert done.data.decode() == MOODLE


def test_a_persons_comment_stays_and_ours_is_replaced() -> None:
    first = filled(class_of(submission("ada"), submission("bob", "edge"))).data
    assert [row["Feedback comments"] for row in rows(first)][:2] == [
        "Graded by fairclock: 01_dot 6",
        'Well, "nearly".',
    ]
    second = filled(class_of(submission("ada", "edge")), first.decode()).data
    assert rows(second)[0]["Feedback comments"] == "Graded by fairclock: 01_dot 10"


def test_several_lessons_are_added_up() -> None:
    both = class_of(submission("ada"), submission("ada", lesson="02_timer"))
    done = filled(both, MOODLE.replace("10.00,", "20.00,"), ("01_dot", "02_timer"))
    assert rows(done.data)[0]["Grade"] == "12"


def test_another_maximum_is_refused_or_scaled() -> None:
    with pytest.raises(UsageError, match=r"maximum grade is 100, but the lessons have 10 points.*--scale"):
        filled(class_of(submission("ada")), MOODLE.replace("10.00,", "100.00,"))
    done = filled(class_of(submission("ada")), MOODLE.replace("10.00,", "100.00,"), scale=True)
    assert rows(done.data)[0]["Grade"] == "60"
    done = filled(class_of(submission("ada")), MOODLE.replace("10.00,", '"7,50",'), scale=True)
    assert rows(done.data)[0]["Grade"] == "4,5", "where decimals have a comma, ours have one"


def test_a_worksheet_with_more_columns_is_one_too() -> None:
    text = (
        "Identifier,Full name,ID number,Email address,Status,Group,Grade,Maximum Grade,Grade can be changed,"
        "Last modified (submission),Online text,Last modified (grade)\r\n"
        "Participant 7,Ada Lovelace,S-1,a@b.c,Submitted,G1,,10.00,Yes,-,,-\r\n"
    )
    assert filled(class_of(submission("s-1")), text).data.decode() == text.replace("G1,,", "G1,6,")


def test_a_fault_of_ours_is_not_filled_in_and_is_named() -> None:
    done = filled(with_a_fault(class_of(submission("ada"))))
    assert done.missing == ["ada: not all of these lessons are graded yet: 01_dot"]
    assert done.data.decode() == MOODLE


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,b,c\n1,2,3\n", "not a grading worksheet of Moodle: the column 'identifier' is missing"),
        (MOODLE.replace("10.00,", "Pass/Fail,"), "uses a scale of words"),
    ],
)
def test_what_does_not_fit_is_refused_and_says_what_would(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        filled(class_of(submission("ada")), text)
