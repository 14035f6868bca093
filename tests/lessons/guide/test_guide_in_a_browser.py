"""The pages and the slides of the pack in Chromium: light and dark, on a screen and on paper."""

import base64
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from teachers_pack import pages, written

from harness.rendering.chromium import Page, chromium
from lessons.guide.slides import slides_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]

OVERFLOWING = """
(() => { document.documentElement.classList.remove('deck');
  return [...document.querySelectorAll('.slide')].filter((slide) => {
    const box = slide.getBoundingClientRect();
    return [...slide.querySelectorAll(':scope > :not(footer), :scope > :not(footer) *')].some((inner) => {
      const part = inner.getBoundingClientRect();
      return part.bottom > box.top + 695 || part.right > box.left + 1270; }); }).map((slide) => slide.id); })()
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory)


def press(page: Page, key: str) -> None:
    page.ask("Input.dispatchKeyEvent", type="keyDown", key=key)
    page.ask("Input.dispatchKeyEvent", type="keyUp", key=key)


def test_a_page_opens_without_errors_and_needs_no_sideways_scrolling(page: Page, pack: Path) -> None:
    page.said.clear()
    for name in ("index", "syllabus_12_weeks", "midterm_answers", "project", "lessons/04_autorange"):
        for width in (1200, 400):
            page.look(width)
            page.open(pack / f"{name}.html")
            assert page.run("document.documentElement.scrollWidth") <= width, name
    assert page.said == []


@pytest.mark.long
def test_no_slide_is_fuller_than_its_page(page: Page, pack: Path) -> None:
    page.look(1280, height=720)
    overflowing = {}
    for slides in sorted((pack / "slides").glob("*.html")):
        page.open(slides)
        overflowing[slides.stem] = page.run(OVERFLOWING)
    assert len(overflowing) == len(pages())
    assert {name: ids for name, ids in overflowing.items() if ids} == {}
    assert page.said == []


def test_the_arrow_keys_change_the_slide(page: Page, pack: Path) -> None:
    page.look(1280, height=720)
    page.open(pack / "slides" / "04_autorange.html")
    shown = "[...document.querySelectorAll('.slide')].filter((slide) => slide.offsetHeight).map((slide) => slide.id)"
    assert page.run(shown) == ["s1"]
    press(page, "ArrowRight")
    press(page, "ArrowRight")
    press(page, "ArrowLeft")
    assert page.run(shown) == ["s2"]
    press(page, "End")
    press(page, "ArrowRight")
    assert page.run(shown) == [f"s{len(list(slides_of(pages()['04_autorange'])))}"]
    press(page, "Home")
    assert page.run(shown) == ["s1"]


def test_the_slides_follow_the_colours_of_the_browser(page: Page, pack: Path) -> None:
    colours = []
    for dark in (False, True):
        page.look(1280, dark=dark, height=720)
        page.open(pack / "slides" / "04_autorange.html")
        colours.append(page.run("getComputedStyle(document.querySelector('.slide.now')).backgroundColor"))
    assert len(set(colours)) == 2


def test_a_printed_pdf_has_one_page_for_each_slide(page: Page, pack: Path) -> None:
    page.look(1280, height=720)
    page.open(pack / "slides" / "11_torch_profiler.html")
    data = page.ask("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"]
    printed = base64.b64decode(data)
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) == len(list(slides_of(pages()["11_torch_profiler"])))
