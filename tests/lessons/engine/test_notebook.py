import sys
from pathlib import Path

import nbformat
import pytest
import small_lesson

from harness.errors import UsageError
from lessons.engine import notebook
from lessons.engine.notebook import Guide

HERE = Path(__file__).parents[1]


def written(path: Path, *, fast: bool = False) -> nbformat.NotebookNode:
    notebook.write(small_lesson.lesson, path, fast=fast)
    return read(path)


def read(path: Path) -> nbformat.NotebookNode:
    whole: nbformat.NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    return whole


def test_the_cells_are_the_sources_of_the_steps(tmp_path: Path) -> None:
    cells = {cell.id: cell.source for cell in written(tmp_path / "small.ipynb").cells}
    assert cells["twice-code"] == f"{small_lesson.twice.given_code}\n\n\n{small_lesson.twice.code}"
    assert cells["four_times-code"] == small_lesson.four_times.code
    assert cells["twice-run"] == 'guide.explain("twice", twice())'
    assert "`python -m lessons glossary TERM`" in next(iter(cells.values()))
    assert cells["imports"].startswith("from lessons.engine.notebook import Guide\n\nimport math\n")
    assert "textwrap" not in cells["imports"]


def test_an_edited_notebook_is_overwritten_only_with_force(tmp_path: Path) -> None:
    path = tmp_path / "small.ipynb"
    written(path)
    filled = path.read_bytes().replace(b'answer=\\"\\"', b'answer=\\"b\\"', 1)
    assert filled != path.read_bytes()
    path.write_bytes(filled)
    with pytest.raises(UsageError, match=r"small\.ipynb .*--force"):
        notebook.write(small_lesson.lesson, path, fast=False)
    assert path.read_bytes() == filled
    notebook.write(small_lesson.lesson, path, fast=False, force=True)
    assert path.read_bytes() != filled


def test_a_notebook_that_was_only_run_is_written_again_also_with_another_length(tmp_path: Path) -> None:
    path = tmp_path / "small.ipynb"
    whole = written(path)
    for cell in whole.cells:
        if cell.cell_type == "code":
            cell.execution_count = 1
    nbformat.write(whole, path)  # type: ignore[no-untyped-call]
    written(path, fast=True)
    assert "twice(number=0.5)" in path.read_text()


@pytest.mark.parametrize("data", [b"text", b'{"cells": [3]}', b"\xff"])
def test_a_file_that_is_not_a_notebook_is_not_overwritten(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "small.ipynb").write_bytes(data)
    with pytest.raises(UsageError, match="--force"):
        written(tmp_path / "small.ipynb")
    assert (tmp_path / "small.ipynb").read_bytes() == data


def test_an_empty_file_and_a_device_are_overwritten(tmp_path: Path) -> None:
    (tmp_path / "small.ipynb").touch()
    assert written(tmp_path / "small.ipynb").cells
    notebook.write(small_lesson.lesson, Path("/dev/null"), fast=False)
    assert Path("/dev/null").is_char_device()


def test_a_notebook_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        written(tmp_path / "nowhere" / "small.ipynb")


@pytest.fixture
def guide(monkeypatch: pytest.MonkeyPatch) -> Guide:
    monkeypatch.setitem(sys.modules, "lessons.small_lesson", small_lesson)
    return Guide("lessons.small_lesson")


def test_a_prediction_typed_into_a_cell_is_judged(guide: Guide, capsys: pytest.CaptureFixture[str]) -> None:
    guide.predict("twice", answer="b")
    guide.explain("twice", small_lesson.twice())
    assert "Your answer: no. The right answer: yes." in capsys.readouterr().out


def test_a_result_is_explained_without_its_question_and_after_text_that_is_not_an_answer(
    guide: Guide, capsys: pytest.CaptureFixture[str]
) -> None:
    guide.explain("twice", small_lesson.twice())
    assert "Yes. It always is." in capsys.readouterr().out
    guide.predict("twice", answer="perhaps")
    guide.explain("twice", small_lesson.twice())
    out = capsys.readouterr().out
    assert "perhaps is not one of the answers" in out
    assert "Your answer" not in out
