"""The command of the benchmark suite: lists, errors and output. One slow test does a complete run and counts twice."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from test_suite_expand import shaped_for_pytorch

from harness.compilers import TorchScriptSupport, inductor, torchscript_support
from harness.storage.disk_cache import FOLDER_VARIABLE
from harness.suite import GroupedModules, GroupedSetup, GroupedStmts, command, cpp, materialize, runner
from harness.suite.benchmark import Benchmark
from harness.suite.command import DEFAULT, SOME_FAILED, benchmarks_of, chosen, main
from harness.suite.compare import SAME, Comparison
from harness.suite.results import SuiteSettings, load, save
from harness.suite.runner import NOT_COUNTED
from harness.suite.types import FlatIntermediateDefinition

SETUP = GroupedSetup("x = torch.ones(8)")


def test_the_standard_suite_has_over_thirty_benchmarks_eager_in_both_languages_and_compiled_in_python(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    works = benchmarks_of(DEFAULT)
    assert len(listed) == len(set(listed)) == len(works) > 100
    assert len({work.label for work in works}) > 30
    forms = {(work.runtime, work.autograd, work.is_cpp) for work in works}
    passes = ("Forward", "Forward + Backward")
    assert forms == {("Eager", autograd, is_cpp) for autograd, is_cpp in product(passes, (False, True))} | {
        ("Compiled", autograd, False) for autograd in passes
    }


def test_benchmarks_are_chosen_by_any_part_of_their_title() -> None:
    works = benchmarks_of(DEFAULT)
    assert {work.label[0] for work in chosen(works, ["Train", "Reduce"])} == {"Train", "Reduce"}
    assert all("Backward · C++" in work.title for work in chosen(works, ["Train*Backward · C++"]))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--out"),
        (["--list", "--only", "nothing like it"], "No benchmark matches"),
        (["missing.py", "--list"], "no file missing.py"),
        (["compare", "a.json", "b.json"], "cannot be read"),
        (["--lisst"], "--help"),
        (["--out", "missing/out.json"], "no folder missing"),
    ],
)
def test_every_error_is_one_sentence(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1


DEFINITIONS = """
from harness.suite import GroupedSetup, GroupedStmts, TimerArgs
setup = GroupedSetup("x = torch.ones(8, requires_grad=True)", "auto x = torch::ones({8}); x.set_requires_grad(true);")
BENCHMARKS = {
    "sum": GroupedStmts("y = x.sum()", CPP, setup, "f(x) -> y", autograd=True, torchscript=True, compiled=True),
    "broken": TimerArgs("1 / 0"),
}
"""


def sound_in_python() -> str:
    """Return the definitions without C++ and without the benchmark that fails."""
    in_cpp = ', "auto x = torch::ones({8}); x.set_requires_grad(true);"'
    assert in_cpp in DEFINITIONS
    return DEFINITIONS.replace("CPP", "None").replace(in_cpp, "").replace('"broken": TimerArgs("1 / 0"),', "")


def test_wall_times_are_measured_printed_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "mine.py", tmp_path / "out.json"
    file.write_text(DEFINITIONS.replace("CPP", "None").replace("torchscript=True, compiled=True", ""), encoding="utf-8")
    arguments = [str(file), "--out", str(out), "--no-counts", "--min-run-time", "0.001", "--jobs", "1"]
    assert main(arguments) == SOME_FAILED
    printed, err = capsys.readouterr()
    assert "2 benchmarks measured, 1 failed" in printed
    assert "broken · Python ×1: ZeroDivisionError" in err
    assert main(["compare", str(out), str(out)]) == 0
    assert "wall times: 2 of 2 within 0.5 %" in capsys.readouterr().out
    assert main([*arguments[:-2], "--only", "sum"]) == 0


@pytest.mark.parametrize("gone", ["torchscript_support", "cannot_compile"])
def test_benchmarks_that_this_torch_cannot_run_are_left_out_and_the_run_succeeds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    absent = {
        "torchscript_support": TorchScriptSupport(False, "no TorchScript any more"),
        "cannot_compile": "no compiler here",
    }
    word, runtime = {
        "torchscript_support": ("torchscript=True", "TorchScript"),
        "cannot_compile": ("compiled=True", "Compiled"),
    }[gone]
    monkeypatch.setattr(runner, gone, lambda: absent[gone])
    file, out = tmp_path / "mine.py", tmp_path / "out.json"
    file.write_text(sound_in_python().replace("torchscript=True, compiled=True", word), encoding="utf-8")
    assert main([str(file), "--out", str(out), "--no-counts", "--min-run-time", "0.001", "--jobs", "1"]) == 0
    printed, err = capsys.readouterr()
    left_out = [each for each in load(out).results if each.left_out]
    assert [each.runtime for each in left_out] == [runtime] * 2
    assert not any(each.times_s or each.failure for each in left_out)
    assert "2 benchmarks measured, 0 failed, 2 left out" in printed
    assert err.strip() == f"Left out (2): {left_out[0].left_out}"


def test_torchscript_without_torchs_support_is_measured_with_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        command, "torchscript_support", lambda: TorchScriptSupport(True, "torch 9.9 does not support it")
    )
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "cache"))
    file, out = tmp_path / "mine.py", tmp_path / "out.json"
    text = sound_in_python().replace(", compiled=True", "").replace("autograd=True, ", "")
    file.write_text(text, encoding="utf-8")
    assert main([str(file), "--out", str(out), "--no-counts", "--min-run-time", "0.001", "--jobs", "1"]) == 0
    eager, scripted = load(out).results
    assert eager.times_s
    assert bool(scripted.times_s) == torchscript_support().runs
    told = "Measured, although not supported (1): torch 9.9 does not support it" in capsys.readouterr().err
    assert told == torchscript_support().runs


@pytest.mark.long
@pytest.mark.program("c++")
def test_compiled_forms_of_statements_and_modules_are_timed_and_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.delenv(inductor.CACHE_VARIABLE, raising=False)
    groups: FlatIntermediateDefinition = {
        ("sum",): GroupedStmts("y = (x * 2).sum()", setup=SETUP, signature="f(x) -> y", compiled=True),
        ("ReLU",): GroupedModules("model = torch.nn.ReLU()", setup=SETUP, signature="f(x) -> y", compiled=True),
        ("broken",): GroupedModules("model = missing", setup=SETUP, signature="f(x) -> y", compiled=True),
    }
    works = tuple(work for work in Benchmark.all_of(materialize(groups)) if work.runtime == "Compiled")
    found = runner.measure(works, tmp_path / "out.json", SuiteSettings(min_run_time_s=0.001), jobs=1)
    *sound, broken = found.results
    assert [bool(each.times_s) for each in found.results] == [True, True, False]
    assert {each.uncounted for each in sound} == {NOT_COUNTED}
    assert "NameError" in broken.failure
    assert any((tmp_path / "cache" / "inductor").rglob("*.so"))


@pytest.mark.long
@pytest.mark.valgrind
@pytest.mark.program("c++")
def test_every_kind_is_compiled_timed_and_counted_and_counts_repeat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "cache"))
    file, first, second = tmp_path / "mine.py", tmp_path / "first.json", tmp_path / "second.json"
    in_both_languages = DEFINITIONS.replace("CPP", '"auto y = x.sum();"').replace("torchscript=True, ", "")
    file.write_text(in_both_languages, encoding="utf-8")
    assert main([str(file), "--out", str(first), "--min-run-time", "0.01"]) == SOME_FAILED
    suite = load(first)
    assert [bool(each.times_s) for each in suite.results] == [True] * 6 + [False]
    compiled = [each.runtime == "Compiled" for each in suite.results]
    assert [bool(each.instructions) for each in suite.results] == [not each for each in compiled[:-1]] + [False]
    assert {each.uncounted for each in suite.results if each.runtime == "Compiled"} == {NOT_COUNTED}
    assert not any(each.cached for each in suite.results)
    # The second run keeps the wall times of the first and only counts, with another number of workers.
    save(replace(suite, results=tuple(replace(each, instructions=()) for each in suite.results)), second)
    again = [str(file), "--out", str(second), "--min-run-time", "0.01", "--recount", "--jobs", "1"]
    assert main(again) == SOME_FAILED
    changes = [pair.count_change for pair in Comparison.of(suite, load(second)).changes]
    assert max(abs(change) for change in changes if change is not None) <= SAME
    assert changes.count(None) == 1 + sum(compiled)


@pytest.mark.long
@pytest.mark.program("c++")
def test_definitions_for_pytorchs_suite_run_in_every_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpp, "BATCH", 64)  # torch's headers are compiled only once for each of two global setups
    monkeypatch.syspath_prepend(tmp_path)
    out = tmp_path / "out.json"
    file = shaped_for_pytorch(tmp_path)
    assert main([str(file), "--out", str(out), "--no-counts", "--min-run-time", "0.001", "--jobs", "1"]) == 0
    assert all(each.times_s for each in load(out).results)


def test_fresh_does_not_overwrite_another_file_without_force(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "mine.py", tmp_path / "out.json"
    file.write_text('from harness.suite import TimerArgs\nBENCHMARKS = {"sum": TimerArgs("1 + 1")}\n', encoding="utf-8")
    out.write_text("mine")
    arguments = [str(file), "--fresh", "--no-counts", "--min-run-time", "0.001", "--jobs", "1", "--out", str(out)]
    assert main(arguments) == 2
    assert "--force" in capsys.readouterr().err
    assert out.read_text() == "mine"
    assert main([*arguments, "--force"]) == 0
    assert main(arguments) == 0, "a new run replaces the files of an earlier run"
