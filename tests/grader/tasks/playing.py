"""Run a submission's source text on the scenarios of a task, in this process and without a sandbox."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from grader import catalogue, overlays
from grader.seeds import generator
from grader.task import Mismatch, Scenario, SimulatedExam, SimulatedFunction, Task, TensorExam, tier_of
from grader.trials.correctness import right
from grader.trials.simulated import gain, mean_gain, measures
from grader.values import Value


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
        assert isinstance(exam, SimulatedExam)
        wrong = sum(mismatch is not None for mismatch in self.mismatches)
        return wrong <= exam.forgiven and exam.together(self.scenarios) is None

    @property
    def gain(self) -> float:
        """The baseline's cost divided by this submission's cost, as the grader computes it."""
        pairs = zip(self.scenarios, self.mismatches, strict=True)
        gains = [(gain(scenario), wrong is None) for scenario, wrong in pairs]
        return mean_gain(gains, measured=any(map(measures, self.scenarios)))


def titled(scenarios: Sequence[Scenario], words: str) -> Scenario:
    return next(scenario for scenario in scenarios if words in scenario.title)


def remarks(game: "Game", words: str) -> list[str]:
    """Return the remarks on wrong answers in the scenarios whose title contains these words."""
    pairs = zip(game.scenarios, game.mismatches, strict=True)
    return [mismatch.remark for scenario, mismatch in pairs if mismatch and words in scenario.title]


def find_task(lesson: str, name: str) -> Task:
    return next(task for task in catalogue.load().tasks(lesson) if task.name == name)


def play(task: Task, source: str, seed: int, *, enough: int | None = None) -> Game:
    """Run the function of `source` in every scenario that `seed` draws, and judge its answers.

    After more than `enough` wrong answers, stop. The result then lacks the remaining scenarios.
    """
    assert isinstance(task.exam, SimulatedExam)
    scenarios = tuple(task.exam.scenarios(np.random.default_rng(seed)))
    names, mismatches = loaded(source), list[Mismatch | None]()
    for scenario in scenarios:
        mismatches.append(judged(names, scenario))
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
    return scenario.judge(_as_plain(names[scenario.function](*_arguments(scenario))))


def mistakes(path: Path, function: str, cases: Sequence[Scenario]) -> list[str]:
    """Return the titles of the cases in which a source text gives a wrong answer or raises."""
    names: dict[str, Callable[..., object]] = {}
    exec(compile(overlays.whole(path), str(path), "exec"), names)  # noqa: S102 - a known submission
    wrong = []
    for case in cases:
        try:
            right = case.judge(_as_plain(names[function](*case.arguments))) is None
        except (TypeError, IndexError, ZeroDivisionError, OverflowError):
            right = False
        wrong += [] if right else [case.title]
    return wrong


def agrees_with_its_oracle(task: Task, source: str) -> bool:
    """Return whether the function of a source text is right on every drawn case of a tensor task."""
    exam = task.exam
    assert isinstance(exam, TensorExam)
    names: dict[str, Callable[..., torch.Tensor]] = {}
    exec(compile(source, "submission", "exec"), names)  # noqa: S102 - a known submission
    for inputs in exam.cases(generator("a seed")):
        answer = names[task.name](*(torch.from_numpy(array.copy()) for array in inputs)).numpy()
        if not right(exam.oracle(*inputs), answer, exam.allowed(*inputs)).all():
            return False
    return True


def tier_reached(game: Game) -> int:
    return tier_of(game.gain, game.task.tiers)


def _arguments(scenario: Scenario) -> list[object]:
    def simulated(name: str) -> Callable[..., Value]:
        return lambda *arguments: scenario.call(name, arguments)

    return [simulated(a.name) if isinstance(a, SimulatedFunction) else a for a in scenario.arguments]


def _as_plain(answer: object) -> Value:
    """Convert tuples to lists, as the transfer from a worker does."""
    if isinstance(answer, Mapping):
        return {str(key): _as_plain(item) for key, item in answer.items()}
    if isinstance(answer, Sequence) and not isinstance(answer, str):
        return [_as_plain(item) for item in answer]
    assert answer is None or isinstance(answer, bool | int | float | str)
    return answer
