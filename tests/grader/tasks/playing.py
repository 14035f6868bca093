"""Run a submission's source text on the scenarios of a task, in this process and without a sandbox."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from grader import catalogue, kinds
from grader.kinds.simulated import arguments_here, as_plain, gain, mean_gain, measures
from grader.task import Mismatch, Scenario, SimulatedExam, Task, TensorExam, ValueExam, tier_of

RAISED: Final = Mismatch("an answer", "an exception")


@dataclass(frozen=True)
class Game:
    """All scenarios of an exam after a submission was run on them, with a mismatch for each wrong answer."""

    task: Task
    scenarios: tuple[Scenario, ...]
    mismatches: tuple[Mismatch | None, ...]

    @property
    def right(self) -> bool:
        return not any(self.mismatches)

    @property
    def kept(self) -> bool:
        """Whether at most the forgiven number of answers is wrong, and the scenarios pass together."""
        exam = self.task.exam
        if not isinstance(exam, SimulatedExam):
            return self.right
        wrong = sum(mismatch is not None for mismatch in self.mismatches)
        return wrong <= exam.forgiven and not (exam.together and exam.together(self.scenarios))

    @property
    def gain(self) -> float:
        """The baseline's cost divided by this submission's cost, as the grader computes it."""
        pairs = zip(self.scenarios, self.mismatches, strict=True)
        gains = [(gain(scenario), wrong is None) for scenario, wrong in pairs]
        return mean_gain(gains, measured=any(map(measures, self.scenarios)))

    @property
    def tier(self) -> int:
        return tier_of(self.gain, self.task.tiers)


def remarks(task: Task, source: str, kind: str, seed: int = 0) -> list[str]:
    """Return the remarks on wrong answers in the scenarios of one kind. There must be at least one."""
    found = [mismatch.remark for mismatch in play(task, source, seed, kind=kind).mismatches if mismatch]
    assert found
    return found


def find_task(lesson: str, name: str) -> Task:
    return next(task for task in catalogue.load().tasks(lesson) if task.name == name)


def play(task: Task, source: str, seed: int, *, enough: int | None = None, kind: str = "") -> Game:
    """Run the function of `source` in every scenario that `seed` draws, and judge its answers. An exception is wrong.

    Leave out scenarios whose title does not contain `kind`. After more than `enough` wrong answers, stop. The result
    then lacks the remaining scenarios.
    """
    assert isinstance(task.exam, SimulatedExam | ValueExam)
    scenarios = tuple(one for one in task.exam.scenarios(np.random.default_rng(seed)) if kind in one.title)
    names, mismatches = loaded(source), list[Mismatch | None]()
    for scenario in scenarios:
        try:
            mismatches.append(judged(names, scenario))
        except Exception:  # noqa: BLE001 - a submission may raise any exception
            mismatches.append(RAISED)
        if enough is not None and sum(map(bool, mismatches)) > enough:
            break
    return Game(task, scenarios[: len(mismatches)], tuple(mismatches))


def loaded(source: str) -> dict[str, Callable[..., object]]:
    """Return the functions of a source text by name."""
    names: dict[str, Callable[..., object]] = {}
    exec(compile(source, "submission", "exec"), names)  # noqa: S102 - a submission is code to execute
    return names


def judged(names: Mapping[str, Callable[..., object]], scenario: Scenario) -> Mismatch | None:
    """Run the function of one scenario, and judge its answer."""
    return scenario.judge(as_plain(names[scenario.function](*arguments_here(scenario))))


def is_right(task: Task, source: str, seed: int = 0) -> bool:
    """Return whether a submission's answers are right, in one random draw."""
    exam = task.exam
    if isinstance(exam, TensorExam):
        draw = kinds.examiner(task, "a draw", timed=0)
        return not draw.mistake(draw.solver(source))
    return play(task, source, seed, enough=exam.forgiven if isinstance(exam, SimulatedExam) else 0).kept
