"""Tests of the example lesson in the docstring of `lessons.engine.lesson`."""

import importlib
import inspect
import re
import sys
import textwrap
from pathlib import Path

import pytest
from forced import wrong_words
from sessions import Play

from lessons.engine import lesson as documented
from lessons.engine.lesson import Lesson


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lesson:
    found = re.search(r"\n\n((?:    .*\n|\n)+)", inspect.getdoc(documented) or "")
    assert found
    (tmp_path / "example_lesson.py").write_text(textwrap.dedent(found[1]))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "example_lesson", raising=False)
    lesson = importlib.import_module("example_lesson").lesson
    assert isinstance(lesson, Lesson)
    return lesson


def test_the_example_runs_and_has_words_for_each_result(example: Lesson, prepare: Play) -> None:
    played = prepare(example, fast=True)
    played.session.play()
    assert played.session.record().complete
    assert wrong_words(played.session) == []


def test_its_code_can_be_pasted(example: Lesson) -> None:
    namespace: dict[str, object] = {}
    exec(f"{example.steps[0].shown_code}\n\nresult = two_sums(turns=2)", namespace)  # noqa: S102
    assert len(str(namespace["result"])) > 0
