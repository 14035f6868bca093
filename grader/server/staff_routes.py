"""The pages for staff on the class and on one student. Assistants may use all of them; only instructors make links."""

from dataclasses import replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Form, HTTPException, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from grader import reports
from grader.class_run import hand_grading, rows
from grader.course.by_hand import in_force
from grader.course.dates import LocalTime
from grader.course.roll import folder_name
from grader.errors import UsageError
from grader.reports import grade_texts, student_page
from grader.server import accounts, events, intake, kept_edits, staff_views
from grader.server.accounts import Account, Role
from grader.server.course_folder import OpenCourse
from grader.server.requests import Assistant, Instructor, Number, Opened, OwnForm, page, service_of

router = APIRouter()

Sentence = Annotated[str, Form(max_length=hand_grading.MOST_CHARACTERS)]
Short = Annotated[str, Form(max_length=300)]


def staff_page(
    request: Request, opened: OpenCourse, name: str, *, status: int = 200, problem: str = "", **values: object
) -> HTMLResponse:
    """Return a page for staff. `problem` is a sentence on why a change was not stored, or ""."""
    zone = opened.book.course().zone

    def moment(at: datetime) -> str:
        return str(LocalTime.at_utc(at, zone))

    problems = [*filter(None, (problem, service_of(request).problem))]
    return page(request, name, status=status, moment=moment, address=address, problems=problems, **values)


def address(student: str, rest: str = "") -> str:
    """Return the address of a student's page for staff, or with `rest` of a page below it."""
    return f"/students/{quote(folder_name(student))}{rest}"


def student_named(opened: Opened, login: Assistant, student: str) -> str:
    """Return the student whom the address of a page means. Raise an error if the course has no such student."""
    assert login
    if (found := staff_views.student_of(opened, student)) is None:
        raise HTTPException(404, "The course has no student of this name.")
    return found


OneStudent = Annotated[str, Depends(student_named)]


@router.get("/class", response_class=HTMLResponse)
def class_now(request: Request, opened: Opened, login: Assistant) -> Response:
    """Show the state of the class, the queue, and the last changes by staff."""
    assert login
    return staff_page(
        request,
        opened,
        "staff_class.html",
        now=staff_views.class_now(opened, service_of(request), events.live_of(request)),
        requests=[one for one in staff_views.requests(opened) if one.answered is None],
        actions=staff_views.actions(opened, most=20),
        wait_text=events.wait_text,
        similar=f"fairclock similar {service_of(request).course.grades.resolve()}",
        title_=opened.book.course().title,
        students=list(dict.fromkeys((*opened.book.roster().students, *opened.book.students()))),
        lessons=staff_views.lessons_of(opened),
    )


@router.get("/class/report", response_class=HTMLResponse)
def class_report(request: Request, opened: Opened, login: Assistant) -> Response:
    """Show the report on the whole class."""
    assert login
    return HTMLResponse(service_of(request).class_report.page(opened))


@router.get("/class/{name}/report.html", response_class=RedirectResponse, status_code=303)
def from_class_report(login: Assistant, name: str) -> Response:
    """Lead from a link in the report on the class to the page of the student."""
    assert login
    return RedirectResponse(f"/students/{quote(name)}/report", 303)


@router.get("/class/receipts", response_class=HTMLResponse)
def find_receipts(request: Request, opened: Opened, login: Assistant, find: str = "") -> Response:
    """Show the receipts with a number, or whose SHA-256 begins with a text."""
    assert login
    return staff_page(
        request, opened, "staff_receipts.html", find=find.strip(), found=intake.find(opened.db, find.strip())
    )


@router.get("/class/receipts/{number}/file", response_class=FileResponse)
def original(request: Request, opened: Opened, login: Assistant, number: Number) -> Response:
    """Send the bytes that a student handed in, to be stored and not shown."""
    assert login
    for receipt in intake.find(opened.db, str(number)):
        path = service_of(request).course.hand_ins / receipt.path
        if receipt.number == number and path.is_file():
            return FileResponse(path, media_type="application/octet-stream", filename=PurePosixPath(receipt.path).name)
    raise HTTPException(404, "There is no file with this number. It may have been deleted.")


@router.get("/students/{student}", response_class=HTMLResponse)
def students_page(request: Request, opened: Opened, login: Assistant, student: OneStudent) -> Response:
    """Show what staff need of a student."""
    assert login
    return show_student(request, opened, student)


def show_student(request: Request, opened: OpenCourse, student: str, **values: object) -> HTMLResponse:
    """Return the page of a student for staff. `values` has the texts of a form that was not stored, and the reason."""
    alone, history = opened.book.roll(student), [one for one in opened.book.given() if one.student == student]
    current = in_force(history)
    holds = {id(one) for one in current}
    query = "SELECT use, made_utc, expires_utc FROM tokens WHERE person = ? AND NOT is_staff ORDER BY made_utc"
    logins = [
        (use, datetime.fromisoformat(made), datetime.fromisoformat(ends))
        for use, made, ends in opened.db.execute(query, [student])
    ]
    empty = {"task": "", "points": "", "comment": "", "over": False}
    about: dict[str, object] = {"link": "", "given": empty, "extension": ("", ""), **values}
    return staff_page(
        request,
        opened,
        "staff_student.html",
        student=student,
        has_hidden=any(map(alone.course.hides, alone.lessons)),
        person=alone.roster.students.get(student),
        lessons=staff_views.lesson_rows(alone),
        marks=alone.marks(student),
        history=[(grade_texts.hand_entry(alone, one, holds=id(one) in holds), one) for one in history],
        comments={one.task: one for one in current if one.points is None},
        receipts=intake.receipts(opened.db, student),
        points_of=staff_views.attempt_points(opened, student),
        requests=staff_views.requests(opened, student),
        actions=staff_views.actions(opened, student),
        logins=logins,
        extensions={
            lesson: staff_views.extension_text(to) for lesson, to in alone.course.extensions.get(student, {}).items()
        },
        extended=[one for one in kept_edits.history(opened.db) if one.path[:2] == ("extensions", student)],
        **about,  # type: ignore[arg-type]
    )


