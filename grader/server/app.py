"""The web application: its routes, and what holds for every request, such as limits, headers and error pages."""

import logging
import sqlite3
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grader import catalogue
from grader.errors import FairclockError
from grader.reports import templates
from grader.server import (
    api_routes,
    course_routes,
    events,
    export_routes,
    login_routes,
    regrade_routes,
    staff_routes,
    student_routes,
    zones,
)
from grader.server.events import LiveQueue
from grader.server.limits import MOST_FILES, SMALL_BYTES, RequestLimits
from grader.server.requests import Service, is_program, login_of
from harness.standard_streams import FULL

_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with "no-referrer", browsers do not say which site sent a form
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_PAGE_POLICY: Final = "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
"""What a page may load. Each page has the rest of its policy, with the SHA-256 of its style and script."""

_OTHER_POLICY: Final = "default-src 'none'; frame-ancestors 'none'"

FULL_DISK: Final = (
    "The server's disk is full, so nothing was stored. Keep your file, tell your teacher, and try again later. "
    "This costs you nothing."
)
_BUSY: Final = "The server's database is busy, so nothing was stored. Keep your file, and try again in a minute."
_BROKEN: Final = (
    "The server could not do this, because of a fault of the server. Keep your file, and tell your teacher."
)

_ANSWER: Final[dict[str, Any]] = {"text/html": {"schema": {"type": "string"}}}
_DETAIL: Final[dict[str, Any]] = {
    "schema": {"type": "object", "required": ["detail"], "properties": {"detail": {"type": "string"}}}
}
_TITLES: Final = {
    400: "This did not work",
    401: "Please log in",
    403: "This is not for you",
    404: "There is no such page",
    405: "This page cannot be used like this",
    408: "Too slow",
    409: "Another person changed this",
    413: "Too large",
    422: "A value is missing",
    429: "Too many requests",
    503: "The server is busy",
    507: "The server's disk is full",
}


def build(service: Service) -> FastAPI:
    """Return the web application of one course."""
    app = FastAPI(
        title="fairclock",
        version=catalogue.kit_version(),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # the address in such a redirect would be the one that the client named
        form_limits={"max_files": MOST_FILES, "max_part_size": SMALL_BYTES},
        responses={
            status: {"description": title, "content": {**_ANSWER, "application/json": _DETAIL}}
            for status, title in _TITLES.items()
        },
    )
    app.state.service = service
    app.state.live = LiveQueue(service.course, service.lanes, service.clock)
    app.add_middleware(RequestLimits, service=service)
    app.add_middleware(_SafeHeaders, service=service)
    of_staff = (staff_routes, regrade_routes, course_routes, export_routes)
    for routes in (login_routes, student_routes, zones, events, *of_staff, api_routes):
        app.include_router(routes.router)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    for kind in (FairclockError, OSError, sqlite3.Error):
        app.add_exception_handler(kind, _failed)
    app.add_exception_handler(Exception, _broken)
    return app


class _SafeHeaders:
    """Middleware that adds the headers with which browsers protect the pages."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._more = {"Strict-Transport-Security": "max-age=31536000"} if service.is_secure else {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                _protect(MutableHeaders(scope=message), self._more)
            await send(message)

        await self._app(scope, receive, send_safely)


def _protect(headers: MutableHeaders, more: dict[str, str]) -> None:
    is_page = headers.get("content-type", "").startswith("text/html")
    policy = {"Content-Security-Policy": _PAGE_POLICY if is_page else _OTHER_POLICY}
    for name, value in (_HEADERS | policy | more).items():
        headers.setdefault(name, value)


def problem(request: Request, status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    """Return the answer to a request that failed: JSON for a program, a page for a browser."""
    if is_program(request):
        return JSONResponse({"detail": sentence}, status, headers)
    page = templates.render(
        "problem.html", title_=_TITLES.get(status, "This did not work"), sentence=sentence, login=login_of(request)
    )
    return HTMLResponse(page, status, headers)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, OSError):  # while a form was stored in temporary files
        return await _failed(request, error.__cause__)
    known = {404: "There is no such page.", 405: "This page cannot be used like this."}
    plain = error.detail in {"Not Found", "Method Not Allowed"}
    sentence = known.get(error.status_code, error.detail) if plain else error.detail
    return problem(request, error.status_code, str(sentence), dict(error.headers or {}))


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    places = [one["loc"] for one in error.errors()]
    if any(place[0] == "path" for place in places):
        return problem(request, 404, "There is no such page.")
    wrong = ", ".join(dict.fromkeys(str(place[-1])[:100] for place in places))
    return problem(request, 422, f"The request lacks a valid value for: {wrong}.")


async def _failed(request: Request, error: Exception) -> Response:
    """Return the answer after an error of the disk, of the database, or of what a person asked for."""
    cause = error if isinstance(error, OSError | sqlite3.Error) else error.__cause__ or error.__context__
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF  # the higher bits say more about the same error
    if getattr(cause, "errno", 0) in FULL or code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
        return problem(request, 507, FULL_DISK)
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return problem(request, 503, _BUSY, {"Retry-After": "60"})
    if isinstance(cause, OSError | sqlite3.Error):
        _LOG.error("A file of the course cannot be used.", exc_info=error)
        return problem(request, 503, _BROKEN)
    return problem(request, 400, str(error))


async def _broken(request: Request, error: Exception) -> Response:  # noqa: ARG001 - uvicorn prints the error
    answer = problem(request, 500, _BROKEN)
    _protect(answer.headers, {})
    return answer


_LOG: Final = logging.getLogger("uvicorn.error")
