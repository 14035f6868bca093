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

NOTEBOOKS: tuple[tuple[str, ...], ...] = (
    ("x = 1", "y = x + 1", "x = y * 2"),
    ("1/0", "x = 1"),
    ("x = 1\n1/0\ny = 2", "z = x"),
    ("def f(:\n    pass", "x = 1"),
    ("x = 1\nreturn 2\ny = 3", "z = 4"),
    ("break", "x = 1"),
    ("x = 1", "from __future__ import annotations\ndef f(a: undefined): return 1", "def g(a: nowhere): return 2"),
    ("x = 1\nfrom __future__ import annotations\ndef f(a: undefined): return 1", "y = f.__annotations__"),
    ("from __future__ import barry_as_FLUFL", "x = 1 <> 2", "y = 1 != 2"),
    ("from __future__ import braces", "x = 1"),
    ("  x = 1\n  if x:\n      y = 2",),
    ("\tx = 1\n\ty = 2", " x = 3\ny = 4"),
    (">>> x = 1\n>>> def f():\n...     return x\n>>> y = f()\n1",),
    ("In [1]: x = 1\n   ...: y = 2", "In [2]: z = x\nOut[2]: 1"),
    ("1 + 1", "x = _ + 1", "5\n6", "y = _", "z = __, ___", "a = Out[3], _1, _3, len(In)"),
    ("1;", "x = _", "2 # no\n", "y = _", "None", "z = _"),
    ("_ = 'mine'", "5", "x = _", "y = _2"),
    ("for _ in range(3): pass", "7", "x = _", "del _", "8", "y = Out"),
    ("display(1, 2)", "x = display(3)", "y = [display(each) for each in 'ab']"),
    ("import asyncio\nawait asyncio.sleep(0)", "async def f():\n    return 2", "y = await f()", "await f()", "z = _"),
    ("async def g():\n    yield 1\n    yield 2", "async for x in g():\n    y = x", "z = [i async for i in g()]"),
    ("import asyncio\ntask = asyncio.create_task(asyncio.sleep(0, 5))\nx = await task\ndel task, asyncio",),
    ("async def f():\n    raise KeyError(1)", "x = 1\nawait f()\ny = 2", "z = 3"),
    ("x = 3\nx?", "x??", "?x", "y = 4\nsum?"),
    ("%time x = 1", "%%time\ny = 2\nz = y", "a = 5\n%time b = a", "%time 1/0", "c = %time 7", "%time d ="),
    ("%%capture\nx = 1\nprint(x)", "%%prun -q\ny = 2", "%%timeit -n1 -r1\nz = 3", "%timeit -n1 -r1 a = 1"),
    ("%%bash\nexit 0", "%%html\n<b>x</b>", "x = 1"),
    ("!true", "x = 1\n!true\ny = 2", "if x:\n    !true\n    z = 3", "!!true\na = 4"),
    ("def f(a, b=0): return a + b", "/f 1 2", "x = _", ",len a b", ";len a b", "y = _"),
    ("'a docstring'\nx = 1", "y = __doc__"),
    ("global x\nx = 1", "y = [x for x in 'ab']", "class A:\n    z = y", "del A, x"),
    ("x = 1 if True else \\\n  2", "y = 1\\", "z = 3"),
    ("x = 'a\\\nb'", "y = '''a\r\nb'''", "z = '''\n%magic\n!shell\n'''"),
    ("import sys\nsys.exit()", "x = 1", "raise SystemExit(3)", "y = 2\ndel sys"),
    ("x = next(iter([]))", "raise StopIteration", "raise KeyboardInterrupt", "y = 1"),
    ("# only a comment", "", "   \n", "x = 1", "_", "y = len(In), list(Out)"),
    ("assert False, 'no'", "raise ValueError('x') from KeyError(1)", "try:\n    1/0\nexcept ZeroDivisionError: x = 1"),
    ("x: int = 1", "y: undefined = 2", "(z := 3)", "a = _", "match z:\n    case 3: b = 4"),
    ("if True:\n    7", "x = _", "[1][0]", "y = _", "lambda: 1", "z = callable(_)"),
    ("def f():\n    yield 1", "yield 2", "x = list(f())", "nonlocal y", "await 5", "x = 'é\u2028'", "y = \0"),
)
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
print(json.dumps([run(cells) for cells in json.load(sys.stdin)]))
"""
FROM_SHELL = {"In", "Out", "exit", "quit", "open", "get_ipython", "display"}


def comparable(names: dict[str, str], errors: list[str]) -> tuple[dict[str, str], list[str]]:
    plain = {name: value.partition(" at 0x")[0] for name, value in names.items() if name not in FROM_SHELL}
    return plain, ["SyntaxError" if error == "IndentationError" else error for error in errors]


def here(cells: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """Return the names with their values after the cells were run, and the exception of each cell."""
    made, errors = read_notebook(notebook(*cells), "n.ipynb"), ["NoneType"] * len(cells)
    module = types.ModuleType("__main__")
    module.__file__, shell = "nowhere", NotebookShell(module)
    for above, cell in made.placed():
        try:
            shell.run_cell(cell.text, cell.number, above)
        except BaseException as error:  # noqa: BLE001 - any exception of a cell
            errors[cell.number - 1] = type(error).__name__
    if shell._loop:
        shell._loop.close()
    names: dict[str, Any] = module.__dict__
    return {name: repr(value) for name, value in names.items() if not name.startswith("_") or name == "_"}, errors


def test_cells_give_what_they_give_in_ipython(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", IN_IPYTHON]
    given = json.dumps(NOTEBOOKS)
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True, cwd=tmp_path)
    for cells, there in zip(NOTEBOOKS, json.loads(done.stdout.splitlines()[-1]), strict=True):
        assert comparable(*here(cells)) == comparable(*there), cells


def made(*cells: str) -> Notebook:
    return read_notebook(notebook(*cells), "n.ipynb")


@pytest.mark.sandbox
def test_a_cell_that_fails_ends_only_itself_and_is_named_with_its_first_line() -> None:
    cells = "!pip install x", "x = 1\n1/0", "def f(x):\n    %timeit x\n    return x", "y = (", "quit()", "f(1)\n{}[2]"
    with opened(Limits(load_s=60), SAFE, tensors=False) as one:
        assert ask(one, made(*cells), 3) == 3
        skipped, *raised, last = one._server.remarks
    assert skipped.endswith("were not run: !pip install x (cell 1), %timeit x (cell 6).")
    assert raised == [
        "Cell 2 (x = 1) raised ZeroDivisionError: division by zero (line 2 of cell 2).",
        "Cell 4 (y = () is not Python: '(' was never closed (line 1 of cell 4). Correct the line that is named.",
        "Cell 5 (quit()) raised SystemExit (line 1 of cell 5).",
        "Cell 6 (f(1)) raised KeyError: 2 (line 2 of cell 6).",
    ]
    assert "The other cells were run." in last


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("cell", "says"),
    [("# loop\nwhile True: pass", "No answer within .*# loop"), ("import os\nos._exit(3)", "The process ended")],
)
def test_a_cell_that_ends_the_grading_is_named(cell: str, says: str) -> None:
    with opened(Limits(load_s=0.5), SAFE, tensors=False) as one, pytest.raises(WorkerFault, match=says) as told:
        one.load(made("x = 1", cell))
    assert "in cell 2 " in str(told.value)