@router.get("/students/{student}/report", response_class=HTMLResponse)
def students_report(opened: Opened, login: Assistant, student: OneStudent, *, hidden: bool = False) -> Response:
    """Show the page with all results as the student sees it, or with the `hidden` results, too."""
    assert login
    roll = opened.book.roll(student)
    if hidden:
        roll = replace(roll, reports=opened.book.reports(student))
        return HTMLResponse(student_page.render(roll, reports.known_tasks(roll)))
    ((_, made),) = reports.student_pages(roll, reports.known_tasks(roll), opened.book.reports, None)
    return HTMLResponse(made())


@router.post("/students/{student}/marks", response_class=RedirectResponse, status_code=303, dependencies=[OwnForm])
def mark(
    request: Request,
    opened: Opened,
    login: Assistant,
    student: OneStudent,
    seen: Annotated[int, Form()],
    task: Short = "",
    points: Short = "",
    comment: Sentence = "",
    over: Annotated[bool, Form()] = False,
    undo: Short = "",
) -> Response:
    """Store points by hand or a comment, or take back the last ones (`undo` is "points" or "comment").

    `seen` is the number of entries of this student that the page showed. If there are others now, nothing is stored.
    """
    given = {"task": task, "points": points, "comment": comment, "over": over}
    try:
        value = _value(points, comment, undo)
        entry = hand_grading.entry(
            opened.book, student, task, value, comment=comment, by=login.account.name, over=over, undo=bool(undo)
        )
    except UsageError as error:
        return show_student(request, opened, student, status=422, problem=str(error), given=given)
    with opened.book.transaction() as db:
        (number,) = db.execute("SELECT count(*) FROM by_hand WHERE student = ?", [student]).fetchone()
        if number == seen:
            rows.insert(db, "by_hand", rows.of_hand_entry(entry))
    if number != seen:
        why = (
            "Another person changed points or comments of this student meanwhile, see the history. Nothing was stored. "
        )
        return show_student(
            request, opened, student, status=409, problem=f"{why}To store yours too, send the form again.", given=given
        )
    return RedirectResponse(f"{address(student)}#by-hand", 303)


def _value(points: str, comment: str, undo: str) -> float | None:
    """Return the points of an entry by hand, or None for a comment alone."""
    if undo:
        return 0.0 if undo == "points" else None
    if not points.strip():
        if comment.strip():
            return None
        raise UsageError("Write points or a comment.")
    try:
        return float(points.strip().replace(",", "."))
    except ValueError:
        raise UsageError(f"{points!r} is not a number of points. Write a number such as 7.5.") from None


@router.post("/students/{student}/link", response_class=HTMLResponse, dependencies=[OwnForm])
def new_link(request: Request, opened: Opened, login: Instructor, student: OneStudent) -> Response:
    """Make a new personal link, which replaces the old one, and show it once."""
    service = service_of(request)
    with opened.book.transaction() as db:
        link = accounts.new_link(db, Account(student, Role.STUDENT), service.url, service.clock.now())
        staff_views.note(db, login, service.clock.now(), "made a new personal link", student)
    return show_student(request, opened, student, link=link)


@router.post("/students/{student}/revoke", response_class=RedirectResponse, status_code=303, dependencies=[OwnForm])
def revoke(request: Request, opened: Opened, login: Instructor, student: OneStudent) -> Response:
    """Make the link and all logins of a student invalid."""
    with opened.book.transaction() as db:
        accounts.revoke(db, student, is_staff=False)
        staff_views.note(db, login, service_of(request).clock.now(), "revoked the link and all logins", student)
    return RedirectResponse(f"{address(student)}#logins", 303)


@router.post("/requests/{number}", response_class=RedirectResponse, status_code=303, dependencies=[OwnForm])
def answer(request: Request, opened: Opened, login: Assistant, number: Number, text: Sentence) -> Response:
    """Answer a student's request. A request that was answered already keeps its answer."""
    found = [one for one in staff_views.requests(opened) if one.number == number]
    if not found or not text.strip():
        raise HTTPException(404 if not found else 422, "Write an answer." if found else "There is no such request.")
    now = service_of(request).clock.now().isoformat()
    with opened.book.transaction() as db:
        done = db.execute(
            "UPDATE requests SET answer = ?, answered_by = ?, answered_utc = ? WHERE id = ? AND answered_utc IS NULL",
            [text.strip(), login.account.name, now, number],
        ).rowcount
    if not done:
        why = (
            "Another person answered this request meanwhile, so your answer was not stored. The first answer is below."
        )
        return show_student(request, opened, found[0].student, status=409, problem=why)
    return RedirectResponse(f"{address(found[0].student)}#requests", 303)
