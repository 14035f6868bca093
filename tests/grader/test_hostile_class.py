"""In a class with many hostile hand-ins, graded by the real command on two lanes, no honest grade changes.

Each file under `tests/honest` gives its expected verdict, and `test_honest` checks the file alone.
"""

import random
import select
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from commanding import CLASS, CommandResult, golden, grader, nothing_left_running, outcomes, tree, verdicts
from promises import EXPLOITS, HONEST, Promised, promised

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

LOUD = (
    "31_reads_secrets",
    "33_sends_secrets_out",
    "36_writes_results",
    "40_daemon",
    "48_burns_beside_the_baseline",
    "49_poisons_caches",
    "51_attacks_its_parent",
    "51_kills_everybody",
)
"""Exploits that try to reach other submissions, files, processes and listening programs."""

GOLDEN = ("ada", "ben")
QUIET = (
    "class_based",
    "not_begun",
    "own_output_buffer",
    "prints_a_lot",
    "right_and_fast",
    "right_and_slow",
    "temporary_files",
    "threads_openly",
    "warms_up_at_import",
    "wrong",
)
"""Honest files that are graded beside them, by the real rules; `test_honest` grades all, with one pair of processes."""


@dataclass(frozen=True)
class Hostile:
    """A class with hostile and honest hand-ins, and how its grading ended."""

    folder: Path
    out: Path
    ended: CommandResult
    students: dict[str, Promised]
    heard: list[str]


@pytest.mark.long
def test_a_class_a_third_of_which_is_hostile(tmp_path: Path) -> None:
    hostile = graded(tmp_path / "class")
    honest_hand_ins_keep_the_grades_they_have_alone(hostile)
    hostile_hand_ins_earn_what_they_must(hostile)
    nobody_is_reached_and_nothing_written(hostile)


def graded(folder: Path) -> Hostile:
    for student in GOLDEN:
        shutil.copytree(CLASS / student, folder / student)
    files = [promised(HONEST / f"{name}.py") for name in QUIET]
    files += [promised(EXPLOITS / f"{name}.py") for name in LOUD]
    random.Random(20).shuffle(files)
    students = {f"student-{number:02d}": file for number, file in enumerate(files)}
    for student, file in students.items():
        (folder / student).mkdir()
        shutil.copy(file.path, folder / student / f"{file.lesson}.py")
    out = folder.parent / "grades"
    before = tree(folder)
    with nothing_left_running(), listening() as heard:
        ended = grader("run", folder, "--out", out, "--jobs", "2")
    assert tree(folder) == before
    return Hostile(folder, out, ended, students, heard)


def honest_hand_ins_keep_the_grades_they_have_alone(hostile: Hostile) -> None:
    assert hostile.ended.code == 0, hostile.ended.err
    found = outcomes(hostile.out)
    honest = {student: file for student, file in hostile.students.items() if file.path.parent == HONEST}
    assert len(honest) + len(GOLDEN) >= 4 * len(LOUD) // 3
    broken = [file.broken_by_outcome(found[student][file.task.full_name]) for student, file in honest.items()]
    assert [one for one in broken if one] == []
    assert verdicts({student: found[student] for student in GOLDEN}) == {name: golden()[name] for name in GOLDEN}


def hostile_hand_ins_earn_what_they_must(hostile: Hostile) -> None:
    found = outcomes(hostile.out)
    cheats = {student: file for student, file in hostile.students.items() if file.path.parent == EXPLOITS}
    assert len(cheats) == len(LOUD)
    broken = [file.broken_by_outcome(found[student][file.task.full_name]) for student, file in cheats.items()]
    assert [one for one in broken if one] == []


def nobody_is_reached_and_nothing_written(hostile: Hostile) -> None:
    assert not hostile.heard
    assert sorted(path.name for path in hostile.out.parent.iterdir()) == ["class", "grades"]
    written = tree(hostile.out)
    assert {name for name in written if "/" not in name} == {"report.html", "gradebook.csv", "grades.sqlite", ".seed"}
    assert {name.partition("/")[2] for name in written if "/" in name} == {"report.html", "results.json"}
    assert not [name for name, data in written.items() if b"by 36_writes_results" in data and "sqlite" not in name]


@contextmanager
def listening() -> Iterator[list[str]]:
    """Listen on the address that exploit 33 calls, and record what arrives."""
    heard: list[str] = []
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 47110)) as loopback, socket.socket(socket.AF_UNIX) as unnamed:
        unnamed.bind("\0fairclock-exploit-33")
        unnamed.listen()

        def wait() -> None:
            while not stop.is_set():
                for one in select.select([loopback, unnamed], [], [], 0.05)[0]:
                    one.accept()[0].close()
                    heard.append(str(one.family))

        waiter = threading.Thread(target=wait)
        waiter.start()
        try:
            yield heard
        finally:
            stop.set()
            waiter.join()
