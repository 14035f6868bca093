"""Check the answers of a function on random test cases of a task, in this process and without measuring its cost.

A draw is one set of random test cases. Its name is the random seed. Answers are judged as in grading: a tensor must
have the right dtype, and the inputs must be unchanged.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, Final

import numpy as np

from grader.authoring import in_process, plain_variations
from grader.authoring.in_process import Solver
from grader.authoring.plain_variations import Asked
from grader.authoring.variations import copied, varied
from grader.seeds import generator, independent
from grader.task import CountedExam, Inputs, Mismatch, Scenario, SimulatedExam, SimulatedFunction, Task, TensorExam
from grader.trials import simulated
from grader.trials.correctness import Answer, Expected, judge
from grader.trials.inputs import describe

GRADED: Final = "the graded draw"

TIMED: Final = 2
"""The number of test inputs for each timed size. A function that always returns its first answer is wrong on the
second.
"""

Case = tuple[str, Inputs, Expected]
"""A test case of a function that takes tensors: its description, its inputs, and the right answer."""


@dataclass
class Draws:
    """The sets of random test cases of one task, in a cache, because many functions are checked on the same cases."""

    task: Task
    right: Sequence[str]
    """The source texts of right submissions. Changed inputs are only used if all of these submissions answer them
    correctly.
    """
    _kept: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def measures(self) -> bool:
        """Whether the student's function takes measurements. Even a right one then fails in a few random cases."""
        exam = self.task.exam
        if not isinstance(exam, SimulatedExam):
            return False
        return any(
            isinstance(given, SimulatedFunction) for scenario in self._scenarios(GRADED) for given in scenario.arguments
        )

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions that the student must write, sorted."""
        return tuple(sorted(self.task.functions))

    def prepare(self, draw: str) -> None:
        """Make the random test cases for the seed `draw` now, so that child processes need not make them again."""
        exam = self.task.exam
        if isinstance(exam, TensorExam):
            self._cases(exam, draw)
        elif isinstance(exam, CountedExam):
            self._scenarios(draw)

    def mistake(self, source: str, draw: str) -> str:
        """Return a description of the first test case that a source text answers wrongly, or "" without a mistake."""
        with warnings.catch_warnings(action="ignore"):
            try:
                solver = in_process.of_source(self.task, source)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - any exception makes the answer wrong
                return f"the file raises {type(error).__name__}"
            exam = self.task.exam
            if isinstance(exam, TensorExam):
                found = (_of_tensors(solver, case) for case in self._cases(exam, draw))
                return next(filter(None, found), "")
            scenarios = self._scenarios(draw)
            wrong: list[str] = []
            forgiven, together = (exam.forgiven, exam.together) if isinstance(exam, SimulatedExam) else (0, None)
            for scenario in scenarios:
                wrong += filter(None, [_of_scenario(solver, scenario)])
                if len(wrong) > forgiven:
                    return wrong[0]
            mismatch = together(scenarios) if together else None
            return f"all scenarios together: {_in_words(mismatch)}" if mismatch else ""

    def varied(self) -> Sequence[Asked]:
        """Return calls with slightly changed arguments, or [] if the task's arguments are tensors or functions."""
        if isinstance(self.task.exam, TensorExam):
            return []
        return plain_variations.varied(self._scenarios(GRADED), generator("variations"))

    def answer(self, source: str, asked: Asked) -> Any:
        """Return the answer of the function in `source` to a call with changed arguments.

        Exceptions of the function are not caught.
        """
        with warnings.catch_warnings(action="ignore"):
            return simulated.as_plain(in_process.of_source(self.task, source)(asked))

    def _scenarios(self, draw: str) -> Sequence[Scenario]:
        exam = self.task.exam
        if isinstance(exam, CountedExam):
            if draw not in self._kept:
                self._kept[draw] = [
                    *exam.scenarios(generator(draw, "cases")),
                    *exam.counted(generator(draw, "counted")),
                ]
            kept: Sequence[Scenario] = self._kept[draw]
            return kept
        assert isinstance(exam, SimulatedExam)
        return exam.scenarios(generator(draw))  # new each time, because a scenario counts its calls

    def _cases(self, exam: TensorExam, draw: str) -> list[Case]:
        if draw not in self._kept:
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                self._kept[draw] = list(self._drawn(exam, draw))
        kept: list[Case] = self._kept[draw]
        return kept

    def _drawn(self, exam: TensorExam, draw: str) -> Iterator[Case]:
        cases = exam.cases(generator(draw, "cases"))
        for inputs in cases:
            yield describe(exam.parameters, inputs), inputs, Expected.of(exam, inputs)
        if draw == GRADED:
            for timed in (exam.timed, *exam.also_timed):
                for inputs in islice(timed(independent(generator(draw, "timed"))), TIMED):
                    yield f"timed, {describe(exam.parameters, inputs)}", inputs, Expected.of(exam, inputs)
            return
        solvers = [in_process.of_source(self.task, source) for source in self.right]
        for words, other in (variation for inputs in cases for variation in varied(inputs)):
            case = _allowed(exam, f"{words}: {describe(exam.parameters, other)}", other)
            if case and not any(_of_tensors(solver, case) for solver in solvers):
                yield case


def _allowed(exam: TensorExam, words: str, inputs: Inputs) -> Case | None:
    try:
        return words, inputs, Expected.of(exam, inputs)
    except Exception:  # noqa: BLE001 - an oracle may raise anything on inputs of another kind
        return None


def _of_tensors(solver: Solver, case: Case) -> str:
    words, inputs, expected = case
    copies, unchanged = copied(inputs)
    try:
        answer = np.array(solver(copies))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - any exception makes the answer wrong
        return f"{words}: raises {type(error).__name__}"
    mismatch = judge(expected, Answer(answer, "Tensor", unchanged()))
    return f"{words}: {_in_words(mismatch)}" if mismatch else ""


def _of_scenario(solver: Solver, scenario: Scenario) -> str:
    try:
        mismatch = scenario.judge(simulated.as_plain(solver(scenario)))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - any exception makes the answer wrong
        return f"{scenario.title}: raises {type(error).__name__}"
    return f"{_titled(scenario)}: {_in_words(mismatch)}" if mismatch else ""


def _titled(scenario: Scenario) -> str:
    text = ", ".join(repr(given) for given in scenario.arguments)
    is_plain = not any(isinstance(given, SimulatedFunction) for given in scenario.arguments)
    return (
        f"{scenario.title}, {scenario.function}({text})"
        if is_plain and len(text) <= simulated.MOST_SHOWN
        else scenario.title
    )


def _in_words(mismatch: Mismatch) -> str:
    return f"expected {mismatch.expected}, got {mismatch.got}"
