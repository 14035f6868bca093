"""Functions of plain values: the answers are checked, and the CPU time is compared with the baseline's."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from small_tasks import QUICK, hand_in
from trees import BARE

from grader.grade import grade_task
from grader.kinds import values
from grader.kinds.peak_memory import PEAK_MEMORY
from grader.kinds.timing import TIME
from grader.records import Status, Verdict
from grader.seeds import generator
from grader.task import Mismatch, Task, Tier, ValueExam
from grader.tasks.plain import PlainScenario
from grader.trials import speed
from grader.trials.turns import TimedAnswer
from harness.paired.decide import Rules

BASELINE = "def total(numbers):\n    return sum([max(numbers[: i + 1]) for i in range(len(numbers))])"
FAST = "from itertools import accumulate\ndef total(numbers):\n    return sum(accumulate(numbers, max))"
TIMED = 1500


@dataclass
class Numbers(PlainScenario):
    """Numbers, of which the sum of all running maxima is computed."""

    numbers: list[int]
    title: str = "numbers"
    function: str = "total"
    cost: float = 1.0

    @property
    def arguments(self) -> tuple[list[int]]:
        return (self.numbers,)

    def judge(self, answer: object) -> Mismatch | None:
        right = int(np.maximum.accumulate(self.numbers).sum())
        return None if answer in (right, {"(0, 0)": right}) else Mismatch(str(right), repr(answer)[:60])


def drawn(rng: np.random.Generator, size: int) -> list[Numbers]:
    return [Numbers(rng.integers(1, 1 << 30, size + int(rng.integers(9))).tolist())]


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    monkeypatch.setattr(speed, "RULES", Rules(min_pairs=1, max_pairs=1, min_rounds=9, cap_s=1.0))
    known = tmp_path / "known" / "total"
    known.mkdir(parents=True)
    (known / "baseline.py").write_text(BASELINE, encoding="utf-8")
    exam = ValueExam(lambda rng: drawn(rng, 5), lambda rng: drawn(rng, TIMED))
    tiers, hints = (Tier(4.0, 1.0),), ("Look.", "Look closer.", "Look at this line.")
    return Task("", TIME, tiers, hints, exam, "", lesson="00_small", name="total", folder=tmp_path, limits=QUICK)


def graded(task: Task, source: str) -> Verdict:
    return grade_task(task, hand_in(source), BARE)


def test_a_faster_function_reaches_the_tier_and_the_baseline_does_not(task: Task) -> None:
    fast, plain = graded(task, FAST), graded(task, BASELINE)
    assert (fast.status, fast.points) == (Status.PASSED, 10)
    assert fast.attempt.control
    assert fast.attempt.rounds
    assert (plain.status, plain.points) == (Status.PASSED, 4)


def test_a_cost_that_this_kind_of_exam_cannot_measure_is_a_fault_of_the_grader(task: Task) -> None:
    verdict = graded(replace(task, cost=PEAK_MEMORY), FAST)
    assert verdict.status is Status.GRADER_ERROR
    assert "a ValueExam cannot measure peak memory" in verdict.attempt.rationale


def test_a_dictionary_with_tuples_as_keys_is_an_answer_also_when_it_is_timed(task: Task) -> None:
    keyed = graded(task, FAST.replace("return ", "return {(0, 0): ") + "}")
    assert (keyed.status, keyed.points) == (Status.PASSED, 10)


LARGE = f"if len(numbers) > {TIMED // 2}:"


def test_an_answer_that_is_wrong_only_when_it_is_timed_earns_nothing(task: Task) -> None:
    for extra, said in {
        "return 0": "wrong in a timed call: expected",
        "return [[[[]]]] * 9": "wrong in a timed call: expected",
        "return 1j": "raised TypeError",
        "return 'x' * (1 << 25)": "raised",
        "raise ValueError('too many')": "raised ValueError: too many",
    }.items():
        first = f"def total(numbers):\n    {LARGE} {extra}\n"
        verdict = graded(task, FAST.replace("def total(numbers):\n", first))
        assert verdict.points == 0
        assert said in verdict.attempt.rationale


def one_input() -> values.ValueInput:
    return values.ValueInput(drawn(generator("a secret"), 5))


def test_a_text_that_is_not_the_right_answer_is_wrong_and_the_scenario_judges_what_differs_from_the_baseline() -> None:
    one = one_input()
    odd = b'1,"answers":[1]', b"9" * 5000, b"[" * 60000, b'["\\ud800"]', b"[1e999]"
    for raw in (b"[0]", b"[]", b"", b"[1, 2]", b"0", b"\xff", *odd):
        with pytest.raises(Exception, match="wrong in a timed call"):
            one.check_timed(TimedAnswer(raw), None)
    right = int(np.maximum.accumulate(one.scenarios[0].numbers).sum())  # type: ignore[attr-defined]
    one.check_timed(TimedAnswer(f"[{right}.0]".encode()), TimedAnswer(f"[{right}]".encode()))
    with pytest.raises(Exception, match="The baseline is wrong"):
        one.check_timed(TimedAnswer(f"[{right}]".encode()), TimedAnswer(b"[0]"))
