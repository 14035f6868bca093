"""Check a count of instructions or opcodes against CPU times, which the kernel records outside the process.

A count comes from the process that runs the submission. With a flaw of the interpreter, plain Python could change the
count in memory. But no program can change the CPU time that the kernel records. So a submission that would earn points
for speed must also have a gain in CPU time: the baseline's CPU time divided by the submission's. The baseline is a
simple function. The CPU time of a process that only returns the right answers is subtracted from both. The time of
starting Python does not count, because the clock begins just before the submission runs.

There are two gains, and each tier states the least value of both (`grader.task.Tier`):

- *Without a counter* (`Tier.cpu_gain`). A cheat in memory cannot shorten this time. But one opcode may take nanoseconds
  or milliseconds, so some tasks have tiers with equal CPU times.
- *While opcodes are counted* (`Tier.counting_gain`). The counter takes some time for each opcode, so this gain
  distinguishes more tiers. A submission that writes to the counter still takes this time. Only a submission that also
  stops the counter in memory avoids it.

If a gain is below the value of a tier, the submission gets a lower tier. The values come from the known submissions:
they lie between the gains of a tier's submissions and those of the tier below. So a
submission with a forged count gets at most the highest tier whose honest submissions need as little CPU time as it
does. The task's file names the tiers that CPU time does not distinguish.

Other programs on the same CPU increase CPU times, often by half. So the three processes begin together, on the same
core. The kernel lets them work in turn for a few milliseconds each, so other programs slow all of them at the same
time. This is repeated for at least `LEAST_ROUNDS` rounds, and the smallest time of each process is used. While the
count is in doubt, further rounds follow, up to `MOST_ROUNDS`. The CPU times of the processes that were counted are the
first measurement while opcodes are counted.

A fast submission takes only a few milliseconds, and its classes and decorators may take some of them. So if the gain is
in doubt, the submission gets more test cases than the baseline, and the times per case are compared (`times_as_many`).

A submission can disturb the baseline on their common core only by its own work, for example by filling the cache. This
costs it as much CPU time as the baseline, and it gains only if the baseline loses more.
"""

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import cycle, islice
from threading import Barrier
from typing import Any, Final

from grader.records import Speed
from grader.seeds import generator
from grader.session import Session
from grader.task import CountedExam, Scenario, Task, Tier
from grader.trials import counted_process
from grader.trials.counted_process import BASELINE, NOTHING, SUBMISSION, Count
from grader.trials.faults import blame_grader, untrusted
from grader.trials.score import baseline_takes
from grader.values import Value
from harness.machine.lanes import Lane
from harness.processes import process_env
from harness.rendering.units import ratio

LEAST_ROUNDS, MOST_ROUNDS = 2, 6

MARGIN: Final = 1.3
"""The measurement ends early if the gain is at least the needed gain times this factor."""

FIRST_MARGIN: Final = 1.6
"""The gain in the processes that were counted is used only if it is at least the needed gain times this factor.

These three processes run once, at the same time, so their CPU times are less exact.
"""

COUNTING_DRAWS: Final = 2
"""The number of calls of `CountedExam.counted` for which CPU time is measured while opcodes are counted."""

NEAR: Final = 4.0
"""A gain of less than the needed gain divided by this number is too small, whatever the inaccuracy."""

MOST_TIMES_AS_MANY: Final = 24
"""The largest factor by which the submission gets more test cases than the baseline."""

LEAST_JUDGED: Final = 40
"""The least number of answers that are judged, chosen at random. If there are fewer, all are judged.

A submission with a tenth of its answers wrong is then found with a probability of 98 %.
"""

LEAST_PART: Final = 0.002
"""The submission's CPU time is raised to at least this share of the baseline's. Smaller times cannot be measured."""


def believed(
    task: Task,
    exam: CountedExam,
    source: str,
    session: Session,
    seed: Sequence[str],
    counted: Speed,
    counting_gain: float = 0.0,
) -> tuple[Speed, str]:
    """Return the speed that CPU times confirm, and the reason for the student if it is below `counted`, else "".

    `counting_gain` is a first measurement of the gain while opcodes are counted, or 0. Raise `WorkerFault` if an answer
    is wrong.
    """
    speed, why = counted, ""
    for counting in (True, False):
        if speed.tier and (needed := least_gain(task.tiers[speed.tier - 1], counting=counting)):
            if counting and counting_gain >= FIRST_MARGIN * needed:
                continue
            name = "CPU time while counting" if counting else "CPU time"
            shown = gain(task, exam, source, session, (*seed, name), needed, MARGIN * needed, counting=counting)
            if shown < needed:
                speed = _limited(task, speed, shown, counting=counting)
                where = " while opcodes are counted" if counting else ""
                why = (
                    f"The baseline {baseline_takes(task.cost, ratio(counted.ratio))} as the submission, but it takes "
                    f"only {ratio(shown)} as much CPU time{where}. For a higher tier, it must take at least "
                    f"{_next(task, speed, counting)} as much."
                )
    return speed, why


def least_gain(tier: Tier, *, counting: bool) -> float:
    """Return the least gain in CPU time that a tier needs, without a counter or while opcodes are counted."""
    return tier.counting_gain if counting else tier.cpu_gain


