"""An exercise as a notebook has all contents of the exercise file, runs, and is graded like the file."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from commanding import ROOT, grader
from nbclient import NotebookClient
from needs import needs
from student_kit import run_and_saved

from grader import catalogue, paths
from grader.desk import exercise_notebook
from grader.desk.exercise_notebook import cells
from grader.errors import UsageError
from grader.hand_ins.notebooks import read_notebook
from harness.storage.notebook_files import notebook

LESSONS = catalogue.load().lessons
RUN = [pytest.param(lesson, marks=needs(*catalogue.load().tasks(lesson))) for lesson in LESSONS]


def test_every_task_is_told_its_points_and_has_a_cell_to_try_it() -> None:
    for lesson in LESSONS:
        told = {cell.id: cell.text for cell in cells(lesson, paths.stub(lesson).read_text(encoding="utf-8"))}
        for task in catalogue.load().tasks(lesson):
            words = told[f"{task.name}-words"]
            assert f"{task.points:g}" in words, task
            assert all(f"{tier.ratio:g} times" in words for tier in task.tiers), task
            assert f"{task.name}-try" in told, task
        assert f"check {lesson}.ipynb" in told["check-words"]


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


def test_the_command_says_where_it_wrote_and_check_names_the_line_and_cell_of_a_stub(
    tmp_path: Path,
) -> None:
    out = tmp_path / "04_autorange.ipynb"
    done = grader("notebook", "04", "--out", out)
    assert (done.code, done.out) == (0, f"Wrote {out}. Open it with Jupyter. Its last cell grades your answers.\n")
    nbformat.validate(nbformat.read(out, as_version=4))  # type: ignore[no-untyped-call]
    assert grader("notebook", "99").code == 2
    with pytest.raises(UsageError, match=r"not valid Python: .* line 1. Correct this line first"):
        cells("04_autorange", "def f(:\n")
    source = str(read_notebook(out.read_bytes(), out.name)).splitlines()
    number, cell = re.findall(r"line (\d+) of cell (\d+)", grader("check", out).out)[0]
    assert "raise NotImplementedError" in source[source.index(f"# cell {cell}") + int(number)]


@pytest.mark.slow
def test_a_notebook_with_the_solution_in_it_runs_through_and_is_graded_right(tmp_path: Path) -> None:
    whole = notebook(cells("04_autorange", paths.solution("04_autorange").read_text(encoding="utf-8")))
    nbformat.write(whole, tmp_path / "04_autorange.ipynb")  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(whole, timeout=300, kernel_name="python3", resources=resources).execute()
    printed = {cell.id: "".join(one.get("text", "") for one in cell.get("outputs", ())) for cell in whole.cells}
    assert "right." in printed["blocked_autorange-try"]
    assert re.search(r"10 / 10 .*blocked_autorange: right", re.sub(r"\x1b\[[0-9;]*m", "", printed["check"]))


@pytest.mark.long
@pytest.mark.parametrize("lesson", RUN)
def test_each_task_can_be_tried_in_a_notebook_with_the_solution_in_it(lesson: str, tmp_path: Path) -> None:
    code = [cell for cell in cells(lesson, paths.solution(lesson).read_text("utf-8")) if cell.kind == "code"]
    assert code.pop().id == "check"
    script = tmp_path / f"{lesson}.py"
    script.write_text("\n".join(cell.text for cell in code), encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("right.") >= len(catalogue.load().tasks(lesson)), ended.stdout
