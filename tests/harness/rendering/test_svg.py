import xml.etree.ElementTree as ET

from harness.rendering import svg

SVG = "{http://www.w3.org/2000/svg}"


def test_a_document_has_a_title_a_description_and_its_shapes_on_white() -> None:
    text = svg.document(30, 20, [svg.line((1, 2), (3.126, 4.5))], title="a < b", description=" of <x> ")
    root = ET.fromstring(text)  # noqa: S314 - written by us
    assert (root.attrib["role"], root.attrib["viewBox"]) == ("img", "0 0 30 20")
    assert (root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc")) == ("a < b", "of <x>")
    ground, path = root.find(f"{SVG}rect"), root.find(f"{SVG}path")
    assert ground is not None
    assert path is not None
    assert ground.attrib["fill"] == "#ffffff"
    assert path.attrib["d"] == "M1 2L3.13 4.5"


def test_a_document_with_a_style_has_rules_for_a_dark_browser() -> None:
    text = svg.document(3, 2, [], title="t", style=".boxes { fill: #123456 }")
    assert "prefers-color-scheme:dark" in text
    assert ".boxes { fill: #123456 }" in text
    assert 'class="paper"' in text


def test_text_is_escaped_and_attributes_have_their_svg_names() -> None:
    assert svg.text(1, 2.5, "<&\x07>", font_size=12, class_="words") == (
        '<text x="1" y="2.5" font-size="12" class="words">&lt;&amp;&gt;</text>'
    )
