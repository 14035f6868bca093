"""Grouped definitions: valid and invalid arguments, and the reading of blocks and names."""

import pytest

from harness.errors import UsageError
from harness.suite import GroupedModules, GroupedSetup, GroupedStmts, GroupedVariants, TimerArgs, flatten
from harness.suite.utils import iter_parsed_lines, parse_stmts


def test_any_other_signature_is_refused() -> None:
    for text, said in {"g(x) -> y": "like f", "f(x)": "like f", "f(x) -> y, z": "several"}.items():
        with pytest.raises(UsageError, match=said):
            GroupedStmts("x", signature=text)


def test_an_impossible_definition_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="output"):
        GroupedStmts("x.add_(1)", signature="f(x) -> None", autograd=True)
    with pytest.raises(UsageError, match="signature"):
        GroupedStmts("x + 1", torchscript=True)
    with pytest.raises(UsageError, match="Python statement"):
        GroupedStmts(cpp_stmt="x + 1;", signature="f(x) -> y", torchscript=True)
    with pytest.raises(UsageError, match="signature"):
        GroupedStmts("x + 1", compiled=True)
    with pytest.raises(UsageError, match="signature"):
        GroupedModules("model = torch.nn.ReLU()")
    with pytest.raises(UsageError, match="must define `model`"):
        GroupedModules("relu = torch.nn.ReLU()", signature="f(x) -> y")


def test_nested_names_are_joined_to_whole_names() -> None:
    benchmark = TimerArgs("pass")
    flat = flatten({("a", "b"): {None: benchmark, "c": {"d": benchmark}}, "e": benchmark})
    assert list(flat) == [("a", "b"), ("a", "b", "c", "d"), ("e",)]


def test_a_repeated_name_and_a_value_that_is_not_a_benchmark_are_refused() -> None:
    benchmark = TimerArgs("pass")
    with pytest.raises(UsageError, match="a · b"):
        flatten({("a", "b"): benchmark, "a": {"b": benchmark}})
    with pytest.raises(UsageError, match="At a there is a str"):
        flatten({"a": "x + y"})  # type: ignore[dict-item]  # refused on purpose
    with pytest.raises(UsageError, match="not 3"):
        flatten({3: benchmark})


SIDE_BY_SIDE = r"""
    Python                                   | C++
    ---------------------------------------- | ----------------------------------------
    z = torch.mm(x, y)                       | auto z = torch::mm(x, y);
    w = z + 1                                |
                                             | auto w = z + 1;
"""


def test_python_and_cpp_side_by_side_are_separated() -> None:
    assert parse_stmts(SIDE_BY_SIDE) == (
        "z = torch.mm(x, y)\nw = z + 1\n",
        "auto z = torch::mm(x, y);\n\nauto w = z + 1;",
    )
    assert next(iter_parsed_lines(SIDE_BY_SIDE)) == ("z = torch.mm(x, y)", "auto z = torch::mm(x, y);")


def test_lines_out_of_their_columns_are_refused() -> None:
    with pytest.raises(UsageError, match="begins with"):
        parse_stmts("z = x | auto z = x;")
    with pytest.raises(UsageError, match="after its first 40"):
        parse_stmts(f"{SIDE_BY_SIDE}    {'z' * 41}| auto z = x;\n")


def test_variants_are_cases_under_their_labels() -> None:
    made = GroupedVariants(
        "# @setup\nx = 1\n# @one\nx + 1\n# @several\nx\n# only in C++\nx - 1",
        "// @Global Setup\n#include <a>\n// @setup\nauto x = 1;\n// @several\nx;\nx + 2;\nx - 1;",
    )
    assert list(made) == [("one",), ("several", "Case:  0"), ("several", "Case:  1"), ("several", "Case:  2")]
    assert [(each.py_fwd_stmt, each.cpp_fwd_stmt) for each in made.values()] == [
        ("x + 1", None),
        ("x", "x;"),
        (None, "x + 2;"),
        ("x - 1", "x - 1;"),
    ]
    assert {each.setup for each in made.values()} == {GroupedSetup("x = 1", "auto x = 1;", "#include <a>")}
    with pytest.raises(UsageError, match="Only C"):
        GroupedVariants("# @Global Setup\nimport os\n# @a\nx")
