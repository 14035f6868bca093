"""An instructor's whole path in Chromium, on a real server, with JavaScript and without it, also on a phone."""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from real_server import RealServer, served
from served_course import COURSE

from grader import paths

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.long, pytest.mark.sandbox, pytest.mark.browser("axe_playwright_python")]

GRACE = "grace@uni.example"
ADA, BOB = "Ada <b>Lovelace</b>", "Björn Schmidt"
SOLUTION = paths.solution("04_autorange").read_bytes()
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,04_autorange (9001)\n    Points Possible,,,,,10.00\n"
    f'"{ADA}",101,1000,s0@uni.example,,\n"{BOB}",102,1001,s1@uni.example,,\n'
)
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
MOST_S = 300.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """Run a server on which two students have handed in the same file."""
    with served(tmp_path_factory.mktemp("served") / "course", COURSE, [ADA, BOB], "--jobs", "1") as one:
        for name in (ADA, BOB):
            assert one.program(name).hand_in("04_autorange.py", SOLUTION)[0] == 201
        yield one


class Instructor:
    """A person at a browser. On each page it checks the width on a phone and, with JavaScript, the accessibility."""

    def __init__(self, page: "Page", server: RealServer, *, scripts: bool) -> None:
        self.page, self.server, self.scripts = page, server, scripts
        self.found: dict[str, list[str]] = {}

    def open(self, path: str) -> None:
        self.page.goto(self.server.url + path)
        self.check()

    def press(self, button: str) -> None:
        self.page.get_by_role("button", name=button, exact=True).click()
        self.page.wait_for_load_state()
        self.check()

    def follow(self, link: str) -> None:
        self.page.get_by_role("link", name=link).first.click()
        self.page.wait_for_load_state()
        self.check()

    def check(self) -> None:
        where, wrong = self.page.url.removeprefix(self.server.url), list[str]()
        self.page.set_viewport_size({"width": 360, "height": 740})
        if (width := self.page.evaluate("document.documentElement.scrollWidth")) > 360:
            wrong.append(f"{width} pixels wide on a phone")
        self.page.set_viewport_size({"width": 1200, "height": 800})
        if self.scripts:
            from axe_playwright_python.sync_playwright import Axe

            for one in Axe().run(self.page, options=RULES).response["violations"]:
                wrong.append(f"{one['id']}: {one['nodes'][0]['html']}")
        if wrong:
            self.found[where] = wrong

    def shows(self, text: str) -> None:
        """Load the page again until it shows a text."""
        ends_s = time.monotonic() + MOST_S
        while text not in self.page.locator("body").inner_text():
            assert time.monotonic() < ends_s, (text, self.page.locator("body").inner_text())
            time.sleep(0.5)
            self.page.reload()

    def field(self, label: str) -> "Locator":
        """Return the first field whose label begins with this text."""
        return self.page.locator("input, textarea, select").and_(self.page.get_by_label(re.compile(f"^{label}"))).first

    def fill(self, **fields: str) -> None:
        for label, text in fields.items():
            self.field(label.replace("_", " ")).fill(text)


@pytest.mark.parametrize(("scripts", "student"), [(True, ADA), (False, BOB)])
def test_an_instructor_does_everything(
    page: "Page", server: RealServer, tmp_path: Path, scripts: bool, student: str
) -> None:
    assert page.context.browser
    own = page.context.browser.new_context(java_script_enabled=scripts, accept_downloads=True)
    one = Instructor(own.new_page(), server, scripts=scripts)
    log_in(one)
    one.open("/class")
    if scripts:  # the page follows the queue by itself
        figure = one.page.locator(".figures div", has_text=re.compile(r"^\s*Graded\s*2"))
        figure.wait_for(timeout=1000 * MOST_S)
    one.shows("Graded\n2")
    one.follow(student)
    mark(one)
    extend_and_change_dates(one, student)
    regrade(one, student)
    add_to_roster(one)
    export(one, tmp_path)
    for path in ("/class/report", "/class/receipts?find=1"):
        one.open(path)
    own.close()
    assert one.found == {}


def log_in(one: Instructor) -> None:
    token = one.server.links[GRACE]
    if one.scripts:
        one.page.goto(f"{one.server.url}/login#{token}")
        one.page.wait_for_url("**/class")
    else:
        one.open("/login")
        one.fill(Your_personal_link=token)
        one.press("Log in")
    assert token not in one.page.url


def mark(one: Instructor) -> None:
    """Give points, take them back, and see why others are refused."""
    one.field("Task").select_option(index=1)
    one.fill(Points="11", Comment="Very good")
    one.press("Store points or comment")
    assert "from 0 to 10" in one.page.get_by_role("alert").inner_text()
    assert one.field("Comment").input_value() == "Very good"
    one.fill(Points="9.5")
    one.press("Store points or comment")
    one.shows("9.5 of 10 points by hand")
    one.page.get_by_role("button", name="Take back the points").click()
    one.shows("the last points by hand taken back")


def extend_and_change_dates(one: Instructor, student: str) -> None:
    one.fill(New_due_date="2 days")
    one.press("Store extension")
    one.shows("All lessons: 2 days more")
    one.follow("Course")
    card = one.page.locator("section.card", has_text="05_compare")
    card.get_by_label("Due").fill("2126-12-28T12:00:00")
    one.press("Store Compare")
    one.shows("lessons.05_compare.due = 2126-12-28T12:00:00")
    one.page.locator("section.card", has_text="04_autorange").get_by_label("Closes").fill("2026-01-01T00:00:00")
    one.press("Store Autorange")
    assert "a date after the due date" in one.page.get_by_role("alert").inner_text()
    assert student in one.page.locator("#extensions + ul").inner_text()
    one.page.get_by_role("button", name="Undo change").first.click()
    one.shows("(undone)")
    one.press("Write the changes into course.toml and students.csv")
    one.shows("(written into the file)")


def regrade(one: Instructor, student: str) -> None:
    one.open("/class")
    one.follow(student)
    one.follow("Regrade Autorange")
    one.press("Regrade 1 hand-in")
    one.shows("To publish\n1")
    one.press("Publish 1 regrade")
    one.shows(f"{GRACE} published 1 regrade.")


def add_to_roster(one: Instructor) -> None:
    name = f"Eve {one.scripts}"
    one.follow("Roster")
    one.fill(Name=name, **{"E-mail address": f"eve-{one.scripts}@uni.example"})
    one.press("Add")
    one.follow(f"Change {name}")
    one.press("Remove from the roster")
    assert name not in one.page.locator("table").inner_text()


def export(one: Instructor, folder: Path) -> None:
    one.follow("Exports")
    file = folder / "canvas export.csv"
    file.write_text(CANVAS, encoding="utf-8")
    one.field("The file of Canvas or Moodle").set_input_files(file)
    one.press("Export")
    with one.page.expect_download() as download:
        one.page.get_by_role("link", name="Download canvas.csv").click()
    text = download.value.path().read_text(encoding="utf-8")
    assert text.count(",,10\n") == 2, text
