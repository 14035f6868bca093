"""Damaged course files and gradebooks end in one sentence, and soon. `test_any_hand_in` tries damaged hand-ins."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from exported import CANVAS, MOODLE, class_of, submission
from four_weeks import COURSE

from grader.class_run.export import export
from grader.course.course_file import read
from harness.errors import FairclockError

LESSONS = ("04_autorange", "03_cuda_sync")
CHANGES = 400
"""How many damaged files of each kind are tried."""

TEXTS = (
    *('"', "'", "\\", "\0", "\r", "\n", "\ufeff", "\u202e", "\x1b[31m", "[[", "]]", "{", "}", "=", ",", ";", "\t", "é"),
    *("9" * 400, "[" * 400, "1e999", "-1", "9999-12-31", "0001-01-01", "NaN"),
)
BYTES = (b"\xff" * 8, b"\0" * 8, b"\xef\xbb\xbf", b"\xff\xfe")


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return data with one to six changes: bytes changed, inserted, removed, repeated, or the end cut off."""
    for _ in range(rng.randint(1, 6)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice((0, 0, 1, 4, 30, 300)))
        new = rng.choice((rng.randbytes(3), rng.choice(BYTES), rng.choice(TEXTS).encode(), data[start:end] * 2, b""))
        data = data[: start if rng.random() < 0.03 else len(data)]
        data = data[:start] + new + data[end:]
    return data


def _course(folder: Path, data: bytes) -> None:
    (folder / "course.toml").write_bytes(data)
    read(folder / "course.toml", LESSONS)


def _filled(form: str) -> Callable[[Path, bytes], None]:
    roll = class_of(submission("ada"), submission("bob", "edge", "02_timer"))

    def tried(folder: Path, data: bytes) -> None:
        (folder / "in.csv").write_bytes(data)
        export(roll, folder, form, folder / "in.csv", to=folder / "out.csv", scale=True, force=True)

    return tried


KINDS = {
    "course file": (COURSE.encode(), _course),
    "canvas": (CANVAS.encode(), _filled("canvas")),
    "moodle": (MOODLE.encode(), _filled("moodle")),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_read_or_ends_in_one_sentence(kind: str, tmp_path: Path) -> None:
    data, tried = KINDS[kind]
    for seed in range(CHANGES):
        changed = damaged(data, random.Random(f"{kind} {seed}"))
        (tmp_path / str(seed)).mkdir()
        said = ""
        try:
            tried(tmp_path / str(seed), changed)
        except FairclockError as error:
            said = str(error)
        assert "\n" not in said, f"{kind} {seed}"
