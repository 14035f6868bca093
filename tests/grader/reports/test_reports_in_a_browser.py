"""The report pages in a real browser: sorting, filtering, links, narrow screens, dark colours, and hostile names."""

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import generated_class
import pytest
from exported import class_of, submission

from grader import reports
from grader.course.class_commands import ClassCommands
from grader.course.results import LessonStanding
from grader.records import LeftOut
from grader.reports import class_page, leaderboard

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
INJECTED = "<script>document.title = 'caught'</script><img src=x onerror=\"document.title = 'caught'\">"
ROWS = "[...document.querySelectorAll('#everyone tbody tr')].filter((row) => !row.hidden)"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the output folder of a class of 40 students, with all pages."""
    out = tmp_path_factory.mktemp("grades")
    class_ = generated_class.roll(40, rounds=40)
    reports.write(class_, out, name_of=leaderboard.pseudonyms("key", class_.students).__getitem__)
    return out


def column(page: "Page", number: int) -> list[str]:
    """Return the visible texts of one column in the table of students."""
    texts: list[str] = page.evaluate(f"{ROWS}.map((row) => row.cells[{number}].textContent.trim())")
    return texts


def test_a_click_sorts_by_points_another_turns_it_around_and_a_keyboard_does_the_same(page: "Page", out: Path) -> None:
    page.goto((out / "report.html").as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent.trim()") == "Skip to the content"
    button, head = (f"#everyone thead th:nth-child(2){part}" for part in (" button", ""))
    page.click("#students ~ details summary")
    page.click(button)
    points = [float(text) for text in column(page, 1)]
    assert len(points) == 40
    assert points == sorted(points, reverse=True)
    assert page.evaluate(f"document.querySelector('{head}').getAttribute('aria-sort')") == "descending"
    page.click(button)
    assert [float(text) for text in column(page, 1)] == sorted(points)
    page.focus("#everyone thead th:last-child button")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.closest('th').getAttribute('aria-sort')") == "descending"


def test_typing_narrows_the_table_and_says_how_many_are_left(page: "Page", out: Path) -> None:
    page.goto((out / "report.html").as_uri())
    assert page.evaluate("document.querySelector('.tools output').value") == "40 of 40 shown"
    page.evaluate("document.querySelector('.tools input').focus()")
    page.keyboard.type("CHEN.00")
    assert len(column(page, 0)) == 3
    assert all(name.startswith("chen.00") for name in column(page, 0))
    assert page.evaluate("document.querySelector('.tools output').value") == "3 of 40 shown"


CUT_OFF = """() => {
    document.querySelectorAll("details").forEach((one) => { one.open = true; });
    const cut = (one) => {
        const style = getComputedStyle(one), scrolls = /auto|scroll/;
        if (one instanceof SVGElement || style.display.startsWith("inline") || !one.clientWidth) return false;
        return (!scrolls.test(style.overflowX) && one.scrollWidth > one.clientWidth + 1)
            || (style.overflowY === "hidden" && one.scrollHeight > one.clientHeight + 1);
    };
    const found = [...document.querySelectorAll("body, main *, header *, footer *")].filter(cut);
    return [document.documentElement.scrollWidth, found.map((one) => one.outerHTML.slice(0, 120))];
}"""
"""Returns the page's width, and the elements whose content is larger than they are and cannot be scrolled."""


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the output folder of a class with every lesson, and names and files of 120 letters without a space."""
    out, long = tmp_path_factory.mktemp("wide"), "Wolfeschlegelsteinhausenbergerdorff" * 4
    class_ = generated_class.roll(30, rounds=5)
    renamed = tuple(
        replace(one, submission=replace(one.submission, student=long)) if one.submission.student == "ben" else one
        for one in class_.reports
    )
    left_out = tuple(LeftOut(long, f"{long}/{long}{n}.py", "04_autorange", long, misnamed=True) for n in range(3))
    standings = tuple(LessonStanding("ada", lesson, 9.0, 8.0, f"1 day late: {long}") for lesson in class_.lessons)
    students = tuple(long if one == "ben" else one for one in class_.students)
    commands = ClassCommands(f"/home/{long}/{long}", f"/home/{long}/grades", made_by=f"python -m grader run {long}")
    class_ = replace(class_, title=long, students=students, reports=renamed, commands=commands, spans=())
    class_ = replace(class_, left_out=left_out, standings=standings)
    reports.write(class_, out, name_of=str)
    return out


@pytest.mark.parametrize(("width", "media"), [(360, "screen"), (800, "screen"), (1400, "screen"), (720, "print")])
def test_nothing_is_cut_off_and_no_page_is_wider_than_its_window(
    page: "Page", said: list[str], wide: Path, width: int, media: Literal["print", "screen"]
) -> None:
    ben = next(path.name for path in wide.iterdir() if path.name.startswith("wolfe"))
    page.set_viewport_size({"width": width, "height": 800})
    for path in ("report.html", f"{ben}/report.html", "leaderboard.html"):
        said.clear()
        page.emulate_media(media=media)
        page.goto((wide / path).as_uri())
        found = page.evaluate(CUT_OFF)
        page.emulate_media(media="screen")
        assert (found, said) == ([width, []], []), path


def test_a_browser_runs_nothing_though_escaping_fails(page: "Page", said: list[str], tmp_path: Path) -> None:
    class_ = replace(class_of(submission("eve")), title="a class")
    broken = class_page.render(class_).replace("<main id", f"{INJECTED}<main id")
    path = tmp_path / "report.html"
    path.write_text(broken, encoding="utf-8")
    said.clear()
    page.goto(path.as_uri())
    assert page.evaluate("document.title") == "a class · grades"
    refused = [text for text in said if "Content Security Policy" in text]
    assert len(refused) >= 2, said
    assert page.evaluate("document.querySelectorAll('#everyone button').length") > 0, "the page's own script runs"


@pytest.mark.parametrize("dark", [False, True])
def test_every_text_stands_out_from_its_paper_in_the_light_and_in_the_dark(page: "Page", out: Path, dark: bool) -> None:
    page.emulate_media(color_scheme="dark" if dark else "light")
    for path in ("report.html", "ada/report.html", "leaderboard.html"):
        page.goto((out / path).as_uri())
        paper = luminance(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert (paper < 0.05) is dark
        inks = page.evaluate(
            "[...new Set([...document.querySelectorAll('main *, header *')].filter((e) => e.textContent.trim())"
            ".filter((e) => !(e instanceof SVGElement) || e.tagName === 'text')"
            ".map((e) => getComputedStyle(e)[e instanceof SVGElement ? 'fill' : 'color']))]"
        )
        for ink in [ink for ink in inks if ink.startswith("rgb(")]:
            brighter, darker = sorted((luminance(ink), paper), reverse=True)
            assert (brighter + 0.05) / (darker + 0.05) >= 4.5, ink


def test_without_its_script_the_page_is_whole_and_shows_no_dead_control(page: "Page", out: Path) -> None:
    browser = page.context.browser
    assert browser is not None
    plain = browser.new_page(java_script_enabled=False)
    plain.goto((out / "report.html").as_uri())
    assert not plain.is_visible(".tools")
    assert plain.locator("button").count() == 0
    assert plain.locator("#everyone tbody tr").count() == 40
    plain.close()


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, as the Web Content Accessibility Guidelines 2.2 define it."""
    shares = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
