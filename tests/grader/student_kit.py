"""A student kit in its own folder, and the edits of a student. The grader's code in it is a link."""

import contextlib
import io
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pexpect  # type: ignore[import-untyped]  # what it spawns has no type
from commanding import ROOT, CommandResult

from grader import paths
from grader.commands.apps import run_grader
from grader.desk import exercise_notebook

LESSON = "04_autorange"
"""An exercise that takes a second to grade, because its clock is simulated."""


def student_kit(folder: Path, *notebooks: str) -> Path:
    """Make a kit with all exercises and with notebooks of these lessons; return its folder."""
    kit = folder / "kit"
    (kit / "lessons").mkdir(parents=True)
    for name in ("grader", "harness"):
        (kit / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "lessons" / "exercises", kit / "lessons" / "exercises")
    shutil.copy(paths.LESSONS, kit / "lessons")
    (kit / "notebooks").mkdir()
    for lesson in notebooks or (LESSON,):
        stub = paths.stub(lesson).read_text(encoding="utf-8")
        notebook_of(kit, lesson).write_bytes(exercise_notebook.exported(lesson, stub))
    return kit


def exercise_of(kit: Path, lesson: str = LESSON) -> Path:
    return kit / "lessons" / "exercises" / f"{lesson}.py"


def notebook_of(kit: Path, lesson: str = LESSON) -> Path:
    return kit / "notebooks" / f"{lesson}.ipynb"


def solve(path: Path, lesson: str = LESSON) -> None:
    """Put the reference solution into a file, as a student would. A notebook keeps its metadata."""
    source = paths.solution(lesson).read_text(encoding="utf-8")
    if path.suffix == ".py":
        path.write_text(source, encoding="utf-8")
        return
    whole = json.loads(path.read_bytes())
    whole["cells"] = json.loads(exercise_notebook.exported(lesson, source))["cells"]
    path.write_text(json.dumps(whole), encoding="utf-8")


def edit(path: Path, old: str, new: str) -> None:
    """Replace a text that occurs exactly once in a file."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new), encoding="utf-8")


def run_and_saved(path: Path) -> None:
    """Save a notebook as Jupyter does after running it.

    It then has outputs, an empty cell at the end, and other white space.
    """
    whole: dict[str, Any] = json.loads(path.read_bytes())
    for number, cell in enumerate(whole["cells"]):
        cell["source"] = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        if cell["cell_type"] == "code":
            cell["execution_count"] = number
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["done\n"]}]
    whole["cells"].append({**whole["cells"][-1], "id": "new", "source": []})
    whole["metadata"]["language_info"]["version"] = "3.13.1"
    path.write_text(json.dumps(whole, indent=4), encoding="utf-8")


def in_kit(kit: Path, *arguments: str | Path, here: Path | None = None) -> CommandResult:
    """Run a command of the grader in this process, with the exercises of the kit, in the folder `here`."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.multiple(paths, KIT=kit, EXERCISES=kit / "lessons" / "exercises"),
        contextlib.chdir(here or kit),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run_grader(list(map(str, arguments)))
    assert "Traceback" not in out.getvalue() + err.getvalue()
    return CommandResult(code, out.getvalue(), err.getvalue())


def at_a_terminal(kit: Path, *arguments: str | Path) -> Any:
    """Start `python -m grader` of the kit at a pseudo-terminal of 80 columns and 24 lines."""
    return pexpect.spawn(
        sys.executable,
        ["-m", "grader", *map(str, arguments)],
        cwd=str(kit),
        env={**os.environ, "PYTHONPATH": str(kit), "TERM": "xterm", "COLUMNS": "80", "LINES": "24"},
        encoding="utf-8",
        timeout=120,
        dimensions=(24, 80),
    )
