"""Play a task's scenarios with a source text in this very process: real worlds, no worker, no sandbox."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from grader import catalogue
from grader.task import Metered, MeteredExam, Mismatch, Scenario, Task, TensorExam
from grader.tier_margins import tier_of
from grader.trials.correctness import right
from grader.trials.inputs import generator
from grader.trials.metered import gain
from grader.values import Value


@dataclass(frozen=True)
class Game:
    """All scenarios of an exam after their play, with what was wrong in each."""

    task: Task
    scenarios: tuple[Scenario, ...]
    mismatches: tuple[Mismatch | None, ...]

    @property
    def right(self) -> bool:
        return not any(self.mismatches)

    @property
    def kept(self) -> bool:
        """Right in every world but those that are forgiven, and over all of them together."""
        exam = self.task.exam
        assert isinstance(exam, MeteredExam)
        wrong = sum(mismatch is not None for mismatch in self.mismatches)
        return wrong <= exam.forgiven and exam.together(self.scenarios) is None

    @property
    def gain(self) -> float:
        """The geometric mean of the plain way's cost over this one's, as the grader takes it."""
        pairs = zip(self.scenarios, self.mismatches, strict=True)
        return math.exp(np.mean([math.log(gain(world)) for world, wrong in pairs if not wrong]))


def titled(worlds: Sequence[Scenario], words: str) -> Scenario:
    """The first of the worlds whose title holds these words."""
    return next(world for world in worlds if words in world.title)


def remarks(game: "Game", words: str) -> list[str]:
    """What is said of each wrong answer in the worlds whose title holds these words."""
    pairs = zip(game.scenarios, game.mismatches, strict=True)
    return [mismatch.remark for world, mismatch in pairs if mismatch and words in world.title]


def find_task(lesson: str, name: str) -> Task:
    return next(task for task in catalogue.load().tasks(lesson) if task.name == name)


def play(task: Task, source: str, seed: int, *, enough: int | None = None) -> Game:
    """Call the function of `source` in every world that `seed` draws, and judge its answers.

    After more than `enough` wrong ones, the other worlds are left out, of `scenarios` as well.
    """
    assert isinstance(task.exam, MeteredExam)
    scenarios = tuple(task.exam.scenarios(np.random.default_rng(seed)))
    names: dict[str, Callable[..., object]] = {}
    exec(compile(source, "submission", "exec"), names)  # noqa: S102 - that is what a submission is for
    mismatches: list[Mismatch | None] = []
    for world in scenarios:
        mismatches.append(world.judge(_as_plain(names[world.function](*_arguments(world)))))
        if enough is not None and sum(map(bool, mismatches)) > enough:
            break
    return Game(task, scenarios[: len(mismatches)], tuple(mismatches))


def mistakes(path: Path, function: str, cases: Sequence[Scenario]) -> list[str]:
    """Titles of the cases without metered functions in which a source text is wrong, or fails as a wrong one may."""
    names: dict[str, Callable[..., object]] = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)  # noqa: S102 - it is known
    wrong = []
    for case in cases:
        try:
            right = case.judge(_as_plain(names[function](*case.arguments))) is None
        except (TypeError, IndexError, ZeroDivisionError, OverflowError):
            right = False
        wrong += [] if right else [case.title]
    return wrong


def agrees_with_its_oracle(task: Task, source: str) -> bool:
    """Whether the function of a source text is right on every case of a tensor task that one seed draws."""
    exam = task.exam
    assert isinstance(exam, TensorExam)
    names: dict[str, Callable[..., torch.Tensor]] = {}
    exec(compile(source, "submission", "exec"), names)  # noqa: S102 - it is known
    for inputs in exam.cases(generator("a seed")):
        answer = names[task.name](*(torch.from_numpy(array.copy()) for array in inputs)).numpy()
        if not right(exam.oracle(*inputs), answer, exam.allowed(*inputs)).all():
            return False
    return True


def tier_reached(game: Game) -> int:
    return tier_of(game.gain, game.task.tiers)


def _arguments(world: Scenario) -> list[object]:
    def metered(name: str) -> Callable[..., Value]:
        return lambda *arguments: world.call(name, arguments)

    return [metered(a.name) if isinstance(a, Metered) else a for a in world.arguments]


def _as_plain(answer: object) -> Value:
    """Turn tuples into lists, as the way from a worker does."""
    if isinstance(answer, Mapping):
        return {str(key): _as_plain(item) for key, item in answer.items()}
    if isinstance(answer, Sequence) and not isinstance(answer, str):
        return [_as_plain(item) for item in answer]
    assert answer is None or isinstance(answer, bool | int | float | str)
    return answer
