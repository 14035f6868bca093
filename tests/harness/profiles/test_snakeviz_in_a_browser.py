"""SnakeViz's page in a real browser, from a server and from a file: both charts are drawn, without an error.

In the profile, a function waits in one place about three times as long as in another.
"""

import cProfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.profiles import rows, served
from harness.rendering.chromium import Page, chromium

pytestmark = [pytest.mark.browser, pytest.mark.long]


def wait_long() -> None:
    time.sleep(0.3)


def wait_briefly() -> None:
    time.sleep(0.1)


def wait_twice() -> None:
    wait_long()
    wait_briefly()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with chromium(tmp_path_factory.mktemp("browser")) as opened:
        opened.look(1200)
        yield opened


def widths(page: Page, style: str, shape: str) -> list[float]:
    """Choose a style in the page's menu, wait until its chart is drawn, and return the widths of the shapes."""
    menu, shapes = "document.querySelector('#sv-style-select')", f"document.querySelectorAll('#chart svg {shape}')"
    page.run(f"{menu}.value = '{style}'; {menu}.dispatchEvent(new Event('change')); 0")
    until_s = time.monotonic() + 30
    while page.run(f"{shapes}.length") < 3:
        assert time.monotonic() < until_s, page.said
        time.sleep(0.1)
    return list(page.run(f"[...{shapes}].map((each) => each.getBoundingClientRect().width)"))


def test_both_charts_show_the_waits_and_the_table_names_the_functions(page: Page, tmp_path: Path) -> None:
    file, copy = tmp_path / "waits.prof", tmp_path / "page.html"
    profile = cProfile.Profile()
    profile.runcall(wait_twice)
    profile.dump_stats(file)
    times = {each.name: each.cumulative_s for each in rows(file)}
    shares = [times[wait.__name__] / times[wait_twice.__name__] for wait in (wait_long, wait_briefly)]
    with served(file) as server:
        copy.write_text(server.standalone(), encoding="utf-8")
        for address in (server.url, copy.as_uri()):
            page.go(address)
            icicle = widths(page, "icicle", "rect")
            for share in shares:
                assert any(width / max(icicle) == pytest.approx(share, abs=0.02) for width in icicle), icicle
            assert len(widths(page, "sunburst", "path")) >= 3
            assert page.run("document.querySelector('#sv-error-div').offsetHeight") == 0
            table = page.run("[...document.querySelectorAll('#pstats-table tbody tr')].map((row) => row.textContent)")
            assert any("(wait_briefly)" in row for row in table)
    assert page.said == []
