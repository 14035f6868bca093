"""A served course on disk, a grader that decides by the words in a file, and the web application without a network."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import httpx2
from classroom import ENVIRONMENT, attempt_for
from fastapi import FastAPI
from starlette.testclient import TestClient

from grader import catalogue
from grader.class_run.grading import LocalLanes
from grader.kinds.timing import TIME
from grader.records import Report, Submission, Verdict
from grader.server import accounts, intake, queue
from grader.server.accounts import Use
from grader.server.app import build
from grader.server.clock import ServerClock
from grader.server.course_folder import CourseFolder
from grader.server.grading_process import GradingLoop
from grader.server.requests import Service

COURSE = """
title = "Measuring"
timezone = "Europe/Berlin"
[lessons.04_autorange]
due = 2126-12-20
[lessons.05_compare]
due = 2126-12-21
[staff]
instructors = ["grace@uni.example"]
assistants = ["tim@uni.example"]
"""
STUDENTS = """id,name,email,section,other_names
700123,Ren Ota,ren@uni.example,tuesday,
700124,José García,jose@uni.example,,
,Ada <b>L</b>,ada@uni.example,,
"""


SHARES = {"half": 0.5, "right": 1.0}
"""The share of the points for a file with this word. A file with "boom" makes the grader fail."""


def grade(submission: Submission, _seed: str = "", *, shares: Mapping[str, float] = SHARES) -> Report:
    """Grade by the words in the text."""
    text = str(submission.source)
    attempt = attempt_for(submission if "boom" not in shares else replace(submission, source="right"))
    share = max((share for word, share in shares.items() if word in text), default=0.0)
    verdicts = tuple(
        Verdict(task.full_name, share * task.points, task.points, TIME, attempt)
        for task in catalogue.load().tasks(submission.lesson)
    )
    return Report(submission, verdicts, ENVIRONMENT, sandboxed=True, duration_s=0.25)


class AtOnce:
    """Reads each file in this process, as soon as it arrives."""

    def __init__(self, course: CourseFolder) -> None:
        self.course = course

    def notice(self) -> None:
        with self.course.opened() as opened:
            unread = intake.unread(opened.db)
        for number, _ in unread:
            intake.read(self.course, number)


@dataclass(slots=True)
class Served:
    """A course whose web application runs in this process."""

    course: CourseFolder
    service: Service
    app: FastAPI
    made: list[TestClient] = field(default_factory=list)

    def close(self) -> None:
        """Close all browsers."""
        for client in self.made:
            client.close()

    def link(self, name: str) -> str:
        """Return the token of a new personal link."""
        with self.course.opened() as opened:
            everyone = accounts.accounts(opened.book.course(), opened.book.roster())
            (one,) = (one for one in everyone if name in {one.name, one.email})
            with opened.book.transaction() as db:
                return accounts.issue(db, one, Use.LINK, datetime.now(UTC))

    def hand_in(self, name: str, text: str, file: str = "04_autorange.py") -> None:
        """Hand in a file with this text."""
        browser = self.browser(name)
        data = {"secret": secret(browser)}
        assert (
            browser.post("/hand-ins", data=data, files={"files": (file, text.encode())}).status_code == httpx2.codes.OK
        )

    def grade(self, **shares: float) -> None:
        """Grade until the queue is empty, by the words in the files. `shares` changes some of `SHARES`."""
        by_words = partial(grade, shares={**SHARES, **shares})
        with self.course.opened() as opened, LocalLanes(1) as lanes:
            loop = GradingLoop(self.course, opened, by_words, lanes, 1)
            while queue.waiting(opened) or loop.running:
                loop.step()

    def browser(self, name: str = "") -> TestClient:
        """Return a browser, in which the person with this name is logged in."""
        client = TestClient(self.app, base_url=self.service.url, raise_server_exceptions=False)
        self.made.append(client)
        if name:
            assert client.post("/login", data={"token": self.link(name)}).status_code == httpx2.codes.OK
        return client


def serve(folder: Path, course_text: str = COURSE, students: str = STUDENTS) -> Served:
    """Return a course of three students and two of staff in a folder, with lessons 04 and 05."""
    (folder / "course.toml").write_text(course_text, encoding="utf-8")
    (folder / "students.csv").write_text(students, encoding="utf-8")
    course = CourseFolder(folder)
    course.prepare()
    service = Service(course, ServerClock(), "http://testserver", 1, AtOnce(course))  # type: ignore[arg-type]
    app = build(service)
    app.state.live.is_ending = lambda: True  # a browser of these tests would wait for the end of the messages
    app.state.live.rest = 0.0  # tests change the queue faster than a class does
    return Served(course, service, app)


def secret(browser: TestClient) -> str:
    """Return the secret that every form of this person's pages has."""
    page: str = browser.get("/").text
    return page.partition('name="secret" value="')[2].partition('"')[0]
