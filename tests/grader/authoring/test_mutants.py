"""`lint --mutants` finds the gaps in weak tasks and passes strong ones, and every mutant ends."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from commanding import grader
from small_tasks import BY_ROWS, COUNT_UP, negation, search

from grader.authoring import mutants
from grader.authoring.mutant_tally import Survivor, Tally
from grader.authoring.mutants import tally
from grader.authoring.mutation import Mutant
from grader.commands import author
from grader.errors import UsageError
from grader.limits import Limits
from grader.task import Inputs, Mismatch, Scenario, SimulatedExam, SimulatedFunction, Task, TensorExam
from grader.tasks.plain import PlainScenario
from grader.values import Value

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork a process")

PASSED = "def passed(points):\n    return points >= 5\n"
COUNTED = "def passed(points):\n    n = 0\n    while n < points:\n        n += 1\n    return n >= 5\n"


@dataclass
class Points(PlainScenario):
    """An exam that gives 10 points and is passed with 5."""

    points: int
    function: str = "passed"
    title: str = "some points"
    cost: float = 1.0
    plain_cost: float = 1.0

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        return (self.points,)

    def judge(self, answer: Value) -> Mismatch | None:
        right = self.points >= 5
        return None if answer is right else Mismatch(str(right), str(answer))


def one(rng: np.random.Generator) -> Sequence[Scenario]:
    return [Points(int(rng.integers(0, 10)))]


def every(_: np.random.Generator) -> Sequence[Scenario]:
    return [Points(points) for points in range(11)]


def task(scenarios: Callable[[np.random.Generator], Sequence[Scenario]]) -> Task:
    return replace(search(Path()), name="passed", exam=SimulatedExam(scenarios), tiers=())


def found(task: Task, source: str) -> Tally:
    return tally(task, {"right.py": source}, cores=1)


def test_a_task_of_one_case_has_holes_and_each_is_shown_with_a_case_that_finds_it() -> None:
    done = found(task(one), PASSED)
    assert not done.is_enough
    hole = done.survivors[0]
    assert (hole.mutant.file, hole.mutant.line, hole.mutant.was) == ("right.py", 2, "return points >= 5")
    assert re.fullmatch(r"some points, passed\(\d\): expected (True, got False|False, got True)", hole.case)
    lines = list(done.lines())
    assert lines[0].startswith(f"✗ 00_small.passed: {done.tried} mutants, ")
    assert lines[0].endswith(f"{100 * done.share:.1f} % of those that change an answer")
    at = lines.index(f"    now  {hole.mutant.now}")
    assert lines[at - 2 : at + 2] == [
        "  right.py:2",
        "    was  return points >= 5",
        f"    now  {hole.mutant.now}",
        f"    a case that shows the change: {hole.case}",
    ]


def test_mutants_that_never_end_are_ended_and_count_as_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "ADDED_S", 0.1)
    done = found(task(every), COUNTED)
    assert done.survivors == ()
    assert done.rejected >= 10


def test_a_change_that_changes_no_answer_is_no_hole() -> None:
    done = found(task(every), "def passed(points):\n    unused = 3\n    return points >= 5\n")
    assert (done.equivalent, done.rejected, done.survivors) == (2, 6, ())


def low(rng: np.random.Generator) -> Sequence[Scenario]:
    return [Points(int(points)) for points in rng.permutation(5)] + [Points(8)]


def test_arguments_that_no_draw_holds_are_tried_where_all_right_answers_agree_and_listed_apart() -> None:
    other = "def passed(points):\n    return not points < 5\n"
    done = tally(task(low), {"right.py": PASSED, "other.py": other}, cores=1)
    assert (done.survivors, done.is_enough) == ((), True)
    said = {each.mutant.now: each.case for each in done.doubtful}
    assert said["return points >= 6"] == "passed(5) is True, and the mutant returns False"
    assert "  All known right answers agree there. If the exercise allows these arguments, add a case:" in done.lines()


def test_arguments_on_which_a_right_answer_never_ends_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "ADDED_S", 0.1)
    other = "def passed(points):\n    while points == 5:\n        pass\n    return points >= 5\n"
    done = tally(task(low), {"right.py": PASSED, "other.py": other}, cores=1)
    assert not [each for each in done.doubtful if "passed(5)" in each.case]


@dataclass
class Rarely(Points):
    """A scenario that sometimes gives a false answer, so that right code is wrong."""

    lies: bool = False

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        return (SimulatedFunction("ask"),)

    def call(self, name: str, _: Sequence[Value]) -> Value:
        del name
        return self.points - 10 * self.lies


def asking(luck: float) -> Task:
    def scenarios(rng: np.random.Generator) -> Sequence[Scenario]:
        lies = bool(rng.random() < luck)
        return [Rarely(points, lies=lies) for points in range(11)]

    return task(scenarios)


def test_a_draw_in_which_right_code_is_wrong_says_nothing_of_its_mutants() -> None:
    done = found(asking(luck=0.3), "def passed(ask):\n    points = ask()\n    unused = 3\n    return points >= 5\n")
    assert done.survivors == ()
    assert done.equivalent >= 2


def test_a_measuring_mutant_that_is_wrong_in_several_draws_survives() -> None:
    def scenarios(rng: np.random.Generator) -> Sequence[Scenario]:
        return [Rarely(int(rng.integers(3, 7)))]

    done = found(task(scenarios), "def passed(ask):\n    return ask() >= 5\n")
    assert [each.mutant.now for each in done.survivors] == ["return ask() >= 4"]


def test_a_right_answer_that_is_wrong_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"right\.py is wrong without any change: some points, passed\(5\)"):
        found(task(every), "def passed(points):\n    return points > 5\n")


def test_when_the_time_is_over_the_rest_is_left_out_and_the_screen_says_so() -> None:
    done = tally(task(every), {"right.py": PASSED}, cores=1, time_limit_s=0)
    assert (done.made, done.tried) == (6, 0)
    assert next(done.lines()).startswith(
        "✓ 00_small.passed: 0 mutants (a random sample of 6), 0 equivalent, 0 rejected"
    )


def test_five_of_a_hundred_may_survive_and_no_more() -> None:
    survivor = Survivor(Mutant("f.py", 1, "a", "b", ""), "a case")
    assert Tally("t", 200, rejected=95, equivalent=100, survivors=(survivor,) * 5).is_enough
    assert not Tally("t", 199, rejected=94, equivalent=100, survivors=(survivor,) * 5).is_enough


def one_row(rng: np.random.Generator) -> list[Inputs]:
    return [(rng.standard_normal((1, 6)).astype(np.float32),)]


def timed_row(rngs: Iterator[np.random.Generator]) -> Iterator[Inputs]:
    for rng in rngs:
        yield one_row(rng)[0]


def test_of_tensors_variations_of_the_cases_show_what_these_do_not() -> None:
    plain = negation(Path())
    assert isinstance(plain.exam, TensorExam)
    weak = replace(plain, exam=replace(plain.exam, cases=one_row, timed=timed_row))
    cases = {each.mutant.now: each.case for each in found(weak, BY_ROWS).survivors}
    assert "transposed: x of shape (6, 1), float32" in cases["(ends after its first round)"]
    assert not [now for now in cases if now in {each.mutant.now for each in found(plain, BY_ROWS).survivors}]


def test_a_mutant_that_changes_its_inputs_is_rejected() -> None:
    source = "def negate(x):\n    x = x.clone()\n    x.neg_()\n    return x\n"
    done = found(negation(Path()), source)
    assert done.survivors == ()
    assert done.equivalent == 0


def test_measuring_functions_are_judged_by_their_scenarios() -> None:
    limits = Limits(memory_bytes=1 << 30)
    done = found(search(Path(), limits=limits), COUNT_UP)
    assert done.survivors == ()
    assert done.rejected > 4


def test_the_right_answers_of_a_task_are_its_solution_its_baseline_and_its_tiers() -> None:
    (named,) = mutants.tasks("crossover")
    files = list(mutants.right_answers(named))
    assert files[:3] == [
        "solutions/05_compare.py",
        "known/crossover/baseline.py",
        "known/crossover/tier0_walk_in_steps_best_split.py",
    ]
    assert not [file for file in files if "wrong_" in file]


@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("02.time_per_call", ["time_per_call"]),
        ("time_per_call", ["time_per_call"]),
        ("02", ["time_per_call", "repair"]),
    ],
)
def test_a_target_is_a_task_or_a_lesson(target: str, names: list[str]) -> None:
    assert sorted(task.name for task in mutants.tasks(target)) == sorted(names)


@pytest.mark.parametrize(("scenarios", "code"), [(every, 0), (one, 1)])
def test_the_exit_status_is_1_where_too_many_survive(
    scenarios: Callable[[np.random.Generator], Sequence[Scenario]],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(mutants, "tasks", lambda _: [task(scenarios)])
    monkeypatch.setattr(mutants, "right_answers", lambda _: {"right.py": PASSED})
    assert author.lint_exercises(changed="passed") == code
    assert capsys.readouterr().out.startswith(f"{'✗' if code else '✓'} 00_small.passed: ")


def test_a_usage_error_says_why() -> None:
    for target, said in (
        ("nonsense", "There is no exercise or task 'nonsense'"),
        ("checksum", "is solved in C, but --mutants changes only Python"),
    ):
        with pytest.raises(UsageError, match=said):
            mutants.tasks(target)
    for options in ({"lessons": ["05"]}, {"record": True}):
        with pytest.raises(UsageError, match="--mutants TARGET cannot be combined with lessons"):
            author.lint_exercises(changed="04", **options)


@pytest.mark.long
def test_an_exercise_of_the_kit_rejects_its_mutants() -> None:
    ended = grader("lint", "--mutants", "15.expand")
    assert ended.code == 0, ended.out
    assert ended.out.startswith("✓ 15_instruction_suite.expand: ")
