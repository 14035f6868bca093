"""The texts about other ways: they agree with the known submissions, and are printed with their ratios."""

from dataclasses import replace
from pathlib import Path

import pytest

from grader import catalogue, ways
from grader.authoring import task_texts
from grader.task import tier_of
from grader.ways import TaskWays, Way, ways_of


def test_the_texts_are_those_of_the_example_submissions_and_each_ratio_reaches_their_tier() -> None:
    for task in catalogue.all_tasks():
        found = ways_of(task)
        assert task_texts.written_ways(task, found) == found, f"{task.full_name}: run `python -m grader stubs`"
        tiers = {task_texts.row_name(path.stem): int(path.stem[4]) for path in task_texts.ways_in(task)}
        assert all(way.ratio is None or tier_of(way.ratio, task.tiers) == tiers[way.name] for way in found.ways)
    assert ways.as_bytes(ways.read()) == ways.FILE.read_bytes()


def test_measured_ratios_replace_the_recorded_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = replace(next(catalogue.all_tasks()), folder=tmp_path)
    task.known.mkdir(parents=True)
    (task.known / "tier3_a.py").write_text('"""Adds\nup.\n\nTrade: It is short. It\nis slow.\n"""\n', encoding="utf-8")
    (task.known / "tier3_b.py").write_text('"""Trade: not a paragraph."""\n', encoding="utf-8")
    (task.known / "wrong_c.py").write_text('"""Adds.\n\nTrade: None.\n"""\n', encoding="utf-8")
    monkeypatch.setattr(catalogue, "all_tasks", lambda: iter([task]))
    monkeypatch.setattr(ways, "FILE", tmp_path / "ways.json")

    task_texts.write_ways()
    assert ways.read() == {
        task.full_name: TaskWays("", None, (Way("a", "Adds up.", "It is short. It is slow.", None),))
    }

    task_texts.write_ways({task.full_name: {"tier3_a": 3.0, "solution": 7.0, "b": 5.0}})
    (found,) = ways.read().values()
    assert (found.reference, [way.ratio for way in found.ways]) == (7.0, [3.0])
    assert found.place.startswith("on a machine with ")

    task_texts.write_ways()
    assert ways.read() == {task.full_name: found}
