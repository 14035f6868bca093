"""Check a count of instructions or opcodes against the CPU time, which the kernel records outside the process.

A count comes from the process that runs the submission. With a flaw of the interpreter, plain Python could change the
count in memory. But no program can change the CPU time that the kernel records. So a submission that would earn points
for speed runs again, on new inputs and without a counter. The baseline, a simple function, runs too, and so does a
process that only returns the right answers. Their CPU times give a second ratio of the baseline's cost to the
submission's.

CPU time and count differ: one opcode may take nanoseconds or milliseconds. So a ratio of counts is accepted up to the
third power (`POWER`) of the ratio of CPU times. `tests/benchmarks/cpu_times.py` shows that no known submission loses
points by this rule. If a submission works like the baseline and changes its own count, the ratio of CPU times is 1 and
it gains nothing. One gap is left: a submission that is really faster, and changes its count, may earn a little more.

CPU time is noisy, and noise only increases it. So the three processes run alternately for at least `LEAST_ROUNDS`
rounds, and the smallest time of each process is used. While the count is in doubt, further rounds follow, up to
`MOST_ROUNDS`.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from grader.errors import WorkerFault
from grader.records import Speed, Status
from grader.seeds import generator
from grader.session import Session
from grader.task import CountedExam, Scenario, Task, tier_of
from grader.trials import counted_process
from grader.trials.counted_process import BASELINE, NOTHING, SUBMISSION, mismatch
from grader.trials.faults import blame_grader, untrusted
from grader.values import Value
from harness.rendering.units import ratio

POWER: Final = 3
"""A ratio of opcode counts is accepted up to this power of the ratio of CPU times."""

LEAST: Final = 1.2
"""A ratio of CPU times below this is regarded as noise: the submission is then not faster than the baseline."""

LEAST_ROUNDS, MOST_ROUNDS = 2, 6

MARGIN: Final = 1.3
"""The measurement ends early if the ratio of CPU times is at least the needed ratio times this factor."""

LEAST_PART: Final = 0.02
"""The submission's CPU time is raised to at least this share of the baseline's. Smaller times cannot be measured."""


def believed(
    task: Task, exam: CountedExam, source: str, session: Session, seed: Sequence[str], counted: Speed
) -> tuple[Speed, str]:
    """Return the speed that CPU times confirm, and the reason for the student if it is below `counted`, else "".

    Raise `WorkerFault` if an answer is wrong.
    """
    if not counted.tier:
        return counted, ""
    needed = gain_needed(task.tiers[counted.tier - 1].ratio)
    shown = gain(task, exam, source, session, (*seed, "CPU time"), MARGIN * needed)
    if shown >= needed:
        return counted, ""
    limit = shown**POWER if shown >= LEAST else min(shown, 1.0)
    why = (
        f"The ratio of counts is {ratio(counted.ratio)}, but the ratio of CPU times is only {ratio(shown)}. A ratio of "
        f"counts is accepted up to the third power of the ratio of CPU times, which must be at least {ratio(LEAST)}."
    )
    return replace(counted, ratio=limit, low=limit, high=limit, tier=tier_of(limit, task.tiers)), why


def gain_needed(counted: float) -> float:
    """Return the smallest ratio of CPU times at which the ratio of opcode counts `counted` is accepted in full."""
    least: float = max(LEAST, counted ** (1 / POWER))
    return least


def gain(
    task: Task, exam: CountedExam, source: str, session: Session, seed: Sequence[str], enough: float = math.inf
) -> float:
    """Return the baseline's CPU time divided by the submission's.

    The CPU time of a process that only returns the right answers is subtracted from both first. The measurement ends
    early if the ratio reaches `enough`. Raise `WorkerFault` if an answer is wrong.
    """
    scenarios = [scenario for draw in range(exam.timed_draws) for scenario in exam.counted(generator(*seed, str(draw)))]
    known = [exam.answer(scenario) for scenario in scenarios]
    request = counted_process.given(task, exam, source, scenarios)
    mine, baseline, empty = [], [], []
    shown = 0.0
    with session.lane(1):
        for number in range(MOST_ROUNDS):
            count = counted_process.count(task, session, {**request, "run": SUBMISSION})
            _require_right(task, scenarios, known, count.answers)
            mine.append(count.cpu_s)
            with blame_grader(f"Taking the CPU time of the baseline of {task.full_name}"):
                baseline.append(counted_process.count(task, session, {**request, "run": BASELINE}).cpu_s)
                empty.append(counted_process.count(task, session, {**request, "run": NOTHING, "answers": known}).cpu_s)
            whole_s, mine_s = min(baseline) - min(empty), min(mine) - min(empty)
            shown = max(whole_s, 0.0) / max(mine_s, LEAST_PART * whole_s, 1e-9)
            if number + 1 >= LEAST_ROUNDS and shown >= enough:
                break
    return shown


def _require_right(task: Task, scenarios: Sequence[Scenario], known: Sequence[Value], answers: Sequence[Any]) -> None:
    with untrusted(task.name):
        if len(answers) == len(known):
            odd = [place for place, (answer, right) in enumerate(zip(answers, known, strict=True)) if answer != right]
            scenarios, answers = [scenarios[place] for place in odd], [answers[place] for place in odd]
        wrong = mismatch(scenarios, answers)
    if wrong:
        said = ["The answers were right in the correctness cases and wrong when CPU time was measured.", *wrong.lines]
        raise WorkerFault(Status.WRONG, "\n".join(said))
