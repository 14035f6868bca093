"""The routes for programs, such as `fairclock submit`. They take and return JSON, and need the token of a login."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, UploadFile

from grader.server import accounts, api_answers
from grader.server.accounts import Use
from grader.server.api_answers import CourseAnswer, LinkToken, ProgramToken, ReceiptAnswer
from grader.server.events import live_of
from grader.server.intake import Receipt
from grader.server.login_routes import exchanged
from grader.server.requests import Number, Opened, Student, Visitor, service_of
from grader.server.student_routes import own_receipt, stored

router = APIRouter(prefix="/api")


@router.post("/login")
def log_in(request: Request, opened: Opened, link: LinkToken) -> ProgramToken:
    """Log a program in with the token of a personal link."""
    return ProgramToken(token=exchanged(request, opened, link.token, Use.PROGRAM))


@router.post("/logout", status_code=204)
def log_out(opened: Opened, login: Visitor) -> None:
    """Make the token of a program invalid."""
    if login and login.use is Use.PROGRAM:
        with opened.book.transaction() as db:
            accounts.withdraw(db, login.token)


@router.get("/course")
def course(request: Request, opened: Opened, login: Student) -> CourseAnswer:
    """Return the lessons of the student who asks, with due dates, points and the attempts that are left."""
    return api_answers.course(opened, login.account.name, service_of(request).clock.now())


@router.post("/hand-ins", status_code=201)
def hand_in(
    request: Request,
    opened: Opened,
    login: Student,
    file: UploadFile,
    lesson: Annotated[str, Form(max_length=100)] = "",
) -> ReceiptAnswer:
    """Hand in one file, and get its receipt."""
    return _answer(request, opened, stored(request, opened, login.account.name, file, lesson))


@router.get("/receipts/{number}")
def receipt(request: Request, opened: Opened, login: Student, number: Number) -> ReceiptAnswer:
    """Return a receipt of the student who asks."""
    return _answer(request, opened, own_receipt(opened, login, number))


def _answer(request: Request, opened: Opened, of: Receipt) -> ReceiptAnswer:
    places = {} if of.found is None else live_of(request).places(opened, at_once=True)
    return api_answers.receipt(opened, of, places)
