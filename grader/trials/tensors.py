"""Tensor functions on trial: right on every case first, then timed against the baseline."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from grader.errors import WorkerFault
from grader.records import Attempt, Cost, Speed, Status
from grader.settings import Settings
from grader.task import Inputs, Mismatch, Task, TensorExam
from grader.trials import failing, native, peak, sizes
from grader.trials.correctness import Answer, Expected, judge, same
from grader.trials.faults import Raised, fault_of, theirs, untrusted
from grader.trials.inputs import describe, generator, pack
from grader.trials.known import explanation
from grader.trials.supervisor import Worker, worker


@dataclass(frozen=True)
class Failure:
    """One case that went wrong: the answer given, or the exception raised."""

    inputs: Inputs
    answer: Answer | None
    mismatch: Mismatch | None = None
    raised: Raised | None = None

    @property
    def size(self) -> tuple[bool, int]:
        """Smallest first, and empty ones last: students debug small cases, and nothing is seen in an empty one."""
        return any(array.size == 0 for array in self.inputs), sum(array.size for array in self.inputs)


def examine(task: Task, exam: TensorExam, source: str, settings: Settings, seed: Sequence[str]) -> Attempt:
    """Check all cases in one worker; when all are right, duel with the baseline in fresh ones."""
    cases = exam.cases(generator(*seed, "cases"))
    built = native.built(task, source, settings.pool)
    with settings.pool.fresh(tensors=True) as tree:
        with native.undefined_told(), worker(tree, task.limits) as one:
            with theirs("The file"):
                one.load(built.checked)
            failures = [failure for inputs in cases if (failure := _try(task, exam, one, inputs))]
            printed = one.output_tail
        if failures:
            return _wrong(task, exam, failures, len(cases), settings, printed)
        if task.cost is Cost.PEAK_MEMORY:
            compared = peak.compare(task, exam, tree, built.timed, settings, generator(*seed, "measured"))
            told, count = compared.in_words, len(cases)
            return Attempt(
                Status.PASSED, told, speed=compared.speed, cases_passed=count, cases=count, output_tail=printed
            )
        fought = sizes.duels(task, exam, tree, built.timed, settings, generator(*seed, "timed"))
    deciding = sizes.worst(fought)
    outcome = deciding.outcome
    return Attempt(
        Status.UNDECIDED if outcome.undecided else Status.PASSED,
        rationale=sizes.in_words(fought),
        speed=_speed(deciding),
        rounds=outcome.rounds,
        control=deciding.control,
        cases_passed=len(cases),
        cases=len(cases),
        output_tail=printed,
    )


def alike(failures: Sequence[Failure], answer: Callable[[Inputs], Answer | None]) -> int:
    """How many failures come out the same with somebody else's answers, None being an exception.

    None do where the smallest, which is told, is not among them.
    """

    def reproduced(failure: Failure) -> bool:
        if failure.answer is None:
            return False
        other = answer(failure.inputs)
        return other is not None and same(other, failure.answer)

    told = _smallest(failures)
    if not reproduced(told):
        return 0
    return 1 + sum(reproduced(failure) for failure in failures if failure is not told)


def _smallest(failures: Sequence[Failure]) -> Failure:
    return min(failures, key=lambda failure: failure.size)


def _answer(task: Task, one: Worker, inputs: Inputs) -> Answer | None:
    with suppress(Raised):
        return _call(task, one, inputs)
    return None


def _try(task: Task, exam: TensorExam, one: Worker, inputs: Inputs) -> Failure | None:
    expected = Expected.of(exam, inputs)
    try:
        with untrusted(task.name):
            answer = _call(task, one, inputs)
            mismatch = judge(expected, answer)
    except Raised as raised:
        return Failure(inputs, None, raised=raised)
    except WorkerFault as fault:
        where = f"{failing.HAPPENED} {describe(exam.parameters, inputs)}. {fault.help}"
        raise WorkerFault(fault.status, fault.rationale, where.rstrip()) from None
    return Failure(inputs, answer, mismatch) if mismatch else None


def _call(task: Task, one: Worker, inputs: Inputs) -> Answer:
    packed = pack(inputs)
    one.outputs.poison(4096)
    claim = one.call(task.name, packed)
    return Answer.read(claim, one.outputs, inputs_unchanged=packed.unchanged(one.inputs))


def _wrong(
    task: Task, exam: TensorExam, failures: list[Failure], cases: int, settings: Settings, printed: str
) -> Attempt:
    smallest = _smallest(failures)
    where = describe(exam.parameters, smallest.inputs)
    if smallest.raised:
        fault = fault_of(smallest.raised, task.name, f"{failing.SMALLEST_RAISED} {where}")
        lines = [fault.rationale]
        status, help_text = fault.status, fault.help
    else:
        assert smallest.mismatch is not None
        status = Status.WRONG
        lines = [
            f"Fails {len(failures)} of {cases} cases. {failing.SMALLEST} {where}",
            *smallest.mismatch.lines,
        ]

        def reproduced(one: Worker) -> int:
            return alike(failures, partial(_answer, task, one))

        help_text = explanation(task, settings, reproduced, failures=len(failures), tensors=True)
    return Attempt(
        status,
        rationale="\n".join(lines),
        help=help_text,
        cases_passed=cases - len(failures),
        cases=cases,
        output_tail=printed,
    )


def _speed(fought: sizes.Fought) -> Speed:
    known = fought.outcome.estimate
    return Speed(known.ratio, known.low, known.high, known.rounds, fought.tier, fought.outcome.undecided)
