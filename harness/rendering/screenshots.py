"""Make screenshots of pages small enough to be stored in the project."""

from pathlib import Path
from typing import Final

from PIL import Image, ImageChops

COLOURS: Final = 64
MARGIN: Final = 16
"""The rows of pixels that remain below the last drawn part of a page."""


def compressed(picture: Path, folder: Path, *, most_rows: int | None = None) -> Path:
    """Write a picture with fewer colours and without its empty end into `folder`, and return its path.

    If `most_rows` is given, only this number of rows of pixels is kept.
    """
    target = folder / picture.name
    with Image.open(picture) as opened:
        full = opened.convert("RGB")
    last_row = full.crop((0, full.height - 1, full.width, full.height)).resize(full.size)
    filled = ImageChops.difference(full, last_row).getbbox() or (0, 0, *full.size)
    shown = full.crop((0, 0, full.width, min(filled[3] + MARGIN, full.height, most_rows or full.height)))
    shown.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)
    return target
