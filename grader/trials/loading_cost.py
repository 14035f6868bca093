"""Keep the cost of loading a submission's file out of its ratio of counts.

A count covers the whole process, so it also contains the code that runs when the file is loaded. Usually this is
little. But twelve data classes execute 58 million instructions, and the solution of a task may execute 4 million for
its answers.

So if loading could have cost a submission a tier, it is counted again with more test cases. Then loading the file is a
small part of its count. The count of a process that only loads the file shows whether this is necessary. This count is
never subtracted, because a submission could find out that it is in such a process, and work longer there.
"""

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from grader.errors import WorkerFault
from grader.records import Status
from grader.seeds import generator
from grader.session import Session
from grader.task import CountedExam, Task, tier_of
from grader.trials.counted_process import NOTHING, SUBMISSION, Count, count, requests, require_right

SMALL_PART: Final = 0.2
"""In the second count, loading the file is at most about this part of the calls, if the next two limits allow it."""

MOST_BASELINES: Final = 1.0
"""The calls of the second count may execute at most this many times as much as the baseline."""

MOST_TIMES: Final = 10
"""The second count has at most this many times as many test cases."""


def count_of_calls(
    task: Task,
    exam: CountedExam,
    source: str,
    session: Session,
    seed: Sequence[str],
    loading: Mapping[str, Any],
    counts: tuple[int, int],
    empty: int,
    *,
    by_valgrind: bool,
) -> int:
    """Return the count of a submission for the usual number of test cases, with little of the cost of loading it.

    `loading` is what a process runs that only loads the file. `counts` are those of the submission and the baseline
    without `empty`, the count of a process that runs neither. If loading cannot have cost a tier, return the
    submission's first count. Do so too if this machine is too busy for a second count. Raise `WorkerFault` if an answer
    is wrong.
    """
    mine, baseline = counts
    loaded = count(task, session, loading, by_valgrind=by_valgrind).taken - empty
    times = times_as_many(task, mine, loaded, baseline)
    if times <= 1:
        return mine
    scenarios = [one for each in range(times) for one in exam.counted(generator(*seed, "more cases", str(each)))]
    right = [exam.answer(scenario) for scenario in scenarios]
    runs = requests(task, exam, source, scenarios, right, opcodes=not by_valgrind)

    def counted(whose: str) -> Count:
        return count(task, session, runs[whose], by_valgrind=by_valgrind)

    try:
        with ThreadPoolExecutor(2) as side_by_side:
            more, nothing = side_by_side.map(counted, (SUBMISSION, NOTHING))
    except WorkerFault as fault:
        if fault.status is Status.TIMED_OUT:  # the machine is too busy for a second count
            return mine
        raise
    require_right(task, scenarios, more.answers, "the cost")
    return min(mine, (more.taken - nothing.taken) // times)


def times_as_many(task: Task, mine: int, loaded: int, baseline: int) -> int:
    """Return how many times as many test cases a second count needs, or 1 if no second count can give a higher tier.

    `mine` is the count of loading and calls, `loaded` that of loading alone, and `baseline` that of the baseline.
    """
    calls = mine - loaded
    if calls <= 0 or tier_of(baseline / calls, task.tiers) <= tier_of(baseline / mine, task.tiers):
        return 1
    return min(math.ceil(loaded / (SMALL_PART * calls)), int(MOST_BASELINES * baseline / calls), MOST_TIMES)
