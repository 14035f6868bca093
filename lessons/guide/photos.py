"""The recorded PNG files of lessons, such as pictures of TensorBoard's pages, and the steps that show them."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from lessons.guide.results import RECORDED

FILE: Final = Path(__file__).with_name("photos.toml")


@dataclass(frozen=True, slots=True)
class Photo:
    """A PNG picture with its caption, which is also its text for screen readers."""

    caption: str
    png: bytes


@cache
def listed() -> tuple[dict[str, str], ...]:
    """Return the fields `file`, `step` and `caption` of each photo, from the file `photos.toml`."""
    return tuple(tomllib.loads(FILE.read_text(encoding="utf-8"))["photos"])


def of_step(lesson: str, step: str, folder: Path = RECORDED) -> tuple[Photo, ...]:
    """Return the photos of a step. Files that the folder does not contain are left out."""
    found = [
        (each["caption"], folder / each["file"])
        for each in listed()
        if each["step"] == step and each["file"].startswith(f"{lesson}/")
    ]
    return tuple(Photo(caption, path.read_bytes()) for caption, path in found if path.is_file())
