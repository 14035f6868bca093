"""Log in at the server of a course, hand in a zip there, and follow it until its points are there."""

import hashlib
import ipaddress
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from rich.console import Console

from grader.desk import course_server
from grader.desk.course_server import CourseLogin, CourseServer, CourseServerError
from grader.errors import FairclockError, UsageError
from grader.reports import grade_texts
from harness.rendering.texts import shown
from harness.rendering.wrapping import say

_LOOK_S: Final = (0.5, 1.0, 2.0, 3.0)  # between looks at a hand-in; the last one repeats
LOGIN_ENDED: Final = "Your login has ended. Open your personal link again: fairclock login LINK"


def log_in(link: str, console: Console) -> None:
    """Log in with a personal link, and print who is logged in and where. Raise `FairclockError` if it does not work."""
    given = course_server.at(link)
    with _same_version(given):
        token = given.ask("/api/login", json.dumps({"token": given.token}).encode())["token"]
        course = CourseServer(given.url, token).ask("/api/course")
        login = CourseLogin(given.url, str(token), str(course["student"]), str(course["title"]))
        course_server.keep_login(login)
        _print_course(login, course, console)
    if not (given.url.startswith("https://") or _is_this_machine(given.url)):
        say(console, "This address has no https, so other people in your network may be able to read what you send.")


def _is_this_machine(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def show_login(console: Console) -> None:
    """Print who is logged in and where, with the lessons, dates and points. Raise `UsageError` without a login."""
    login = course_server.read_login()
    if login is None:
        raise UsageError("You are not logged in. Copy your personal link from your teacher: fairclock login 'LINK'")
    with _same_version(login.server), _valid_login():
        _print_course(login, login.server.ask("/api/course"), console)


def _print_course(login: CourseLogin, course: Mapping[str, Any], console: Console) -> None:
    say(console, f"Logged in as {login.student} at {login.url}: {login.title}")
    for one in course["lessons"]:
        due = f"due {_moment(one['due'])}" if one["due"] else "no due date"
        earned = "–" if one["points"] is None else grade_texts.points(one["points"])
        left = "" if one["attempts_left"] is None else f", attempts left: {one['attempts_left']}"
        say(console, f"{one['lesson']:24} {earned:>4} of {grade_texts.points(one['possible'])} points, {due}{left}", 2)


def log_out(console: Console) -> None:
    """Delete the login from this machine and make it invalid at the server."""
    login = course_server.read_login()
    course_server.remove_login()
    if login is None:
        say(console, "You were not logged in.")
        return
    try:
        login.server.ask("/api/logout", b"")
        say(console, f"Logged out from {login.url}.")
    except FairclockError as error:
        say(console, f"Logged out on this machine. The server was not informed: {error}")


def hand_in(login: CourseLogin, zip_file: Path, console: Console, *, follow: bool) -> None:
    """Hand in a zip, print the receipt, and with `follow` wait for the points.

    Ctrl-C ends only the wait. Raise `FairclockError`, with what to do next, if the zip was not handed in.
    """
    data = zip_file.read_bytes()
    again = f"Nothing was lost: {zip_file} has your work. Hand it in later with `fairclock submit`, or in a browser."
    try:
        with _same_version(login.server), _valid_login(), console.status(f"Handing in at {shown(login.url)}"):
            receipt = login.server.upload("/api/hand-ins", zip_file.name, data)
            number, at, sha256 = int(receipt["number"]), _moment(receipt["at"]), receipt["sha256"]
    except CourseServerError as error:
        raise CourseServerError(f"Not handed in. {error} {again}", error.status) from None
    except KeyboardInterrupt:
        say(console, f"Stopped. Perhaps the server has your zip: fairclock login. {again}")
        raise
    if sha256 != hashlib.sha256(data).hexdigest():
        raise CourseServerError(f"Receipt {number} is for other bytes than {zip_file} has. Hand in again.")
    say(console, f"Handed in as {login.student}: receipt {number}, {at}.")
    say(console, f"SHA-256, equal to that of your zip: {sha256}", 1)
    if follow:
        try:
            _follow(login, number, console)
        except KeyboardInterrupt:
            say(console, "Stopped waiting. Your hand-in stays and will be graded.")
        except FairclockError as error:
            say(console, f"{error} Your hand-in stays and will be graded.")
    say(console, f"To see your points later: fairclock login, or your personal link and {login.url}/receipts/{number}")


def _follow(login: CourseLogin, number: int, console: Console) -> None:
    """Show the place in the queue until each exercise of a receipt has its points or needs no grade."""
    printed: set[str] = set()
    with console.status("The server reads your zip") as status:
        for wait_s in _pauses():
            with _same_version(login.server), _valid_login():
                found = login.server.ask(f"/api/receipts/{number}")["found"]
                lines = [(one["status"] == "waiting", _state_line(one)) for one in found or ()]
            for line in (line for waits, line in lines if not waits and line not in printed):
                say(console, line, 1)
                printed.add(line)
            waiting = [line for waits, line in lines if waits]
            if found is not None and not waiting:
                return
            status.update(shown(" · ".join(waiting)) or "The server reads your zip")
            time.sleep(wait_s)


def _pauses() -> Iterator[float]:
    yield from _LOOK_S
    while True:
        yield _LOOK_S[-1]


def _state_line(one: Mapping[str, Any]) -> str:
    """Return a line on an exercise that the server found in a zip: its points, or its place in the queue."""
    name, note = one["lesson"], one["note"]
    if one["status"] == "waiting":
        minutes = round(one["wait_s"] / 60)
        about = f"about {minutes} min" if minutes else "less than a minute"
        place = f"number {one['place']} in the queue" if one["place"] else "being graded"
        return f"{name}: {place}, {about}"
    if one["status"] == "graded":
        earned, possible = grade_texts.points(one["points"]), grade_texts.points(one["possible"])
        return f"{name}: {earned} of {possible} points. {note}".rstrip()
    return f"{name}: {note}" if name else str(note)


def _moment(text: str) -> str:
    """Return a time of the server in the time zone of this machine."""
    return f"{datetime.fromisoformat(text).astimezone():%a %d %b %Y %H:%M:%S %Z}"


@contextmanager
def _valid_login() -> Iterator[None]:
    try:
        yield
    except CourseServerError as error:
        if error.status == HTTPStatus.UNAUTHORIZED:
            raise CourseServerError(LOGIN_ENDED, error.status) from None
        raise


@contextmanager
def _same_version(server: CourseServer) -> Iterator[None]:
    """Raise `CourseServerError` if an answer of the server lacks a value, because the versions differ."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError):
        raise CourseServerError(f"{server.url} has another version of fairclock. Ask your teacher.") from None
