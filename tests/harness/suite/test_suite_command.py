"""Grouped definitions, the list of their benchmarks, and the command. A long test counts twice."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.storage.disk_cache import FOLDER_VARIABLE
from harness.suite import GroupedSetup, GroupedStmts, GroupedVariants, TimerArgs, flatten, materialize
from harness.suite.__main__ import DEFAULT, SOME_FAILED, benchmarks_of, chosen, main
from harness.suite.expand import Benchmark
from harness.suite.models import _model
from harness.suite.results import SAME, SuiteComparison, load, save


def test_an_impossible_definition_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="a · b"):
        flatten({("a", "b"): TimerArgs("x"), "a": {"b": TimerArgs("y")}})
    with pytest.raises(UsageError, match="output"):
        GroupedStmts("x.add_(1)", signature="f(x) -> None", autograd=True)


SETUP = GroupedSetup("x = torch.ones(2)", "auto x = torch::ones({2});", "#include <numbers>")


def test_a_statement_is_expanded_to_every_mode_pass_and_language(tmp_path: Path) -> None:
    group = GroupedStmts("y = x * 2", "auto y = x * 2;", SETUP, "f(x) -> y", torchscript=True, autograd=True)
    works = {each.title: each.args for each in Benchmark.all_of(materialize({("a",): group}))}
    assert [(title, args.stmt) for title, args in works.items()] == [
        ("a · Eager · Forward · Python", "y = x * 2"),
        ("a · Eager · Forward · C++", "auto y = x * 2;"),
        ("a · Eager · Forward + Backward · Python", "y = x * 2\ny.backward()"),
        ("a · Eager · Forward + Backward · C++", "auto y = x * 2;\ny.backward();"),
        ("a · Compiled · Forward · Python", "y = compiled_model(x)"),
        ("a · Compiled · Forward + Backward · Python", "y = compiled_model(x)\ny.backward()"),
    ]
    source = "def model(x):\n    y = x * 2\n    return y\n"
    for title, args in works.items():
        assert ("#include <numbers>" in args.global_setup) == ("C++" in title)
        assert args.compiled == source * ("Compiled" in title)
    with _model(source, tmp_path) as model:
        assert model(3) == 6
    variants = GroupedVariants(cpp_block="// @setup\nint x;\n// @Global Setup\nint f();\n// @a\nx;\n// @b\nf();")
    assert [each.args.global_setup for each in Benchmark.all_of(materialize(flatten({"v": variants})))] == [
        "int f();"
    ] * 2
    other = materialize({("a",): GroupedStmts(cpp_stmt="x;"), ("b",): TimerArgs("x", num_threads=3)})
    assert [each.title for each in Benchmark.all_of(other)] == ["a · Eager · Forward · C++", "b · Python · 3 threads"]


def test_the_list_of_the_standard_suite_can_be_limited(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    works = benchmarks_of(DEFAULT)
    assert len(listed) == len(set(listed)) == len(works) > 100
    assert all("Backward · C++" in work.title for work in chosen(works, ["Train*Backward · C++"]))
    assert {work.label[0] for work in chosen(works, ["Train", "Reduce"])} == {"Train", "Reduce"}


def test_every_error_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty, broken = tmp_path / "empty.py", tmp_path / "broken.py"
    empty.write_text("x = 1")
    broken.write_text("1 / 0")
    for arguments, said in [
        ([str(empty), "--list"], "does not define BENCHMARKS"),
        ([str(broken), "--list"], "ZeroDivisionError"),
        ([], "--out"),
        (["--list", "--only", "nothing like it"], "No benchmark matches"),
        (["compare", "a.json", "b.json"], "cannot be read"),
    ]:
        assert main(arguments) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert said in err
        assert err.count("\n") == 1


DEFINITIONS = """
from harness.suite import GroupedSetup, GroupedStmts, TimerArgs
setup = GroupedSetup("x = torch.ones(8, requires_grad=True)")
BENCHMARKS = {
    "sum": GroupedStmts("y = x.sum()", None, setup, "f(x) -> y", OPTIONS),
}
"""


def test_wall_times_are_measured_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "mine.py", tmp_path / "out.json"
    text = DEFINITIONS.replace("OPTIONS", "compiled=False")
    text = text.replace("BENCHMARKS = {", 'BENCHMARKS = {"broken": TimerArgs("1 / 0"),')
    file.write_text(text, encoding="utf-8")
    arguments = [str(file), "--out", str(out), "--no-counts", "--min-run-time", "0.001", "--jobs", "1"]
    assert main(arguments) == SOME_FAILED
    printed, err = capsys.readouterr()
    assert "1 benchmark measured, 1 failed" in printed
    assert "broken · Python ×1: ZeroDivisionError" in err
    assert main(["compare", str(out), str(out)]) == 0
    assert "wall times: 1 of 1 within 0.5 %" in capsys.readouterr().out
    assert main([*arguments, "--fresh", "--only", "sum"]) == 0  # a new run replaces the file of an earlier run
    out.write_text("mine")
    assert main([*arguments, "--fresh"]) == 2
    assert "name another file" in capsys.readouterr().err
    assert out.read_text() == "mine"


PYTORCH_SHAPED = Path(__file__).parent / "pytorch_shaped"


def shaped_for_pytorch(folder: Path) -> Path:
    """Return the definitions for PyTorch's suite with only their imports changed."""
    for name in ("setup", "standard"):
        text = (PYTORCH_SHAPED / f"{name}.txt").read_text(encoding="utf-8")
        changed = text.replace("from core.", "from harness.suite.").replace(
            "from definitions.setup", "from shaped_setup"
        )
        assert changed != text
        (folder / ("shaped_setup.py" if name == "setup" else "standard.py")).write_text(changed, encoding="utf-8")
    return folder / "standard.py"


def test_pytorchs_definitions_need_only_other_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    shaped = benchmarks_of(shaped_for_pytorch(tmp_path))
    assert len(shaped) == len({work.key for work in shaped}) == 53
    assert sum(work.is_cpp for work in shaped) == 22
    assert sum(work.args.num_threads == 2 for work in shaped) == 6
    variants = [work for work in shaped if work.label[0] == "variants" and work.is_cpp]
    assert variants[-1].title == "variants · whole · Eager · Forward · C++"
    assert {work.args.global_setup for work in variants} == {"constexpr int64_t FIRST = 0;\n"}


@pytest.mark.long
@pytest.mark.valgrind
@pytest.mark.program("c++")
def test_pytorchs_definitions_run_and_their_counts_repeat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path)
    definitions, out, first, second = shaped_for_pytorch(tmp_path), *(tmp_path / f"{name}.json" for name in "abc")
    command = [str(definitions), "--min-run-time", "0.001", "--only"]
    timed = ["Tanh", "--only", "simple*Backward · C++", "--no-counts", "--jobs", "1", "--out", str(out)]
    assert main([*command, *timed]) == 0
    assert len(load(out).results) == 5
    assert all(each.times_s for each in load(out).results)
    assert main([*command, "Tanh*Eager", "--out", str(first)]) == 0
    suite = load(first)
    assert [bool(each.instructions) for each in suite.results] == [True, True]
    # The second run keeps the wall times of the first and counts the Python code again, with one worker.
    save(replace(suite, results=tuple(replace(each, instructions=()) for each in suite.results)), second)
    assert main([*command, "Tanh*Eager*Python", "--recount", "--jobs", "1", "--out", str(second)]) == 0
    changes = [pair.count_change for pair in SuiteComparison.of(suite, load(second)).changes]
    (change,) = (each for each in changes if each is not None)
    assert abs(change) <= SAME
