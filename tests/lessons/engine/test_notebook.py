"""A lesson as a notebook."""

import base64
import sys
from pathlib import Path

import nbformat
import pytest
import small_lesson
from nbclient import NotebookClient
from sessions import ROOT

from lessons.engine import notebook
from lessons.engine.notebook import Guide, markdown
from lessons.engine.screen import Screen


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


CODE = """
from lessons.engine.notebook import for_this_process
screen = for_this_process()
screen.say("a `word` with *emphasis*")
screen.ask("How *many*?", "a  one     b  two")
screen.reveal("Your answer: `x`.", right=True)
with screen.quoted():
    screen.recorded("On a machine, this step showed:")
    screen.say("Two.")
"""


PHOTO = """
from pathlib import Path
from lessons.engine.notebook import for_this_process
for_this_process().photo(Path("lessons/recorded/11_torch_profiler/overview.png"), "A `picture`")
"""


def test_marks_stay_and_angle_brackets_begin_no_html() -> None:
    assert markdown("*a* <b> `<c>`") == "*a* &lt;b> `<c>`"
    assert type(notebook.for_this_process()) is Screen, "outside of a notebook"


@pytest.mark.slow
def test_in_a_notebook_paragraphs_are_markdown() -> None:
    cells = [nbformat.v4.new_code_cell(code) for code in (CODE, PHOTO)]  # type: ignore[no-untyped-call]
    whole = nbformat.v4.new_notebook(cells=cells)  # type: ignore[no-untyped-call]
    here = {"metadata": {"path": str(ROOT)}}
    NotebookClient(whole, timeout=120, startup_timeout=120, kernel_name="python3", resources=here).execute()
    outputs = whole.cells[0].outputs
    shown = [output["data"]["text/markdown"] for output in outputs if output.output_type == "display_data"]
    assert shown == [
        "a `word` with *emphasis*",
        "**Predict** How *many*?",
        "**Measured** Your answer: `x`.",
        "> **Recorded** On a machine, this step showed:",
        "> Two.",
    ]
    words, picture = (output["data"] for output in whole.cells[1].outputs)
    assert words["text/markdown"] == "A `picture`"
    recorded = (ROOT / "lessons" / "recorded" / "11_torch_profiler" / "overview.png").read_bytes()
    assert base64.b64decode(picture["image/png"]) == recorded
    assert "a  one     b  two" in "".join(output.get("text", "") for output in outputs)
