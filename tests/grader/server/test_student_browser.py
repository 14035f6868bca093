"""The pages of a student in a real browser with a real server, also by keyboard alone and without JavaScript."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from real_server import RealServer, served

from grader import paths

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser("axe_playwright_python"), pytest.mark.long, pytest.mark.sandbox]

TITLE = "Measuring " + "and improving the speed of programs " * 2 + "Geschwindigkeitsmessungen"
COURSE = f"""
title = "{TITLE[:100]}"
timezone = "Europe/Berlin"
[slip_days]
budget = 3
spend = "chosen"
[lessons.04_autorange]
due = 2126-12-20
attempts = "chosen"
[lessons.05_compare]
due = 2026-01-20
[lessons.07_fuzzing]
due = 2026-01-20
closes = 2026-01-21
"""
REN, MARKUP, RIGHT_TO_LEFT = "Ren Ota", "<b>Ada</b> <i>L", "עדה לאבלייס"
SOLUTION = paths.solution("04_autorange")
GRADED_MS = 120_000
DROP = """(area) => {
    const given = new DataTransfer();
    given.items.add(new File(["x = 0"], "04_autorange.py"));
    area.dispatchEvent(new DragEvent("drop", { dataTransfer: given, bubbles: true, cancelable: true }));
}"""
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """Return a running server of a course with three students, whose names are hard to show."""
    folder = tmp_path_factory.mktemp("served") / "course"
    with served(folder, COURSE, (REN, MARKUP, RIGHT_TO_LEFT)) as one:
        yield one


@contextmanager
def phone(page: "Page", server: RealServer, name: str, **options: Any) -> Iterator["Page"]:
    """Open a browser of 360 pixels' width in New York, in which a student is logged in, for the `with` block."""
    assert page.context.browser
    size: Any = {"width": 360, "height": 740}
    context = page.context.browser.new_context(viewport=size, timezone_id="America/New_York", **options)
    one = context.new_page()
    one.goto(f"{server.url}/login#{server.links[name]}")
    if options.get("java_script_enabled", True):
        one.wait_for_url(f"{server.url}/")
    try:
        yield one
    finally:
        context.close()


def check(page: "Page", path: str = "") -> None:
    """Check the page at a path, or the shown one, for accessibility, in light and dark, and for scrolling sideways."""
    from axe_playwright_python.sync_playwright import Axe

    if path:
        page.goto(path)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page, options={"runOnly": {"type": "tag", "values": TAGS}})
        assert found.violations_count == 0, f"{page.url} {scheme}\n{found.generate_report()}"
    assert page.evaluate("document.documentElement.scrollWidth") == 360, page.url


def test_a_student_hands_in_and_sees_the_result_without_loading_a_page_again(page: "Page", server: RealServer) -> None:
    with phone(page, server, REN) as one:
        assert "time zone America/New_York (your browser's)" in one.inner_text("header")
        check(one)
        one.click("form.upload button")
        assert one.evaluate("document.activeElement.textContent").startswith("You did not choose a file.")
        check(one, f"{server.url}/lessons/07_fuzzing")
        one.goto(f"{server.url}/lessons/04_autorange")
        one.eval_on_selector(".drop", DROP)
        assert one.inner_text("form.upload [role=status]") == "04_autorange.py"
        one.click("form.upload button")
        one.wait_for_url("**/receipts/*")
        check(one)
        one.get_by_text("Graded, and it counts.").wait_for(timeout=GRADED_MS)
        check(one)
        one.click("text=See the result")
        assert "blocked_autorange" in one.inner_text("main")
        one.click("text=Back to the lessons")
        one.click("text=Autorange")
        one.set_input_files("#files", SOLUTION)
        one.click("form.upload button")
        one.wait_for_url("**/receipts/*")
        one.goto(f"{server.url}/lessons/04_autorange")
        one.fill("#sentence", "Half a sentence")
        one.get_by_text("Graded: 10 points earned.").wait_for(timeout=GRADED_MS)
        assert one.input_value("#sentence") == "Half a sentence"
        one.check("input[name=attempt] >> nth=-1")
        one.click("text=Let this attempt count")
        assert "1 counts" in one.inner_text("#live")
        check(one)
        for path in ("/", "/receipts", "/report", "/zone", "/receipts/1"):
            check(one, server.url + path)


def test_a_browser_connects_again_after_the_server_was_killed(page: "Page", server: RealServer) -> None:
    with phone(page, server, MARKUP) as one:
        assert MARKUP in one.inner_text("header nav")
        one.set_input_files("#files", SOLUTION)
        server.kill()
        one.click("form.upload button")
        one.get_by_text("The connection broke before the receipt came.").wait_for()
        assert one.evaluate("document.activeElement.id") == "file-problem"
        check(one)
        server.start()
        one.click("form.upload button")
        one.wait_for_url("**/receipts/*")
        server.kill()
        server.start()
        one.get_by_text("Graded, and it counts.").wait_for(timeout=GRADED_MS)
        check(one, f"{server.url}/")


def test_everything_works_without_javascript(page: "Page", server: RealServer) -> None:
    with phone(page, server, RIGHT_TO_LEFT, java_script_enabled=False) as one:
        one.fill("#token", server.links[RIGHT_TO_LEFT])
        one.click("text=Log in >> nth=-1")
        assert "time zone Europe/Berlin (the course's)" in one.inner_text("header")
        one.click("text=Change the time zone")
        one.select_option("#zone", "Asia/Tokyo")
        one.click("text=Use this time zone")
        assert "time zone Asia/Tokyo (you chose it)" in one.inner_text("header")
        one.click("form.upload button")
        assert one.inner_text("#file-problem").startswith("You did not choose a file.")
        one.set_input_files("#files", {"name": "04_autorange.py", "mimeType": "text/x-python", "buffer": b"x = 1"})
        one.click("form.upload button")
        one.wait_for_url("**/receipts/*")
        one.get_by_text("Graded, and it counts.").wait_for(timeout=GRADED_MS)  # the page loads itself again
        one.goto(f"{server.url}/lessons/05_compare")
        one.fill("#days", "9")
        one.click("text=Spend these days")
        assert one.inner_text("#slip-days-problem") == "Write a whole number from 0 to 3."
        assert one.input_value("#days") == "9"
        one.fill("#days", "2")
        one.click("text=Spend these days")
        assert one.input_value("#days") == "2"
        one.fill("#sentence", "Look at <b>case 3</b>.")
        one.click("button:has-text('Ask for a regrade')")
        assert "Look at <b>case 3</b>." in one.inner_text(".asked")


def test_a_keyboard_is_enough(page: "Page", server: RealServer) -> None:
    with phone(page, server, REN) as one:
        one.keyboard.press("Tab")
        assert one.evaluate("document.activeElement.textContent") == "Skip to the content"
        one.keyboard.press("Enter")
        reach(one, "Autorange")
        one.keyboard.press("Enter")
        one.wait_for_url("**/lessons/04_autorange")
        reach(one, "Hand in")
        one.keyboard.press("Enter")
        assert one.evaluate("document.activeElement.id") == "file-problem"
        one.set_input_files("#files", {"name": "04_autorange.py", "mimeType": "text/x-python", "buffer": b"x = 2"})
        reach(one, "Hand in")
        one.keyboard.press("Space")
        one.wait_for_url("**/receipts/*")


def reach(page: "Page", text: str) -> None:
    """Press the Tab key until the element with this text has the focus, which must be visible."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == text:
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
            return
    raise AssertionError(f"no press of the Tab key leads to {text!r}")
