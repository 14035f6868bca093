"""The lesson in `lessons/README.md` runs, its claim holds, and its notebook has its steps."""

import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from sessions import ROOT

PAGE = (ROOT / "lessons" / "README.md").read_text(encoding="utf-8")
FILE = re.compile(r"^`lessons/(\d\d_\w+\.py)`\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def lesson(tmp_path: Path) -> Path:
    """Return the lesson's file, written to a new folder."""
    ((name, text),) = FILE.findall(PAGE)
    path = tmp_path / str(name)
    path.write_text(text, encoding="utf-8")
    return path


def take(lesson: Path, *options: str) -> str:
    command = [sys.executable, "-W", "error", str(lesson), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_lesson_on_the_page_runs_and_does_not_refute_its_claim(lesson: Path, tmp_path: Path) -> None:
    shown = take(lesson, "--no-input", "--fast", "--json", str(tmp_path / "claims.json"))
    claims = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))["claims"]
    assert [claim["id"] for claim in claims] == ["sum-is-faster"]
    assert claims[0]["verdict"] in {"held", "inconclusive"}  # on a busy machine, the result may be inconclusive
    assert "The loop took" in shown
    assert "Read the interval" in shown


def test_the_lesson_on_the_page_becomes_a_notebook(lesson: Path, tmp_path: Path) -> None:
    take(lesson, "--notebook", str(tmp_path / "lesson.ipynb"))
    book = nbformat.read(tmp_path / "lesson.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(book)
    assert any("def two_ways" in cell.source for cell in book.cells)
