"""The time zone in which a page shows times: the one that a person chose, else the browser's, else the course's.

The page's script stores the browser's time zone in a cookie. A form stores a chosen one in another cookie, which also
works without JavaScript.
"""

from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cache
from typing import Annotated, Final
from zoneinfo import ZoneInfo, available_timezones

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from grader.course.course_file import Course
from grader.course.dates import LocalTime
from grader.server.requests import Opened, OwnForm, Student, page, service_of

router = APIRouter()

_OF_BROWSER: Final = "zone"
_CHOSEN: Final = "own_zone"
_LASTS_S: Final = 365 * 24 * 3600


@dataclass(frozen=True, slots=True)
class ReaderZone:
    """The time zone of the times on a page. `whose` says where it is from."""

    zone: tzinfo
    whose: str

    @property
    def name(self) -> str:
        """The name of the time zone, such as `Europe/Berlin`."""
        return str(self.zone)

    def moment(self, at: datetime) -> str:
        """Return a time as text in this time zone."""
        return str(LocalTime.at_utc(at, self.zone))


@cache
def names() -> frozenset[str]:
    """Return the names of all time zones that this machine knows."""
    return frozenset(available_timezones())


def zone_of(request: Request, course: Course) -> ReaderZone:
    """Return the time zone in which the person who made the request reads times."""
    for cookie, whose in ((_CHOSEN, "you chose it"), (_OF_BROWSER, "your browser's")):
        if (name := request.cookies.get(cookie, "")) in names():
            return ReaderZone(ZoneInfo(name), whose)
    return ReaderZone(course.zone, "the course's")


@router.get("/zone", response_class=HTMLResponse)
def zone_page(request: Request, opened: Opened, login: Student) -> Response:
    """Show the form that chooses a time zone."""
    assert login
    places = sorted(one for one in names() if "/" in one and not one.startswith(("Etc/", "SystemV/")))
    return page(request, "zone.html", reader=zone_of(request, opened.book.course()), names=["UTC", *places])


@router.post("/zone", response_class=RedirectResponse, status_code=303, dependencies=[OwnForm])
def choose_zone(request: Request, login: Student, zone: Annotated[str, Form(max_length=100)] = "") -> Response:
    """Store the chosen time zone in the browser, or use the browser's own again if the choice is empty."""
    assert login
    response = RedirectResponse("/", 303)
    if zone in names():
        secure = service_of(request).is_secure
        response.set_cookie(_CHOSEN, zone, max_age=_LASTS_S, httponly=True, samesite="lax", secure=secure, path="/")
    else:
        response.delete_cookie(_CHOSEN, path="/")
    return response
