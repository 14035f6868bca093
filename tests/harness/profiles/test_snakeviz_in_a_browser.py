"""SnakeViz's page in a real browser, from a server and from a file. The tests read its two charts from pixels.

In the profile, a function waits in one place about three times as long as in another. So the area next to the root of
each picture must be divided in the ratio of these times.
"""

import cProfile
import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from matplotlib.image import imread

from harness.profiles import ProfiledFunction, Server, rows, served
from harness.rendering.chromium import Page, chromium

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SHAPES = {"icicle": "rect", "sunburst": "path"}
WHITE = (255, 255, 255)
POINTS = 360

Colour = tuple[int, ...]
Point = tuple[float, float]


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


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("profile") / "waits.prof"
    profile = cProfile.Profile()
    profile.runcall(wait_twice)
    profile.dump_stats(file)
    return file


@pytest.fixture(scope="module")
def server(saved: Path) -> Iterator[Server]:
    with served(saved) as running:
        yield running


def choose(page: Page, style: str) -> None:
    """Choose a style in the page's menu."""
    menu = "document.querySelector('#sv-style-select')"
    page.run(f"{menu}.value = '{style}'; {menu}.dispatchEvent(new Event('change')); 0")


def root(page: Page, style: str) -> tuple[float, float, float, float]:
    """Wait until a picture is drawn, and return the position of its root: left, top, width, height."""
    shape = f"#chart svg {SHAPES[style]}"
    until_s = time.monotonic() + 30
    while not page.run(f"document.querySelectorAll('{shape}').length"):
        assert time.monotonic() < until_s, page.said
        time.sleep(0.1)
    box = page.run(
        f"(() => {{ const r = document.querySelector('{shape}').getBoundingClientRect();"
        " return [r.x, r.y, r.width, r.height]; })()"
    )
    return box[0], box[1], box[2], box[3]


def below(box: tuple[float, float, float, float]) -> Iterator[Point]:
    """Return points from left to right in the row below an icicle's root, near its lower edge without text."""
    left, top, width, height = box
    return ((left + width * (n + 0.5) / POINTS, top + 1.9 * height) for n in range(POINTS))


def around(box: tuple[float, float, float, float]) -> Iterator[Point]:
    """Return points on a circle around a sunburst's root, in the middle of the next ring."""
    left, top, width, height = box
    turns = (2 * math.pi * (n + 0.5) / POINTS for n in range(POINTS))
    return (
        (left + width / 2 + 0.75 * width * math.sin(a), top + height / 2 - 0.75 * height * math.cos(a)) for a in turns
    )


def seen(page: Page, file: Path, points: Iterator[Point]) -> Counter[Colour]:
    """Return the colours at these points in a screenshot of the page."""
    page.photograph(file)
    picture = (imread(file)[..., :3] * 255).round().astype(int)
    return Counter(tuple(picture[int(y), int(x)].tolist()) for x, y in points)


def divided(colours: Counter[Colour], functions: Sequence[ProfiledFunction]) -> bool:
    """Return whether there are two colours whose widths match the lengths of the two waits."""
    times = {each.name: each.cumulative_s for each in functions}
    parts = [times[wait.__name__] / times[wait_twice.__name__] for wait in (wait_long, wait_briefly)]
    drawn = [*colours.most_common(2), (WHITE, 0)][:2]
    off = [abs(count / POINTS - part) for (_, count), part in zip(drawn, parts, strict=True)]
    return WHITE not in dict(drawn) and max(off) < 0.02


@pytest.mark.parametrize("kept", [False, True], ids=["served", "kept as one file"])
def test_both_pictures_show_the_two_waits_and_the_table_names_the_functions(
    page: Page, saved: Path, server: Server, tmp_path: Path, kept: bool
) -> None:
    functions = rows(saved)
    if kept:
        file = tmp_path / "page.html"
        file.write_text(server.standalone(), encoding="utf-8")
        page.open(file)
    else:
        page.ask("Page.navigate", url=server.url)
        page.loaded()
    icicle = seen(page, tmp_path / "icicle.png", below(root(page, "icicle")))
    assert divided(icicle, functions), icicle
    choose(page, "sunburst")
    sunburst = seen(page, tmp_path / "sunburst.png", around(root(page, "sunburst")))
    assert divided(sunburst, functions), sunburst
    assert page.run("document.querySelector('#sv-error-div').offsetHeight") == 0
    table = page.run("[...document.querySelectorAll('#pstats-table tbody tr')].map((row) => row.textContent)")
    assert any("(wait_briefly)" in row for row in table)
    assert page.said == []
