"""In a class with many hostile hand-ins, graded by the real command on two lanes, no honest grade changes.

Each file under `tests/honest` gives its expected verdict, and `test_exploits` checks the file alone.
"""

import random
import shutil
from pathlib import Path

import pytest
from commanding import CLASS, golden, grader, nothing_left_running, outcomes, tree, verdicts
from promises import EXPLOITS, HONEST, listening, promised

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
    "many_samples",
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
"""Honest files that are graded beside them, by the real rules; `test_exploits` grades all files."""


@pytest.mark.long
def test_a_class_a_third_of_which_is_hostile(tmp_path: Path) -> None:
    folder, out = tmp_path / "class", tmp_path / "grades"
    for student in GOLDEN:
        shutil.copytree(CLASS / student, folder / student)
    files = [promised(HONEST / f"{name}.py") for name in QUIET]
    files += [promised(EXPLOITS / f"{name}.py") for name in LOUD]
    random.Random(20).shuffle(files)
    students = {f"student-{number:02d}": file for number, file in enumerate(files)}
    for student, file in students.items():
        (folder / student).mkdir()
        shutil.copy(file.path, folder / student / f"{file.lesson}.py")
    before = tree(folder)
    with nothing_left_running(), listening() as heard:
        ended = grader("run", folder, "--out", out, "--jobs", "2")
    assert ended.code == 0, ended.err
    assert tree(folder) == before
    found = outcomes(out)
    broken = [file.broken_by_outcome(found[student][file.task.full_name]) for student, file in students.items()]
    assert [one for one in broken if one] == []
    assert verdicts({student: found[student] for student in GOLDEN}) == {name: golden()[name] for name in GOLDEN}
    assert not heard
    assert sorted(path.name for path in tmp_path.iterdir()) == ["class", "grades"]
    written = tree(out)
    assert {name for name in written if "/" not in name} == {"report.html", "gradebook.csv", "grades.sqlite", ".seed"}
    assert {name.partition("/")[2] for name in written if "/" in name} == {"report.html", "results.json"}
    assert not [name for name, data in written.items() if b"by 36_writes_results" in data and "sqlite" not in name]
