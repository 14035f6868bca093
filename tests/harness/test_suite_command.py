"""The command: what it lists, refuses and prints. And, slowly, one whole run for real, counted twice."""

from dataclasses import replace
from pathlib import Path

import pytest
from test_suite_expand import shaped_for_pytorch

from harness.disk_cache import FOLDER_VARIABLE
from harness.suite import cpp
from harness.suite.command import DEFAULT, SOME_FAILED, chosen, main, works_of
from harness.suite.compare import SAME, Comparison
from harness.suite.results import load, save


def test_ours_are_over_thirty_benchmarks_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    works = works_of(DEFAULT)
    assert len(listed) == len(set(listed)) == len(works) > 100
    assert len({work.label for work in works}) > 30
    forms = {(work.runtime, work.autograd, work.is_cpp) for work in works}
    assert len(forms) == 2 * 2 * 2


def test_benchmarks_are_chosen_by_any_part_of_their_title() -> None:
    works = works_of(DEFAULT)
    assert {work.label[0] for work in chosen(works, ["Train", "Reduce"])} == {"Train", "Reduce"}
    assert all("Backward · C++" in work.title for work in chosen(works, ["Train*Backward · C++"]))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--out"),
        (["--list", "--only", "nothing like it"], "No benchmark fits"),
        (["missing.py", "--list"], "no file missing.py"),
        (["compare", "a.json", "b.json"], "cannot be read"),
        (["--lisst"], "--help"),
        (["--out", "missing/out.json"], "no folder missing"),
    ],
)
def test_what_it_cannot_do_is_one_sentence(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1


DEFINITIONS = """
from harness.suite import GroupedSetup, GroupedStmts, TimerArgs
setup = GroupedSetup("x = torch.ones(8, requires_grad=True)", "auto x = torch::ones({8}); x.set_requires_grad(true);")
BENCHMARKS = {
    "sum": GroupedStmts("y = x.sum()", CPP, setup, "f(x) -> y", autograd=True, torchscript=True),
    "broken": TimerArgs("1 / 0"),
}
"""


def test_wall_times_are_measured_printed_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "mine.py", tmp_path / "out.json"
    file.write_text(DEFINITIONS.replace("CPP", "None").replace("torchscript=True", ""), encoding="utf-8")
    command = [str(file), "--out", str(out), "--no-counts", "--min-run-time", "0.001", "--jobs", "1"]
    assert main(command) == SOME_FAILED
    printed, err = capsys.readouterr()
    assert "2 benchmarks measured, 1 failed" in printed
    assert "broken · Python ×1: ZeroDivisionError" in err
    assert main(["compare", str(out), str(out)]) == 0
    assert "wall times: 2 of 2 within 0.5 %" in capsys.readouterr().out
    assert main([*command[:-2], "--only", "sum"]) == 0


@pytest.mark.slow
@pytest.mark.valgrind
@pytest.mark.program("c++")
def test_every_form_is_compiled_timed_and_counted_and_counts_repeat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "cache"))
    file, first, second = tmp_path / "mine.py", tmp_path / "first.json", tmp_path / "second.json"
    file.write_text(DEFINITIONS.replace("CPP", '"auto y = x.sum();"'), encoding="utf-8")
    assert main([str(file), "--out", str(first), "--min-run-time", "0.01"]) == SOME_FAILED
    suite = load(first)
    assert [bool(each.times_s and each.instructions) for each in suite.results] == [True] * 8 + [False]
    assert not any(each.cached for each in suite.results)
    # The wall times are those of the first run, so that the second merely counts, with another number of workers.
    save(replace(suite, results=tuple(replace(each, instructions=()) for each in suite.results)), second)
    again = [str(file), "--out", str(second), "--min-run-time", "0.01", "--recount", "--jobs", "1"]
    assert main(again) == SOME_FAILED
    changes = [pair.count_change for pair in Comparison.of(suite, load(second)).pairs]
    assert max(abs(change) for change in changes if change is not None) <= SAME
    assert changes.count(None) == 1


@pytest.mark.slow
@pytest.mark.program("c++")
def test_definitions_for_pytorchs_suite_run_in_every_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpp, "BATCH", 64)  # torch's headers are read once for each of two global setups, and no more
    monkeypatch.syspath_prepend(tmp_path)
    out = tmp_path / "out.json"
    file = shaped_for_pytorch(tmp_path)
    assert main([str(file), "--out", str(out), "--no-counts", "--min-run-time", "0.001", "--jobs", "1"]) == 0
    assert all(each.times_s for each in load(out).results)
