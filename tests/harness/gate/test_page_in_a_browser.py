"""The page of a run of `pytest --duel` in Chromium: light and dark, on a phone, without network."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from gate_runs import OUTCOMES, RUN, VOID

from harness.gate import page as gate_page
from harness.gate.outcomes import GateVerdict

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser("axe_playwright_python"), pytest.mark.long]

LONG = replace(
    OUTCOMES[2], name="tests/" + "deep/" * 30 + "test_a.py::test_" + "long" * 60 + "<script>alert(1)</script>👩‍👩‍👧"
)
PAGES = {
    "all": RUN,
    "void": VOID,
    "long": replace(RUN, outcomes=(LONG,)),
    "empty": replace(RUN, outcomes=(), controls=()),
}
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
PLACES = """() => [...document.querySelectorAll("li svg")].map((chart) => {
  const middle = (query) => { const box = chart.querySelector(query).getBoundingClientRect();
                              return (box.left + box.right) / 2; };
  const bar = chart.querySelector(".bar").getBoundingClientRect();
  return [chart.getAttribute("class"), middle(".zero"), middle(".allowed"), bar.left, bar.right]; })"""


def test_the_page_is_readable_on_every_screen_and_its_charts_agree_with_the_verdicts(
    page: "Page", said: list[str], tmp_path: Path
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    for name, run in PAGES.items():
        path = tmp_path / f"{name}.html"
        path.write_text(gate_page.render(run), encoding="utf-8")
        for width in (320, 360, 1200):
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(path.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") == width, name
        papers = set()
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            found = Axe().run(page, options={"runOnly": {"type": "tag", "values": TAGS}})
            assert found.violations_count == 0, f"{name} {scheme}\n{found.generate_report()}"
            papers.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert len(papers) == 2
    assert (said, {url.partition(":")[0] for url in requested}) == ([], {"file"})
    page.goto((tmp_path / "all.html").as_uri())
    places = page.evaluate(PLACES)
    assert [place[0] for place in places] == ["slower", "slower", "undecided", "same", "faster"]
    for verdict, zero, allowed, left, right in places:
        sides = left > allowed, right < zero, left > zero - (allowed - zero) and right < allowed
        wanted = [verdict == one.value for one in (GateVerdict.SLOWER, GateVerdict.FASTER, GateVerdict.SAME)]
        assert list(sides) == wanted, verdict
