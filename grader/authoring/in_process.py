"""Estimate the grade of a trusted function in this process, without a sandbox.

An estimate takes seconds, a real grading takes minutes. Answers are judged as in grading, and simulated costs are
exact. All other costs are estimates, which can distinguish a function from one that is twice as fast. CPU time is the
smallest of a few calls. Peak memory is measured only on Linux; on other systems the function earns no points for
memory. Executed Python opcodes stand for machine instructions.
"""

import math
import re
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any, Final, TypeVar

import numpy as np

from grader import overlays
from grader.records import Cost
from grader.seeds import generator, independent
from grader.task import Array, CountedExam, Inputs, Scenario, SimulatedExam, Task, TensorExam, tier_of
from grader.trials import native, simulated
from grader.trials.correctness import Answer, Expected, judge

T = TypeVar("T")

Solver = Callable[[Any], Any]
"""A function that answers one test case: a simulated scenario, or a sequence of NumPy arrays."""

CALLS: Final = 3
"""The number of timed calls of each function. The shortest time is used."""

DOUBTS: Final = 4
"""The number of extra measurements of a tensor function that seems fast enough to earn points."""

LONGEST_S: Final = 20.0
"""CPU seconds after which a function is ended. The slowest baseline takes a few seconds."""


class TooLongError(BaseException):
    """A function used more CPU time than its limit. `except Exception` in the function does not catch this error."""


@dataclass(frozen=True, slots=True)
class Worth:
    """The estimated grade: whether the answers are right, the ratio, and the number of grade thresholds reached.

    The ratio is the baseline's cost divided by the function's cost.
    """

    right: bool
    ratio: float = 0.0
    tier: int = 0


WRONG: Final = Worth(right=False)


@dataclass
class Bench:
    """Estimates the grades of functions in one task. The text `draw` is the seed of the random inputs.

    The baseline's costs are computed once for all functions.
    """

    task: Task
    draw: str = "a draw"

    def worth(self, solver: Solver) -> Worth:
        """Return the estimated grade of a function. A function that raises an exception is wrong."""
        try:
            with ended_after(LONGEST_S), warnings.catch_warnings(action="ignore"):
                if isinstance(self.task.exam, TensorExam):
                    return self._tensors(solver)
                if isinstance(self.task.exam, CountedExam):
                    return self._counted(self.task.exam, solver)
                return self._simulated(self.task.exam, solver)
        except (Exception, TooLongError, SystemExit):  # noqa: BLE001 - any exception makes the answer wrong
            return WRONG

    def _simulated(self, exam: SimulatedExam, solver: Solver) -> Worth:
        played = []
        for scenario in exam.scenarios(generator(self.draw)):
            answer = simulated.as_plain(solver(scenario))
            played.append(simulated.Played(scenario, answer, scenario.judge(answer)))
            if sum(one.mismatch is not None for one in played) > exam.forgiven:
                return WRONG
        if exam.together([one.scenario for one in played]):
            return WRONG
        if not self.task.tiers:
            return Worth(right=True)
        speed = simulated.speed(self.task, played)
        return Worth(True, speed.ratio, speed.tier)

    def _counted(self, exam: CountedExam, solver: Solver) -> Worth:
        for scenario in exam.scenarios(generator(self.draw, "cases")):
            if scenario.judge(simulated.as_plain(solver(scenario))):
                return WRONG
        return self._compared([self._baseline_opcodes / max(_opcodes(solver, self._counted_scenarios), 1)])

    def _tensors(self, solver: Solver) -> Worth:
        for inputs, expected in self.cases:
            with np.errstate(all="ignore"):
                answer = np.asarray(solver(_copied(inputs))).astype(expected.dtype)
            if judge(expected, Answer(answer, "Tensor", inputs_unchanged=True)):
                return WRONG
        found = self._compared([plain / self._cost(solver, one) for one, plain in self._sizes(self._baseline_costs)])
        for _ in range(DOUBTS):  # another process may have slowed the baseline, so both are measured again
            if found.tier:
                costs = [
                    self._cost(baseline, one) / self._cost(solver, one) for one, baseline in self._sizes(self._plain)
                ]
                found = min(found, self._compared(costs), key=lambda worth: worth.ratio)
        return found

    def _compared(self, ratios: Sequence[float]) -> Worth:
        ratio = min(ratios)
        return Worth(True, ratio, tier_of(ratio, self.task.tiers))

    @property
    def _cost(self) -> Callable[[Solver, Inputs], float]:
        return _peak_bytes if self.task.cost is Cost.PEAK_MEMORY else _least_s

    @cached_property
    def _plain(self) -> list[Solver]:
        return [of_source(self.task, overlays.whole(path)) for path in self.task.baselines]

    @cached_property
    def cases(self) -> list[tuple[Inputs, Expected]]:
        """The test cases of a task with tensors, each with the right answer."""
        exam = self.task.exam
        assert isinstance(exam, TensorExam)
        with np.errstate(all="ignore"):
            return [(inputs, Expected.of(exam, inputs)) for inputs in exam.cases(generator(self.draw, "cases"))]

    @cached_property
    def _timed(self) -> list[Inputs]:
        exam = self.task.exam
        assert isinstance(exam, TensorExam)
        return [next(timed(independent(generator(self.draw, "timed")))) for timed in (exam.timed, *exam.also_timed)]

    def _sizes(self, of_baselines: Sequence[T]) -> Iterator[tuple[Inputs, T]]:
        every = of_baselines if len(of_baselines) > 1 else [*of_baselines] * len(self._timed)
        yield from zip(self._timed, every, strict=True)

    @cached_property
    def _baseline_costs(self) -> list[float]:
        return [self._cost(baseline, inputs) for inputs, baseline in self._sizes(self._plain)]

    @cached_property
    def _counted_scenarios(self) -> Sequence[Scenario]:
        assert isinstance(self.task.exam, CountedExam)
        return self.task.exam.counted(generator(self.draw, "counted"))

    @cached_property
    def _baseline_opcodes(self) -> int:
        return _opcodes(self._plain[0], self._counted_scenarios)


