"""A notebook becomes the text of its code cells, or it is refused in a sentence that names the cell."""

import pytest
from classroom import notebook
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.hand_ins.notebooks import magic_line, python_source, with_cell_lines
from grader.hand_ins.refusal import MAX_SOURCE_BYTES, Refusal


def test_a_notebook_gives_its_code_cells_in_order_and_nothing_it_claims_to_have_printed() -> None:
    text = python_source(notebook("x = 1\n", "def f():\n    return x"), "n.ipynb")
    assert text == "# cell 1\nx = 1\n\n# cell 2\ndef f():\n    return x\n"


def test_a_line_only_a_notebook_can_run_is_refused_with_its_cell_and_plain_python_is_not() -> None:
    for cell in ("%timeit f()", "!pip install x", "files = !ls 'it", "%%bash\necho $X", "f?", "if x:\n    %time f()"):
        with pytest.raises(Refusal, match=r"Cell 2 of n\.ipynb"):
            python_source(notebook("x = 1", cell), "n.ipynb")
    for cell in ("m = ('%s'\n % n)", "'''\n%magic in a string\n'''", "x %= 3", "f'{x=!r}'", "# %cell", "s = 'open"):
        assert magic_line(cell) == 0, cell


def test_a_forged_or_giant_notebook_is_refused() -> None:
    cells = b'{"nbformat": 4, "cells": %s}'
    for data in (
        b"",
        b"not json",
        b"[]",
        b"[" * 200_000,
        b"{}",
        b'{"nbformat": 3, "worksheets": []}',
        cells % b"{}",
        cells % b"[1]",
        cells % b'[{"cell_type": "virus", "source": "x"}]',
        cells % b'[{"cell_type": ["code"], "source": "x"}]',
        cells % b'[{"cell_type": "code"}]',
        cells % b'[{"cell_type": "code", "source": [1]}]',
        cells % b'[{"cell_type": "code", "source": "\\u0000"}]',
        cells % b'[{"cell_type": "code", "source": ["x = 1", "\\ud800"]}]',
        notebook(*["x"] * 3000),
        notebook("#" * (MAX_SOURCE_BYTES + 1)),
        b" " * 10_000_001,
    ):
        with pytest.raises(Refusal):
            python_source(data, "n.ipynb")


@settings(deadline=None)  # the time of an example depends on the machine
@given(st.text() | st.text(alphabet="%!?=()[]{}'\"\n\\ x#:f"))
def test_no_cell_confuses_the_search_for_magics(source: str) -> None:
    assert 0 <= magic_line(source) <= source.count("\n") + 1


def test_a_line_of_the_whole_text_is_told_as_a_line_of_its_cell() -> None:
    source = "# cell 2\nimport math\n\n# cell 5\ndef f():\n    raise ValueError\n"
    assert with_cell_lines("raised (line 6 of the file).", source) == "raised (line 2 of cell 5)."
    assert with_cell_lines("line 99 of the file", source) == "line 95 of cell 5"
    assert with_cell_lines("(line 1 of the file)", "import math\n") == "(line 1 of the file)"
