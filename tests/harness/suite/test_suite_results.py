"""The file of a suite's run, which is written again after each result, so that a killed run continues from it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.machine.environment import Environment
from harness.storage.disk_cache import FOLDER_VARIABLE
from harness.suite import TimerArgs, pool, runner
from harness.suite.expand import Benchmark
from harness.suite.results import Result, Suite, SuiteComparison, SuiteSettings, earlier_results, load, save

HERE = Environment.capture(ask_cuda=False)
SETTINGS = SuiteSettings()
WORKS = tuple(Benchmark((name,), "", "", TimerArgs(name)) for name in "abc")


def result(work: Benchmark, **found: Any) -> Result:
    return replace(Result.of(work), **found)


def test_load_returns_what_save_wrote_as_plain_json_with_raw_samples(tmp_path: Path) -> None:
    found = result(WORKS[0], times_s=(1e-6, 2e-6), cores=(1,), instructions=(500, 400, 402), number=100)
    save(whole := Suite(HERE, SETTINGS, (found,)), tmp_path / "out.json")
    assert load(tmp_path / "out.json") == whole
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
    assert found.instructions_per_run == 4.01  # without the first count
    assert result(WORKS[0], instructions=(900,), number=100).instructions_per_run == 9
    assert result(WORKS[0]).instructions_per_run is None
    record = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert record["results"][0]["times_s"] == [1e-6, 2e-6]
    assert record["environment"]["python"] == HERE.python


def test_the_error_for_any_other_file_is_one_sentence(tmp_path: Path) -> None:
    other = json.dumps({"environment": HERE.to_dict(), "settings": {}, "results": ["x"]})
    for text in ("", "{}", "[]", '{"environment": {}}', other):
        (tmp_path / "out.json").write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=r"[Mm]easure again"):
            load(tmp_path / "out.json")


def test_left_out_and_failed_benchmarks_are_tried_again_and_earlier_measurements_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.json"
    results = (
        result(WORKS[0], left_out="no compiler"),
        result(WORKS[1], times_s=(1.0,), uncounted="none"),
        result(WORKS[2], failure="it was raining"),
    )
    save(Suite(HERE, SETTINGS, results), out)
    monkeypatch.setattr(runner, "lacking", lambda work: "no compiler" if work.key == WORKS[1].key else "")
    monkeypatch.setattr(pool, "serve_all", lambda *_: None)
    first, second, third = runner.measure(WORKS, out, SETTINGS, count=False).results
    assert first.left_out == third.failure == ""
    assert (second.left_out, second.times_s) == ("", (1.0,))


def test_stored_counts_are_read_again_and_damaged_ones_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    runner.save_counts(WORKS[0], SETTINGS, (900, 400))
    assert runner.load_counts(WORKS[0], SETTINGS) == (900, 400)
    (file,) = (tmp_path / runner.KIND).iterdir()
    for text in ("", "[]", "7", "{}"):
        file.write_text(text, encoding="utf-8")
        assert runner.load_counts(WORKS[0], SETTINGS) is None


def test_a_run_does_not_continue_with_other_settings_or_on_another_machine(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    save(Suite(HERE, SETTINGS, ()), out)
    assert earlier_results(out, HERE, SETTINGS) == {}
    with pytest.raises(UsageError, match="settings"):
        earlier_results(out, HERE, SuiteSettings(number=7))
    with pytest.raises(UsageError, match="python: 2"):
        earlier_results(out, replace(HERE, python="2.7"), SETTINGS)


def test_a_stopped_run_continues_and_a_finished_run_measures_only_new_benchmarks_unless_fresh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[str] = []
    out = tmp_path / "out.json"

    class Instant:
        cores = (0,)

        def run(self, request: Mapping[str, Any], _: float) -> Mapping[str, Any]:
            measured.append(request["stmt"])
            if measured == ["a", "b"]:
                raise KeyboardInterrupt
            return {"times_s": [1.0 + len(measured)], "runs_per_sample": 1}

    def serve_all(_mode: str, works: Sequence[Benchmark], _jobs: int, serve: Callable[[Any, Benchmark], None]) -> None:
        for work in works:
            serve(Instant(), work)

    monkeypatch.setattr(pool, "serve_all", serve_all)
    with pytest.raises(KeyboardInterrupt):
        runner.measure(WORKS[:2], out, SETTINGS, count=False)
    assert [each.times_s for each in load(out).results] == [(2.0,), ()]
    runner.measure(WORKS[:2], out, SETTINGS, count=False)
    runner.measure(WORKS, out, SETTINGS, count=False)
    assert measured == ["a", "b", "b", "c"]
    assert [each.times_s for each in load(out).results] == [(2.0,), (4.0,), (5.0,)]
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
    runner.measure(WORKS, out, SETTINGS, count=False, fresh=True)
    assert measured[4:] == ["a", "b", "c"]


def test_two_runs_are_matched_by_name_and_kind() -> None:
    def run(counts: Mapping[str, int], seconds: float) -> Suite:
        works = [Benchmark((name,), "", "", TimerArgs(f"{name} in {seconds}")) for name in counts]
        found = zip(works, counts.values(), strict=True)
        return Suite(
            HERE, SETTINGS, tuple(result(w, times_s=(seconds,), instructions=(n,), number=1) for w, n in found)
        )

    found = SuiteComparison.of(run({"a": 1000, "b": 500, "c": 1}, 1.0), run({"a": 1001, "b": 600, "d": 1}, 1.5))
    assert [round(each.count_change or 0, 6) for each in found.changes] == [0.001, 0.2]
    assert [each.time_change for each in found.changes] == [0.5, 0.5]
    assert [each.label for each in (*found.only_first, *found.only_second)] == [("c",), ("d",)]
    assert "instructions: 1 of 2 within 0.5 %; the median change is 0.1 %, the largest 20 %." in found.summary()
    assert "wall times: 0 of 2" in found.summary()
    assert found.table().to_text().count("\n") == 3
    timed = run({"a": 0}, 1.0)
    found = SuiteComparison.of(timed, replace(timed, environment=replace(HERE, torch="1.0")))
    assert f"The runs differ in torch: {HERE.torch}, 1.0." in found.summary()
    assert "No benchmark has instructions in both runs." in found.summary()
