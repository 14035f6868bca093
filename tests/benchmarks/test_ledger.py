from collections.abc import Sequence
from pathlib import Path

import ledger as module
import pytest
from jobs import Batch, BenchmarkError, Job
from ledger import Ledger
from tally import Judgement

from harness.paired.duel_result import Finding

JOBS = tuple(Job(tool, "python loop", 1.05, 1.0) for tool in ("duel", "timeit"))
SETTINGS = {"budget_s": 1.0}


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    tools: list[str] = []

    def play(jobs: Sequence[Job]) -> list[list[Judgement]]:
        tools.extend(job.tool for job in jobs)
        return [[Judgement(job.tool, 1.04, Finding.SLOWER, 0.5, 0.6)] for job in jobs]

    monkeypatch.setattr(module, "play", play)
    return tools


def test_what_was_played_is_not_played_again(played: list[str], tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    Ledger.opened(path, SETTINGS).play(Batch("as it is", 0, JOBS[:1]))
    again = Ledger.opened(path, SETTINGS)
    assert not again.holds(Batch("as it is", 0, JOBS))
    again.play(Batch("as it is", 0, JOBS))
    assert played == ["duel", "timeit"]
    assert again.holds(Batch("as it is", 0, JOBS))
    assert Ledger.opened(path, SETTINGS).trials == again.trials


def test_another_repetition_or_load_is_another_batch(played: list[str], tmp_path: Path) -> None:
    ledger = Ledger.opened(tmp_path / "kept.json", SETTINGS)
    for batch in (Batch("as it is", 0, JOBS), Batch("as it is", 1, JOBS), Batch("full", 0, JOBS)):
        assert not ledger.holds(batch)
        ledger.play(batch)
    assert len(played) == len(ledger.trials) == 6


def test_a_file_made_with_other_settings_is_refused(played: list[str], tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    Ledger.opened(path, SETTINGS).play(Batch("as it is", 0, JOBS))
    assert played
    with pytest.raises(BenchmarkError, match="give another --json file"):
        Ledger.opened(path, {"budget_s": 0.5})


def test_without_a_file_nothing_is_kept_but_in_memory(played: list[str]) -> None:
    ledger = Ledger.opened(None, SETTINGS)
    ledger.play(Batch("as it is", 0, JOBS))
    assert [trial.tool for trial in ledger.trials] == played
