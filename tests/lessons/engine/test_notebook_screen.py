import base64
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from sessions import ROOT

from lessons.engine import notebook_screen
from lessons.engine.notebook_screen import markdown
from lessons.engine.screen import Screen

CODE = """
from lessons.engine.notebook_screen import for_this_process
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
from lessons.engine.notebook_screen import for_this_process
for_this_process().photo(Path("lessons/recorded/11_torch_profiler/overview.png"), "A `picture`")
"""


def test_marks_stay_and_angle_brackets_begin_no_html() -> None:
    assert markdown("*a* <b> `<c>`") == "*a* &lt;b> `<c>`"


def test_outside_of_a_notebook_the_screen_prints_text(capsys: pytest.CaptureFixture[str]) -> None:
    screen = notebook_screen.for_this_process()
    assert type(screen) is Screen
    screen.say("a `word`")
    assert "a word" in capsys.readouterr().out
    screen.photo(Path("picture.png"), "A `picture`")
    assert capsys.readouterr().out.split() == ["A", "picture", "picture.png"]


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
