"""Task (a) of lesson 18: count keys in a table that other threads change too. The cost is simulated time.

The time in which the other threads wait for the lock counts as well. The baseline, with which submissions are compared,
holds the lock while it works on a job. Compared with the baseline, submissions take less time:

- the lock around each change of the table, and the work outside: 1.95 times less
- the lock around the changes of six or ten jobs: 3.1 to 4.1 times less
- own counts, and the lock once: 8.7 to 9.2 times less

No submission can need less than 1/14, because each job needs `key_of`. The solution must gain only 1.5 times the top
tier (`least_gain`), because the simulated time is the same on every machine.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import SimulatedExam, Task, Tier

from .shared_table import draw_scenarios

TALLY = Task(
    lesson="18_threads",
    name="tally",
    summary="count keys in a table that other threads change too, without lost updates and with little waiting",
    points=10.0,
    cost=Cost.SIMULATED_TIME,
    tiers=(Tier(1.32, 0.6), Tier(2.45, 0.8), Tier(6.0, 1.0)),
    hints=(
        "Between your get and your put, another thread can change the same count. How long do you need the lock?",
        (
            "key_of does not use the table, so call it without the lock. Each acquire and each release takes time, and "
            "the other threads wait while you hold the lock. How many changes can you make with one acquire?"
        ),
        (
            "Count the keys of your own jobs first, in a dict that only your thread uses. Then acquire the lock once, "
            "add each of your counts to the table with get and put, and release the lock. Return the counts that you "
            "put. Without jobs, you need no lock."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, scenario_noun="threads"),
    folder=Path(__file__).parent,
    read="lesson 18, “Two repairs”",
    idea=(
        "The solution counts in a dict that only its own thread uses, so counting needs no lock. It holds the lock "
        "once, for a few changes. The number of these changes depends on the number of keys, not on the number of jobs."
    ),
    references=(
        "Per-thread counts that are added up at the end are also called sharded counters. The Linux kernel uses them "
        "(Documentation/core-api/this_cpu_ops.rst)."
    ),
    least_gain=1.5,
)
