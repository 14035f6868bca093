"""The pages and the slides of the pack in Chromium: light and dark, on a screen and on paper."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from teachers_pack import pages, written

from lessons.guide.slides import slides_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

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
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory)


def test_a_page_opens_without_errors_and_needs_no_sideways_scrolling(page: "Page", said: list[str], pack: Path) -> None:
    said.clear()
    for name in ("index", "syllabus_12_weeks", "midterm_answers", "project", "lessons/04_autorange"):
        for width in (1200, 400):
            page.set_viewport_size({"width": width, "height": 800})
            page.goto((pack / f"{name}.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    assert said == []


@pytest.mark.long
def test_no_slide_is_fuller_than_its_page(page: "Page", said: list[str], pack: Path) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    overflowing = {}
    for slides in sorted((pack / "slides").glob("*.html")):
        page.goto(slides.as_uri())
        overflowing[slides.stem] = page.evaluate(OVERFLOWING)
    assert len(overflowing) == len(pages())
    assert {name: ids for name, ids in overflowing.items() if ids} == {}
    assert said == []


def test_the_arrow_keys_change_the_slide(page: "Page", pack: Path) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto((pack / "slides" / "04_autorange.html").as_uri())
    shown = "[...document.querySelectorAll('.slide')].filter((slide) => slide.offsetHeight).map((slide) => slide.id)"
    assert page.evaluate(shown) == ["s1"]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(shown) == ["s2"]
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(shown) == [f"s{len(list(slides_of(pages()['04_autorange'])))}"]
    page.keyboard.press("Home")
    assert page.evaluate(shown) == ["s1"]


def test_a_printed_pdf_has_one_page_for_each_slide(page: "Page", pack: Path) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto((pack / "slides" / "11_torch_profiler.html").as_uri())
    printed = page.pdf(prefer_css_page_size=True, print_background=True)
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) == len(list(slides_of(pages()["11_torch_profiler"])))