def times_as_many(needed: float) -> int:
    """Return how many times as many test cases the submission gets as the baseline, if its gain is in doubt.

    It then needs at most twice as much CPU time as the baseline, because its gain is at least `needed / NEAR`.
    """
    return max(1, min(round(2 * needed / NEAR), MOST_TIMES_AS_MANY))


def gain_of(mine_s: float, baseline_s: float, empty_s: float, times: int = 1) -> float:
    """Return the baseline's CPU time per test case divided by the submission's, each without that of the empty process.

    The submission and the empty process had `times` as many test cases as the baseline.
    """
    whole_s = max(baseline_s - empty_s / times, 0.0)
    return whole_s / max((mine_s - empty_s) / times, LEAST_PART * whole_s, 1e-9)


def gain(
    task: Task,
    exam: CountedExam,
    source: str,
    session: Session,
    seed: Sequence[str],
    needed: float,
    enough: float = math.inf,
    *,
    counting: bool = False,
) -> float:
    """Return the gain in CPU time without a counter, or while opcodes are counted.

    The measurement distinguishes gains near `needed`, and ends early if the gain reaches `enough`. Raise `WorkerFault`
    if an answer is wrong.
    """
    times, near = times_as_many(needed), needed / NEAR
    measure = partial(_gain, task, exam, source, session, counting=counting)
    shown = measure(seed, 1, enough if times == 1 else near)
    if times > 1 and near <= shown < enough:
        shown = measure((*seed, "more cases"), times, enough)
    return shown


def _gain(
    task: Task,
    exam: CountedExam,
    source: str,
    session: Session,
    seed: Sequence[str],
    times: int,
    enough: float,
    *,
    counting: bool,
) -> float:
    """Return the gain if the submission gets `times` as many test cases as the baseline."""
    scenarios, right = draw(exam, seed, times, counting=counting)
    known = list(islice(cycle(right.values()), len(scenarios)))
    runs = counted_process.requests(task, exam, source, scenarios, known, opcodes=counting)
    runs[BASELINE]["calls"] = runs[BASELINE]["calls"][: len(scenarios) // times]
    least_s = dict.fromkeys(runs, math.inf)
    shown = 0.0
    with session.lane(1) as lane, ThreadPoolExecutor(len(runs)) as side_by_side:
        for number in range(MOST_ROUNDS):
            together = Barrier(len(runs))
            ran = {
                whose: side_by_side.submit(_run, task, session, request, lane, together)
                for whose, request in runs.items()
            }
            _require_right(task, scenarios, right, ran[SUBMISSION].result().answers)
            with blame_grader(f"Taking the CPU time of the baseline of {task.full_name}"):
                least_s = {whose: min(least_s[whose], one.result().cpu_s) for whose, one in ran.items()}
            shown = gain_of(least_s[SUBMISSION], least_s[BASELINE], least_s[NOTHING], times)
            if number + 1 >= LEAST_ROUNDS and shown >= enough:
                break
    return shown


def draw(
    exam: CountedExam, seed: Sequence[str], times: int, *, counting: bool
) -> tuple[list[Scenario], dict[int, Value]]:
    """Return new test cases for a measurement of CPU time, and the right answers by the position of their case.

    The baseline gets the first cases, and the submission all, which are `times` as many. As some answers take long to
    compute, there are only as many of them as the baseline has cases, or `LEAST_JUDGED`.
    """
    draws = times * (COUNTING_DRAWS if counting else exam.timed_draws)
    scenarios = [scenario for each in range(draws) for scenario in exam.counted(generator(*seed, str(each)))]
    judged = min(len(scenarios), max(len(scenarios) // times, LEAST_JUDGED))
    places = generator(*seed, "judged").choice(len(scenarios), judged, replace=False)
    return scenarios, {place: exam.answer(scenarios[place]) for place in sorted(places.tolist())}


def _run(task: Task, session: Session, request: Mapping[str, Any], lane: Lane | None, together: Barrier) -> Count:
    """Run one process on the lane's core."""
    with process_env.pinned(lane.core if lane else None):
        return counted_process.count(task, session, request, together=together)


def _limited(task: Task, speed: Speed, shown: float, *, counting: bool) -> Speed:
    """Return the speed with the highest tier that a gain is enough for.

    The gain replaces the ratio of counts. It is limited to ratios that reach exactly this tier.
    """
    tier = sum(shown >= least_gain(each, counting=counting) for each in task.tiers[: speed.tier])
    limit = min(shown, math.nextafter(task.tiers[tier].ratio, 0))
    limit = max(limit, task.tiers[tier - 1].ratio) if tier else limit
    return replace(speed, ratio=limit, low=limit, high=limit, tier=tier)


def _next(task: Task, speed: Speed, counting: bool) -> str:
    return ratio(least_gain(task.tiers[speed.tier], counting=counting))


def _require_right(
    task: Task, scenarios: Sequence[Scenario], right: Mapping[int, Value], answers: Sequence[Any]
) -> None:
    """Raise `WorkerFault` if an answer with a known right answer is wrong, or if the number of answers is."""
    if len(answers) == len(scenarios):
        with untrusted(task.name):
            odd = [place for place, known in right.items() if answers[place] != known]
        scenarios, answers = [scenarios[place] for place in odd], [answers[place] for place in odd]
    counted_process.require_right(task, scenarios, answers, "CPU time was measured")
