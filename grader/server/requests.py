"""What every route needs of a request: who is logged in, the open course, and protection against forged forms."""

import hmac
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Final
from urllib.parse import urlsplit

from fastapi import Depends, Form, HTTPException, Path, Request
from fastapi.responses import HTMLResponse

from grader.reports import templates
from grader.server import accounts
from grader.server.accounts import Login, Role, Use
from grader.server.apart import ClassReport
from grader.server.clock import ServerClock
from grader.server.course_folder import CourseFolder, OpenCourse
from grader.server.readers import Readers


@dataclass(slots=True)
class Service:
    """What the server of one course consists of. `url` is its public address. `readers` reads files that arrived.

    `problem` is "", or why the last change of the course's files does not hold.
    """

    course: CourseFolder
    clock: ServerClock
    url: str
    lanes: int
    readers: Readers
    problem: str = ""
    class_report: ClassReport = field(init=False)

    def __post_init__(self) -> None:
        """Make the cache of the page on the whole class."""
        self.class_report = ClassReport(self.course)

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach the server by https."""
        return self.url.startswith("https://")

    @property
    def cookie(self) -> str:
        """The name of the cookie with the token of a browser. With `__Host-`, browsers send it only by https."""
        return "__Host-fairclock" if self.is_secure else "fairclock"


def service_of(request: Request) -> Service:
    """Return the service that answers a request."""
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


def opened_of(request: Request) -> Iterator[OpenCourse]:
    """Open the course during one request."""
    with service_of(request).course.opened() as opened:
        yield opened


Opened = Annotated[OpenCourse, Depends(opened_of)]
Number = Annotated[int, Path(ge=0, lt=1 << 63)]
"""The number of a row of the database in the path of a page."""

_BEARER: Final = "Bearer "
_API: Final = "/api/"


def is_program(request: Request) -> bool:
    """Return whether a program made the request, which gets JSON, and not a browser."""
    return request.url.path.startswith(_API) or request.headers.get("authorization", "").startswith(_BEARER)


def login_of(request: Request) -> Login | None:
    """Return the login that `require` found for this request, or None."""
    return getattr(request.state, "login", None)


def visitor(request: Request, opened: Opened) -> Login | None:
    """Return the login of the person who made the request, or None if there is no valid one."""
    request.state.login = logged_in(request, opened)
    return login_of(request)


def token_of(request: Request) -> tuple[str, Use]:
    """Return the token that a request has, or "", and the use that its header is for."""
    given = request.headers.get("authorization", "")
    if given.startswith(_BEARER):
        return given.removeprefix(_BEARER), Use.PROGRAM
    if request.url.path.startswith(_API):  # its routes have no protection against forged forms
        return "", Use.PROGRAM
    return request.cookies.get(service_of(request).cookie, ""), Use.BROWSER


def logged_in(request: Request, opened: OpenCourse) -> Login | None:
    """Return the login of the person whose token a request has, or None without a valid token."""
    token, use = token_of(request)
    found = accounts.owner(opened.db, token, use, service_of(request).clock.now()) if token else None
    account = accounts.find(*found, opened.book.course(), opened.book.roster()) if found else None
    return Login(account, token, use) if account else None


Visitor = Annotated[Login | None, Depends(visitor)]


def _require(login: Login | None, role: Role) -> Login:
    if login is None:
        raise HTTPException(401, "You are not logged in, or your login has ended. Open your personal link again.")
    if login.account.role < role:
        raise HTTPException(403, "Only staff of the course can use this page.")
    return login


def student(login: Visitor) -> Login:
    """Return the login of a student. Staff have no hand-ins, so they get an error."""
    if _require(login, Role.STUDENT).account.is_staff:
        raise HTTPException(403, "Only students hand in. Staff find all hand-ins on the page of the class.")
    assert login
    return login


def assistant(login: Visitor) -> Login:
    """Return the login of one of staff."""
    return _require(login, Role.ASSISTANT)


def instructor(login: Visitor) -> Login:
    """Return the login of an instructor."""
    if _require(login, Role.ASSISTANT).account.role < Role.INSTRUCTOR:
        raise HTTPException(403, "Only instructors of the course can do this.")
    assert login
    return login


Student = Annotated[Login, Depends(student)]
Assistant = Annotated[Login, Depends(assistant)]
Instructor = Annotated[Login, Depends(instructor)]


def own_site(request: Request) -> None:
    """Raise an error if a page of another website made the browser send this request."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    own = {urlsplit(service_of(request).url).netloc, request.headers.get("host")}
    if site not in {"same-origin", "none"} if site else origin is not None and origin.partition("://")[2] not in own:
        raise HTTPException(403, _FORGED)


def own_form(request: Request, login: Visitor, secret: Annotated[str, Form()] = "") -> None:
    """Raise an error if another website sent the form: it does not know the secret of this login."""
    own_site(request)
    if login and login.use is Use.BROWSER and not hmac.compare_digest(_bytes(secret), _bytes(login.form_secret)):
        raise HTTPException(403, _FORGED)


def _bytes(text: str) -> bytes:
    return text.encode(errors="replace")


_FORGED: Final = "This form was not sent from a page of this server. Load the page and try again."
OwnSite = Depends(own_site)
"""A dependency of the routes that log in."""

OwnForm = Depends(own_form)
"""A dependency of every route that changes something and is used by browsers."""


def page(request: Request, name: str, *, status: int = 200, **values: object) -> HTMLResponse:
    """Return the page that a template makes for the person who is logged in."""
    return HTMLResponse(templates.render(name, login=login_of(request), **values), status)
