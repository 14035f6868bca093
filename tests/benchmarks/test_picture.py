from xml.etree import ElementTree as ET

from picture import svg
from tally import Score

SVG = "{http://www.w3.org/2000/svg}"


def known(error: float, false: float) -> Score:
    return Score(10, false, 0.0, 0.0, error / 2, error, error, 0.0, 1.0, 2.0)


def test_the_picture_says_in_words_what_it_shows() -> None:
    scores = {
        "as it is": {"duel": known(0.004, 0.0), "pyperf, mean": known(0.05, 0.3)},
        "bursty": {"duel": known(0.005, 0.01), "pyperf, mean": known(0.4, 0.75)},
    }
    root = ET.fromstring(svg(scores))  # noqa: S314 - the text is made here
    assert root.get("role") == "img"
    assert [child.tag for child in root[:2]] == [f"{SVG}title", f"{SVG}desc"]
    description = root[1].text or ""
    for words in ("duel 0.4 % error, 0 % false", "pyperf, mean 40 % error, 75 % false", "Machine bursty"):
        assert words in description


def test_tools_and_loads_are_text_in_the_picture() -> None:
    scores = {"as it is": {"duel": known(0.0, 0.0)}, "a & b": {"<tool>": known(2.0, 1.0)}}
    root = ET.fromstring(svg(scores))  # noqa: S314 - the text is made here
    texts = {element.text for element in root.iter(f"{SVG}text")}
    assert {"duel", "<tool>", "as it is", "a & b"} <= texts
