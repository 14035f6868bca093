"""SnakeViz's page in a real browser, served and kept: the icicle and the sunburst, each with its functions."""

import cProfile
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Page, chromium

from harness.profiles import Server, served

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SHAPES = {"icicle": "rect", "sunburst": "path"}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with chromium(tmp_path_factory.mktemp("browser")) as opened:
        opened.look(1200)
        yield opened


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    file = tmp_path_factory.mktemp("profile") / "json.prof"
    profile = cProfile.Profile()
    profile.runcall(json.dumps, [{str(n): [n]} for n in range(500)], indent=1)
    profile.dump_stats(file)
    with served(file) as running:
        yield running


def choose(page: Page, style: str) -> None:
    """Choose a style in the page's own menu."""
    menu = "document.querySelector('#sv-style-select')"
    page.run(f"{menu}.value = '{style}'; {menu}.dispatchEvent(new Event('change')); 0")


def shapes(page: Page, style: str) -> int:
    """Wait until something is drawn, and count what is."""
    until_s = time.monotonic() + 30
    while not (count := page.run(f"document.querySelectorAll('#chart svg {SHAPES[style]}').length")):
        assert time.monotonic() < until_s, page.said
        time.sleep(0.1)
    return int(count)


@pytest.mark.parametrize("kept", [False, True], ids=["served", "kept as one file"])
def test_both_pictures_are_drawn_and_the_table_names_the_functions(
    page: Page, server: Server, tmp_path: Path, kept: bool
) -> None:
    if kept:
        file = tmp_path / "page.html"
        file.write_text(server.standalone(), encoding="utf-8")
        page.open(file)
    else:
        page.ask("Page.navigate", url=server.url)
        page.loaded()
    icicle = shapes(page, "icicle")
    choose(page, "sunburst")
    sunburst = shapes(page, "sunburst")
    assert min(icicle, sunburst) > 5
    assert page.run("document.querySelector('#sv-error-div').offsetHeight") == 0
    rows = page.run("[...document.querySelectorAll('#pstats-table tbody tr')].map((row) => row.textContent)")
    assert any("_iterencode" in row for row in rows)
    assert page.said == []
