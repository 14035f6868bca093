"""The pages for the rules of the course and for the roster. Assistants can read them, and instructors change them."""

import tomllib
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from grader.course.course_file import ALL
from grader.course.dates import LocalTime
from grader.course.entries import spelled
from grader.course.roster import Person
from grader.errors import UsageError
from grader.server import kept_edits, staff_edits, staff_views
from grader.server.course_folder import OpenCourse
from grader.server.edits import Value
from grader.server.requests import Assistant, Instructor, Opened, OwnForm, service_of
from grader.server.staff_edits import Changes
from grader.server.staff_routes import OneStudent, Short, address, show_student, staff_page
from grader.server.staff_views import LessonDates

router = APIRouter()

_Seen = Annotated[int, Form()]
_DATES = ("opens", "due", "closes")


@router.get("/course", response_class=HTMLResponse)
def course(request: Request, opened: Opened, login: Assistant) -> Response:
    """Show the rules of the course: dates, extensions, all changes by staff, and the whole text."""
    assert login
    return _course(request, opened)


def _course(
    request: Request, opened: OpenCourse, error: UsageError | None = None, given: Mapping[str, str] | None = None
) -> HTMLResponse:
    """Return the page of the course. With an `error`, the form of the lesson in `given` keeps what was typed."""
    rules, history = opened.book.course(), kept_edits.history(opened.db)
    lessons = [staff_views.lesson_dates(rules, lesson) for lesson in staff_views.lessons_of(opened)]
    typed = LessonDates(**given) if given and "lesson" in given else None
    return staff_page(
        request,
        opened,
        "staff_course.html",
        status=_status(error),
        problem=str(error or ""),
        rules=rules,
        lessons=[typed if typed and one.lesson == typed.lesson else one for one in lessons],
        line=(given or {}).get("line", ""),
        extensions=rules.extensions,
        extension_text=staff_views.extension_text,
        history=history[::-1],
        spelled=spelled,
        kept=[one for one in history if one.state == kept_edits.HOLDS],
        seen=staff_edits.seen(opened.db),
    )


def _status(error: UsageError | None) -> int:
    return 200 if error is None else 409 if isinstance(error, staff_edits.StaleError) else 422


@router.post("/course/lessons/{lesson}", response_class=RedirectResponse, status_code=303, dependencies=[OwnForm])
def change_lesson(
    request: Request,
    opened: Opened,
    login: Instructor,
    lesson: str,
    seen: _Seen,
    opens: Short = "",
    due: Short = "",
    closes: Short = "",
    results: Short = "",
    now: Short = "",
) -> Response:
    """Change the dates of a lesson, and whether its results are shown. `now` is the date that becomes the present."""
    if lesson not in staff_views.lessons_of(opened):
        raise HTTPException(404, f"The course has no lesson {lesson!r}.")
    service, rules = service_of(request), opened.book.course()
    given = {"opens": opens, "due": due, "closes": closes, "results": results}
    if now in _DATES:
        given[now] = f"{LocalTime.at_utc(service.clock.now(), rules.zone).wall:%Y-%m-%dT%H:%M:%S}"
    before = staff_views.lesson_dates(rules, lesson)
    try:
        changes: Changes = {
            ("lessons", lesson, key): _value(key, value)
            for key, value in given.items()
            if _value(key, value) != _value(key, getattr(before, key))
        }
        staff_edits.change_all(service.course, opened, changes, login.account.name, service.clock.now(), before=seen)
    except UsageError as error:
        return _course(request, opened, error, {"lesson": lesson, **given})
    return RedirectResponse("/course", 303)


def _value(key: str, text: str) -> str | datetime | None:
    return _time(text) if key in _DATES else text or None


def _time(text: str) -> datetime | None:
    """Return the local time of a form's field, or None for an empty field."""
    try:
        return datetime.fromisoformat(text.strip()) if text.strip() else None
    except ValueError:
        raise UsageError(f"{text!r} is not a date with a time. Write one such as 2026-11-20T23:59.") from None


@router.post("/course/lines", response_class=RedirectResponse, status_code=303, dependencies=[OwnForm])
def change_line(
    request: Request,
    opened: Opened,
    login: Instructor,
    seen: _Seen,
    line: Annotated[str, Form(max_length=10_000)],
    remove: Annotated[bool, Form()] = False,
) -> Response:
    """Change any setting of the course by a line of TOML, or remove the setting with this key."""
    service = service_of(request)
    try:
        change: Changes = {_path(line): None} if remove else _settings(line)
        staff_edits.change_all(service.course, opened, change, login.account.name, service.clock.now(), before=seen)
    except UsageError as error:
        return _course(request, opened, error, {"line": line})
    return RedirectResponse("/course", 303)


