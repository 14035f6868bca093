"""The drawings that replace Google Charts, in a real browser."""

from collections.abc import Iterator

import pytest

from harness.profiles.chart_drawings import SCRIPT
from harness.rendering.chromium import Page, chromium

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    file = tmp_path_factory.mktemp("charts") / "page.html"
    file.write_text("<!doctype html><div id=here></div>", encoding="utf-8")
    with chromium(tmp_path_factory.mktemp("browser")) as opened:
        opened.before_each_page(SCRIPT)
        opened.open(file)
        yield opened


def drawn(page: Page, kind: str, rows: str) -> str:
    """Return the text of a drawing of a table with the columns `name` (a text), `value` and a hidden tooltip."""
    return str(
        page.run(
            "(() => { const data = new google.visualization.DataTable();"
            "data.addColumn('string', 'name'); data.addColumn({type: 'number', label: 'value'});"
            f"data.addColumn({{type: 'string', role: 'tooltip'}}); data.addRows({rows});"
            "const here = document.getElementById('here');"
            f"new google.visualization.{kind}(here).draw(data, {{}}); return here.innerText; }})()"
        )
    )


@pytest.mark.parametrize("kind", ["Table", "PieChart"])
def test_names_and_numbers_are_shown_without_tooltips(page: Page, kind: str) -> None:
    text = drawn(page, kind, "[['<b>first', 1234.567, 'tip'], ['second', 2, 'tip']]")
    assert "<b>first" in text
    assert "1,234.57" in text
    assert "tip" not in text
    assert text.endswith(f"{kind}: drawn by fairclock, not by Google Charts")


def test_bars_and_lines_are_in_proportion_to_their_numbers(page: Page) -> None:
    assert "value" in drawn(page, "ColumnChart", "[['rank0', 10, ''], ['rank1', 20, '']]")
    widths = page.run("[...document.querySelectorAll('#here span')].slice(1).map((e) => parseFloat(e.style.width))")
    assert widths == [47.5, 95]
    text = drawn(page, "LineChart", "[[0, 0, ''], [5, 8, ''], [10, 4, '']]")
    assert "0 to 10: name; 0 to 8: value" in text
    assert page.run("document.querySelector('#here polyline').getAttribute('points')") == "0,260 450,0 900,130"


def test_a_chart_that_is_not_drawn_is_marked_and_the_page_reports_no_error(page: Page) -> None:
    for kind, rows in [("Timeline", "[['a', 1, '']]"), ("Table", "[]")]:
        assert drawn(page, kind, rows) == f"{kind}: not drawn, because it needs Google Charts"
    script = "google.visualization.arrayToDataTable([['worker', 'time'], ['rank0', 5]]).plain()"
    assert page.run(script) == {"heads": ["worker", "time"], "rows": [["rank0", 5]]}
    assert page.run("google.charts.load('current', {}).then(() => 'loaded')") == "loaded"
    assert page.said == []
