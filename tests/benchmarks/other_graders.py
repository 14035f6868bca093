"""Try ten attacks on secrets and on the way that grades take against nbgrader and against fairclock.

    python3 -m venv nb && nb/bin/pip install nbgrader numpy
    python tests/benchmarks/other_graders.py --python nb/bin/python      # a few minutes

The README describes the two classes. The exit code is 1 if the honest hand-ins do not get their points, or if an attack
on fairclock succeeds. nbgrader runs a submission in the kernel in which its tests run, and without a container here.
"""

import argparse
import ast
import csv
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

sys.path.insert(0, str(Path(__file__).parents[1] / "grader"))

from commanding import Outcome, grader, nothing_left_running, outcomes
from promises import EXPLOITS, HONEST, Promised, all_promised, hand_in, listening, promised, promised_attacks

ASSIGNMENT, NOTEBOOK = "hw1", "batched_dot.ipynb"
POINTS = {"visible": 4, "hidden": 6}
CANARY = "only-the-instructor-knows-this"
"""A text that only the solution and the hidden test contain, to detect whether an attack has read them."""
SETTLE_S = 3.0
"""The seconds that processes left behind by submissions have to change a grade after the grading."""

_SOLUTION = f'''\
def batched_dot(a, b):
    """The dot product of each row of `a` with the same row of `b`."""
    ### BEGIN SOLUTION
    # {CANARY}
    return (a * b).sum(-1)
    ### END SOLUTION
'''
_VISIBLE = '''\
"""Check three small rows."""
rows = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
assert np.allclose(batched_dot(rows, rows), [5.0, 25.0, 61.0])
'''
_HIDDEN = f'''\
"""Check many rows."""
### BEGIN HIDDEN TESTS
# {CANARY}
rng = np.random.default_rng(20)
a, b = rng.normal(size=(2, 64, 33))
expected = np.einsum("bn,bn->b", a, b)
np.testing.assert_allclose(batched_dot(a, b), expected)
### END HIDDEN TESTS
'''
RIGHT = "def batched_dot(a, b):\n    return np.einsum('ij,ij->i', a, b)\n"
WRONG = "def batched_dot(a, b):\n    return (a * b).mean(-1)\n"


