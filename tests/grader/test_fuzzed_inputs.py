"""Damaged course files and gradebooks end in one sentence, and soon. `test_any_hand_in` tries damaged hand-ins."""

import random
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import generated_class
import pytest
from four_weeks import COURSE

from grader.class_run.export import export
from grader.course.course_file import read
from harness.errors import FairclockError

LESSONS = ("04_autorange", "03_cuda_sync")
PATIENCE_S = 20
CHANGES = 1250
"""How many damaged files of each kind are tried."""

TEXTS = (
    *('"', "'", "\\", "\0", "\r", "\n", "\ufeff", "\u202e", "\x1b[31m", "[[", "]]", "{", "}", "=", ",", ";", "\t", "é"),
    *("9" * 400, "[" * 400, "1e999", "-1", "9999-12-31", "0001-01-01", "NaN"),
)
BYTES = (b"\xff" * 8, b"\0" * 8, b"\xef\xbb\xbf", b"\xff\xfe")


@contextmanager
def _soon() -> Iterator[None]:
    def late(_number: int, _frame: object) -> None:
        raise AssertionError("this input takes too long")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return data with one to six changes: bytes changed, inserted, removed, repeated, or the end cut off."""
    for _ in range(rng.randint(1, 6)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice((0, 0, 1, 4, 30, 300)))
        new = rng.choice((rng.randbytes(3), rng.choice(BYTES), rng.choice(TEXTS).encode(), data[start:end] * 2, b""))
        data = data[: start if rng.random() < 0.03 else len(data)]
        data = data[:start] + new + data[end:]
    return data


CANVAS = (
    b"Student,ID,SIS User ID,SIS Login ID,Section,Autorange (7001)\r\n    Points Possible,,,,,10\r\n"
    b'"Ada, Ota",9,700123,ada,1,\r\n\r\n"Bo, ""Jr""",10,700124,ben,1,EX\r\n'
)
MOODLE = (
    b"Identifier,Full name,Email address,Status,Grade,Maximum grade,Last modified (grade),Feedback comments\n"
    b'Participant 70123,ada,ada@example.edu,Submitted,"1,5",10.00,-,"two\nlines"\n'
)


def _course(folder: Path, data: bytes) -> None:
    (folder / "course.toml").write_bytes(data)
    read(folder / "course.toml", LESSONS)


def _filled(form: str) -> Callable[[Path, bytes], None]:
    roll = generated_class.roll(2, rounds=4)

    def tried(folder: Path, data: bytes) -> None:
        (folder / "in.csv").write_bytes(data)
        export(roll, folder, form, folder / "in.csv", to=folder / "out.csv", scale=True, force=True)

    return tried


KINDS = {
    "course file": (COURSE.encode(), _course),
    "canvas": (CANVAS, _filled("canvas")),
    "moodle": (MOODLE, _filled("moodle")),
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
            with _soon():
                tried(tmp_path / str(seed), changed)
        except FairclockError as error:
            said = str(error)
        except BaseException as error:
            raise AssertionError(f"{kind} {seed}: {changed[:300]!r}") from error
        assert "\n" not in said, f"{kind} {seed}"
