"""The pages of a student: the lessons, handing in, receipts, the page with all results, and requests for a regrade."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, File, Form, HTTPException, Request, UploadFile
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from grader import reports
from grader.course import slip_days
from grader.course.course_file import Course
from grader.course.policy import Which
from grader.hand_ins.refusal import digest
from grader.reports import student_page
from grader.server import intake, regrade_requests, staff_edits, staff_views, student_views
from grader.server.events import live_of
from grader.server.intake import Receipt
from grader.server.requests import Number, Opened, OwnForm, Student, Visitor, page, service_of
from grader.server.staff_views import StudentRequest
from grader.server.student_views import StudentView
from grader.server.zones import zone_of

router = APIRouter()

_NOT_NOW = 409
NO_FILE = "You did not choose a file. Choose one, then press the button."


@router.get("/", response_class=HTMLResponse)
def home(request: Request, opened: Opened, login: Visitor) -> Response:
    """Show a student's lessons, or send staff to the page of the class."""
    if login is None:
        return RedirectResponse("/login", 303)
    if login.account.is_staff:
        return RedirectResponse("/class", 303)
    return _home(request, opened, login)


def _home(request: Request, opened: Opened, login: Student, problem: str = "") -> HTMLResponse:
    view = _view(request, opened, login)
    receipts = intake.receipts(opened.db, view.student)
    return page(
        request,
        "home.html",
        status=422 if problem else 200,
        roll=view.roll,
        rows=[view.row(lesson) for lesson in view.roll.lessons],
        total=view.total(),
        slip_tables=student_page.slip_tables(view.roll),
        receipts=receipts,
        unread=student_views.unread(receipts),
        reader=zone_of(request, view.roll.course),
        problem=problem,
        lesson="",
    )


def _view(request: Request, opened: Opened, login: Student) -> StudentView:
    places = live_of(request).places(opened)
    return StudentView.read(opened, login.account.name, places, service_of(request).clock.now())


@router.get("/lessons/{lesson}", response_class=HTMLResponse)
def lesson_page(request: Request, opened: Opened, login: Student, lesson: str) -> Response:
    """Show a lesson: the form for handing in, all attempts, and the requests for another grading."""
    return _lesson(request, opened, login, lesson)


def _lesson(
    request: Request, opened: Opened, login: Student, lesson: str, *, problem: str = "", typed: str = "", at: str = ""
) -> HTMLResponse:
    """Return the page of a lesson. `problem` is shown beside the form `at`, which still has what was `typed`."""
    _require_lesson(opened, lesson)
    view = _view(request, opened, login)
    course, row = view.roll.course, view.row(lesson)
    return page(
        request,
        "lesson.html",
        status=422 if problem else 200,
        roll=view.roll,
        row=row,
        lesson=lesson,
        which=student_views.WHICH[row.rule.which],
        attempts=view.attempt_rows(lesson),
        unread=student_views.unread(intake.receipts(opened.db, view.student)),
        may_choose=row.rule.which is Which.CHOSEN,
        choice=course.choice(view.student, lesson),
        slip_tables=student_page.slip_tables(view.roll),
        most_slip_days=_most_slip_days(course),
        slip_days=course.slip_days.most(view.student, lesson) if course.slip_days else 0,
        standing=view.roll.standings_of(view.student).get(lesson),
        report=next((one for one in view.roll.reports if one.submission.lesson == lesson), None),
        asked=_asked(opened, view.student, lesson),
        most_characters=regrade_requests.MOST_CHARACTERS,
        reader=zone_of(request, course),
        problem=problem,
        typed=typed,
        at=at,
    )


def _require_lesson(opened: Opened, lesson: str) -> None:
    if lesson not in {task.lesson for task in opened.book.tasks()}:
        raise HTTPException(404, "This course has no such lesson.")


@router.post("/lessons/{lesson}/choice", response_class=RedirectResponse, status_code=303, dependencies=[OwnForm])
def choose_attempt(
    request: Request, opened: Opened, login: Student, lesson: str, attempt: Annotated[str, Form(max_length=64)] = ""
) -> Response:
    """Let the attempt whose file has this SHA-256 count."""
    _require_lesson(opened, lesson)
    view = _view(request, opened, login)
    if view.row(lesson).rule.which is not Which.CHOSEN:
        raise HTTPException(409, "In this lesson, students do not choose the attempt that counts.")
    if attempt not in {one.hand_in.sha256 for one in view.attempts.get(lesson, ())}:
        return _lesson(request, opened, login, lesson, problem="Choose one of your attempts.", at="choice")
    return _chosen(request, opened, login, lesson, ("chosen", view.student, lesson), attempt)


@router.post("/lessons/{lesson}/slip-days", response_class=RedirectResponse, status_code=303, dependencies=[OwnForm])
def choose_slip_days(
    request: Request, opened: Opened, login: Student, lesson: str, days: Annotated[str, Form(max_length=20)] = ""
) -> Response:
    """Spend at most this number of slip days on a lesson."""
    _require_lesson(opened, lesson)
    most = _most_slip_days(opened.book.course())
    if not most:
        raise HTTPException(409, "In this course, students do not choose where slip days are spent.")
    if not (days.isascii() and days.isdigit() and int(days) <= most):
        why = f"Write a whole number from 0 to {most}."
        return _lesson(request, opened, login, lesson, problem=why, typed=days, at="slip-days")
    return _chosen(request, opened, login, lesson, ("slip_days", "chosen", login.account.name, lesson), int(days))


def _most_slip_days(course: Course) -> int:
    """Return the most slip days that a student may choose for a lesson, or 0 if students do not choose them."""
    rule = course.slip_days
    return min(rule.budget, rule.per_lesson) if rule and rule.spend == slip_days.CHOSEN else 0


