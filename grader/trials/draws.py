"""What a right or wrong function answers in one draw of a task's cases, in this process and at no cost.

Answers are judged as in grading. A tensor's dtype and the inputs, which must stay as they were, are judged, too.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, Final

import numpy as np

from grader.task import CountedExam, Inputs, Metered, MeteredExam, Mismatch, Scenario, Task, TensorExam
from grader.trials import in_process, metered, plain_variations
from grader.trials.correctness import Answer, Expected, judge
from grader.trials.in_process import Solver
from grader.trials.inputs import describe, generator
from grader.trials.plain_variations import Asked
from grader.trials.variations import copied, varied

GRADED: Final = "the graded draw"

TIMED: Final = 2
"""Timed inputs of each size in the graded draw. Grading checks all: what is remembered of one is wrong for the next."""

Case = tuple[str, Inputs, Expected]
"""A case of tensors in words, its inputs, and the right answer."""


@dataclass
class Draws:
    """A task and its known right answers. What a draw holds is kept, because many functions meet it."""

    task: Task
    right: Sequence[str]
    """Source texts of known right answers: a variation of a case counts when all of them are right there."""
    _kept: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def measures(self) -> bool:
        """Whether the task's function measures: then a right one may be wrong in a rare draw."""
        exam = self.task.exam
        if not isinstance(exam, MeteredExam):
            return False
        return any(isinstance(given, Metered) for world in self._worlds(GRADED) for given in world.arguments)

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions that the task calls: its own, or several, as its worlds say."""
        if isinstance(self.task.exam, TensorExam):
            return (self.task.name,)
        return tuple(sorted({world.function for world in self._worlds(GRADED)}))

    def prepare(self, draw: str) -> None:
        """Draw the cases now, so that processes forked from this one have them."""
        exam = self.task.exam
        if isinstance(exam, TensorExam):
            self._cases(exam, draw)
        elif isinstance(exam, CountedExam):
            self._worlds(draw)

    def mistake(self, source: str, draw: str) -> str:
        """Return the first case of a draw in which a source text is wrong, in words; "" when it is right."""
        with warnings.catch_warnings(action="ignore"):
            try:
                solver = in_process.of_source(self.task, source)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - each is a way to be wrong
                return f"the file raises {type(error).__name__}"
            exam = self.task.exam
            if isinstance(exam, TensorExam):
                found = (_of_tensors(solver, case) for case in self._cases(exam, draw))
                return next(filter(None, found), "")
            worlds = self._worlds(draw)
            wrong: list[str] = []
            forgiven, together = (exam.forgiven, exam.together) if isinstance(exam, MeteredExam) else (0, None)
            for world in worlds:
                wrong += filter(None, [_of_world(solver, world)])
                if len(wrong) > forgiven:
                    return wrong[0]
            mismatch = together(worlds) if together else None
            return f"all worlds together: {_in_words(mismatch)}" if mismatch else ""

    def varied(self) -> Sequence[Asked]:
        """Return variations of plain arguments; none of tensors, and none where a function is an argument."""
        if isinstance(self.task.exam, TensorExam):
            return []
        return plain_variations.varied(self._worlds(GRADED), generator("variations"))

    def answer(self, source: str, asked: Asked) -> Any:
        """Return a source text's answer to varied arguments. Raises what the source raises."""
        with warnings.catch_warnings(action="ignore"):
            return metered.as_plain(in_process.of_source(self.task, source)(asked))

    def _worlds(self, draw: str) -> Sequence[Scenario]:
        exam = self.task.exam
        if isinstance(exam, CountedExam):
            if draw not in self._kept:
                self._kept[draw] = [
                    *exam.scenarios(generator(draw, "cases")),
                    *exam.counted(generator(draw, "counted")),
                ]
            kept: Sequence[Scenario] = self._kept[draw]
            return kept
        assert isinstance(exam, MeteredExam)
        return exam.scenarios(generator(draw))  # anew each time: such a world keeps what was asked

    def _cases(self, exam: TensorExam, draw: str) -> list[Case]:
        if draw not in self._kept:
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                self._kept[draw] = list(self._drawn(exam, draw))
        kept: list[Case] = self._kept[draw]
        return kept

    def _drawn(self, exam: TensorExam, draw: str) -> Iterator[Case]:
        """Yield the cases of a draw; timed inputs with the graded one, and variations with each other."""
        cases = exam.cases(generator(draw, "cases"))
        for inputs in cases:
            yield describe(exam.parameters, inputs), inputs, Expected.of(exam, inputs)
        if draw == GRADED:
            for timed in (exam.timed, *exam.also_timed):
                for inputs in islice(timed(generator(draw, "timed")), TIMED):
                    yield f"timed, {describe(exam.parameters, inputs)}", inputs, Expected.of(exam, inputs)
            return
        solvers = [in_process.of_source(self.task, source) for source in self.right]
        for words, other in (variation for inputs in cases for variation in varied(inputs)):
            case = _allowed(exam, f"{words}: {describe(exam.parameters, other)}", other)
            if case and not any(_of_tensors(solver, case) for solver in solvers):
                yield case


def _allowed(exam: TensorExam, words: str, inputs: Inputs) -> Case | None:
    """Return inputs as a case; None where the oracle knows no answer to them."""
    try:
        return words, inputs, Expected.of(exam, inputs)
    except Exception:  # noqa: BLE001 - whatever an oracle makes of what it was not written for
        return None


def _of_tensors(solver: Solver, case: Case) -> str:
    words, inputs, expected = case
    copies, unchanged = copied(inputs)
    try:
        answer = np.array(solver(copies))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - each is a way to be wrong
        return f"{words}: raises {type(error).__name__}"
    mismatch = judge(expected, Answer(answer, "Tensor", unchanged()))
    return f"{words}: {_in_words(mismatch)}" if mismatch else ""


def _of_world(solver: Solver, world: Scenario) -> str:
    try:
        mismatch = world.judge(metered.as_plain(solver(world)))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - each is a way to be wrong
        return f"{world.title}: raises {type(error).__name__}"
    return f"{_titled(world)}: {_in_words(mismatch)}" if mismatch else ""


def _titled(world: Scenario) -> str:
    """Name a world, with what its function is given where that is short and plain."""
    text = ", ".join(repr(given) for given in world.arguments)
    is_plain = not any(isinstance(given, Metered) for given in world.arguments)
    return f"{world.title}, {world.function}({text})" if is_plain and len(text) <= metered.MOST_SHOWN else world.title


def _in_words(mismatch: Mismatch) -> str:
    return f"expected {mismatch.expected}, got {mismatch.got}"
