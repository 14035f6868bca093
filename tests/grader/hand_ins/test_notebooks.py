"""The code cells of a notebook become Python as in IPython, or the notebook is refused in a sentence."""

import json

import pytest
from classroom import notebook

from grader.hand_ins import ipython_cells
from grader.hand_ins.notebooks import read_notebook
from grader.hand_ins.refusal import MAX_SOURCE_BYTES, Refusal


def texts(*cells: str) -> list[str]:
    return [cell.text for cell in read_notebook(notebook(*cells), "n.ipynb").cells]


def changed(**changes: object) -> bytes:
    return json.dumps(json.loads(notebook("x = 1")) | changes).encode()


def test_a_notebook_gives_its_code_cells_in_order_and_nothing_it_claims_to_have_printed() -> None:
    made = read_notebook(notebook("x = 1\n", "", "def f():\r\n    return x"), "n.ipynb")
    assert str(made) == "# cell 1\nx = 1\n\n# cell 3\ndef f():\n    return x\n"
    assert [(cell.number, cell.title) for cell in made.cells] == [(1, "x = 1"), (3, "def f():")]


def test_what_works_only_in_a_notebook_becomes_python_whose_lines_keep_their_numbers() -> None:
    system, magic = "get_ipython().system", "get_ipython().run_line_magic"
    for cell, text in {
        "  x = 1\n  y = 2": "x = 1\ny = 2",
        "\n\n%%time\n\nx = 1\n!ls": f"\n\n\n\nx = 1\n{system}('ls')",
        "%%timeit\nx = 1": "get_ipython().run_cell_magic('timeit', '', 'x = 1\\n')",
        "!ls \\\n  -l\nx = 1": f"{system}('ls    -l')\n\nx = 1",
        "if x:\n    %time f()\n    y = 1": f"if x:\n    {magic}('time', 'f()')\n    y = 1",
        ">>> x = 1\n>>> x\n1": "x = 1\nx\n1",
        "In [3]: x = 1\n   ...: y = 2": "x = 1\ny = 2",
        "f?": f"{magic}('pinfo', 'f')",
        "m = '''\n%magic\n'''\nm %= 3": "m = '''\n%magic\n'''\nm %= 3",
    }.items():
        assert texts(cell) == [text], cell


def test_a_notebook_of_an_old_format_is_read_and_one_for_another_language_is_refused() -> None:
    old = {"cell_type": "code", "input": ["x = 1\n", "y = 2"], "language": "python", "outputs": []}
    sheet = {"cells": [{"cell_type": "heading", "source": "x"}, old]}
    data = json.dumps({"nbformat": 3, "worksheets": [sheet]}).encode()
    assert [cell.text for cell in read_notebook(data, "n.ipynb").cells] == ["x = 1\ny = 2"]
    for metadata in ({"kernelspec": {"language": "R"}}, {"language_info": {"name": "julia"}}):
        with pytest.raises(Refusal, match=r"is a notebook for \w+; choose a Python kernel"):
            read_notebook(changed(metadata=metadata), "n.ipynb")
    for odd in ("null", "[]", '{"kernelspec": {"language": ["R"]}}', '{"language_info": {"name": "ipython"}}'):
        assert read_notebook(changed(metadata=json.loads(odd)), "n.ipynb").cells


def test_the_tags_of_a_cell_say_that_it_is_not_run_or_may_raise_an_exception() -> None:
    tags = ('["skip-execution"]', '["raises-exception"]', '"skip-execution"', "[[]]")
    cells = [{"cell_type": "code", "source": "1/0", "metadata": {"tags": json.loads(each)}} for each in tags]
    made = read_notebook(changed(cells=cells), "n.ipynb")
    assert [(cell.number, cell.may_raise) for cell in made.cells] == [(2, True), (3, False), (4, False)]
    assert [remark.partition(": ")[2] for remark in made.remarks] == ['"1/0".']
    (many,) = read_notebook(changed(cells=cells[:1] * 100), "n.ipynb").remarks
    assert many.endswith('"1/0", 92 more.')


def test_a_forged_or_giant_notebook_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = b'{"nbformat": 4, "cells": %s}'
    for data in (
        b"",
        b"[" * 200_000,
        b"{}",
        b'{"nbformat": 3, "worksheets": [7]}',
        cells % b"[1]",
        cells % b'[{"cell_type": "virus", "source": "x"}]',
        cells % b'[{"cell_type": "code", "source": [1]}]',
        notebook(*["x"] * 3000),
        notebook("#" * (MAX_SOURCE_BYTES + 1)),
        b" " * 10_000_001,
    ):
        with pytest.raises(Refusal):
            read_notebook(data, "n.ipynb")
    monkeypatch.setattr(ipython_cells, "MOST_CHARACTERS", 2_000)
    with pytest.raises(Refusal, match=r'Cell "%m" of n\.ipynb has too many magics'):
        read_notebook(notebook("x", "%m\n" * 40), "n.ipynb")


def test_a_long_line_that_could_be_a_request_for_help_is_read_at_once() -> None:
    line = "a" * 300_000 + " x?"  # IPython's own pattern takes hours
    assert texts(line) == [line]
