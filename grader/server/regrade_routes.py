"""The pages for regrades: ask for them, read what they would change, and publish or discard them."""

from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from grader.server import staff_views
from grader.server.accounts import Login
from grader.server.course_folder import OpenCourse
from grader.server.requests import Assistant, Instructor, Opened, OwnForm, service_of
from grader.server.staff_routes import staff_page
from grader.server.staff_views import RegradePlan
from harness.rendering import units

router = APIRouter(prefix="/regrades")

_Text = Annotated[str, Form(max_length=300)]
_Asked = Annotated[str, Query(max_length=300)]


@router.get("", response_class=HTMLResponse)
def held(request: Request, opened: Opened, login: Assistant) -> Response:
    """Show what the held gradings would change, and how many gradings are still to come."""
    assert login
    (waiting,) = opened.db.execute("SELECT count(*) FROM regrades").fetchone()
    return staff_page(
        request,
        opened,
        "staff_regrades.html",
        held=opened.book.held(),
        waiting=waiting,
        change_text=staff_views.change_text,
        actions=[one for one in staff_views.actions(opened, "") if "regrad" in one.what],
    )


@router.get("/new", response_class=HTMLResponse)
def plan(request: Request, opened: Opened, login: Assistant, student: _Asked = "", lesson: _Asked = "") -> Response:
    """Show how many hand-ins would be graded again, and how long that takes, before anything is done."""
    assert login
    found = _plan(request, opened, student, lesson)
    return staff_page(request, opened, "staff_regrade.html", plan=found, student=student, lesson=lesson)


@router.post("", response_class=RedirectResponse, status_code=303, dependencies=[OwnForm])
def ask(request: Request, opened: Opened, login: Assistant, student: _Text = "", lesson: _Text = "") -> Response:
    """Let the hand-ins be graded again. The new grades are held until an instructor publishes them."""
    found, now = _plan(request, opened, student, lesson), service_of(request).clock.now()
    whose = f"of {student}" if student else "of all students"
    where = f"in {lesson}" if lesson else "in all lessons"
    what = f"asked to regrade {units.some(len(found.hand_ins), 'hand-in')} {whose} {where}"
    with opened.book.transaction() as db:
        staff_views.ask_again(db, found.hand_ins, login, now)
        staff_views.note(db, login, now, what)
    return RedirectResponse("/regrades", 303)


@router.post("/publish", response_class=RedirectResponse, status_code=303, dependencies=[OwnForm])
def publish(request: Request, opened: Opened, login: Instructor, last: Annotated[int, Form()]) -> Response:
    """Let the held gradings that the page showed count from now on. `last` is the number of the newest of them."""
    return _settled(request, opened, login, last, opened.book.publish_held, "published")


@router.post("/discard", response_class=RedirectResponse, status_code=303, dependencies=[OwnForm])
def discard(request: Request, opened: Opened, login: Instructor, last: Annotated[int, Form()]) -> Response:
    """Discard the held gradings that the page showed, so that they never count."""
    return _settled(request, opened, login, last, opened.book.discard_held, "discarded")


def _settled(
    request: Request, opened: OpenCourse, login: Login, last: int, settle: Callable[[Sequence[int]], int], did: str
) -> Response:
    """Settle the held gradings with numbers up to `last`, and store what the instructor `did`."""
    number = settle([one for one in opened.book.held().gradings if one <= last])
    with opened.book.transaction() as db:
        staff_views.note(db, login, service_of(request).clock.now(), f"{did} {units.some(number, 'regrade')}")
    return RedirectResponse("/regrades", 303)


def _plan(request: Request, opened: OpenCourse, student: str, lesson: str) -> RegradePlan:
    if student and staff_views.student_of(opened, student) != student:
        raise HTTPException(404, f"The course has no student {student!r}.")
    if lesson and lesson not in staff_views.lessons_of(opened):
        raise HTTPException(404, f"The course has no lesson {lesson!r}.")
    return staff_views.regrade_plan(opened, service_of(request).lanes, student, lesson)
