from pathlib import Path

from PIL import Image

from harness.rendering.screenshots import COLOURS, MARGIN, compressed


def test_a_picture_is_stored_without_its_empty_end_and_with_few_colours(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    full = Image.linear_gradient("L").convert("RGB").resize((200, 100))
    page = Image.new("RGB", (200, 900), "white")
    page.paste(full, (0, 0))
    page.save(source / "page.png")
    with Image.open(compressed(source / "page.png", target)) as kept:
        assert kept.size == (200, 100 + MARGIN)
        colours = kept.convert("RGB").getcolors(maxcolors=2**24)
    with Image.open(compressed(source / "page.png", target, most_rows=50)) as cut:
        assert cut.size == (200, 50)
    assert colours is not None
    assert len(colours) <= COLOURS
