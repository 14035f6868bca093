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


def test_the_cells_are_the_sources_of_the_steps(tmp_path: Path) -> None:
    notebook.write(small_lesson.lesson, tmp_path / "small.ipynb", fast=False)
    whole = nbformat.read(tmp_path / "small.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    cells = {cell.id: cell.source for cell in whole.cells}
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


def test_a_result_is_explained_and_a_prediction_typed_into_a_cell_is_judged(
    guide: Guide, capsys: pytest.CaptureFixture[str]
) -> None:
    guide.explain("twice", small_lesson.twice())
    assert "Yes. It always is." in capsys.readouterr().out
    guide.predict("twice", answer="perhaps")
    guide.explain("twice", small_lesson.twice())
    out = capsys.readouterr().out
    assert "perhaps is not one of the answers" in out
    assert "Your answer" not in out
    guide.predict("twice", answer="b")
    guide.explain("twice", small_lesson.twice())
    assert "Your answer: no. The right answer: yes." in capsys.readouterr().out


CODE = """
from pathlib import Path
from lessons.engine.notebook import for_this_process
screen = for_this_process()
screen.say("a `word` with *emphasis*")
screen.ask("How *many*?", "a  one     b  two")
screen.reveal("Your answer: `x`.", right=True)
with screen.quoted():
    screen.recorded("On a machine, this step showed:")
    screen.say("Two.")
screen.photo(Path("lessons/recorded/11_torch_profiler/overview.png"), "A `picture`")
"""


def test_marks_stay_and_angle_brackets_begin_no_html() -> None:
    assert markdown("*a* <b> `<c>`") == "*a* &lt;b> `<c>`"
    assert type(notebook.for_this_process()) is Screen, "outside of a notebook"


@pytest.mark.slow
def test_in_a_notebook_paragraphs_are_markdown() -> None:
    cell = nbformat.v4.new_code_cell(CODE)  # type: ignore[no-untyped-call]
    whole = nbformat.v4.new_notebook(cells=[cell])  # type: ignore[no-untyped-call]
    here = {"metadata": {"path": str(ROOT)}}
    NotebookClient(whole, timeout=120, startup_timeout=120, kernel_name="python3", resources=here).execute()
    outputs = whole.cells[0].outputs
    assert "a  one     b  two" in "".join(output.get("text", "") for output in outputs)
    *shown, picture = (output["data"] for output in outputs if output.output_type == "display_data")
    assert [data["text/markdown"] for data in shown] == [
        "a `word` with *emphasis*",
        "**Predict** How *many*?",
        "**Measured** Your answer: `x`.",
        "> **Recorded** On a machine, this step showed:",
        "> Two.",
        "A `picture`",
    ]
    recorded = (ROOT / "lessons" / "recorded" / "11_torch_profiler" / "overview.png").read_bytes()
    assert base64.b64decode(picture["image/png"]) == recorded
