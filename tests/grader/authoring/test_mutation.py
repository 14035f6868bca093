"""`lint --mutants`: each kind of change is made once, and weak tasks are found by the mutants that they accept."""

import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_tasks import Question, search

from grader import catalogue
from grader.authoring import kit_functions, kit_leaks
from grader.authoring import mutants as judging
from grader.authoring.mutants import Tally, tally
from grader.commands import author
from grader.errors import UsageError
from grader.task import Scenario, SimulatedExam, Task

PASSED = "def passed(points):\n    return points >= 5\n"
COUNTED = "def passed(points):\n    n = 0\n    while n < points:\n        n += 1\n    return n >= 5\n"


def points(number: int) -> Scenario:
    """Return a scenario in which an exam is passed with 5 points."""
    return Question("passed", (number,), number >= 5)


def one(rng: np.random.Generator) -> Sequence[Scenario]:
    return [points(int(rng.integers(0, 10)))]


def every(_: np.random.Generator) -> Sequence[Scenario]:
    return list(map(points, range(11)))


def task(scenarios: Callable[[np.random.Generator], Sequence[Scenario]]) -> Task:
    return replace(search(Path()), name="passed", exam=SimulatedExam(scenarios), tiers=())


def found(task: Task, source: str) -> Tally:
    return tally(task, {"right.py": source})


def test_a_task_of_one_case_has_holes_and_each_is_shown_with_a_case_that_finds_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(judging, "right_answers", lambda _: {"right.py": PASSED})
    monkeypatch.setattr(kit_functions, "modules", lambda *_: [])
    for scenarios, code in ((one, 1), (every, 0)):
        monkeypatch.setattr(judging, "tasks", lambda _, scenarios=scenarios: [task(scenarios)])
        assert author.lint_exercises(changed="passed") == code
    assert capsys.readouterr().out.splitlines()[-1].startswith("✓ 00_small.passed: 6 mutants, 0 equivalent, 6 rejected")
    done = found(task(one), PASSED)
    hole, case = done.survivors[0]
    assert re.fullmatch(r"a question, passed\(\d\): expected (True, got False|False, got True)", case)
    summary, *lines = done.lines()
    assert summary.startswith(f"✗ 00_small.passed: {done.tried} mutants, ")
    assert summary.endswith(f"{100 * done.share:.1f} % of those that change an answer")
    shown = ["  right.py:2", "    was  return points >= 5", f"    now  {hole.now}"]
    assert [*shown, f"    a case that shows the change: {case}"] == lines[: len(shown) + 1]


def test_mutants_that_never_end_are_ended_and_count_as_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "ADDED_S", 0.1)
    done = found(task(every), COUNTED)
    assert done.survivors == ()
    assert done.rejected >= 10
    monkeypatch.setattr(kit_leaks, "LONGEST_S", 0.1)
    with pytest.raises(UsageError, match=r"right\.py is wrong without any change: it never ends"):
        found(task(every), COUNTED.replace("n += 1", "n += 0"))


def test_kit_code_one_change_from_an_answer_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nearly.py").write_text(PASSED.replace("5", "6"))
    monkeypatch.syspath_prepend(tmp_path)
    kit = importlib.import_module("nearly")
    monkeypatch.setattr(kit_functions, "modules", lambda *_: [kit])
    assert list(judging.earning_code(task(every))) == [
        "nearly:2 is right: 'return points >= 6' became 'return points >= 5'"
    ]
    vars(kit)["passed"].__module__ = "another"
    assert list(judging.earning_code(task(every))) == []


@pytest.mark.long
def test_a_sample_of_changes_in_the_kit_earns_nothing() -> None:
    """Making the changes of all functions that could solve one task takes up to 40 seconds."""
    for one in [one for one in catalogue.all_tasks() if not one.exam.in_c][::12]:
        assert list(judging.earning_code(one, most=20)) == []


@pytest.mark.long
def test_an_exercise_of_the_kit_rejects_its_mutants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "TIME_LIMIT_S", 20.0)  # mutants come in random order, so these are a sample
    (expand,) = judging.tasks("15.expand")
    done = tally(expand, judging.right_answers(expand))
    assert done.tried > 20
    assert done.is_enough, [*done.lines()]
