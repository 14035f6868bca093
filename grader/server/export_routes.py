"""The pages on which instructors export points and the pages of students."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Request, UploadFile
from fastapi.responses import FileResponse, HTMLResponse, Response

from grader.errors import UsageError
from grader.server import apart, exports, staff_views
from grader.server.course_folder import OpenCourse
from grader.server.exports import FILES, ExportOptions
from grader.server.requests import Instructor, Opened, OwnForm, service_of
from grader.server.staff_routes import Short, staff_page

router = APIRouter(prefix="/exports")


@router.get("", response_class=HTMLResponse)
def exports_page(request: Request, opened: Opened, login: Instructor) -> Response:
    """Show the form for a new export, and the files of earlier ones."""
    assert login
    return _page(request, opened)


@router.post("", response_class=HTMLResponse, dependencies=[OwnForm])
def export(
    request: Request,
    opened: Opened,
    login: Instructor,
    form: Short,
    lesson: Short = "",
    columns: Annotated[str, Form(max_length=10_000)] = "",
    scale: Annotated[bool, Form()] = False,
    file: UploadFile | None = None,
) -> Response:
    """Make an export, and show what it lacks, with a link to the file."""
    service, named = service_of(request), [line for line in columns.splitlines() if line.strip()]
    if form not in FILES:
        raise HTTPException(422, f"There is no format {form!r}.")
    try:
        data = file.file.read() if file else b""
        wanted = ExportOptions(form, (lesson,) if lesson else (), named, scale)
        name = (file.filename if file else "") or ""
        lines = apart.run(exports.make, service.course, wanted, data, name)
    except UsageError as error:
        return _page(request, opened, problem=str(error))
    with opened.book.transaction() as db:
        staff_views.note(db, login, service.clock.now(), f"exported {FILES[form]}")
    return _page(request, opened, lines=lines, made=FILES[form])


def _page(
    request: Request, opened: OpenCourse, *, problem: str = "", lines: tuple[str, ...] = (), made: str = ""
) -> HTMLResponse:
    folder = service_of(request).course.grades
    found = [(name, (folder / name).stat().st_mtime) for name in FILES.values() if (folder / name).is_file()]
    return staff_page(
        request,
        opened,
        "staff_exports.html",
        status=422 if problem else 200,
        problem=problem,
        lines=lines,
        made=made,
        files=[(name, datetime.fromtimestamp(at, UTC)) for name, at in found],
        lessons=staff_views.lessons_of(opened),
    )


@router.get("/{name}", response_class=FileResponse)
def exported(request: Request, login: Instructor, name: str) -> Response:
    """Send the file of an export."""
    assert login
    path = service_of(request).course.grades / name
    if name not in FILES.values() or not path.is_file():
        raise HTTPException(404, "This file was not exported yet.")
    return FileResponse(path, media_type="application/octet-stream", filename=name)
