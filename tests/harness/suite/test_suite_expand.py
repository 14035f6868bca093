"""The list of benchmarks that a grouped definition describes."""

from pathlib import Path
from unittest.mock import Mock

import pytest
import torch
from torch.utils.benchmark import Language

from harness.suite import (
    AutoLabels,
    GroupedModules,
    GroupedSetup,
    GroupedStmts,
    TimerArgs,
    materialize,
)
from harness.suite.command import benchmarks_of
from harness.suite.expand import LANGUAGES, Benchmark

HERE = Path(__file__).parent / "pytorch_shaped"
SETUP = GroupedSetup("x = torch.ones(2)", "auto x = torch::ones({2});", "#include <numbers>")


def kinds(flat: tuple[tuple[tuple[str, ...], AutoLabels, TimerArgs], ...]) -> list[str]:
    return [
        " ".join([kind.runtime.value, kind.autograd.value, LANGUAGES[kind.language], str(args.num_threads)])
        for _, kind, args in flat
    ]


def test_statements_are_called_scripted_and_followed_by_a_backward_pass() -> None:
    group = GroupedStmts("y = x * 2", "auto y = x * 2;", SETUP, "f(x) -> y", torchscript=True, autograd=True)
    stmts = [args.stmt for _, _, args in materialize({("a",): group})]
    inputs = "std::vector<torch::jit::IValue> boxed_inputs({torch::jit::IValue(x)});"
    boxed = f"{inputs}\nauto y = jit_model.forward(boxed_inputs);"
    assert stmts == [
        "y = x * 2",
        "auto y = x * 2;",
        "y = x * 2\ny.backward()",
        "auto y = x * 2;\ny.backward();",
        "y = jit_model(x)",
        boxed,
        "y = jit_model(x)\ny.backward()",
        f"{boxed}\ny.toTensor().backward();",
    ]


def test_a_model_is_set_up_and_called_by_its_signature() -> None:
    group = GroupedModules("model = torch.nn.ReLU()", "auto model = torch::nn::ReLU();", SETUP, "f(x) -> None")
    python, cpp = (args for _, _, args in materialize({("a",): group}))
    assert (python.stmt, cpp.stmt) == ("model(x)", "model->forward(x);")
    assert python.setup.splitlines()[-1] == "model = torch.nn.ReLU()"
    assert cpp.setup.splitlines()[-1] == "auto model = torch::nn::ReLU();"


def test_compiled_benchmarks_are_python_only_and_come_between_eager_and_torchscript() -> None:
    group = GroupedStmts(
        "y = x * 2", "auto y = x * 2;", SETUP, "f(x) -> y", torchscript=True, autograd=True, compiled=True
    )
    flat = materialize({("a",): group})
    passes = ("Forward", "Forward + Backward")
    assert kinds(flat)[:4] == [f"Eager {each} {language} 1" for each in passes for language in ("Python", "C++")]
    in_cpp = {(kind.language is Language.CPP, "#include <numbers>" in args.global_setup) for _, kind, args in flat}
    assert in_cpp == {(False, False), (True, True)}
    assert kinds(flat)[4:6] == ["Compiled Forward Python 1", "Compiled Forward + Backward Python 1"]
    assert [kind.split()[0] for kind in kinds(flat)] == ["Eager"] * 4 + ["Compiled"] * 2 + ["TorchScript"] * 4
    (_, _, forward), (_, _, backward) = flat[4:6]
    assert forward.stmt == "y = compiled_model(x)"
    assert backward.stmt == "y = compiled_model(x)\ny.backward()"
    assert forward.compiled == flat[-1][2].scripted == "def model(x):\n    y = x * 2\n    return y\n"
    assert "jit_model = torch.jit.load" in flat[-2][2].setup
    assert (forward.scripted, flat[0][2].compiled, flat[-1][2].compiled, flat[0][2].scripted) == ("", "", "", "")
    assert kinds(materialize({("a",): GroupedStmts(cpp_stmt="x;"), ("b",): TimerArgs("x", num_threads=3)})) == [
        "Eager Forward C++ 1",
        "  Python 3",
    ]


def test_the_setup_of_a_compiled_benchmark_makes_inputs_and_calls_the_model_first() -> None:
    for autograd in (False, True):
        group = GroupedStmts("y = x * 2", setup=SETUP, signature="f(x) -> y", autograd=autograd, compiled=True)
        args = materialize({("a",): group})[-1][2]
        model = Mock()
        exec(args.setup, {"torch": torch, "compiled_model": model})  # noqa: S102 - text that was made just now
        assert model.call_count == 3
        assert model.return_value.backward.call_count == 3 * autograd


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


@pytest.fixture
def shaped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Benchmark, ...]:
    monkeypatch.syspath_prepend(tmp_path)
    return benchmarks_of(shaped_for_pytorch(tmp_path))


def test_definitions_for_pytorchs_suite_need_only_other_imports(shaped: tuple[Benchmark, ...]) -> None:
    assert len(shaped) == 61
    assert len({work.key for work in shaped}) == len(shaped)
    assert sum(work.is_cpp for work in shaped) == 30
    assert sum(work.args.num_threads == 2 for work in shaped) == 8
    assert [work.title for work in shaped if work.label[0] == "variants" and work.is_cpp][
        -1
    ] == "variants · whole · Eager · Forward · C++"
    assert all(
        work.args.global_setup == "constexpr int64_t FIRST = 0;\n"
        for work in shaped
        if work.label[0] == "variants" and work.is_cpp
    )