def _path(line: str) -> tuple[str, ...]:
    """Return the path of keys in a line such as `late.percent_per_day` or `late.percent_per_day = 10`."""
    try:
        (path,) = _settings(line)
    except UsageError:
        (path,) = _settings(f"{line} = 0")
    return path


def _settings(text: str) -> dict[tuple[str, ...], Value | None]:
    """Return the settings in lines of TOML, by the path of their keys. Raise `UsageError` for other texts."""
    try:
        found = dict(_leaves(tomllib.loads(text), ()))
    except (ValueError, RecursionError) as fault:
        example = "lessons.04_autorange.weight = 20"
        raise UsageError(f"This is not a line of TOML ({fault}). Write a line such as {example}") from None
    if not found:
        raise UsageError("The line has no setting. Write a line such as lessons.04_autorange.weight = 20")
    return found


def _leaves(table: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key), value


@router.post("/course/undo", response_class=RedirectResponse, status_code=303, dependencies=[OwnForm])
def undo(
    request: Request, opened: Opened, login: Instructor, number: Annotated[int, Form(ge=0, lt=1 << 63)]
) -> Response:
    """Undo a change of the course or of the roster."""
    service = service_of(request)
    try:
        staff_edits.undo(service.course, opened, number, login.account.name, service.clock.now())
    except UsageError as error:
        return _course(request, opened, error)
    return RedirectResponse("/course#changes", 303)


@router.post("/course/write", response_class=RedirectResponse, status_code=303, dependencies=[OwnForm])
def write_back(request: Request, opened: Opened, login: Instructor) -> Response:
    """Write all changes into course.toml and students.csv."""
    service = service_of(request)
    try:
        files = staff_edits.write_back(service.course, opened, login.account.name, service.clock.now())
    except UsageError as error:
        return _course(request, opened, error)
    with opened.book.transaction() as db:
        what = f"wrote the changes into {' and '.join(files) or 'the files'}"
        staff_views.note(db, login, service.clock.now(), what)
    return RedirectResponse("/course#changes", 303)


@router.post("/students/{student}/extension", response_class=RedirectResponse, status_code=303, dependencies=[OwnForm])
def extend(
    request: Request, opened: Opened, login: Assistant, student: OneStudent, lesson: Short = ALL, to: Short = ""
) -> Response:
    """Give a student another due date: a date, or a length such as "2 days". Without one, remove the extension."""
    service, by, path = service_of(request), login.account.name, ("extensions", student, lesson)
    try:
        value = _time(to) if "-" in to else to.strip() or None
        staff_edits.change(service.course, opened, path, value, by, service.clock.now())
    except UsageError as error:
        return show_student(request, opened, student, status=422, problem=str(error), extension=(lesson, to))
    return RedirectResponse(f"{address(student)}#extensions", 303)


@router.get("/roster", response_class=HTMLResponse)
def roster(request: Request, opened: Opened, login: Assistant, change: str = "") -> Response:
    """Show the people of the course. `change` is the student whose row is shown as a form."""
    assert login
    return _roster(request, opened, change)


def _roster(
    request: Request, opened: OpenCourse, change: str = "", error: UsageError | None = None, typed: Person | None = None
) -> HTMLResponse:
    people = opened.book.roster().students
    return staff_page(
        request,
        opened,
        "staff_roster.html",
        status=_status(error),
        problem=str(error or ""),
        people=people,
        others=[one for one in opened.book.students() if one not in people],
        rules=opened.book.course(),
        change=change if change in people else "",
        person=typed or people.get(change) or Person(""),
        seen=staff_edits.seen(opened.db),
    )


@router.post("/roster", response_class=RedirectResponse, status_code=303, dependencies=[OwnForm])
def change_roster(
    request: Request,
    opened: Opened,
    login: Instructor,
    seen: _Seen,
    student: Short = "",
    name: Short = "",
    id_: Annotated[str, Form(alias="id", max_length=300)] = "",
    email: Short = "",
    sections: Short = "",
    other_names: Short = "",
    remove: Annotated[bool, Form()] = False,
) -> Response:
    """Add a person, or change or remove the `student` of the roster. Sections and names are divided by semicolons."""
    service, by = service_of(request), login.account.name
    person = Person(name.strip(), id_.strip(), email.strip(), _several(sections), _several(other_names))
    at = service.clock.now()
    try:
        if not student:
            staff_edits.add_person(service.course, opened, person, by, at, before=seen)
        else:
            new = None if remove else person
            staff_edits.change_person(service.course, opened, student, new, by, at, before=seen)
    except UsageError as error:
        return _roster(request, opened, student, error, person)
    return RedirectResponse("/roster", 303)


def _several(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(";"))))
