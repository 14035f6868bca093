"""Grade a tensor function: check its answers to all test cases, then compare its cost with the baseline's."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from grader.errors import WorkerFault
from grader.kinds.examiner import Examiner, Solver, told
from grader.records import Attempt, Status
from grader.seeds import generator, independent
from grader.session import Session
from grader.source import Source
from grader.task import Array, Drawing, Inputs, Mismatch, Task, TensorExam
from grader.trials import faults, known_mistakes, native
from grader.trials.correctness import Answer, Expected, judge
from grader.trials.faults import Raised, blame_submission, fault_of, untrusted
from grader.trials.inputs import describe, pack, root
from grader.trials.known_mistakes import Probed
from grader.trials.tensor_supply import TensorSupply
from grader.trials.worker_client import WorkerClient, worker

Case = tuple[str, Inputs, Expected]
"""A test case: a description, the inputs, and the right answer."""


@dataclass(frozen=True)
class Failure:
    """A failed test case, with the mismatch or the exception of the submission."""

    inputs: Inputs
    mismatch: Mismatch | None = None
    raised: Raised | None = None

    @property
    def size(self) -> tuple[bool, int]:
        """A sort key: small test cases come first, because they are easy to debug, and empty arrays come last."""
        return any(array.size == 0 for array in self.inputs), sum(array.size for array in self.inputs)


@dataclass
class TensorExaminer(Examiner[TensorExam]):
    """Grades a function of tensors."""

    def examine(self, source: Source, session: Session) -> Attempt:
        """Check the answers to all test cases. If all are right, measure the cost, in new processes."""
        cases = self.exam.cases(generator(*self.seed, "cases"))
        built = native.built(self.task, source, sandboxed=session.pool.sandboxed, hidden=tuple(session.pool.hidden))
        with session.pool.fresh(tensors=True) as tree:
            with native.undefined_behaviour_reported(), worker(tree, self.task.limits) as one:
                with blame_submission("The file"):
                    one.load(built.checked)
                failures = [failure for inputs in cases if (failure := self._try(one, inputs))]
                printed = one.output_tail
                why = self.explanation(lambda probe: self._probed(probe, self._call(one, probe))) if failures else ""
            if failures:
                attempt = self._wrong(failures, len(cases), why)
            else:
                attempt = self.cost.measure(self, tree, built.timed, session)
        return replace(attempt, cases_passed=len(cases) - len(failures), cases=len(cases), output_tail=printed)

    def _try(self, one: WorkerClient, inputs: Inputs) -> Failure | None:
        expected = Expected.of(self.exam, inputs)
        try:
            with untrusted(self.task.name):
                answer = self._call(one, inputs)
                mismatch = judge(expected, answer)
        except Raised as raised:
            return Failure(inputs, raised=raised.with_traceback(None))  # its frames hold the whole message
        except WorkerFault as fault:
            where = f"{faults.HAPPENED} {describe(self.exam.parameters, inputs)}. {fault.help}"
            raise WorkerFault(fault.status, fault.rationale, where.rstrip()) from None
        return Failure(inputs, mismatch) if mismatch else None

    def _call(self, one: WorkerClient, inputs: Inputs) -> Answer:
        packed = pack(inputs)
        one.outputs.poison(4096)
        claim = one.call(self.task.name, packed)
        return Answer.read(claim, one.outputs, inputs_unchanged=packed.unchanged(one.inputs))

    def _wrong(self, failures: list[Failure], cases: int, why: str) -> Attempt:
        smallest = min(failures, key=lambda failure: failure.size)
        where = describe(self.exam.parameters, smallest.inputs)
        if smallest.raised:
            fault = fault_of(smallest.raised, self.task.name, f"{faults.SMALLEST_RAISED} {where}")
            return Attempt(fault.status, fault.rationale, fault.help)
        assert smallest.mismatch is not None
        said = f"Fails {len(failures)} of {cases} cases. {faults.SMALLEST} {where}"
        return Attempt(Status.WRONG, "\n".join([said, *smallest.mismatch.lines]), why)

    def supplies(self, rng: np.random.Generator) -> Iterator[tuple[str, Task, TensorSupply]]:
        """Yield the name of each timed size, the task with the baseline for this size, and random inputs."""
        for timed, plain in zip(self._sizes, self.exam.baselines or (self.task.plain,) * len(self._sizes), strict=True):
            drawn = zip(self.exam.parameters, next(timed(independent(generator("any input")))), strict=True)
            inputs = ", ".join(f"{name} {array.shape}" for name, array in drawn) if self.exam.also_timed else ""
            supply = TensorSupply(replace(self.exam, timed=timed, also_timed=()), rng)
            yield inputs, replace(self.task, plain=plain), supply

    @property
    def _sizes(self) -> tuple[Drawing, ...]:
        return self.exam.timed, *self.exam.also_timed

    @property
    def given(self) -> Sequence[Inputs]:
        """The tuple of NumPy arrays in each test case."""
        return [inputs for _, inputs, _ in self.cases]

    @property
    def probes(self) -> Sequence[Inputs]:
        """New inputs from the public seed of known mistakes."""
        return self.exam.cases(generator(known_mistakes.SEED))

    def probed(self, solver: Solver, case: Inputs) -> Probed:
        """Return a function's answer to copies of these inputs in plain values, and whether this answer is wrong."""
        return self._probed(case, _answer_here(solver, case))

    def _probed(self, inputs: Inputs, answer: Answer) -> Probed:
        return answer.plain, judge(Expected.of(self.exam, inputs), answer) is not None

    def tolerance(self, case: Inputs) -> float:
        """Return the largest finite error that is allowed in an element of the answer to these inputs."""
        allowed = np.asarray(self.exam.allowed(*case))
        return float(np.max(allowed, initial=0.0, where=np.isfinite(allowed)))

    @cached_property
    def cases(self) -> list[Case]:
        """The test cases: a description, the inputs, and the right answer."""
        drawn = [("", inputs) for inputs in self.exam.cases(generator(*self.seed, "cases"))]
        for timed in self._sizes:
            drawn += [("timed, ", inputs) for inputs in islice(timed(self._rngs()), self.timed)]
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            return [self._case(at, inputs) for at, inputs in drawn]

    def _rngs(self) -> Iterator[np.random.Generator]:
        return independent(generator(*self.seed, "timed"))

    def _case(self, words: str, inputs: Inputs) -> Case:
        return words + describe(self.exam.parameters, inputs), inputs, Expected.of(self.exam, inputs)

    @cached_property
    def calls(self) -> list[list[Inputs]]:
        """One input of each timed size."""
        return [[next(timed(self._rngs()))] for timed in self._sizes]

    def _mistake(self, solver: Solver) -> str:
        return next(filter(None, (_mistake_in(solver, *case) for case in self.cases)), "")

    def bound(self, names: Mapping[str, Any]) -> Solver:
        """Return a function that answers NumPy arrays with the function of tensors in `names`."""
        import torch  # noqa: PLC0415 - it takes a second, and only tensors need it

        def answer(inputs: Inputs) -> Array:
            torch.set_num_threads(1)
            found: Array = names[self.task.name](*(torch.from_numpy(array) for array in inputs)).numpy()
            return found

        return answer


def _mistake_in(solver: Solver, words: str, inputs: Inputs, expected: Expected) -> str:
    try:
        return told(words, judge(expected, _answer_here(solver, inputs)))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - any exception makes the answer wrong
        return f"{words}: raises {type(error).__name__}"


def _answer_here(solver: Solver, inputs: Inputs) -> Answer:
    copies, unchanged = copied(inputs)
    answer = np.array(solver(copies))
    return Answer(answer, "Tensor", unchanged())


def copied(inputs: Inputs) -> tuple[Inputs, Callable[[], bool]]:
    """Return copies of the inputs, which share memory as these do, and a check that the copies are unchanged."""
    roots = {id(root(array)): root(array) for array in inputs}
    own = {key: array.copy() for key, array in roots.items()}
    copies = tuple(_view(array, roots[id(root(array))], own[id(root(array))]) for array in inputs)
    return copies, lambda: all(own[key].tobytes() == array.tobytes() for key, array in roots.items())


def _view(array: Array, base: Array, copy: Array) -> Array:
    if not array.size:
        return array.copy()
    at = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return np.ndarray(array.shape, array.dtype, copy.reshape(-1).view(np.uint8).data, at, array.strides)