def _chosen(
    request: Request, opened: Opened, login: Student, lesson: str, path: tuple[str, ...], value: str | int
) -> Response:
    service, student = service_of(request), login.account.name
    staff_edits.choose(service.course, opened, path, value, student, service.clock.now())
    return RedirectResponse(f"/lessons/{lesson}", 303)


def _asked(opened: Opened, student: str, lesson: str) -> list[StudentRequest]:
    return [one for one in staff_views.requests(opened, student) if one.lesson == lesson]


@router.post("/lessons/{lesson}/requests", response_class=RedirectResponse, status_code=303, dependencies=[OwnForm])
def ask(
    request: Request, opened: Opened, login: Student, lesson: str, sentence: Annotated[str, Form()] = ""
) -> Response:
    """Ask staff for another grading of a lesson."""
    student = login.account.name
    _require_lesson(opened, lesson)
    with opened.book.transaction() as db:
        why = regrade_requests.problem(sentence, _asked(opened, student, lesson))
        if not why:
            regrade_requests.ask(db, student, lesson, sentence, service_of(request).clock.now())
    if why:
        return _lesson(request, opened, login, lesson, problem=why, typed=sentence, at="ask")
    return RedirectResponse(f"/lessons/{lesson}#ask", 303)


@router.post("/hand-ins", response_class=RedirectResponse, status_code=303, dependencies=[OwnForm])
def hand_in(
    request: Request,
    opened: Opened,
    login: Student,
    files: Annotated[list[UploadFile] | None, File()] = None,
    lesson: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    """Take in the files of a form."""
    given = [one for one in files or () if one.filename]
    problem, status, taken = "" if given else NO_FILE, 422, list[Receipt]()
    try:
        for one in given:
            taken.append(stored(request, opened, login.account.name, one, lesson))
    except HTTPException as refusal:
        if refusal.status_code != _NOT_NOW:
            raise
        problem, status = str(refusal.detail), refusal.status_code
    if problem:
        at = {"problem": problem, "at": "hand-in"}
        shown = _lesson(request, opened, login, lesson, **at) if lesson else _home(request, opened, login, problem)
        shown.status_code = status
        return shown
    return RedirectResponse(f"/receipts/{taken[0].number}" if len(taken) == 1 else "/receipts", 303)


def stored(request: Request, opened: Opened, student: str, file: UploadFile, lesson: str) -> Receipt:
    """Store a file that arrived, and let it be read soon. Return its receipt."""
    service = service_of(request)
    if lesson and lesson not in {task.lesson for task in opened.book.tasks()}:
        raise HTTPException(422, f"This course has no lesson {lesson!r}.")
    _require_allowed(opened, student, intake.lesson_of(file.filename or "") or lesson, file, request.state.arrived)
    receipt = intake.store(
        service.course, opened, student, file.file, file.filename or "", lesson, request.state.arrived
    )
    service.readers.notice()
    return receipt


def _require_allowed(opened: Opened, student: str, lesson: str, file: UploadFile, at: datetime) -> None:
    """Raise an error if the lesson is not open yet, or if the quota allows no attempt now.

    A file that was handed in before takes no attempt, and one that comes too late is stored: staff may extend the date.
    """
    if lesson not in {task.lesson for task in opened.book.tasks()}:
        return
    now = opened.book.hand_in_now(student, lesson, at)
    if now.why_not and not opened.book.course().rule(student, lesson).is_closed(at):
        sha256 = digest(file.file.read())
        file.file.seek(0)
        if sha256 not in {one.sha256 for one in intake.receipts(opened.db, student)}:
            raise HTTPException(_NOT_NOW, f"{now.why_not} The file was not handed in, and this costs you nothing.")


@router.get("/receipts", response_class=HTMLResponse)
def receipts_page(request: Request, opened: Opened, login: Student) -> Response:
    """Show all receipts of a student."""
    reader = zone_of(request, opened.book.course())
    return page(request, "receipts.html", receipts=intake.receipts(opened.db, login.account.name), reader=reader)


@router.get("/receipts/{number}.txt", response_class=PlainTextResponse)
def receipt_text(request: Request, opened: Opened, login: Student, number: Number) -> Response:
    """Return a receipt as plain text, which a student can keep."""
    receipt, course = own_receipt(opened, login, number), opened.book.course()
    text = student_views.receipt_text(receipt, course.title, zone_of(request, course).moment(receipt.at))
    name = f'attachment; filename="receipt-{receipt.number}.txt"'
    return PlainTextResponse(text, headers={"Content-Disposition": name})


@router.get("/receipts/{number}", response_class=HTMLResponse)
def receipt_page(request: Request, opened: Opened, login: Student, number: Number) -> Response:
    """Show a receipt, what was found in the file, and what became of it."""
    receipt, view = own_receipt(opened, login, number), _view(request, opened, login)
    return page(
        request,
        "receipt.html",
        roll=view.roll,
        receipt=receipt,
        states=view.receipt_states(receipt),
        reader=zone_of(request, view.roll.course),
    )


def own_receipt(opened: Opened, login: Student, number: Number) -> Receipt:
    """Return the receipt with this number. Raise an error if it belongs to another student."""
    found = intake.receipts(opened.db, login.account.name, number)
    if not found:
        raise HTTPException(404, "You have no receipt with this number.")
    return found[0]


@router.get("/report", response_class=HTMLResponse)
def report(opened: Opened, login: Student) -> Response:
    """Show the student's page with all results."""
    student = login.account.name
    roll = opened.book.roll(student).published()
    shown = {one.submission.lesson for one in roll.reports}
    whole = tuple(one for one in opened.book.reports(student) if one.submission.lesson in shown)
    return HTMLResponse(student_page.render(replace(roll, reports=whole), reports.known_tasks(roll), home="/"))