def earns(task: Task, found: Worth) -> bool:
    """Return whether an estimated grade earns points.

    If the task has speed thresholds, a right answer must also reach one of them.
    """
    return found.right and (found.tier > 0 or not task.tiers)


def of_source(task: Task, source: str) -> Solver:
    """Execute a source text, and return the function that it defines for the task.

    A function in C is compiled first. Exceptions of the source text are not caught.
    """
    source = native.built_once(task, source, native.LocalPlace()).timed
    names: dict[str, Any] = {"__name__": "submission"}
    exec(compile(source, "submission.py", "exec"), names)  # noqa: S102 - it is part of the kit, or a mutant of it
    if isinstance(task.exam, TensorExam):
        return lambda inputs: _as_tensors(names[task.name], inputs)
    return lambda scenario: names[scenario.function](*simulated.arguments_here(scenario))


def _as_tensors(function: Callable[..., Any], inputs: Inputs) -> Array:
    import torch  # noqa: PLC0415 - it takes a second, and only tensors need it

    torch.set_num_threads(1)
    answer: Array = function(*(torch.from_numpy(array) for array in inputs)).numpy()
    return answer


def _opcodes(solver: Solver, scenarios: Sequence[Scenario]) -> int:
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for scenario in scenarios:
            solver(scenario)
    finally:
        sys.settrace(before)
    return count


def _copied(inputs: Inputs) -> Inputs:
    return tuple(array.copy(order="K") for array in inputs)


def _least_s(solver: Solver, inputs: Inputs) -> float:
    """Return the CPU seconds of the fastest of `CALLS` calls, after one untimed call."""
    found = []
    for _ in range(1 + CALLS):
        began_s = time.thread_time()
        solver(inputs)
        found.append(time.thread_time() - began_s)
    return max(min(found[1:]), 1e-9)


def _peak_bytes(solver: Solver, inputs: Inputs) -> float:
    """Return the bytes by which a call raises this process's peak memory, at least 1 MiB, or NaN if unknown.

    One call is made before, because the first call may load a library, such as torch.
    """
    solver(inputs)
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # sets the peak to the present memory use
    except OSError:
        return math.nan
    before = _resident_kib("VmRSS")
    solver(inputs)
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
