"""Judge trusted code on a task's random test cases in this process, without a sandbox: code of the kit, and mutants.

Answers are judged as in grading, and simulated costs are exact. All other costs are estimates, which can distinguish a
function from one that is twice as fast. CPU time is the smallest of a few calls. Peak memory is measured only on Linux;
on other systems the function earns no points for memory.
"""

import math
import re
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any, Final

import numpy as np

from grader import overlays
from grader.kinds import simulated
from grader.records import Cost
from grader.seeds import generator, independent
from grader.task import (
    Array,
    Inputs,
    Mismatch,
    Scenario,
    SimulatedExam,
    Task,
    TensorExam,
    ValueExam,
    tier_of,
)
from grader.trials import native
from grader.trials.correctness import Answer, Expected, judge
from grader.trials.inputs import describe, root

Solver = Callable[[Any], Any]
"""A function that answers one test case: a scenario, or a sequence of NumPy arrays."""

TensorCase = tuple[str, Inputs, Expected]
"""A test case with tensors: a description, the inputs, and the right answer."""

CALLS: Final = 3
"""The number of timed calls of each function. The shortest time is used."""

DOUBTS: Final = 4
"""The number of extra estimates of a function that seems fast enough to earn points."""

LONGEST_S: Final = 20.0
"""CPU seconds after which a function is ended. The slowest baseline takes a few seconds."""

TIMED: Final = 2
"""The number of judged inputs of each timed size. A function that always returns its first answer fails the second."""


class TooLongError(BaseException):
    """A function used more CPU time than its limit. `except Exception` in the function does not catch this error."""


@dataclass
class Draw:
    """The random test cases of one task for one seed. They are drawn once for all functions that are judged on them.

    `timed` is the number of timed inputs of each size that are judged too, besides the test cases for correctness.
    """

    task: Task
    seed: str
    timed: int = TIMED
    _scenarios: Sequence[Scenario] = field(default=(), init=False)

    def prepare(self) -> None:
        """Draw the test cases now, so that forked processes need not draw them again."""
        _ = self.cases if isinstance(self.task.exam, TensorExam) else self.scenarios()

    def mistake(self, solver: Solver) -> str:
        """Return a description of the first test case with a wrong answer, or "" if enough answers are right."""
        exam = self.task.exam
        with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
            if isinstance(exam, TensorExam):
                return next(filter(None, (of_tensors(solver, *case) for case in self.cases)), "")
            wrong, scenarios = list[str](), self.scenarios()
            for scenario in scenarios:
                wrong += filter(None, [_of_scenario(solver, scenario)])
                if len(wrong) > (exam.forgiven if isinstance(exam, SimulatedExam) else 0):
                    return wrong[0]
            mismatch = exam.together(scenarios) if isinstance(exam, SimulatedExam) else None
        return _told("all scenarios together", mismatch)

    def mistake_in_time(self, solver: Solver) -> str:
        """Return what `mistake` returns, or a description of a function that never ends. Windows has no time limit."""
        try:
            with ended_after(LONGEST_S):
                return self.mistake(solver)
        except TooLongError:
            return "it never ends"

    def ratio(self, solver: Solver) -> float:
        """Return the estimated ratio of a right function: the baseline's cost divided by its cost."""
        if isinstance(self.task.exam, SimulatedExam):
            scenarios = self.scenarios()
            played = [simulated.Played(one, answer, one.judge(answer)) for one in scenarios for answer in [solver(one)]]
            return simulated.speed(self.task, played).ratio
        ratio = self._estimate(solver)
        for _ in range(DOUBTS):  # another process may have slowed the baseline, so both are measured again
            if tier_of(ratio, self.task.tiers):
                ratio = min(ratio, self._estimate(solver))
        return ratio

    def _estimate(self, solver: Solver) -> float:
        cost = _peak_bytes if self.task.cost is Cost.PEAK_MEMORY else _least_s
        baselines = [of_source(self.task, overlays.whole(path)) for path in self.task.baselines]
        every = baselines if len(baselines) > 1 else baselines * len(self._timed)
        return min(cost(plain, calls) / cost(solver, calls) for plain, calls in zip(every, self._timed, strict=True))

    @cached_property
    def _timed(self) -> list[list[Any]]:
        """The calls whose cost is estimated together, for each timed size."""
        exam = self.task.exam
        if isinstance(exam, ValueExam):
            return [list(exam.timed(generator(self.seed, "timed")))]
        assert isinstance(exam, TensorExam)
        return [[next(timed(independent(generator(self.seed, "timed"))))] for timed in (exam.timed, *exam.also_timed)]

    def scenarios(self) -> Sequence[Scenario]:
        """Return the scenarios of a task without tensors. Simulated scenarios are new each time: they count calls."""
        exam = self.task.exam
        assert not isinstance(exam, TensorExam)
        if isinstance(exam, SimulatedExam):
            return exam.scenarios(generator(self.seed))
        if not self._scenarios:
            timed = self._timed[0] if self.timed else []
            self._scenarios = [*exam.scenarios(generator(self.seed, "cases")), *timed]
        return self._scenarios

    @property
    def measures(self) -> bool:
        """Whether the function takes measurements. Even a right one then fails in a few random cases."""
        return not isinstance(self.task.exam, TensorExam) and any(map(simulated.measures, self.scenarios()))

    @cached_property
    def cases(self) -> list[TensorCase]:
        """The test cases of a task with tensors: a description, the inputs, and the right answer."""
        exam = self.task.exam
        assert isinstance(exam, TensorExam)
        drawn = [("", inputs) for inputs in exam.cases(generator(self.seed, "cases"))]
        for timed in (exam.timed, *exam.also_timed):
            endless = timed(independent(generator(self.seed, "timed")))
            drawn += [("timed, ", inputs) for inputs in islice(endless, self.timed)]
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            return [(at + describe(exam.parameters, one), one, Expected.of(exam, one)) for at, one in drawn]


