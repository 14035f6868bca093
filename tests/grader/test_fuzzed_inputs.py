"""Damaged zips, notebooks, course files, rosters and gradebooks end in a verdict or in one sentence, and soon."""

import random
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import generated_class
import pytest
from classroom import notebook, zipped
from four_weeks import COURSE

from grader.class_run.export import export
from grader.course.course_file import read
from grader.hand_ins.collect import collect
from harness.errors import FairclockError

LESSONS = ("04_autorange", "03_cuda_sync")
PATIENCE_S = 20
CHANGES = 1250
"""How many damaged files of each kind are tried."""

TEXTS = (
    *('"', "'", "\\", "\0", "\r", "\n", "\ufeff", "\u202e", "\x1b[31m", "[[", "]]", "{", "}", "=", ",", ";", "\t", "é"),
    *(
        "9" * 400,
        "[" * 400,
        "1e999",
        "-1",
        "9999-12-31",
        "0001-01-01",
        "NaN",
        "%%bash",
        "%timeit x",
        "!ls",
        "x?",
        "await x",
    ),
)
ZIP_MARKS = (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06")
BYTES = (*ZIP_MARKS, b"\xff" * 8, b"\0" * 8, b"\xef\xbb\xbf", b"\xff\xfe", b"../", b"\\")


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


SOURCE = b"def blocked_autorange(time_block, number=1):\n    '''A text.'''\n    return [x for x in (1, 2)]\n"
INNER = zipped([("hw/04_autorange.py", SOURCE), ("hw/notes.txt", b"x"), ("__MACOSX/04_autorange.py", b"")])
CELLS = notebook(
    "%matplotlib inline\nimport os", SOURCE.decode(), "!pip install x", "blocked_autorange?", ">>> 1 + 1\n2"
)
CANVAS = (
    b"Student,ID,SIS User ID,SIS Login ID,Section,Autorange (7001)\r\n    Points Possible,,,,,10\r\n"
    b'"Ada, Ota",9,700123,ada,1,\r\n\r\n"Bo, ""Jr""",10,700124,ben,1,EX\r\n'
)
MOODLE = (
    b"Identifier,Full name,Email address,Status,Grade,Maximum grade,Last modified (grade),Feedback comments\n"
    b'Participant 70123,ada,ada@example.edu,Submitted,"1,5",10.00,-,"two\nlines"\n'
)


def _hand_in(name: str) -> Callable[[Path, bytes], None]:
    def tried(folder: Path, data: bytes) -> None:
        (folder / "ada").mkdir(exist_ok=True)
        (folder / "ada" / name).write_bytes(data)
        (folder / "ben").mkdir(exist_ok=True)
        (folder / "ben" / "04_autorange.py").write_bytes(SOURCE)
        found = collect(folder, LESSONS, kit="1")
        assert not [one.fault for one in found.submissions if one.fault]
        assert {"ben"} <= set(found.students)

    return tried


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
    "zip": (INNER, _hand_in("work.zip")),
    "zip in a zip": (zipped([("work.zip", INNER), ("a.txt", b"")]), _hand_in("work.zip")),
    "notebook": (CELLS, _hand_in("04_autorange.ipynb")),
    "python": (SOURCE, _hand_in("04_autorange.py")),
    "course file": (COURSE.encode(), _course),
    "canvas": (CANVAS, _filled("canvas")),
    "moodle": (MOODLE, _filled("moodle")),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_ends_in_a_verdict_or_in_one_sentence(kind: str, tmp_path: Path) -> None:
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
