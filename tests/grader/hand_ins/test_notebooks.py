import json

import pytest
from classroom import notebook
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.hand_ins.notebooks import magic_line, python_source, with_cell_lines
from grader.hand_ins.refusal import MAX_SOURCE_BYTES, Refusal, python_text


def test_a_notebook_gives_its_code_cells_in_order_and_nothing_it_claims_to_have_printed() -> None:
    text = python_source(notebook("x = 1\n", "def f():\n    return x"), "n.ipynb")
    assert text == "# cell 1\nx = 1\n\n# cell 2\ndef f():\n    return x\n"


@pytest.mark.parametrize(
    "cell",
    ["%timeit f()", "!pip install x", "files = !ls 'it", "%%bash\necho $X", "f?", "if x:\n    %time f()"],
)
def test_a_line_only_a_notebook_can_run_is_refused_with_its_cell(cell: str) -> None:
    with pytest.raises(Refusal, match=r"Cell 2 of n\.ipynb"):
        python_source(notebook("x = 1", cell), "n.ipynb")


@pytest.mark.parametrize(
    "cell",
    ["m = ('%s'\n     % n)", "'''\n%magic in a string\n'''", "x %= 3", "f'{x=!r}'", "# %cell", "s = 'open"],
)
def test_a_percent_sign_in_plain_python_is_no_magic(cell: str) -> None:
    assert magic_line(cell) == 0


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not json",
        b"[]",
        b"[" * 200_000,
        b"{}",
        b'{"nbformat": 3, "worksheets": []}',
        b'{"nbformat": 4, "cells": {}}',
        b'{"nbformat": 4, "cells": [1]}',
        b'{"nbformat": 4, "cells": [{"cell_type": "virus", "source": "x"}]}',
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": [1]}]}',
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "\\ud800"}]}',
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "\\u0000"}]}',
        notebook(*["x"] * 3000),
        notebook("#" * (MAX_SOURCE_BYTES + 1)),
        b" " * 10_000_001,
    ],
    ids=range(15),
)
def test_a_forged_or_giant_notebook_is_refused(data: bytes) -> None:
    with pytest.raises(Refusal):
        python_source(data, "n.ipynb")


# Hypothesis limits the time per example. Here the time depends on the machine, so there is no limit.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
json_values = scalars | st.lists(scalars, max_size=3) | st.dictionaries(st.text(max_size=5), scalars, max_size=3)
kinds = st.sampled_from(["code", "markdown", "raw", "x"])
cell_like = st.fixed_dictionaries({"cell_type": kinds | json_values}, optional={"source": json_values})
cells = st.lists(cell_like | json_values, max_size=4)


@patient
@given(
    st.fixed_dictionaries(
        {"nbformat": st.sampled_from([4, 4.0, 3])}, optional={"cells": cells, "metadata": json_values}
    )
)
def test_no_notebook_raises_anything_but_a_refusal(content: dict[str, object]) -> None:
    try:
        text = python_source(json.dumps(content).encode(), "n.ipynb")
    except Refusal:
        return
    assert python_text(text.encode(), "n.py") == text


@patient
@given(st.text() | st.text(alphabet="%!?=()[]{}'\"\n\\ x#:f"))
def test_no_cell_confuses_the_search_for_magics(source: str) -> None:
    assert 0 <= magic_line(source) <= source.count("\n") + 1


def test_a_line_of_the_whole_text_is_told_as_a_line_of_its_cell() -> None:
    source = "# cell 2\nimport math\n\n# cell 5\ndef f():\n    raise ValueError\n"
    assert (
        with_cell_lines("f raised ValueError (line 6 of the file).", source)
        == "f raised ValueError (line 2 of cell 5)."
    )
    assert with_cell_lines("line 99 of the file", source) == "line 95 of cell 5"
    assert with_cell_lines("(line 1 of the file)", "import math\n") == "(line 1 of the file)"
