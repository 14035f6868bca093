"""Check a function's answers on randomly drawn cases of a task, in this process and without measuring its cost.

A draw is one set of random cases, and its name is the seed. Answers are judged as in grading: a tensor must have the
right dtype, and the inputs must be unchanged.
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
from grader.seeds import generator
from grader.task import CountedExam, Inputs, Mismatch, Scenario, SimulatedExam, SimulatedFunction, Task, TensorExam
from grader.trials import simulated
from grader.trials.correctness import Answer, Expected, judge
from grader.trials.inputs import describe

GRADED: Final = "the graded draw"

TIMED: Final = 2
"""The number of timed inputs of each size in the graded draw. There are two, so that a function that returns its first
answer again is wrong."""

Case = tuple[str, Inputs, Expected]
"""A tensor case: its description, its inputs, and the right answer."""


@dataclass
class Draws:
    """The sets of random cases of a task. They are stored, because many functions are checked on the same cases."""

    task: Task
    right: Sequence[str]
    """The source texts of known right submissions. A variation of a case is used if all of them answer it correctly."""
    _kept: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def measures(self) -> bool:
        """Whether the task's function measures something. Even a right function is then wrong in a few random cases."""
        exam = self.task.exam
        if not isinstance(exam, SimulatedExam):
            return False
        return any(
            isinstance(given, SimulatedFunction) for scenario in self._scenarios(GRADED) for given in scenario.arguments
        )

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions that the task calls, sorted."""
        return tuple(sorted(self.task.functions))

    def prepare(self, draw: str) -> None:
        """Draw the cases now, so that processes forked later do not draw them again."""
        exam = self.task.exam
        if isinstance(exam, TensorExam):
            self._cases(exam, draw)
        elif isinstance(exam, CountedExam):
            self._scenarios(draw)

    def mistake(self, source: str, draw: str) -> str:
        """Return a description of the first case in which a source text is wrong, or "" if it is right in all cases."""
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
        """Return calls with varied arguments of the cases, or [] if the arguments are tensors or functions."""
        if isinstance(self.task.exam, TensorExam):
            return []
        return plain_variations.varied(self._scenarios(GRADED), generator("variations"))

    def answer(self, source: str, asked: Asked) -> Any:
        """Return a source text's answer to varied arguments. Exceptions of the source are not caught."""
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
        """Yield the cases of a draw. Timed inputs are added for the graded draw, and variations for other draws."""
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
    """Return a case with these inputs and the oracle's answer, or None if the oracle raises an exception."""
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
    """Return a scenario's title, and the function's call if its arguments are short and include no function."""
    text = ", ".join(repr(given) for given in scenario.arguments)
    is_plain = not any(isinstance(given, SimulatedFunction) for given in scenario.arguments)
    return (
        f"{scenario.title}, {scenario.function}({text})"
        if is_plain and len(text) <= simulated.MOST_SHOWN
        else scenario.title
    )


def _in_words(mismatch: Mismatch) -> str:
    return f"expected {mismatch.expected}, got {mismatch.got}"
