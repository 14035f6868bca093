"""Grouped definitions: valid and invalid arguments, the reading of blocks and names, and the list of benchmarks."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.suite import (
    GroupedModules,
    GroupedSetup,
    GroupedStmts,
    GroupedVariants,
    TimerArgs,
    flatten,
    iter_parsed_lines,
    materialize,
    parse_stmts,
)
from harness.suite.__main__ import benchmarks_of
from harness.suite.expand import Benchmark


def test_an_impossible_definition_is_refused_at_once() -> None:
    benchmark = TimerArgs("pass")
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: GroupedStmts("x", signature="g(x) -> y"), "like f"),
        (lambda: GroupedStmts("x", signature="f(x)"), "like f"),
        (lambda: GroupedStmts("x", signature="f(x) -> y, z"), "several"),
        (lambda: GroupedStmts("x.add_(1)", signature="f(x) -> None", autograd=True), "output"),
        (lambda: GroupedStmts("x + 1", torchscript=True), "signature"),
        (lambda: GroupedStmts(cpp_stmt="x + 1;", signature="f(x) -> y", torchscript=True), "Python statement"),
        (lambda: GroupedStmts("x + 1", compiled=True), "signature"),
        (lambda: GroupedModules("model = torch.nn.ReLU()"), "signature"),
        (lambda: GroupedModules("relu = torch.nn.ReLU()", signature="f(x) -> y"), "must define `model`"),
        (lambda: GroupedVariants("# @Global Setup\nimport os\n# @a\nx"), "Only C"),
        (lambda: flatten({("a", "b"): benchmark, "a": {"b": benchmark}}), "a · b"),
        (lambda: flatten({"a": "x + y"}), "At a there is a str"),  # type: ignore[dict-item]  # refused on purpose
        (lambda: flatten({3: benchmark}), "not 3"),
        (lambda: parse_stmts("z = x | auto z = x;"), "begins with"),
        (lambda: parse_stmts(f"{SIDE_BY_SIDE}    {'z' * 41}| auto z = x;\n"), "after its first 40"),
    ]
    for define, said in wrong:
        with pytest.raises(UsageError, match=said):
            define()


SIDE_BY_SIDE = r"""
    Python                                   | C++
    ---------------------------------------- | ----------------------------------------
    z = torch.mm(x, y)                       | auto z = torch::mm(x, y);
    w = z + 1                                |
                                             | auto w = z + 1;
"""


def test_names_are_joined_and_python_and_cpp_side_by_side_are_separated() -> None:
    benchmark = TimerArgs("pass")
    flat = flatten({("a", "b"): {None: benchmark, "c": {"d": benchmark}}, "e": benchmark})
    assert list(flat) == [("a", "b"), ("a", "b", "c", "d"), ("e",)]
    assert parse_stmts(SIDE_BY_SIDE) == (
        "z = torch.mm(x, y)\nw = z + 1\n",
        "auto z = torch::mm(x, y);\n\nauto w = z + 1;",
    )
    assert next(iter_parsed_lines(SIDE_BY_SIDE)) == ("z = torch.mm(x, y)", "auto z = torch::mm(x, y);")


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


HERE = Path(__file__).parent / "pytorch_shaped"
SETUP = GroupedSetup("x = torch.ones(2)", "auto x = torch::ones({2});", "#include <numbers>")


def test_a_statement_is_expanded_to_every_mode_pass_and_language() -> None:
    group = GroupedStmts(
        "y = x * 2", "auto y = x * 2;", SETUP, "f(x) -> y", torchscript=True, autograd=True, compiled=True
    )
    inputs = "std::vector<torch::jit::IValue> boxed_inputs({torch::jit::IValue(x)});"
    boxed = f"{inputs}\nauto y = jit_model.forward(boxed_inputs);"
    works = {each.title: each.args for each in Benchmark.all_of(materialize({("a",): group}))}
    assert [(title, args.stmt) for title, args in works.items()] == [
        ("a · Eager · Forward · Python", "y = x * 2"),
        ("a · Eager · Forward · C++", "auto y = x * 2;"),
        ("a · Eager · Forward + Backward · Python", "y = x * 2\ny.backward()"),
        ("a · Eager · Forward + Backward · C++", "auto y = x * 2;\ny.backward();"),
        ("a · Compiled · Forward · Python", "y = compiled_model(x)"),
        ("a · Compiled · Forward + Backward · Python", "y = compiled_model(x)\ny.backward()"),
        ("a · TorchScript · Forward · Python", "y = jit_model(x)"),
        ("a · TorchScript · Forward · C++", boxed),
        ("a · TorchScript · Forward + Backward · Python", "y = jit_model(x)\ny.backward()"),
        ("a · TorchScript · Forward + Backward · C++", f"{boxed}\ny.toTensor().backward();"),
    ]
    source = "def model(x):\n    y = x * 2\n    return y\n"
    for title, args in works.items():
        assert ("#include <numbers>" in args.global_setup) == ("C++" in title)
        assert (args.compiled, args.scripted) == (source * ("Compiled" in title), source * ("TorchScript" in title))
    assert "jit_model = torch.jit.load" in works["a · TorchScript · Forward · Python"].setup
    other = materialize({("a",): GroupedStmts(cpp_stmt="x;"), ("b",): TimerArgs("x", num_threads=3)})
    assert [each.title for each in Benchmark.all_of(other)] == ["a · Eager · Forward · C++", "b · Python · 3 threads"]


def test_a_model_is_set_up_and_called_by_its_signature() -> None:
    group = GroupedModules("model = torch.nn.ReLU()", "auto model = torch::nn::ReLU();", SETUP, "f(x) -> None")
    python, cpp = (args for _, _, args in materialize({("a",): group}))
    assert (python.stmt, cpp.stmt) == ("model(x)", "model->forward(x);")
    assert python.setup.splitlines()[-1] == "model = torch.nn.ReLU()"
    assert cpp.setup.splitlines()[-1] == "auto model = torch::nn::ReLU();"


def shaped_for_pytorch(folder: Path) -> Path:
    """Return the definitions for PyTorch's suite with only their imports changed."""
    for name in ("setup", "standard"):
        text = (HERE / f"{name}.txt").read_text(encoding="utf-8")
        changed = text.replace("from core.", "from harness.suite.").replace(
            "from definitions.setup", "from shaped_setup"
        )
        assert changed != text
        (folder / ("shaped_setup.py" if name == "setup" else "standard.py")).write_text(changed, encoding="utf-8")
    return folder / "standard.py"


def test_definitions_for_pytorchs_suite_need_only_other_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    shaped = benchmarks_of(shaped_for_pytorch(tmp_path))
    assert len(shaped) == len({work.key for work in shaped}) == 61
    assert sum(work.is_cpp for work in shaped) == 30
    assert sum(work.args.num_threads == 2 for work in shaped) == 8
    variants = [work for work in shaped if work.label[0] == "variants" and work.is_cpp]
    assert variants[-1].title == "variants · whole · Eager · Forward · C++"
    assert {work.args.global_setup for work in variants} == {"constexpr int64_t FIRST = 0;\n"}
