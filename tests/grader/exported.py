"""Files in the form of Canvas's and Moodle's exports, and graded classes whose points belong in these files."""

from dataclasses import replace

from classroom import KIT, TASKS, grade

from grader.course.results import HandIn
from grader.course.roll import Roll
from grader.records import Attempt, Status, Submission

CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Dot (9001),Homework 2: timers (9002),Notes,"
    "Current Score,Unposted Current Score,Final Score,Unposted Final Score\n"
    ",,,,,,Manual Posting,,,,,\n"
    "    Points Possible,,,,,10.00,10.00,,(read only),(read only),(read only),(read only)\n"
    '"Lovelace, Ada",101,S-1,ada,Tuesday,,,,,,,\n'
    '"Schmidt, Björn",102,S-2,bob,"Tuesday, Thursday",4.00,N/A,"late; see ""mail""",40.00,40.00,20.00,20.00\n'
    '"O\'Neil, Zoë",103,S-3,zoe@uni.example,Thursday,EX,,,,,,\n'
    '"=""=SUM(1)""",104,S-4,eve,Thursday,,,,,,,\n'
    '"Student, Test",105,,5e0c,Tuesday,,,,,,,\n'
)
"""An export with a byte order mark, a row of posting policies, a name that Canvas has escaped, and a test student."""

MOODLE = (
    '\ufeffIdentifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
    '"Participant 1001","Ada Lovelace",ada@uni.example,"Submitted for grading - ",,10.00,Yes,'
    '"Friday, 20 November 2026, 9:00 PM",-,\n'
    '"Participant 1002","Björn Schmidt",bob@uni.example,"Submitted for grading - Graded",4.00,10.00,Yes,'
    '"Friday, 20 November 2026, 9:30 PM","Saturday, 21 November 2026, 8:00 AM","Well, ""nearly""."\n'
    '"Participant 1003","Zoë O\'Neil",zoe@uni.example,"No submission - ",,10.00,No,-,-,\n'
)


def submission(
    student: str = "ada", text: str | None = "right", lesson: str = "01_dot", refusal: str = ""
) -> Submission:
    return Submission(student, lesson, f"{student}/{lesson}.py", "00ff", text, refusal)


def class_of(*submissions: Submission, waiting: tuple[HandIn, ...] = ()) -> Roll:
    """Return a graded class in which "right" earns 6 of 10 points, "edge" all points and "wrong" none."""
    students = tuple(sorted({one.student for one in submissions} | {one.student for one in waiting}))
    return Roll("hw1", KIT, students, TASKS, tuple(map(grade, submissions)), waiting, ())


def changed(roll: Roll, number: int = 0, **fields: object) -> Roll:
    """Return the class after changing fields of the first attempt in one of its reports."""
    report = roll.reports[number]
    attempt = replace(report.verdicts[0].attempt, **fields)  # type: ignore[arg-type]  # whatever a test changes
    verdicts = (replace(report.verdicts[0], attempt=attempt), *report.verdicts[1:])
    reports = (*roll.reports[:number], replace(report, verdicts=verdicts), *roll.reports[number + 1 :])
    return replace(roll, reports=reports)


def with_a_fault(roll: Roll) -> Roll:
    """Return the class with a fault of the grader in its first hand-in."""
    report = roll.reports[0]
    verdict = replace(report.verdicts[0], points=0.0, attempt=Attempt(Status.GRADER_ERROR, "The grader failed."))
    return replace(roll, reports=(replace(report, verdicts=(verdict, *report.verdicts[1:])), *roll.reports[1:]))
