"""Grade trusted code in this very process: what a function of the kit, or a change to one, would earn as a hand-in.

There is no worker, no sandbox and no duel, so this takes seconds for all tasks. Answers are judged as in grading, and
simulated costs are exact. Other costs are estimates that tell 1× from 2×: CPU time is the least of a few calls, peak
memory is that of this process (on Linux; elsewhere it reaches no tier), and opcodes stand for instructions.
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

from grader.records import Cost
from grader.task import Array, CountedExam, Inputs, MeteredExam, Scenario, Task, TensorExam
from grader.tier_margins import tier_of
from grader.trials import metered
from grader.trials.correctness import Answer, Expected, judge
from grader.trials.inputs import generator

T = TypeVar("T")

Solver = Callable[[Any], Any]
"""Answers one item of an exam: a world, or the inputs of a tensor case as NumPy arrays."""

CALLS: Final = 3
"""Timed calls of each function; the least counts."""

DOUBTS: Final = 4
"""How often a solver of a tensor task that seems to earn a tier is measured again, beside the baseline."""

LONGEST_S: Final = 20.0
"""CPU seconds after which a function is ended. The slowest baseline takes a few."""


class TooLongError(BaseException):
    """The function took more CPU time than it may. No `except Exception` of the function catches this."""


@dataclass(frozen=True, slots=True)
class Worth:
    """What some code earns: whether it is right, its ratio, and its tier."""

    right: bool
    ratio: float = 0.0
    tier: int = 0


WRONG: Final = Worth(right=False)


@dataclass
class Bench:
    """A task on inputs drawn from the text `draw`, for many solvers: what is the same for all is worked out once."""

    task: Task
    draw: str = "a draw"

    def worth(self, solver: Solver) -> Worth:
        """Return what a solver earns; what it raises makes it wrong."""
        try:
            with ended_after(LONGEST_S), warnings.catch_warnings(action="ignore"):
                if isinstance(self.task.exam, TensorExam):
                    return self._tensors(solver)
                if isinstance(self.task.exam, CountedExam):
                    return self._counted(self.task.exam, solver)
                return self._metered(self.task.exam, solver)
        except (Exception, TooLongError, SystemExit):  # noqa: BLE001 - each is a way to be wrong
            return WRONG

    def _metered(self, exam: MeteredExam, solver: Solver) -> Worth:
        played = []
        for world in exam.scenarios(generator(self.draw)):
            answer = metered.as_plain(solver(world))
            played.append(metered.Played(world, answer, world.judge(answer)))
            if sum(one.mismatch is not None for one in played) > exam.forgiven:
                return WRONG
        if exam.together([one.scenario for one in played]):
            return WRONG
        if not self.task.tiers:
            return Worth(right=True)
        speed = metered.speed(self.task, played)
        return Worth(True, speed.ratio, speed.tier)

    def _counted(self, exam: CountedExam, solver: Solver) -> Worth:
        for world in exam.scenarios(generator(self.draw, "cases")):
            if world.judge(metered.as_plain(solver(world))):
                return WRONG
        return self._compared([self._baseline_opcodes / max(_opcodes(solver, self._counted_worlds), 1)])

    def _tensors(self, solver: Solver) -> Worth:
        for inputs, expected in self.cases:
            with np.errstate(all="ignore"):
                answer = np.asarray(solver(_copied(inputs))).astype(expected.dtype)
            if judge(expected, Answer(answer, "Tensor", inputs_unchanged=True)):
                return WRONG
        found = self._compared([plain / self._cost(solver, one) for one, plain in self._sizes(self._baseline_costs)])
        for _ in range(DOUBTS):  # a neighbour may have held the baseline up, so both are measured anew
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
        return [of_source(self.task, path.read_text(encoding="utf-8")) for path in self.task.baselines]

    @cached_property
    def cases(self) -> list[tuple[Inputs, Expected]]:
        """The cases of a tensor task, each with its right answer."""
        exam = self.task.exam
        assert isinstance(exam, TensorExam)
        with np.errstate(all="ignore"):
            return [(inputs, Expected.of(exam, inputs)) for inputs in exam.cases(generator(self.draw, "cases"))]

    @cached_property
    def _timed(self) -> list[Inputs]:
        exam = self.task.exam
        assert isinstance(exam, TensorExam)
        return [next(timed(generator(self.draw, "timed"))) for timed in (exam.timed, *exam.also_timed)]

    def _sizes(self, of_baselines: Sequence[T]) -> Iterator[tuple[Inputs, T]]:
        """Yield the inputs of each timed size, with what belongs to its baseline: one may stand for all."""
        every = of_baselines if len(of_baselines) > 1 else [*of_baselines] * len(self._timed)
        yield from zip(self._timed, every, strict=True)

    @cached_property
    def _baseline_costs(self) -> list[float]:
        return [self._cost(baseline, inputs) for inputs, baseline in self._sizes(self._plain)]

    @cached_property
    def _counted_worlds(self) -> Sequence[Scenario]:
        assert isinstance(self.task.exam, CountedExam)
        return self.task.exam.counted(generator(self.draw, "counted"))

    @cached_property
    def _baseline_opcodes(self) -> int:
        return _opcodes(self._plain[0], self._counted_worlds)


def earns(task: Task, found: Worth) -> bool:
    """Return whether that is worth points for more than being right: a tier, or a right answer where there are none."""
    return found.right and (found.tier > 0 or not task.tiers)


def of_source(task: Task, source: str) -> Solver:
    """Return a source text as a solver. Raises what the text raises when it is executed."""
    names: dict[str, Any] = {"__name__": "submission"}
    exec(compile(source, "submission.py", "exec"), names)  # noqa: S102 - it is part of the kit, or a change to it
    if isinstance(task.exam, TensorExam):
        return lambda inputs: _as_tensors(names[task.name], inputs)
    return lambda world: names[world.function](*metered.arguments_here(world))


def _as_tensors(function: Callable[..., Any], inputs: Inputs) -> Array:
    import torch  # noqa: PLC0415 - it takes a second, and only tensors need it

    torch.set_num_threads(1)
    answer: Array = function(*(torch.from_numpy(array) for array in inputs)).numpy()
    return answer


def _opcodes(solver: Solver, worlds: Sequence[Scenario]) -> int:
    """Count the opcodes that a solver executes in all worlds."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for world in worlds:
            solver(world)
    finally:
        sys.settrace(before)
    return count


def _copied(inputs: Inputs) -> Inputs:
    """Copy the arrays as they lie in memory; what shares memory shares it no longer."""
    return tuple(array.copy(order="K") for array in inputs)


def _least_s(solver: Solver, inputs: Inputs) -> float:
    """Return the CPU seconds of the fastest of a few calls, each on inputs that the caches have seen."""
    found = []
    for _ in range(1 + CALLS):
        began_s = time.thread_time()
        solver(inputs)
        found.append(time.thread_time() - began_s)
    return max(min(found[1:]), 1e-9)


def _peak_bytes(solver: Solver, inputs: Inputs) -> float:
    """Return how far a call raises this process's peak memory; a MiB at least. NaN where the system cannot say.

    A call before does not count: it may load a library, torch itself the first time.
    """
    solver(inputs)
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak is now what there is
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
    """Raise `TooLongError` in the code within when it takes longer. In the main thread, and where there are signals."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise TooLongError

    try:
        older = signal.signal(signal.SIGVTALRM, end)
    except (ValueError, AttributeError):  # another thread, or Windows
        yield
        return
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, older)