def of_source(task: Task, source: str) -> Solver:
    """Execute a source text, and return the function that it defines for the task.

    A function in C is compiled first. Exceptions of the source text are not caught.
    """
    source = native.built_once(task, source, native.LocalPlace()).timed
    names: dict[str, Any] = {"__name__": "submission"}
    exec(compile(source, "submission.py", "exec"), names)  # noqa: S102 - it is part of the kit, or a mutant of it
    if isinstance(task.exam, TensorExam):
        return lambda inputs: _as_tensors(names[task.name], inputs)
    return lambda scenario: simulated.as_plain(names[scenario.function](*simulated.arguments_here(scenario)))


def _as_tensors(function: Callable[..., Any], inputs: Inputs) -> Array:
    import torch  # noqa: PLC0415 - it takes a second, and only tensors need it

    torch.set_num_threads(1)
    answer: Array = function(*(torch.from_numpy(array) for array in inputs)).numpy()
    return answer


def of_tensors(solver: Solver, words: str, inputs: Inputs, expected: Expected) -> str:
    """Return a description of a wrong answer to a test case with tensors, or ""."""
    copies, unchanged = copied(inputs)
    try:
        answer = np.array(solver(copies))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - any exception makes the answer wrong
        return f"{words}: raises {type(error).__name__}"
    mismatch = judge(expected, Answer(answer, "Tensor", unchanged()))
    return _told(words, mismatch)


def _of_scenario(solver: Solver, scenario: Scenario) -> str:
    try:
        mismatch = scenario.judge(simulated.as_plain(solver(scenario)))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - any exception makes the answer wrong
        return f"{scenario.title}: raises {type(error).__name__}"
    return _told(simulated.case_title(scenario), mismatch)


def _told(words: str, mismatch: Mismatch | None) -> str:
    return f"{words}: expected {mismatch.expected}, got {mismatch.got}" if mismatch else ""


def copied(inputs: Inputs) -> tuple[Inputs, Callable[[], bool]]:
    """Return copies of the inputs, and a function that returns whether the copies are still unchanged.

    If two inputs share memory, their copies share memory too.
    """
    roots = {id(root(array)): root(array) for array in inputs}
    own = {key: array.copy() for key, array in roots.items()}
    copies = tuple(_view(array, roots[id(root(array))], own[id(root(array))]) for array in inputs)
    return copies, lambda: all(own[key].tobytes() == array.tobytes() for key, array in roots.items())


def _view(array: Array, base: Array, copy: Array) -> Array:
    if not array.size:
        return array.copy()
    at = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return np.ndarray(array.shape, array.dtype, copy.reshape(-1).view(np.uint8).data, at, array.strides)


def _least_s(solver: Solver, calls: Sequence[Any]) -> float:
    """Return the CPU seconds of the fastest of `CALLS` runs of these calls, after one untimed run."""
    found = []
    for _ in range(1 + CALLS):
        began_s = time.thread_time()
        for each in calls:
            solver(each)
        found.append(time.thread_time() - began_s)
    return max(min(found[1:]), 1e-9)


def _peak_bytes(solver: Solver, calls: Sequence[Any]) -> float:
    """Return the bytes by which calls raise this process's peak memory, at least 1 MiB, or NaN if unknown.

    One call is made before, because the first call may load a library, such as torch.
    """
    solver(calls[0])
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # sets the peak to the present memory use
    except OSError:
        return math.nan
    before = _resident_kib("VmRSS")
    for each in calls:
        solver(each)
    return max(_resident_kib("VmHWM") - before, 1024) * 1024.0


def _resident_kib(name: str) -> int:
    found = re.search(rf"^{name}:\s*(\d+)", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
    return int(found[1]) if found else 0


@contextmanager
def ended_after(cpu_s: float) -> Iterator[None]:
    """Raise `TooLongError` in the `with` block if it takes more than `cpu_s` seconds of CPU time.

    This has no effect on Windows, and outside of the main thread.
    """

    def end(_number: int, _frame: FrameType | None) -> None:
        raise TooLongError

    try:
        older = signal.signal(signal.SIGVTALRM, end)
    except (ValueError, AttributeError):  # not the main thread, or Windows
        yield
        return
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, older)
