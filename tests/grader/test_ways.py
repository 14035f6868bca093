"""The texts about other ways agree with the known submissions."""

from dataclasses import replace
from pathlib import Path

import pytest

from grader import catalogue, ways
from grader.authoring import task_texts
from grader.ways import Way, ways_of


def test_the_texts_are_those_of_the_example_submissions() -> None:
    for task in catalogue.all_tasks():
        assert task_texts.ways_in(task) == ways_of(task), f"{task.full_name}: run `python -m grader stubs`"
    assert ways.as_bytes(ways.read()) == ways.FILE.read_bytes()


def test_the_trade_is_the_last_paragraph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = replace(next(catalogue.all_tasks()), folder=tmp_path)
    task.known.mkdir(parents=True)
    (task.known / "tier3_a.py").write_text('"""Adds\nup.\n\nTrade: It is short. It\nis slow.\n"""\n', encoding="utf-8")
    (task.known / "tier3_b.py").write_text('"""Trade: not a paragraph."""\n', encoding="utf-8")
    (task.known / "wrong_c.py").write_text('"""Adds.\n\nTrade: None.\n"""\n', encoding="utf-8")
    monkeypatch.setattr(catalogue, "all_tasks", lambda: iter([task]))
    monkeypatch.setattr(ways, "FILE", tmp_path / "ways.json")
    task_texts.write_ways()
    assert ways.read() == {task.full_name: (Way(3, "Adds up.", "It is short. It is slow."),)}
