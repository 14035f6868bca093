"""Plain Python whose opcodes are counted: the exam for instructions again, with exact counts and without valgrind."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from small_tasks import QUICK
from test_counted import BASELINE, FORMULA, TIMED_DRAWS, Sum, ratio, right, run
from trees import BARE, SAFE

from grader.errors import WorkerFault
from grader.inside.protocol import ProtocolError
from grader.records import Cost, Status
from grader.session import Session
from grader.task import CountedExam, Task, Tier
from grader.trials import counted, counted_process, loading_share, valgrind
from grader.trials.score import score

DEEP = "def g(n): return g(n + 1)\ndef total(n):\n    try: g(0)\n    except RecursionError: return n * (n - 1) // 2\n"


@pytest.fixture
def task(tmp_path: Path) -> Task:
    def cases(rng: np.random.Generator) -> tuple[Sum, ...]:
        return Sum(0), Sum(int(rng.integers(5, 50)))

    def long(rng: np.random.Generator) -> tuple[Sum, ...]:
        return tuple(Sum(int(n)) for n in rng.integers(400, 500, 2))

    known = tmp_path / "known" / "total"
    known.mkdir(parents=True)
    (known / "baseline.py").write_text(BASELINE, encoding="utf-8")
    tiers, hints = (Tier(2.0, 0.6), Tier(10.0, 1.0)), ("a", "b", "c")
    exam = CountedExam(cases, long, right, timed_draws=10 * TIMED_DRAWS)
    return Task(
        "00_small", "total", "a sum", 10.0, Cost.OPCODES, tiers, hints, exam, tmp_path, "lesson 13", limits=QUICK
    )


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setattr(valgrind, "trouble", lambda: "valgrind is missing")
    return replace(BARE, baseline_counts={})


def test_the_baseline_is_as_good_as_itself_and_words_cost_next_to_nothing(task: Task, session: Session) -> None:
    assert ratio(task, BASELINE, session) == 1
    verbose = f'"""{"Many words. " * 500}"""\n\n{BASELINE}\n{"# And more of them." * 100}\n'
    assert ratio(task, verbose, session) == pytest.approx(1, rel=1e-3)


@pytest.mark.parametrize("given", [BARE, pytest.param(SAFE, marks=pytest.mark.sandbox)], ids=["bare", "sandbox"])
def test_less_is_a_higher_tier_and_work_at_import_is_counted(task: Task, given: Session) -> None:
    session = replace(given, baseline_counts={})
    attempt = run(task, FORMULA, session)
    assert attempt.speed is not None
    assert (attempt.status, attempt.speed.tier) == (Status.PASSED, 2)
    at_import = f"KNOWN = [n * n for n in range(1000)]\n{FORMULA}"
    assert ratio(task, at_import, session) < attempt.speed.ratio / 3


def test_a_failed_count_of_loading_costs_only_the_remark(
    task: Task, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_import = f"KNOWN = [n * n for n in range(1000)]\n{FORMULA}"
    attempt = run(task, at_import, session)
    assert "opcodes were executed while the file was loaded" in attempt.rationale

    def failed(*_: object, **__: object) -> NoReturn:
        raise WorkerFault(Status.TIMED_OUT, "No answer")

    monkeypatch.setattr(loading_share, "count", failed)
    again = run(task, at_import, session)
    assert (again.status, again.rationale) == (Status.PASSED, "")
    assert again.speed == attempt.speed


def test_loading_is_not_counted_if_a_file_only_defines_functions(
    task: Task, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading_share, "remark", lambda *_, **__: "counted")
    assert run(task, BASELINE, session).rationale == ""
    assert run(task, f"KNOWN = list(range(9))\n{BASELINE}", session).rationale == "counted"


def test_a_recursion_to_the_limit_is_told_and_earns_nothing(task: Task, session: Session) -> None:
    with pytest.raises(WorkerFault, match="a recursion reached its limit") as told:
        run(task, DEEP, session)
    assert told.value.status is Status.RAISED


def test_a_count_below_the_one_that_all_have_in_common_is_not_believed(
    task: Task, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = counted_process.count

    def saved(task: Task, session: Session, given: Mapping[str, Any], *, by_valgrind: bool) -> counted_process.Count:
        whole = count(task, session, given, by_valgrind=by_valgrind)
        return replace(whole, taken=1 if given["run"] == counted_process.SUBMISSION else 1000 + whole.taken)

    monkeypatch.setattr(counted, "count", saved)
    with pytest.raises(WorkerFault, match="fewer opcodes than a program that only returns the answers") as told:
        run(task, FORMULA, session)
    assert told.value.status is Status.PROTOCOL_VIOLATION


def test_what_is_no_computing_is_told_in_the_words_of_this_count(task: Task, session: Session) -> None:
    with pytest.raises(WorkerFault, match="raised ImportError while its opcodes were counted: json cannot be imported"):
        run(task, f"import json\n{BASELINE}", session)


def test_a_sum_without_the_key_is_none() -> None:
    with pytest.raises(ProtocolError, match="does not come from the counter"):
        counted_process._opcodes({"opcodes": 1, "key": "another"}, "the key")
    with pytest.raises(ProtocolError, match="does not come from the counter"):
        counted_process._opcodes({"opcodes": "1", "key": "the key"}, "the key")
    assert counted_process._opcodes({"opcodes": 17, "key": "the key"}, "the key") == 17


def test_a_ratio_far_above_the_best_known_one_keeps_its_points_and_is_for_the_instructor_to_check(
    task: Task, session: Session
) -> None:
    assert isinstance(task.exam, CountedExam)
    known = run(task, FORMULA, session)
    assert known.speed is not None
    near, far = (
        run(replace(task, exam=replace(task.exam, best_ratio=known.speed.ratio / times)), FORMULA, session)
        for times in (2.9, 3.1)
    )
    assert (near.status, far.status) == (Status.PASSED, Status.IMPLAUSIBLE)
    assert score(task, far).points == score(task, near).points == 10
    assert "more than 3 times the best known ratio" in far.rationale
    assert "The instructor must check this result." in far.rationale
