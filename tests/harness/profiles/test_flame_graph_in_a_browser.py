"""The SVG of a flame graph in a real browser: its boxes, its labels, on a light and a dark background."""

from collections.abc import Iterator
from typing import Any

import pytest

from harness.profiles import flame_graph_svg, fold_up
from harness.rendering.chromium import Page, chromium

pytestmark = [pytest.mark.browser, pytest.mark.long]

STACKS = [
    (("train.py(3): step", "nn.Module: Conv2d_0", "torch/nn/modules/conv.py(9): forward", "<conv2d>"), 60.0),
    (("train.py(3): step", "nn.Module: Linear_0", "torch/nn/modules/linear.py(7): forward", "<linear>"), 25.0),
    (("train.py(3): step", "a_function_with_quite_a_long_name", "<_record_function_enter_new>"), 5.0),
    (("train.py(3): step", "tiny"), 0.01),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    file = tmp_path_factory.mktemp("picture") / "flames.svg"
    file.write_text(flame_graph_svg(fold_up(STACKS), title="One step"), encoding="utf-8")
    with chromium(tmp_path_factory.mktemp("browser")) as opened:
        opened.look(1000, height=400)
        opened.open(file)
        yield opened


def boxes(page: Page, script: str) -> list[Any]:
    return list(page.run(f"[...document.querySelectorAll('.boxes g')].map((g) => {{ {script} }})"))


def test_every_frame_is_a_box_in_the_picture_with_a_title_and_a_label_that_fits(page: Page) -> None:
    titles = boxes(page, "return g.querySelector('title').textContent.split(': ')[0]")
    assert len(titles) == 11
    assert "tiny" in titles
    inside = "const r = g.querySelector('rect').getBBox(), t = g.querySelector('text');"
    over = boxes(page, f"{inside} return t ? t.getBBox().x + t.getBBox().width - (r.x + r.width) : 0")
    assert max(over) <= 0
    assert max(boxes(page, f"{inside} return r.x + r.width")) <= 1000
    assert page.said == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_labels_and_titles_have_enough_contrast(page: Page, dark: bool) -> None:
    page.look(1000, height=400, dark=dark)
    colour = "(e) => getComputedStyle(e).fill.match(/\\d+/g).map(Number)"
    pairs = page.run(
        f"(() => {{ const c = {colour}; const all = (s) => [...document.querySelectorAll(s)];"
        " const ground = c(document.querySelector('.paper'));"
        " return [...all('.boxes g').filter((g) => g.querySelector('text'))"
        ".map((g) => [c(g.querySelector('text')), c(g.querySelector('rect'))]),"
        " ...all('text.words').map((t) => [c(t), ground])]; })()"
    )
    assert min(contrast(*pair) for pair in pairs) >= 4.5
    grounds = page.run(f"({colour})(document.querySelector('.paper'))")
    assert (sum(grounds) < 200) is dark


def contrast(one: list[int], other: list[int]) -> float:
    """Return the contrast of two colours as defined by the Web Content Accessibility Guidelines."""

    def light(colour: list[int]) -> float:
        parts = [n / 255 for n in colour[:3]]
        linear = [n / 12.92 if n <= 0.04045 else ((n + 0.055) / 1.055) ** 2.4 for n in parts]
        return float(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)
