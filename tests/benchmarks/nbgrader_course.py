"""Make an nbgrader course with one assignment, grade it with nbgrader's commands, and read its gradebook.

The instructor's files follow nbgrader's guide: `source/hw1/batched_dot.ipynb` has a solution, a visible test and a
hidden test. `generate_assignment`, `autograde` and `export` run with their default settings and without a container. A
student hands in the released notebook with one cell filled in, and possibly files beside it.
"""

import ast
import csv
import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

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


class CourseError(Exception):
    """A command of nbgrader failed for a reason other than a submission. The message contains its output."""


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
        """Write the instructor's files and release the assignment."""
        self.folder.mkdir(parents=True)
        (self.folder.parent / "home").mkdir()
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

    def version(self) -> str:
        """Return nbgrader's version, as it prints it: `nbgrader 0.9.6`."""
        said = next(line for line in self._nbgrader("--version").splitlines() if line.startswith("nbgrader"))
        return said.replace(" version", "")

    def _nbgrader(self, *arguments: str, may_fail: bool = False) -> str:
        home = self.folder.parent / "home"
        own = {"HOME": home, "IPYTHONDIR": home / "ipython", "JUPYTER_CONFIG_DIR": home / "config"}
        own |= {"JUPYTER_DATA_DIR": home / "data", "JUPYTER_RUNTIME_DIR": home / "runtime"}
        path = f"{self.python.absolute().parent}{os.pathsep}{os.environ['PATH']}"  # nbgrader runs alembic from PATH
        done = subprocess.run(
            [str(self.python), "-m", "nbgrader", *arguments],
            cwd=self.folder if self.folder.exists() else None,
            env={**os.environ, **{name: str(place) for name, place in own.items()}, "PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        (self.folder.parent / f"{arguments[0].strip('-')}.log").write_text(done.stderr, encoding="utf-8")
        if done.returncode and not may_fail:
            raise CourseError(f"nbgrader {' '.join(arguments)}:\n{done.stdout}{done.stderr}")
        return done.stdout


def _write(notebook: Any, path: Path) -> None:
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]
