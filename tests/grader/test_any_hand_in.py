"""Every student gets a verdict for any bytes and names, and no verdict is a fault of the grader.

Generated notebooks, sources, zips, manifests and names pass through collecting, the journal and all reports.
"""

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from classroom import KIT, grade, hand_in, run, zipped
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader import reports
from grader.course.roll import folder_name
from grader.files import file_name, storable
from grader.records import Report, Status, Submission

ANY_TEXT = st.text(st.characters(codec=None, categories=None), max_size=12)
"""Text with any characters, including lone surrogates and zeros."""
MAGIC = st.sampled_from([">>> ", "In [1]: ", "...: ", "%%time\n", "%%bash\n", "await ", "x = !ls ", "\\\n", "f?"])
CODE = ANY_TEXT | st.text(alphabet="%!?=()[]{}'\"\n\r\\ x#:f,;/\0\x0c\ud800\u2028é", max_size=12) | MAGIC
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | CODE
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3), max_leaves=8
)
CELLS = st.fixed_dictionaries(
    {"cell_type": st.sampled_from(["code", "code", "markdown", "raw"]) | ANY_TEXT, "source": CODE | st.lists(CODE)},
    optional={"metadata": JSON, "outputs": JSON, "id": JSON, "attachments": JSON},
)
NOTEBOOKS = st.fixed_dictionaries(
    {"nbformat": st.just(4), "cells": st.lists(CELLS | JSON, max_size=4) | JSON},
    optional={"nbformat_minor": JSON, "metadata": JSON},
).map(lambda content: json.dumps(content).encode())
SOURCES = CODE.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=40)
MANIFESTS = st.fixed_dictionaries(
    {"format": st.just(1), "kit": st.just(KIT) | ANY_TEXT},
    optional={
        "files": st.lists(st.fixed_dictionaries(dict.fromkeys(("lesson", "file", "sha256"), ANY_TEXT)), max_size=2)
        | JSON
    },
).map(lambda record: json.dumps(record).encode())
MEMBER_NAMES = st.sampled_from(["01_dot.py", "01_dot.ipynb", "hw/01_dot.py", "02_timer.py"]) | st.text(
    min_size=1, max_size=9
).filter(lambda name: name[0] != "\0")  # zipfile cuts a name at its first zero and cannot write an empty name


def _damaged(data: bytes, changes: list[tuple[float, int]]) -> bytes:
    spoilt = bytearray(data)
    for at, value in changes:
        spoilt[int(at * (len(spoilt) - 1))] = value
    return bytes(spoilt)


def _zip(files: dict[str, bytes], manifest: bytes | None, changes: list[tuple[float, int]]) -> bytes:
    return _damaged(zipped([*files.items(), *([("manifest.json", manifest)] if manifest else [])]), changes)


ZIPS = st.builds(
    _zip,
    st.dictionaries(MEMBER_NAMES, SOURCES | NOTEBOOKS, max_size=3),
    st.none() | MANIFESTS,
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=2),
)
NAMES = st.binary(min_size=1, max_size=12).filter(lambda name: not {b"/", b"\0"} & {name[i : i + 1] for i in range(12)})
FOLDERS = st.dictionaries(
    st.sampled_from([b"01_dot.py", b"01_dot.ipynb", b"02_timer.py", b"hw.zip", b"20261120T225900Z"]) | NAMES,
    SOURCES | NOTEBOOKS | ZIPS,
    max_size=3,
)
PLATFORMS = st.sampled_from([b"A_1_assignsubmission_file_", b"1-2 - A - x - b", b"A_attempt_2026-99-99-99-99-99_b"])
CLASSES = st.dictionaries(NAMES | PLATFORMS, FOLDERS | ZIPS, max_size=3)
PATIENT = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@PATIENT
@given(handed_in=CLASSES, said=ANY_TEXT)
def test_a_class_of_anything_gets_a_verdict_each_and_none_blames_the_grader(
    handed_in: Mapping[bytes, dict[bytes, bytes] | bytes], said: str
) -> None:
    def saying(submission: Submission, _seed: str) -> Report:
        report = grade(replace(submission, source=None if submission.source is None else "wrong"))
        verdicts = (replace(one, attempt=replace(one.attempt, help=said, output_tail=said)) for one in report.verdicts)
        return replace(report, submission=submission, verdicts=tuple(verdicts), notes=(said,))

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        folder, out = Path(place, "hw1"), Path(place, "out")
        hand_in(folder, "an-honest-neighbour")
        for name, content in handed_in.items():
            _hand_in(os.fsencode(folder), name, content)
        summary, _ = run(folder, out, saying)
        assert (summary.exit_code, summary.faults, summary.roll.waiting) == (0, 0, ())
        assert "an-honest-neighbour" in summary.roll.students
        for student in summary.roll.students:
            assert storable(student) == student
            result = json.loads((out / folder_name(student) / reports.RESULTS).read_text(encoding="utf-8"))
            assert {one["extra_data"]["status"] for one in result["tests"]} <= {Status.WRONG.name, Status.REFUSED.name}
            assert (out / folder_name(student) / reports.PAGE).read_text(encoding="utf-8")


def _hand_in(folder: bytes, name: bytes, content: dict[bytes, bytes] | bytes) -> None:
    """Write a student's folder with these files, or a zip with these bytes. A `Path` cannot have all of the names."""
    files = {name + b".zip": content} if isinstance(content, bytes) else content
    place = folder if isinstance(content, bytes) else os.path.join(folder, name)  # noqa: PTH118
    if name in {b".", b".."} or os.path.lexists(os.path.join(folder, next(iter(files), name))):  # noqa: PTH118
        return
    os.makedirs(place, exist_ok=True)  # noqa: PTH103
    for file in files.keys() - {b".", b".."}:
        with open(os.path.join(place, file), "xb") as opened:  # noqa: PTH118, PTH123
            opened.write(files[file])


@settings(deadline=None)
@given(st.lists(NAMES | st.sampled_from([b"\\xff", b"\xff", b"\\\xff", b"\\\\xff"]), unique=True))
def test_different_file_names_are_different_text_that_utf_8_can_hold(names: list[bytes]) -> None:
    texts = [file_name(os.fsdecode(name)) for name in names]
    assert len(set(texts)) == len(names)
    assert all(text.encode() for text in texts)
