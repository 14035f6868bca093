"""Task (b) of lesson 15: plan jobs of given widths and durations on some cores. The cost is the end of the last job.

The baseline, with which submissions are compared, runs one job after the other. Four other plans of random jobs (60
seeds) end earlier. If jobs start strictly in order, the gain is 1.6. If either of the two jobs that wait longest may
start, it is 2.1. If any job that fits may start, it is 4.3, and if the largest job that fits starts first, 4.9. Full
points need a gain of 3, which the first two plans do not reach. The solution must gain only 1.5 times the top tier
(`least_gain`), because a planned time is the same on every machine.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import SimulatedExam, Task, Tier

from .jobs import draw_scenarios

SCHEDULE = Task(
    lesson="15_instruction_suite",
    name="schedule",
    summary="give jobs their own cores, so that the last job ends early",
    points=10.0,
    cost=Cost.SIMULATED_TIME,
    tiers=(Tier(1.25, 0.7), Tier(3.0, 1.0)),
    hints=(
        "Which cores are idle while the first job runs? Which of the waiting jobs would fit on these idle cores?",
        (
            "Keep a list with the second at which each core becomes free. When a job ends, try all waiting jobs, not "
            "only the first. If a job needs more cores than are free, it must not delay a job that needs fewer cores."
        ),
        (
            "Sort the jobs by width × seconds, the largest first. Go through the jobs in this order, and begin each "
            "job for which enough cores are free. Then go to the next second at which a core becomes free. A long job "
            "that begins last delays the end of the whole plan."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, scenario_noun="lists of jobs"),
    folder=Path(__file__).parent,
    read="lesson 15, “Worker processes with their own cores”",
    idea=(
        "Whenever cores become free, the solution begins the largest jobs that fit, and small jobs fill the remaining "
        "cores. Large jobs begin early, because at the end there are no other jobs to run beside them. The solution's "
        "plan is close to the best plan. A search for the best plan would take much longer with every further job."
    ),
    references=(
        "R. L. Graham, Bounds on Multiprocessing Timing Anomalies (1969), shows how far a simple plan can be from the "
        "best plan. Schedulers of clusters, such as Slurm's, start small jobs early in free gaps (backfilling)."
    ),
    least_gain=1.5,
)
