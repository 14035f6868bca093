"""What attacks on the web application of a served course share."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from served_course import Served
from starlette.testclient import TestClient

from grader import paths

SOLUTION = paths.solution("04_autorange").read_bytes()
REN, JOSE, ADA, GRACE = "Ren Ota", "José García", "Ada <b>L</b>", "grace@uni.example"
MARKUP = "<img src=x onerror=alert(1)>\"'&.py"


def secret_of(browser: TestClient) -> str:
    """Return the secret of the forms on the first page."""
    return browser.get("/").text.partition('name="secret" value="')[2].partition('"')[0]


def hand_in(browser: TestClient, name: str = "04_autorange.py", data: bytes = SOLUTION, **headers: str) -> Any:
    """Hand in a file with the form of the first page. Return the answer, which is not followed."""
    form = {"secret": secret_of(browser)}
    return browser.post("/hand-ins", data=form, files={"files": (name, data)}, headers=headers, follow_redirects=False)


def program(served: Served, name: str) -> TestClient:
    """Return a program that is logged in as this person."""
    client = served.browser()
    token = client.post("/api/login", json={"token": served.link(name)}).json()["token"]
    client.headers["Authorization"] = f"Bearer {token}"
    return client


def routes(served: Served, method: str) -> list[str]:
    """Return the paths of all routes with this method, with the number 1 or a lesson for each parameter."""
    found = [path for path, methods in served.app.openapi()["paths"].items() if method.lower() in methods]
    return [re.sub(r"\{[^}]*\}", "1", path.replace("{lesson}", "04_autorange")) for path in found]


def state(served: Served) -> tuple[list[str], list[str]]:
    """Return all rows of the database, and the paths of all files that were handed in."""
    with closing(sqlite3.connect(served.course.grades / "grades.sqlite")) as db:
        return sorted(db.iterdump()), sorted(map(str, served.course.hand_ins.rglob("*")))


@contextmanager
def unchanged(served: Served) -> Iterator[None]:
    """Check that the `with` block changes neither the database nor a file."""
    before = state(served)
    yield
    assert state(served) == before
