"""Counted instructions of plain Python: which work counts, and which earns no points. Counts are exact."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from small_tasks import QUICK, hand_in
from trees import BARE, SAFE

from grader.errors import WorkerFault
from grader.grade import grade_task
from grader.records import Attempt, Cost, Status
from grader.session import Session
from grader.task import CountedExam, Mismatch, Scenario, SimulatedFunction, Task, Tier
from grader.trials import counted, counted_process, valgrind
from grader.trials.counted import speed
from grader.trials.counted_process import BASELINE as BASELINE_RUN
from grader.trials.counted_process import NOTHING, SUBMISSION, Count
from grader.trials.examiners import examine
from grader.trials.score import score
from grader.values import Value
from harness.machine import programs

SEED = ("a secret", "ada", "00_small.total", "0")
BASELINE = "def total(n):\n    result = 0\n    for i in range(n):\n        result = result + i\n    return result\n"
TIMED_DRAWS = 500  # one draw takes about 0.3 ms
FORMULA = "def total(n):\n    return n * (n - 1) // 2\n"
SESSION = replace(BARE, baseline_counts={})
AT_IMPORT = f"KNOWN = [sum(range(n)) for n in range(100)]\n{FORMULA}"


@dataclass(frozen=True)
class Sum:
    """A scenario that asks for the sum of the numbers below `n`."""

    n: int
    title: str = "a sum"
    function: str = "total"
    cost: float = 1.0

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        return (self.n,)

    def call(self, name: str, _: Sequence[Value]) -> Value:
        raise ValueError(name)

    def judge(self, answer: Value) -> Mismatch | None:
        right = self.n * (self.n - 1) // 2
        return None if answer == right else Mismatch(str(right), str(answer))


def right(scenario: Scenario) -> Value:
    assert isinstance(scenario, Sum)
    return scenario.n * (scenario.n - 1) // 2


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    folder = tmp_path_factory.mktemp("small")

    def cases(rng: np.random.Generator) -> tuple[Sum, ...]:
        return Sum(0), Sum(int(rng.integers(5, 50)))

    def counted(rng: np.random.Generator) -> tuple[Sum, ...]:
        return tuple(Sum(int(n)) for n in rng.integers(4000, 5000, 2))

    known = folder / "known" / "total"
    known.mkdir(parents=True)
    (known / "baseline.py").write_text(BASELINE, encoding="utf-8")
    return Task(
        lesson="00_small",
        name="total",
        summary="a sum",
        points=10.0,
        cost=Cost.INSTRUCTIONS,
        tiers=(Tier(2.0, 0.6), Tier(10.0, 1.0)),
        hints=("a", "b", "c"),
        exam=CountedExam(cases, counted, right, timed_draws=TIMED_DRAWS),
        folder=folder,
        read="lesson 08",
        limits=QUICK,
    )


def run(task: Task, source: str, session: Session) -> Attempt:
    return examine(task, source, session, SEED)


def ratio_of(attempt: Attempt) -> float:
    assert attempt.speed is not None, attempt.rationale
    return attempt.speed.ratio


def ratio(task: Task, source: str, session: Session) -> float:
    return ratio_of(run(task, source, session))


@pytest.fixture(scope="module")
def formula(task: Task) -> Attempt:
    return run(task, FORMULA, SESSION)


@pytest.mark.valgrind
def test_less_work_is_a_higher_tier(formula: Attempt) -> None:
    assert formula.speed is not None
    assert (formula.status, formula.speed.tier) == (Status.PASSED, 2)
    assert formula.speed.low == formula.speed.high > 10


@pytest.mark.long
@pytest.mark.valgrind
@pytest.mark.sandbox
def test_a_sandbox_moves_no_count(task: Task) -> None:
    inside, outside = (ratio(task, AT_IMPORT, replace(one, baseline_counts={})) for one in (SAFE, BARE))
    assert inside == pytest.approx(outside, rel=0.01)


@pytest.mark.long
@pytest.mark.valgrind
def test_the_same_submission_counts_the_same_twice_and_words_cost_nothing(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    verbose = f'"""{"Many words. " * 500}"""\n\n{BASELINE}\n{"# And more of them." * 100}\n'
    taken: dict[str, list[int]] = {}
    count = counted_process.count

    def noted(task: Task, session: Session, given: Mapping[str, Any], *, by_valgrind: bool) -> Count:
        one = count(task, session, given, by_valgrind=by_valgrind)
        taken.setdefault(given["run"], []).append(one.taken)
        return one

    monkeypatch.setattr(counted, "count", noted)
    for source in (BASELINE, BASELINE, verbose):
        assert ratio(task, source, replace(SESSION, baseline_counts={})) == pytest.approx(1, rel=1e-3)
    # The ratio is of differences between two counts of whole processes. They are a tenth of a count, so less exact.
    assert taken.keys() == {SUBMISSION, NOTHING, BASELINE_RUN}
    assert all(one == pytest.approx(other, rel=1e-5) for one, other, _ in taken.values())


@pytest.mark.long
@pytest.mark.valgrind
def test_the_baseline_is_counted_once_for_the_same_inputs_also_when_the_submission_is_refused(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    count = counted_process.count

    def noted(task: Task, session: Session, given: Mapping[str, Any], *, by_valgrind: bool) -> Count:
        ran.append(given["run"])
        return count(task, session, given, by_valgrind=by_valgrind)

    monkeypatch.setattr(counted, "count", noted)
    session = replace(SESSION, baseline_counts={})
    with pytest.raises(WorkerFault, match="raised SystemExit while its instructions were counted"):
        run(task, "def total(n):\n    if n > 100: raise SystemExit(0)\n    return n * (n - 1) // 2\n", session)
    for salt in ("", "another"):
        examine(task, FORMULA, session, (*SEED, salt) if salt else SEED)
    assert [ran.count(each) for each in (SUBMISSION, BASELINE_RUN)] == [3, 2]


@pytest.mark.long
@pytest.mark.valgrind
def test_work_at_import_is_counted_and_the_report_names_its_share(task: Task, formula: Attempt) -> None:
    attempt = run(task, AT_IMPORT, SESSION)
    assert ratio_of(attempt) < ratio_of(formula) / 3
    said = score(task, attempt).attempt.rationale
    share = re.search(r"\n(\d+) % of the submission's instructions were executed while the file was loaded", said)
    assert share, said
    assert int(share[1]) > 70, "the formula itself needs little"
    assert "loaded" not in score(task, formula).attempt.rationale, "the formula only defines a function"


@pytest.mark.long
@pytest.mark.valgrind
def test_wrong_answers_and_forbidden_operations_are_found_while_instructions_are_counted(task: Task) -> None:
    with pytest.raises(WorkerFault, match="right in the correctness cases and wrong when the cost") as told:
        run(task, "def total(n):\n    return 0 if n > 100 else n * (n - 1) // 2\n", SESSION)
    assert told.value.status is Status.WRONG
    with pytest.raises(WorkerFault, match="instructions were counted: open /dev/null") as told:
        run(task, BASELINE.replace("    return", "    open('/dev/null')\n    return"), SESSION)
    assert told.value.status is Status.RAISED
    assert "functools" in told.value.help


@pytest.mark.valgrind
def test_a_wrong_answer_is_found_before_anything_is_counted(task: Task) -> None:
    attempt = run(task, "def total(n):\n    return n\n", SESSION)
    assert (attempt.status, attempt.speed) == (Status.WRONG, None)
    assert "simulated" not in attempt.rationale


def test_a_machine_without_valgrind_is_our_fault_and_says_what_to_install(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(valgrind, "trouble", lambda: f"valgrind is missing: {valgrind.INSTALL_HINT}")
    verdict = grade_task(task, hand_in(FORMULA), SESSION)
    assert (verdict.status, verdict.points) == (Status.GRADER_ERROR, 0)
    assert programs.VALGRIND in verdict.attempt.rationale
    assert "not the submission's fault" in verdict.attempt.rationale


def test_a_ratio_of_counts_gives_the_highest_tier_that_it_reaches(task: Task) -> None:
    assert (speed(task, mine=30, baseline=300).ratio, speed(task, mine=30, baseline=300).tier) == (10, 2)
    assert speed(task, mine=31, baseline=300).tier == 1
    assert speed(task, mine=0, baseline=300).ratio == 300, "a count of zero is regarded as one"
