"""The second meter of a counted task: CPU time, which the kernel notes outside the process.

A count comes from within the process that runs the submission. A flaw of the interpreter that lets plain Python write
anywhere could change it there. No program can change what the kernel notes of it. So what a submission is paid for is
run once more on inputs of its own, without a counter: the submission, the baseline, and a process that only gives the
right answers. Their CPU times say how many times as fast the submission is.

That is not the count: an opcode may take nanoseconds or milliseconds. A ratio of counts is believed up to the power
`POWER` of the ratio of CPU times; `tests/benchmarks/cpu_times.py` shows that all known submissions keep their tiers. A
baseline whose count was changed has a ratio of CPU times of 1, and earns nothing for it. What is left: a submission
that changes the count of work that is really faster may get a tier more than it has earned.

CPU time is noisy, a count is not, and noise only adds to it. So the three processes take turns, `LEAST_ROUNDS` times or
more, and the least that each took counts. They go on up to `MOST_ROUNDS` while a count is in doubt.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from grader.errors import WorkerFault
from grader.records import Speed, Status
from grader.settings import Settings
from grader.task import CountedExam, Scenario, Task
from grader.trials import counted_process
from grader.trials.counted_process import BASELINE, NOTHING, SUBMISSION, mismatch
from grader.trials.faults import ours, untrusted
from grader.trials.inputs import generator
from grader.values import Value
from harness.units import ratio

POWER: Final = 3
"""A ratio of counts is believed up to this power of the ratio of CPU times."""

LEAST: Final = 1.2
"""A ratio of CPU times below this is noise, and no gain at all."""

LEAST_ROUNDS, MOST_ROUNDS = 2, 6

MARGIN: Final = 1.3
"""How many times what it needs a ratio must be to end the rounds early."""

LEAST_PART: Final = 0.02
"""What a submission took is known to this part of what the baseline took, at best."""


def believed(
    task: Task, exam: CountedExam, source: str, settings: Settings, seed: Sequence[str], counted: Speed
) -> tuple[Speed, str]:
    """Return how fast a submission is believed to be, and if that is less than was counted, why.

    Raises `WorkerFault` when it is wrong here.
    """
    if not counted.tier:
        return counted, ""
    needed = gain_needed(task.tiers[counted.tier - 1].ratio)
    shown = gain(task, exam, source, settings, (*seed, "CPU time"), MARGIN * needed)
    if shown >= needed:
        return counted, ""
    limit = shown**POWER if shown >= LEAST else min(shown, 1.0)
    why = (
        f"By its count it is {ratio(counted.ratio)} the baseline, but by CPU time {ratio(shown)}. A count is believed "
        f"up to the third power of what the CPU time shows, and below {ratio(LEAST)} not at all."
    )
    return replace(
        counted, ratio=limit, low=limit, high=limit, tier=sum(limit >= tier.ratio for tier in task.tiers)
    ), why


def gain_needed(counted: float) -> float:
    """The ratio of CPU times with which a ratio of counts is believed."""
    least: float = max(LEAST, counted ** (1 / POWER))
    return least


def gain(
    task: Task, exam: CountedExam, source: str, settings: Settings, seed: Sequence[str], enough: float = math.inf
) -> float:
    """How many times the submission's CPU time the baseline took, both without what everybody takes.

    The rounds end early when it is `enough`. Raises `WorkerFault` for a wrong answer.
    """
    worlds = [world for draw in range(exam.timed_draws) for world in exam.counted(generator(*seed, str(draw)))]
    known = [exam.answer(world) for world in worlds]
    told = counted_process.given(task, exam, source, worlds)
    mine, baseline, empty = [], [], []
    shown = 0.0
    with settings.lane(1):
        for number in range(MOST_ROUNDS):
            count = counted_process.count(task, settings, {**told, "run": SUBMISSION})
            _require_right(task, worlds, known, count.answers)
            mine.append(count.cpu_s)
            with ours(f"Taking the CPU time of the baseline of {task.full_name}"):
                baseline.append(counted_process.count(task, settings, {**told, "run": BASELINE}).cpu_s)
                empty.append(counted_process.count(task, settings, {**told, "run": NOTHING, "answers": known}).cpu_s)
            whole_s, mine_s = min(baseline) - min(empty), min(mine) - min(empty)
            shown = max(whole_s, 0.0) / max(mine_s, LEAST_PART * whole_s, 1e-9)
            if number + 1 >= LEAST_ROUNDS and shown >= enough:
                break
    return shown


def _require_right(task: Task, worlds: Sequence[Scenario], known: Sequence[Value], answers: Sequence[Any]) -> None:
    """Raise `WorkerFault` for a wrong answer. Judging takes long, so what is the known answer is not judged."""
    with untrusted(task.name):
        if len(answers) == len(known):
            odd = [place for place, (answer, right) in enumerate(zip(answers, known, strict=True)) if answer != right]
            worlds, answers = [worlds[place] for place in odd], [answers[place] for place in odd]
        wrong = mismatch(worlds, answers)
    if wrong:
        said = ["Right until its CPU time was taken, and wrong then.", *wrong.lines]
        raise WorkerFault(Status.WRONG, "\n".join(said))
