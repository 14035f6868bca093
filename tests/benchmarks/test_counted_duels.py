import json
from dataclasses import asdict
from itertools import islice
from pathlib import Path

import counted
import pytest
from counted import MIX, Batch, Fought, described, fight, plan, read, report, run
from json_lines import append
from neighbours import LOADS
from workloads import ALL_WORKS


def fought(truth: float, verdict: str, ratio: float = 1.0) -> Fought:
    return Fought("as it is", "json", truth, False, 0, verdict, ratio, 0.99 * ratio, 1.01 * ratio, 0.4)


@pytest.mark.parametrize("verdict", ["faster", "slower"])
def test_any_difference_between_equal_code_is_false(verdict: str) -> None:
    assert fought(1.0, verdict).false
    assert not fought(1.0, "undecided").false
    assert fought(1.0, "same").found


@pytest.mark.parametrize("truth", [1.03, 1.05])
def test_slower_code_is_found_or_undecided_or_the_verdict_is_false(truth: float) -> None:
    assert fought(truth, "slower").found
    assert not fought(truth, "slower").false
    assert fought(truth, "same").false
    assert fought(truth, "faster").false
    undecided = fought(truth, "undecided")
    assert not undecided.false
    assert not undecided.found


def test_the_error_is_zero_for_the_true_ratio() -> None:
    assert fought(1.05, "slower", 1 / 1.05).error < 1e-12


def test_each_repetition_has_every_work_under_every_load() -> None:
    loads, works = [load.name for load in LOADS], [work.name for work in ALL_WORKS]
    batches = list(islice(plan(loads, works), len(loads) * len(works) * len(MIX)))
    assert {batch.number for batch in batches} == {0}
    assert {(batch.load, batch.work) for batch in batches} == {(load, work) for load in loads for work in works}
    assert len(works) >= 12


def test_a_line_cut_off_by_an_interruption_is_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "counted.jsonl"
    append(path, [fought(1.0, "same"), fought(1.03, "slower")])
    with path.open("a") as file:
        file.write(json.dumps(asdict(fought(1.0, "same")))[:30])
    assert len(read(path)) == 2
    append(path, [fought(1.05, "slower")])
    assert [one.truth for one in read(path)] == [1.0, 1.03, 1.05]


def test_a_second_run_continues_where_the_first_one_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[Batch] = []

    def play(batch: Batch) -> list[Fought]:
        played.append(batch)
        kind = batch.load, batch.work, batch.truth, batch.paired_processes, batch.number
        return [Fought(*kind, "same", 1.0, 0.99, 1.01, 0.4)] * batch.duels

    monkeypatch.setattr(counted, "in_new_process", play)
    path, kinds = tmp_path / "counted.jsonl", (["as it is"], ["json", "sort"])
    run(path, *kinds, duels=20, seconds=60)
    run(path, *kinds, duels=100, seconds=60)
    assert len(played) == len(set(played))
    assert sum(one.truth == 1.0 for one in read(path)) >= 100


def test_a_real_batch_has_a_line_in_the_table() -> None:
    found = fight(Batch("as it is", "json", 1.05, False, 2, 0))
    assert len(found) == 2
    text = report(found).to_text()
    assert "1.05" in text
    assert all("json" in described(one) for one in found)
