"""Exams with hidden numbers: what costs a submission, which answers are right, and that counts cannot be forged."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from small_tasks import BISECT, COUNT_UP, search
from trees import BARE

from grader import kinds
from grader.errors import GraderFault, WorkerFault
from grader.kinds.simulated import ScenarioResult, gain, near_miss, speed
from grader.records import Attempt, Status
from grader.task import Mismatch, Scenario, SimulatedExam, SimulatedFunction, Task, Tier
from grader.tasks.plain import PlainScenario
from grader.values import Value

SEED = ("a secret", "ada", "00_small.find", "0")


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return search(tmp_path)


def run(task: Task, source: str, seed: tuple[str, ...] = SEED) -> Attempt:
    return kinds.examiner(task, *seed).examine(source, BARE)


def test_a_right_answer_is_measured_in_calls_and_a_tier_reached_exactly_is_reached(task: Task) -> None:
    attempt = run(task, BISECT)
    assert (attempt.status, attempt.cases_passed, attempt.cases) == (Status.PASSED, 3, 3)
    assert attempt.speed is not None
    assert attempt.speed.tier == 2
    assert 60 / 7 < attempt.speed.ratio < 100 / 6
    exact = run(replace(task, tiers=(Tier(1.0, 1.0),)), COUNT_UP).speed
    assert exact is not None
    assert (exact.tier, exact.ratio) == (1, 1.0)


def test_an_odd_answer_is_wrong_and_a_malformed_call_raises(task: Task) -> None:
    for answer in ("None", "'60'", "{'a': 1}", "float('nan')", "10**400", "object()"):
        assert run(task, f"def find(probe): return {answer}").status is Status.WRONG, answer
    for call in ("probe()", "probe('a')", "probe(float('nan'))", "probe(object())"):
        with pytest.raises(WorkerFault, match=r"\(line 1 of the file\)") as caught:
            run(task, f"def find(probe): return {call}")
        assert caught.value.status is Status.RAISED


def test_a_search_without_end_is_stopped(tmp_path: Path) -> None:
    with pytest.raises(WorkerFault, match="more than 300 calls") as caught:
        run(search(tmp_path, max_calls=300), "def find(probe):\n  while True: probe(0)")
    assert caught.value.status is Status.TIMED_OUT


def test_right_in_each_scenario_can_be_wrong_over_all_of_them(task: Task) -> None:
    def together(scenarios: Sequence[Scenario]) -> Mismatch | None:
        assert [scenario.title for scenario in scenarios] == ["a number is hidden"] * 3
        return Mismatch("patience", "haste", "Look more often.") if scenarios[0].cost < 10 else None

    assert isinstance(task.exam, SimulatedExam)
    attempt = run(replace(task, exam=replace(task.exam, together=together)), BISECT)
    assert (attempt.status, attempt.speed, attempt.help) == (Status.WRONG, None, "Look more often.")
    assert attempt.rationale.startswith("Wrong over all 3 simulated scenarios together.")
    assert "expected patience    got haste" in attempt.rationale


WRONG_ONCE = "asked = []\n" + BISECT.replace("return low", "asked.append(low); return low if len(asked) != 2 else -1")


def test_one_wrong_scenario_is_forgiven_where_the_exam_says_so(task: Task) -> None:
    assert run(task, WRONG_ONCE).status is Status.WRONG
    assert isinstance(task.exam, SimulatedExam)
    attempt = run(replace(task, exam=replace(task.exam, forgiven=1)), WRONG_ONCE)
    assert (attempt.status, attempt.cases_passed, attempt.cases) == (Status.PASSED, 2, 3)


@dataclass
class Spent(PlainScenario):
    """A scenario with known costs."""

    cost: float
    plain_cost: float = 100.0
    title: str = "known costs"
    function: str = "find"
    arguments: tuple[Value | SimulatedFunction, ...] = ()

    def judge(self, answer: Value) -> Mismatch | None:
        return Mismatch("another answer", str(answer))


def test_a_guess_gains_little_and_giving_up_gains_nothing(task: Task) -> None:
    def ratio(*costs: float, wrong: Sequence[float] = (), measured: bool = False) -> float:
        results = [ScenarioResult("", None, measured, gain(Spent(cost))) for cost in costs]
        results += [ScenarioResult("", Mismatch("1", "0"), measured, gain(Spent(cost))) for cost in wrong]
        return speed(task, results).ratio

    assert ratio(10, 50, 50) == pytest.approx(40 ** (1 / 3))
    assert ratio(10, 50, wrong=[1]) == pytest.approx(ratio(10, 50, 50))  # it has given up at once
    assert ratio(10, 50, wrong=[80]) == pytest.approx(ratio(10, 50, 80))  # it was slow and wrong
    # If the submission measures, a scenario counts at most as twice the median.
    assert ratio(50, 50, 50, 50, 1, measured=True) == pytest.approx(2 * 2**0.2)  # one lucky guess
    assert ratio(50, 50, 50, 1, 1, measured=True) == pytest.approx(2 * 4**0.2)
    assert ratio(50, 50, 50, 1, wrong=[1], measured=True) == pytest.approx(2 * 2**0.2)  # a lucky and an unlucky one
    assert ratio(50, 40, 30, measured=True) == pytest.approx((2 * 2.5 * 100 / 30) ** (1 / 3))  # no guess


def test_a_cost_that_is_not_positive_is_a_fault_of_the_grader() -> None:
    for cost, plain_cost in ((0, 100), (-1, 100), (10, 0), (float("nan"), 100)):
        with pytest.raises(GraderFault, match="not positive"):
            gain(Spent(cost, plain_cost))


def test_an_answer_that_differs_only_in_order_or_rounding_gets_a_sentence_on_that() -> None:
    rows: list[list[Any]] = [["b", 7, 0.5], ["a", 4, 1.5], ["c", 4, -0.25]]
    almost = {
        "the largest first": [rows[1], rows[0], rows[2]],
        "only by rounding": [["b", 7.4, 0.5], ["a", 3.6, 2], ["c", 4, -0.2500001]],
    }
    for says, answer in almost.items():
        assert says in near_miss(answer, rows, "the largest first"), says
    others: tuple[Value, ...] = ([], rows[:2], [rows[0]] * 3, [["b", 7, 10**400], *rows[1:]], None, "abc")
    assert {near_miss(answer, rows, "the largest first") for answer in others} == {""}
