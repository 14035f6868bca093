"""The cells of a notebook give the same names, values and exceptions as in IPython itself."""

import json
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from classroom import notebook
from trees import SAFE, ask, opened

from grader.errors import WorkerFault
from grader.hand_ins.notebooks import read_notebook
from grader.inside.notebook_shell import NotebookShell
from grader.limits import Limits
from grader.source import Notebook

NOTEBOOKS = Path(__file__).with_name("notebooks.jsonl").read_text(encoding="utf-8").splitlines()
"""Notebooks, each as a JSON list of its cells."""

IN_IPYTHON = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
def run(cells):
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        done = [shell.run_cell(cell, store_history=True) for cell in cells]
    errors = [one.error_before_exec or one.error_in_exec for one in done]
    names = {name: repr(value) for name, value in shell.user_ns.items() if not name.startswith("_") or name == "_"}
    return names, [type(error).__name__ for error in errors]
print(json.dumps([run(json.loads(line)) for line in sys.stdin]))
"""
FROM_SHELL = {"In", "Out", "exit", "quit", "open", "get_ipython", "display"}


def comparable(names: dict[str, str], errors: list[str]) -> tuple[dict[str, str], list[str]]:
    plain = {name: value.partition(" at 0x")[0] for name, value in names.items() if name not in FROM_SHELL}
    return plain, ["SyntaxError" if error == "IndentationError" else error for error in errors]


def here(cells: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return the names with their values after the cells were run, and the exception of each cell."""
    errors, module = ["NoneType"] * len(cells), types.ModuleType("__main__")
    module.__file__, shell = "nowhere", NotebookShell(module)
    for above, cell in made(*cells).placed():
        try:
            shell.run_cell(cell.text, above)
        except BaseException as error:  # noqa: BLE001 - any exception of a cell
            errors[cell.number - 1] = type(error).__name__
    if shell._loop:
        shell._loop.close()
    names: dict[str, Any] = module.__dict__
    return {name: repr(value) for name, value in names.items() if not name.startswith("_") or name == "_"}, errors


def test_cells_give_what_they_give_in_ipython(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", IN_IPYTHON]
    given = "\n".join(NOTEBOOKS)
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True, cwd=tmp_path)
    for cells, there in zip(map(json.loads, NOTEBOOKS), json.loads(done.stdout.splitlines()[-1]), strict=True):
        assert comparable(*here(cells)) == comparable(*there), cells


def made(*cells: str) -> Notebook:
    return read_notebook(notebook(*cells), "n.ipynb")


@pytest.mark.sandbox
def test_a_cell_that_fails_ends_only_itself_and_is_named_with_its_first_line() -> None:
    cells = (
        "for _ in 'ab': get_ipython().system('pip install x')",
        "x = 1\n1/0",
        "# The kit's own.\n%check f\n%hint f\n%submit",
        "import nowhere\ndef f(x):\n    %timeit x\n    return x",
        "y = (",
        "quit()",
        "f(1)\n{}[2]",
    )
    with opened(Limits(load_s=60), SAFE, tensors=False) as one:
        assert ask(one, made(*cells), 3) == 3
        skipped, *raised, last = one._server.remarks
    assert skipped.endswith("were not run: !pip install x, %timeit x.")
    missing, module = "ModuleNotFoundError: No module named 'nowhere'", "line 1, in <module>"
    assert [remark.partition("\nCorrect")[0] for remark in raised] == [
        'Cell "x = 1" raised ZeroDivisionError: division by zero (line 2).\n  line 2, in <module>:  1/0',
        f'Cell "import nowhere" raised {missing} (line 1).\n  {module}:  import nowhere',
        "Cell \"y = (\" is not Python: '(' was never closed (line 1).\n    y = (\n        ^",
        f'Cell "quit()" raised SystemExit (line 1).\n  {module}:  quit()',
        'Cell "f(1)" raised KeyError: 2 (line 2).\n  line 2, in <module>:  {}[2]',
    ]
    assert "The other cells were run." in last


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("# loop\nwhile True: pass", 'No answer within .* in cell "while True: pass"'),
        ("import os\nos._exit(3)", 'The process ended in cell "import os"'),
        ("import time\ntime.sleep(0.03)", 'No answer within .* in cell "import time"'),
    ],
)
def test_a_cell_that_ends_the_grading_is_named(cell: str, says: str) -> None:
    with opened(Limits(load_s=0.5), SAFE, tensors=False) as one, pytest.raises(WorkerFault, match=says):
        one.load(made("x = 1", *[cell] * 60))
