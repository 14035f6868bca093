"""Every route of the server is tried with every role and without a login, and compared with the table below."""

import re
from collections.abc import Iterable, Iterator

import pytest
import served_course
from served_course import Served
from starlette.routing import BaseRoute, Route
from test_staff import GRACE, TIM

ANYONE, STUDENT, STAFF, INSTRUCTOR = range(4)
"""Who may use a route. Students may not use the routes of staff, and staff may not use those of students."""

ROUTES = {
    "GET /openapi.json": ANYONE,
    "GET /": ANYONE,
    "GET /login": ANYONE,
    "POST /login": ANYONE,
    "POST /logout": ANYONE,
    "POST /api/login": ANYONE,
    "POST /hand-ins": STUDENT,
    "GET /lessons/{lesson}": STUDENT,
    "POST /lessons/{lesson}/choice": STUDENT,
    "POST /lessons/{lesson}/slip-days": STUDENT,
    "POST /lessons/{lesson}/requests": STUDENT,
    "GET /receipts": STUDENT,
    "GET /receipts/{number}": STUDENT,
    "GET /receipts/{number}.txt": STUDENT,
    "GET /report": STUDENT,
    "GET /events": STUDENT,
    "GET /zone": STUDENT,
    "POST /zone": STUDENT,
    "POST /api/hand-ins": STUDENT,
    "GET /api/receipts/{number}": STUDENT,
    "GET /api/course": STUDENT,
    "POST /api/logout": ANYONE,
    "GET /class": STAFF,
    "GET /class/report": STAFF,
    "GET /class/{name}/report.html": STAFF,
    "GET /class/receipts": STAFF,
    "GET /class/receipts/{number}/file": STAFF,
    "GET /students/{student}": STAFF,
    "GET /students/{student}/report": STAFF,
    "POST /students/{student}/marks": STAFF,
    "POST /students/{student}/extension": STAFF,
    "POST /students/{student}/link": INSTRUCTOR,
    "POST /students/{student}/revoke": INSTRUCTOR,
    "POST /requests/{number}": STAFF,
    "GET /regrades": STAFF,
    "GET /regrades/new": STAFF,
    "POST /regrades": STAFF,
    "POST /regrades/publish": INSTRUCTOR,
    "POST /regrades/discard": INSTRUCTOR,
    "GET /course": STAFF,
    "POST /course/lessons/{lesson}": INSTRUCTOR,
    "POST /course/lines": INSTRUCTOR,
    "POST /course/undo": INSTRUCTOR,
    "POST /course/write": INSTRUCTOR,
    "GET /exports": INSTRUCTOR,
    "POST /exports": INSTRUCTOR,
    "GET /exports/{name}": INSTRUCTOR,
    "GET /roster": STAFF,
    "POST /roster": INSTRUCTOR,
}
PEOPLE = {"": ANYONE, "Ren Ota": STUDENT, TIM: STAFF, GRACE: INSTRUCTOR}
VALUES = {"number": "1", "student": "José García", "name": "ada", "lesson": "04_autorange"}
FORM = {"seen": "0", "last": "0", "line": "x", "text": "x", "undo": "points", "number": "1", "form": "canvas"}


def routes(found: Iterable[BaseRoute]) -> Iterator[str]:
    for route in found:
        if isinstance(route, Route):
            yield from (f"{method} {route.path}" for method in sorted({*(route.methods or ())} - {"HEAD"}))
        else:  # the routes of a module, which FastAPI includes as a router of their own
            yield from routes(getattr(route, "original_router").routes)  # noqa: B009


def test_every_route_is_in_the_table(served: Served) -> None:
    assert sorted(routes(served.app.routes)) == sorted(ROUTES)


@pytest.mark.parametrize("person", PEOPLE)
def test_each_role_can_use_its_own_routes_alone(served: Served, person: str) -> None:
    wrong, role = {}, PEOPLE[person]
    browser, program = served.browser(person), served.browser()
    if person:
        token = program.post("/api/login", json={"token": served.link(person)}).json()["token"]
        program.headers["authorization"] = f"Bearer {token}"
    form = {"secret": served_course.secret(browser), **FORM}
    for route, least in ROUTES.items():
        if least == ANYONE:
            continue
        method, _, path = route.partition(" ")
        path = re.sub(r"\{(\w+)\}", lambda found: VALUES[found[1]], path)
        data = form if method == "POST" else None
        client = program if path.startswith("/api/") else browser
        status = client.request(method, path, data=data, follow_redirects=False).status_code
        fits = least == role == STUDENT or role >= least > STUDENT
        refused = 401 if role == ANYONE else 403
        if (status in {401, 403} or status >= 500) if fits else status != refused:
            wrong[route] = status
    assert wrong == {}
