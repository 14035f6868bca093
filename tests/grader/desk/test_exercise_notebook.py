"""An exercise as a notebook has all contents of the exercise file, runs, and is graded like the file."""

import json
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
import pytest
from commanding import grader
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from IPython.utils.capture import capture_output
from nbclient import NotebookClient
from student_kit import edit, notebook_of, run_and_saved, solve, student_kit
from traitlets.config import Config

from grader import catalogue, paths
from grader.desk import cells as kernel_cells
from grader.desk import exercise_notebook
from grader.desk.check_screen import ScreenLine
from grader.desk.exercise_files import ExerciseFile
from grader.desk.exercise_notebook import cells
from grader.errors import UsageError
from grader.hand_ins.notebooks import read_notebook
from harness.storage.notebook_files import code_texts, kernel_cell, notebook

LESSONS = catalogue.load().lessons
TASK = "blocked_autorange"
UNWRITTEN = "0 / 10  04_autorange · blocked_autorange: not written yet"


def test_every_task_is_told_its_points_and_has_a_check_and_hints_beside_it() -> None:
    for lesson in LESSONS:
        made = cells(lesson, paths.stub(lesson).read_text(encoding="utf-8"))
        told, order = {cell.id: cell.text for cell in made}, [cell.id for cell in made]
        for task in catalogue.load().tasks(lesson):
            words = told[f"{task.name}-words"]
            assert f"{task.points:g}" in words, task
            assert all(f"{tier.ratio:g} times" in words for tier in task.tiers), task
            check = order.index(f"{task.name}-check")
            assert order[check + 1] == f"{task.name}-hint"
            assert order[check + 2].endswith("-words"), "the next task, or the end"
            assert max(order.index(f"{name}-code") for name in task.functions) < check


def test_writing_it_again_changes_nothing_and_work_is_overwritten_with_force_alone(tmp_path: Path) -> None:
    out = tmp_path / "04_autorange.ipynb"
    first = exercise_notebook.write("04_autorange", out).read_bytes()
    assert exercise_notebook.write("04_autorange", out).read_bytes() == first
    run_and_saved(out)
    assert out.read_bytes() != first
    assert exercise_notebook.write("04_autorange", out).read_bytes() == first, "only run and saved by Jupyter"
    whole = json.loads(first)
    whole["cells"].append({"cell_type": "markdown", "id": "mine", "metadata": {}, "source": ["my notes"]})
    for work in (
        first.replace(b"raise NotImplementedError", b"return 3"),
        json.dumps(whole).encode(),
        exercise_notebook.exported("04_autorange", paths.solution("04_autorange").read_text("utf-8")),
    ):
        out.write_bytes(work)
        with pytest.raises(UsageError, match=r"04_autorange\.ipynb .*may hold your work.* --force"):
            exercise_notebook.write("04_autorange", out)
        assert out.read_bytes() == work
    assert exercise_notebook.write("04_autorange", out, force=True).read_bytes() == first


def test_the_command_says_where_it_wrote_and_check_names_the_line_and_cell_of_a_stub(tmp_path: Path) -> None:
    out = tmp_path / "04_autorange.ipynb"
    done = grader("notebook", "04", "--out", out)
    assert (done.code, done.out) == (0, f"Wrote {out}. Open it with Jupyter. Its cells grade your answers.\n")
    nbformat.validate(nbformat.read(out, as_version=4))  # type: ignore[no-untyped-call]
    assert grader("notebook", "99").code == 2
    with pytest.raises(UsageError, match=r"not valid Python: .* line 1. Correct this line first"):
        cells("04_autorange", "def f(:\n")
    cell = next(cell for cell in read_notebook(out.read_bytes(), out.name).cells if TASK in cell.title)
    line = 1 + cell.text.splitlines().index(next(each for each in cell.text.splitlines() if "raise Not" in each))
    assert f'line {line} of cell "def blocked_autorange("' in " ".join(grader("check", out, "--verbose").out.split())


def test_a_file_beside_the_notebook_does_not_hide_the_kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("beside", "kit"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "own_name.py").write_text(f"folder = {folder!r}")
    monkeypatch.chdir(tmp_path / "beside")
    monkeypatch.setattr(sys, "path", ["", str(tmp_path / "kit"), *sys.path])
    names: dict[str, Any] = {}
    exec(kernel_cell("import own_name").text, names)  # noqa: S102 - the code of a first cell
    assert (names["own_name"].folder, sys.path[-1]) == ("kit", "")


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
    copy.rename(paths.KIT / "moved.ipynb")
    assert output(shell, "%check") == "moved.ipynb"
    beside = paths.KIT.parent / "beside"
    beside.mkdir()
    (paths.KIT / "moved.ipynb").rename(beside / "again.ipynb")
    monkeypatch.setenv("JPY_SESSION_NAME", str(paths.KIT.parent / "elsewhere" / "old.ipynb"))
    assert output(shell, "%check") == "again.ipynb"
    (beside / "again.ipynb").unlink()
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


@pytest.mark.slow
@pytest.mark.parametrize("in_kit", [True, False])
def test_all_cells_run_whether_or_not_the_kernel_has_the_kit(tmp_path: Path, in_kit: bool) -> None:
    whole = notebook(cells("04_autorange", paths.solution("04_autorange").read_text(encoding="utf-8")))
    if not in_kit:
        whole.cells.insert(0, nbformat.v4.new_code_cell("import sys; sys.modules['grader'] = None"))  # type: ignore[no-untyped-call]
    nbformat.write(whole, tmp_path / "04_autorange.ipynb")  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(whole, timeout=300, kernel_name="python3", resources=resources).execute()
    shown = {cell.id: cell.outputs[0] for cell in whole.cells if cell.get("outputs")}
    if in_kit:
        assert shown[f"{TASK}-check"].data["text/plain"].startswith("10 / 10")
        assert 'href="submission.zip" download' in shown["submit"].data["text/html"]
    else:
        assert all("choose the kernel fairclock" in one.text for one in shown.values())
        assert shown.keys() == {"kernel", f"{TASK}-check", f"{TASK}-hint", "submit"}
