"""Grade a tensor function: check its answers to all test cases, then compare its cost with the baseline's."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from typing import Any, Final

import numpy as np

from grader.errors import WorkerFault
from grader.isolation.forkserver import ForkServer
from grader.kinds.kind import Change, Draw, Kind, Solver, told
from grader.records import Attempt, Cost, Status
from grader.seeds import generator, independent
from grader.session import Session
from grader.task import Array, Inputs, Mismatch, Task, TensorExam
from grader.trials import failing_case, native, peak_memory, sizes
from grader.trials.correctness import Answer, Expected, judge, same
from grader.trials.faults import Raised, blame_submission, fault_of, untrusted
from grader.trials.inputs import describe, pack, root
from grader.trials.known_mistakes import explanation
from grader.trials.worker_client import WorkerClient, worker


@dataclass(frozen=True)
class Failure:
    """A failed test case, with the wrong answer or the exception of the submission."""

    inputs: Inputs
    answer: Answer | None
    mismatch: Mismatch | None = None
    raised: Raised | None = None

    @property
    def size(self) -> tuple[bool, int]:
        """A sort key: small test cases come first, because they are easy to debug, and empty arrays come last."""
        return any(array.size == 0 for array in self.inputs), sum(array.size for array in self.inputs)


Case = tuple[str, Inputs, Expected]
"""A test case: a description, the inputs, and the right answer."""

Measure = Callable[[Task, TensorExam, ForkServer, str, Session, Sequence[str]], Attempt]
"""A function that compares the cost of a right submission with the cost of the baseline."""

MEASURES: Final[Mapping[Cost, Measure]] = {
    Cost.TIME: sizes.compare,
    Cost.WALL_TIME: partial(sizes.compare, by_wall=True),
    Cost.PEAK_MEMORY: peak_memory.compare,
}


def examine(task: Task, exam: TensorExam, source: str, session: Session, seed: Sequence[str]) -> Attempt:
    """Check the answers to all test cases. If all are right, measure the cost, in new processes."""
    cases = exam.cases(generator(*seed, "cases"))
    place = native.LocalPlace(session.pool.sandboxed, tuple(session.pool.hidden))
    built = native.built(task, source, place)
    with session.pool.fresh(tensors=True) as tree:
        with native.undefined_behaviour_reported(), worker(tree, task.limits) as one:
            with blame_submission("The file"):
                one.load(built.checked)
            failures = [failure for inputs in cases if (failure := _try(task, exam, one, inputs))]
            printed = one.output_tail
        if failures:
            return _wrong(task, exam, failures, len(cases), session, printed)
        attempt = MEASURES[task.cost](task, exam, tree, built.timed, session, seed)
    return replace(attempt, cases_passed=len(cases), cases=len(cases), output_tail=printed)


def count_reproduced(failures: Sequence[Failure], answer: Callable[[Inputs], Answer | None]) -> int:
    """Return how many wrong answers of a submission another function also gives.

    `answer` returns the other function's answer, or None if it raises an exception. The result is 0 unless the other
    function also gives the wrong answer to the smallest test case, because the student reads about this case.
    """

    def reproduced(failure: Failure) -> bool:
        if failure.answer is None:
            return False
        other = answer(failure.inputs)
        return other is not None and same(other, failure.answer)

    shown = _smallest(failures)
    if not reproduced(shown):
        return 0
    return 1 + sum(reproduced(failure) for failure in failures if failure is not shown)


def _smallest(failures: Sequence[Failure]) -> Failure:
    return min(failures, key=lambda failure: failure.size)


def _answer(task: Task, one: WorkerClient, inputs: Inputs) -> Answer | None:
    with suppress(Raised):
        return _call(task, one, inputs)
    return None


def _try(task: Task, exam: TensorExam, one: WorkerClient, inputs: Inputs) -> Failure | None:
    expected = Expected.of(exam, inputs)
    try:
        with untrusted(task.name):
            answer = _call(task, one, inputs)
            mismatch = judge(expected, answer)
    except Raised as raised:
        return Failure(inputs, None, raised=raised)
    except WorkerFault as fault:
        where = f"{failing_case.HAPPENED} {describe(exam.parameters, inputs)}. {fault.help}"
        raise WorkerFault(fault.status, fault.rationale, where.rstrip()) from None
    return Failure(inputs, answer, mismatch) if mismatch else None


def _call(task: Task, one: WorkerClient, inputs: Inputs) -> Answer:
    packed = pack(inputs)
    one.outputs.poison(4096)
    claim = one.call(task.name, packed)
    return Answer.read(claim, one.outputs, inputs_unchanged=packed.unchanged(one.inputs))


def _wrong(
    task: Task, exam: TensorExam, failures: list[Failure], cases: int, session: Session, printed: str
) -> Attempt:
    smallest = _smallest(failures)
    where = describe(exam.parameters, smallest.inputs)
    if smallest.raised:
        fault = fault_of(smallest.raised, task.name, f"{failing_case.SMALLEST_RAISED} {where}")
        lines = [fault.rationale]
        status, help_text = fault.status, fault.help
    else:
        assert smallest.mismatch is not None
        status = Status.WRONG
        lines = [
            f"Fails {len(failures)} of {cases} cases. {failing_case.SMALLEST} {where}",
            *smallest.mismatch.lines,
        ]

        def reproduced(one: WorkerClient) -> int:
            return count_reproduced(failures, partial(_answer, task, one))

        help_text = explanation(task, session, reproduced, failures=len(failures), tensors=True)
    return Attempt(
        status,
        rationale="\n".join(lines),
        help=help_text,
        cases_passed=cases - len(failures),
        cases=cases,
        output_tail=printed,
    )


@dataclass
class TensorDraw(Draw[TensorExam]):
    """The random test cases of a task with tensors."""

    @property
    def given(self) -> Sequence[Inputs]:
        """The tuple of NumPy arrays in each test case."""
        return [inputs for _, inputs, _ in self.cases]

    @cached_property
    def cases(self) -> list[Case]:
        """The test cases: a description, the inputs, and the right answer."""
        drawn = [("", inputs) for inputs in self.exam.cases(generator(self.seed, "cases"))]
        for timed in (self.exam.timed, *self.exam.also_timed):
            endless = timed(independent(generator(self.seed, "timed")))
            drawn += [("timed, ", inputs) for inputs in islice(endless, self.timed)]
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            return [self._case(at, inputs) for at, inputs in drawn]

    def _case(self, words: str, inputs: Inputs) -> Case:
        return words + describe(self.exam.parameters, inputs), inputs, Expected.of(self.exam, inputs)

    @cached_property
    def calls(self) -> list[list[Inputs]]:
        """One input of each timed size."""
        sizes = (self.exam.timed, *self.exam.also_timed)
        return [[next(timed(independent(generator(self.seed, "timed"))))] for timed in sizes]

    def _mistake(self, solver: Solver) -> str:
        return next(filter(None, (_mistake_in(solver, *case) for case in self.cases)), "")

    def _solver(self, names: Mapping[str, Any]) -> Solver:
        import torch  # noqa: PLC0415 - it takes a second, and only tensors need it

        def answer(inputs: Inputs) -> Array:
            torch.set_num_threads(1)
            found: Array = names[self.task.name](*(torch.from_numpy(array) for array in inputs)).numpy()
            return found

        return answer

    def vary(self, changes: Mapping[str, Change], solvers: Sequence[Solver]) -> None:
        """Add test cases with changed input arrays, for which all `solvers` are right."""
        self.cases.extend([*self._varied(changes, solvers)])

    def _varied(self, changes: Mapping[str, Change], solvers: Sequence[Solver]) -> Iterator[Case]:
        for _, inputs, _ in self.cases:
            for words, (dimensions, change) in changes.items():
                other = tuple(change(array) if array.ndim >= dimensions else array for array in inputs)
                try:
                    with np.errstate(all="ignore"):
                        case = self._case(f"{words}: ", other)
                except Exception:  # noqa: BLE001, S112 - an oracle may raise anything on inputs of another kind
                    continue
                if not any(_mistake_in(solver, *case) for solver in solvers):
                    yield case


def _mistake_in(solver: Solver, words: str, inputs: Inputs, expected: Expected) -> str:
    copies, unchanged = copied(inputs)
    try:
        answer = np.array(solver(copies))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - any exception makes the answer wrong
        return f"{words}: raises {type(error).__name__}"
    mismatch = judge(expected, Answer(answer, "Tensor", unchanged()))
    return told(words, mismatch)


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


def try_out(exam: TensorExam, function: Callable[..., Any]) -> tuple[str, Mismatch | None]:
    """Call the function on the smallest test case with several numbers, so that a student can compute it by hand."""
    import torch  # noqa: PLC0415 - takes over a second, and every command of the grader loads this module

    cases: Sequence[Inputs] = exam.cases(generator("try"))
    inputs = min(cases, key=lambda arrays: (min(array.size for array in arrays) < 2, sum(a.size for a in arrays)))
    given = [torch.from_numpy(array.copy()) for array in inputs]
    answer = function(*given)
    array = answer.detach().numpy() if isinstance(answer, torch.Tensor) else None
    unchanged = all(np.array_equal(one.numpy(), array) for one, array in zip(given, inputs, strict=True))
    told = Answer(array, type(answer).__name__, inputs_unchanged=unchanged)
    return f"Called with {describe(exam.parameters, inputs)}.", judge(Expected.of(exam, inputs), told)


KIND: Final = Kind(TensorExam, MEASURES, examine, try_out, TensorDraw)