def source_notebook() -> Any:
    """Return the instructor's notebook, with nbgrader's cell metadata (its documentation's metadata page, schema 3)."""
    new: Any = nbformat.v4
    cells = [
        new.new_markdown_cell("Write `batched_dot` for NumPy arrays of shape (batch, n)."),
        new.new_code_cell("import numpy as np"),
        new.new_code_cell(_SOLUTION, metadata=_role("batched_dot", solution=True)),
        new.new_code_cell(_VISIBLE, metadata=_role("visible", points=POINTS["visible"])),
        new.new_code_cell(_HIDDEN, metadata=_role("hidden", points=POINTS["hidden"])),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new.new_notebook(metadata={"kernelspec": kernel}, cells=cells)


def _role(grade_id: str, *, solution: bool = False, points: int | None = None) -> dict[str, Any]:
    graded = points is not None
    role = {"schema_version": 3, "grade_id": grade_id, "solution": solution, "grade": graded, "locked": graded}
    return {"nbgrader": {**role, "task": False} | ({"points": points} if graded else {})}


def filled_in(released: Any, answer: str) -> Any:
    """Return the notebook that a student hands in: the released one with this text in the solution's cell."""
    notebook = nbformat.from_dict(released)  # type: ignore[no-untyped-call]
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = answer
    return notebook


def beside(answer: str) -> dict[str, str]:
    """Return the texts of the files that a submission needs beside its notebook, by name. The source has them in
    `BESIDE`.
    """
    for node in ast.parse(answer).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["BESIDE"]:
            files: dict[str, str] = ast.literal_eval(node.value)
            return files
    return {}


@dataclass(frozen=True)
class Course:
    """An nbgrader course: its folder, and the Python in which nbgrader is installed."""

    folder: Path
    python: Path

    def make(self) -> None:
        self.folder.mkdir(parents=True)
        config = "c = get_config()\nc.CourseDirectory.course_id = 'course101'\n"
        (self.folder / "nbgrader_config.py").write_text(config, encoding="utf-8")
        _write(source_notebook(), self.folder / "source" / ASSIGNMENT / NOTEBOOK)
        self._nbgrader("generate_assignment", ASSIGNMENT)

    def collect(self, answers: Mapping[str, str]) -> None:
        """Put each student's submission where `nbgrader collect` puts it."""
        released = nbformat.read(self.folder / "release" / ASSIGNMENT / NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
        for student, answer in answers.items():
            place = self.folder / "submitted" / student / ASSIGNMENT
            _write(filled_in(released, answer), place / NOTEBOOK)
            for name, text in beside(answer).items():
                (place / name).write_text(text, encoding="utf-8")

    def grade(self) -> dict[str, float | None]:
        """Grade all submissions, wait for processes that they left behind, and return each student's points.

        If nbgrader cannot grade a submission, `autograde` ends with 1 and the submission has None.
        """
        self._nbgrader("autograde", ASSIGNMENT, may_fail=True)
        time.sleep(SETTLE_S)
        self._nbgrader("export", "--to", "grades.csv")
        done = {path.parent.parent.name for path in self.folder.glob(f"autograded/*/{ASSIGNMENT}/{NOTEBOOK}")}
        with (self.folder / "grades.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return {
            row["student_id"]: float(row["score"]) if row["score"] and row["student_id"] in done else None
            for row in rows
        }

    def _nbgrader(self, *arguments: str, may_fail: bool = False) -> str:
        names = ("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
        for name in names:
            (self.folder.parent / name).mkdir(exist_ok=True)
        own = {name: str(self.folder.parent / name) for name in names}
        path = f"{self.python.absolute().parent}{os.pathsep}{os.environ['PATH']}"  # nbgrader runs alembic from PATH
        done = subprocess.run(
            [str(self.python), "-m", "nbgrader", *arguments],
            cwd=self.folder,
            env={**os.environ, **own, "PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if done.returncode and not may_fail:
            raise RuntimeError(f"nbgrader {' '.join(arguments)}:\n{done.stdout}{done.stderr}")
        return done.stdout


def _write(notebook: Any, path: Path) -> None:
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]


THEIRS = EXPLOITS / "nbgrader"
HONEST_WORK = {
    "honest_right": ("honest, worth 10 points", RIGHT, HONEST / "right_and_fast.py"),
    "honest_wrong": ("honest, worth 0 points", WRONG, HONEST / "wrong.py"),
}
WORTH = {"honest_right": 10.0, "honest_wrong": 0.0}
OF = 10
READS, SENDS = ("30_", "31_"), "33_"
"""Attacks that succeed without points: by reading the solution, and by sending it to a listener."""


@dataclass(frozen=True)
class Got:
    """The result of one hand-in: points (None without a grade), the grader's text, and whether a secret came out."""

    points: float | None
    says: str = ""
    leaked: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether an attack got points or a secret. All attacks hand in wrong answers, which are worth no points."""
        return bool(self.points) or self.leaked

    def __str__(self) -> str:
        earned = "no grade" if self.points is None else f"{self.points:g} of {OF}"
        return ", ".join(filter(None, (earned, self.says, "the secret came out" * self.leaked)))


def main() -> int:
    parser = argparse.ArgumentParser(description="The same attacks against nbgrader and here.")
    parser.add_argument("--python", type=Path, required=True, help="a Python that has nbgrader and numpy")
    options = parser.parse_args()
    theirs = {path.stem: path.read_text(encoding="utf-8") for path in sorted(THEIRS.glob("*.py"))}
    ours = {one.name: one for one in (*all_promised(EXPLOITS), *promised_attacks()) if one.name in theirs}
    tries = {name: " ".join((ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0].split())
             for name, text in theirs.items()}  # fmt: skip
    for name, (what, answer, path) in HONEST_WORK.items():
        tries[name], theirs[name], ours[name] = what, answer, promised(path)
    with tempfile.TemporaryDirectory() as scratch:
        course = Course(Path(scratch) / "nbgrader" / "course", options.python)
        there = graded_elsewhere(course, theirs)
        here = graded_here(Path(scratch) / "fairclock", ours)
    print("| hand-in | what it tries | nbgrader | fairclock |\n| --- | --- | --- | --- |")
    for name, what in tries.items():
        results = [str(got) if name in WORTH else f"{'**succeeds**' if got.succeeded else 'fails'}: {got}"
                   for got in (there[name], here[name])]  # fmt: skip
        print("|", " | ".join((name.replace("_", " "), what, *results)), "|")
    fair = all(there[name].points == here[name].points == worth for name, worth in WORTH.items())
    if not fair:
        print("The honest hand-ins did not get the points that they are worth, so the table proves nothing.")
    return 0 if fair and not any(here[name].succeeded for name in here.keys() - WORTH) else 1


def graded_elsewhere(course: Course, answers: Mapping[str, str]) -> dict[str, Got]:
    """Return each student's result in nbgrader's gradebook, and whether the instructor's text reached a listener."""
    course.make()
    course.collect(answers)
    with listening() as heard:
        graded = course.grade()
    leaks = any(CANARY.encode() in said for said in heard)
    return {name: Got(points, leaked=leaks and name.startswith(SENDS)) for name, points in graded.items()}


def graded_here(folder: Path, files: Mapping[str, Promised]) -> dict[str, Got]:
    """Return each student's result in this kit's journal, and whether a listener was reached."""
    hand_ins = folder / "class"
    hand_ins.mkdir(parents=True)
    for student, one in files.items():
        if attack := promised_attacks().get(one):
            hand_in(hand_ins, student, attack)
        else:
            (hand_ins / student).mkdir()
            shutil.copy(one.path, hand_ins / student / f"{one.lesson}.py")
    with nothing_left_running(), listening() as heard:
        grader("run", hand_ins, "--out", folder / "grades", "--jobs", "1")
    found = outcomes(folder / "grades")
    return {student: _got(student, one, found[student][one.task.full_name], heard) for student, one in files.items()}


def _got(student: str, one: Promised, outcome: Outcome, heard: list[bytes]) -> Got:
    """Return the result of an attack. Attacks that look for secrets raise an exception if they find none."""
    found_none = any(words in outcome.rationale for words in one.says.split(" | "))
    leaked = bool(heard) if student.startswith(SENDS) else student.startswith(READS) and not found_none
    return Got(outcome.points, outcome.status.lower().replace("_", " "), leaked=leaked)


if __name__ == "__main__":
    sys.exit(main())
