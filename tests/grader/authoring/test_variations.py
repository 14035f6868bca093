"""Variations of tensor cases, and copies of tensors with the memory layout of the original."""

import numpy as np

from grader.authoring.variations import copied, varied


def test_an_array_is_varied_in_its_rows_columns_order_and_layout() -> None:
    found = {words: other[0] for words, other in varied((np.arange(6).reshape(2, 3),))}
    assert {words: other.tolist() for words, other in found.items()} == {
        "no rows": [],
        "one row": [[0, 1, 2]],
        "every other row": [[0, 1, 2]],
        "rows in reverse": [[3, 4, 5], [0, 1, 2]],
        "no columns": [[], []],
        "one column": [[0], [3]],
        "every other column": [[0, 2], [3, 5]],
        "columns in reverse": [[2, 1, 0], [5, 4, 3]],
        "transposed": [[0, 3], [1, 4], [2, 5]],
    }
    assert found["rows in reverse"].strides == (24, 8)
    assert not found["transposed"].flags.c_contiguous


def test_several_inputs_are_varied_together_and_each_alone() -> None:
    a, b, number = np.arange(4.0), np.arange(4.0) + 1, np.array(3.0)
    found = {words: [each.tolist() for each in other] for words, other in varied((a, b, number))}
    assert found["one row"] == [[0.0], [1.0], 3.0]
    assert found["one row in input 1"] == [[0.0], [1.0, 2.0, 3.0, 4.0], 3.0]
    assert found["one row in input 2"] == [[0.0, 1.0, 2.0, 3.0], [1.0], 3.0]
    assert "one row in input 3" not in found
    assert "transposed" not in found


def test_a_copy_has_the_values_strides_and_shared_memory_and_tells_when_it_is_changed() -> None:
    base = np.arange(24.0).reshape(4, 6)
    (columns, rows, empty), unchanged = copied((base[:, 1::2], base[1:], base[:0]))
    assert columns.tolist() == base[:, 1::2].tolist()
    assert columns.strides == base[:, 1::2].strides
    assert empty.shape == (0, 6)
    assert unchanged()

    rows[0, 1] = -1.0

    assert columns[1, 0] == -1.0
    assert not unchanged()
    assert base[1, 1] == 7.0
