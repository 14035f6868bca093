"""The page on similar code in a real browser: accessibility, narrow screens and dark colours."""

from pathlib import Path
from typing import TYPE_CHECKING

import classroom
import pytest
from axe_playwright_python.sync_playwright import Axe

from grader.commands.apps import run_grader

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser("axe_playwright_python"), pytest.mark.long]
LOOP = "def total(values, limit):\n    kept = [v for v in values if v < limit]\n    return sum(kept) / len(kept)\n"
OTHER = "class Total:\n    while True:\n        print(list(map(str, [1, 2, {3: 4}])))\n        break\n"


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_the_page_is_accessible_and_fits_a_phone(page: "Page", tmp_path: Path, colours: str) -> None:
    texts = {"ada": LOOP, "<b>" + "x" * 90: LOOP.replace("kept", "x" * 200), "eve": OTHER, "joe": OTHER * 2, "kim": ""}
    for student, text in texts.items():
        classroom.hand_in(tmp_path / "hw1", student, text)
    classroom.run(tmp_path / "hw1", tmp_path / "out")
    assert run_grader(["similar", str(tmp_path / "out")]) == 0
    page.emulate_media(color_scheme=colours)  # type: ignore[arg-type]
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto((tmp_path / "out" / "similar.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("mark").count() > 4
    assert [found["id"] for found in Axe().run(page).response["violations"]] == []
