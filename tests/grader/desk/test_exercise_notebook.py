"""An exercise as a notebook has all contents of the exercise file, runs, and is graded like the file."""

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from IPython.utils.capture import capture_output
from student_kit import edit, notebook_of, run_and_saved, solve, student_kit
from traitlets.config import Config

from grader import paths
from grader.desk import cells as kernel_cells
from grader.desk import exercise_notebook
from grader.desk.check_screen import ScreenLine
from grader.desk.exercise_files import ExerciseFile
from grader.errors import UsageError
from harness.storage.notebook_files import code_texts

TASK = "blocked_autorange"
UNWRITTEN = "0 / 10  04_autorange · blocked_autorange: not written yet"


def test_writing_it_again_changes_nothing_and_work_is_overwritten_with_force_alone(tmp_path: Path) -> None:
    out = tmp_path / "04_autorange.ipynb"
    first = exercise_notebook.write("04_autorange", out).read_bytes()
    assert exercise_notebook.write("04_autorange", out).read_bytes() == first
    run_and_saved(out)
    assert exercise_notebook.write("04_autorange", out).read_bytes() == first, "only run and saved by Jupyter"
    whole = json.loads(first)
    whole["cells"].append({"cell_type": "markdown", "id": "mine", "metadata": {}, "source": ["my notes"]})
    for work in (first.replace(b"raise NotImplementedError", b"return 3"), json.dumps(whole).encode()):
        out.write_bytes(work)
        with pytest.raises(UsageError, match=r"04_autorange\.ipynb .*may hold your work.* --force"):
            exercise_notebook.write("04_autorange", out)
        assert out.read_bytes() == work
    assert exercise_notebook.write("04_autorange", out, force=True).read_bytes() == first


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """Yield an IPython shell in an empty folder, as a kernel whose first cell ran. No kit is installed there."""
    kit = student_kit(tmp_path)
    monkeypatch.setattr(paths, "KIT", kit)
    monkeypatch.setattr(paths, "EXERCISES", kit / "lessons" / "exercises")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    InteractiveShell.clear_instance()
    kernel_cells.load.cache_clear()
    made = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    with mock.patch.object(kernel_cells, "get_ipython", return_value=made):
        kernel_cells.load()
    yield made
    InteractiveShell.clear_instance()


def run(shell: InteractiveShell, cell: str) -> ExecutionResult:
    done: ExecutionResult = shell.run_cell(cell, store_history=True)  # type: ignore[no-untyped-call]
    return done


def output(shell: InteractiveShell, cell: str) -> str:
    """Run a cell, which must not raise an exception, and return its output as plain text."""
    with capture_output() as captured:
        assert run(shell, cell).success
    shown: list[Any] = captured.outputs
    return "\n".join([captured.stdout, *(each.data["text/plain"] for each in shown)]).strip()


def run_saved(shell: InteractiveShell, path: Path) -> None:
    """Run the code of a saved notebook, without its commands."""
    for text in code_texts(path.read_bytes()):
        if "kernel" not in text and not text.startswith("%"):
            run(shell, text)


def test_a_check_grades_the_saved_notebook(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    path = notebook_of(paths.KIT)
    run(shell, "%%time\ndef helper(): return 1")
    run(shell, "1 + 1")
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)  # as a cell could
    unsaved, graded = output(shell, f"%check {TASK}").splitlines()
    assert unsaved.startswith("04_autorange.ipynb is not saved since your last change")
    assert graded == UNWRITTEN
    solve(path)
    assert output(shell, f"%check {TASK}").startswith("10 / 10"), "saved, though the helper was deleted"


def test_a_renamed_notebook_is_found(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    def graded(file: ExerciseFile, only: str | None, *, verbose: bool) -> list[ScreenLine]:
        assert (only, verbose) == (None, False)
        return [ScreenLine(file.path.name, 1)]

    monkeypatch.setattr(kernel_cells, "_graded", graded)
    original = notebook_of(paths.KIT)
    copy = original.with_name("my work.ipynb")
    shutil.copy(original, copy)
    solve(copy)
    assert "Several notebooks may be this one" in output(shell, f"%check {TASK}")
    assert output(shell, f"%check {TASK} '{copy}'") == copy.name
    monkeypatch.setenv("JPY_SESSION_NAME", str(original))
    assert output(shell, f"%check {TASK}") == original.name
    shell.user_ns["__vsc_ipynb_file__"] = str(copy)
    assert output(shell, f"%check {TASK}") == copy.name
    del shell.user_ns["__vsc_ipynb_file__"]
    run_saved(shell, copy)
    assert output(shell, f"%check {TASK}") == copy.name, "the file that has the cells that ran"
    original.unlink()
    copy.unlink()
    assert "No notebook of this exercise was found" in output(shell, f"%check {TASK}")


def test_hints_come_singly_and_submit_writes_a_zip(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    assert output(shell, f"%hint {TASK}").startswith("Hint 1 of 3")
    assert output(shell, f"%hint {TASK}").startswith("Hint 2 of 3")
    assert "nothing to hand in" in output(shell, "%submit")
    monkeypatch.chdir("/")  # as a cell could
    edit(notebook_of(paths.KIT), "raise NotImplementedError", "return 3  # NotImplementedError")
    assert "1 exercise" in output(shell, "%submit")
    assert notebook_of(paths.KIT).with_name("submission.zip").is_file()
    for wrong in ("%check nothing", "%hint", "%check 'open", f"%check {TASK} /nowhere.ipynb", "%submit /nowhere.ipynb"):
        assert len(output(shell, wrong).splitlines()) == 1, wrong
