"""Task (b): jobs of given widths and lengths on so many cores; the cost is when the last one ends.

The baseline runs one job after the other. With the jobs planted here (60 seeds), keeping the order and waiting for each
in turn ends 1.6 times sooner, looking at two jobs at a time 2.1 times, taking whatever fits 4.3 times, and the largest
that fits first 4.9 times. Full marks, at 3 times, lie between the second and the third. `least_gain` is 1.5, because a
planned time is the same on every machine.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import MeteredExam, Task, Tier

from .jobs import draw_worlds

SCHEDULE = Task(
    lesson="15_instruction_suite",
    name="schedule",
    summary="jobs on cores of their own, done soon",
    points=10.0,
    cost=Cost.SIMULATED_TIME,
    tiers=(Tier(1.25, 0.7), Tier(3.0, 1.0)),
    hints=(
        "Which cores are idle while the first job runs, and which of the jobs that wait would fit there?",
        (
            "Keep a list of when each core is free. Whenever some job ends, look through all that wait, not at the "
            "first alone: a job that is too wide for now need not hold up a narrow one."
        ),
        (
            "Sort the jobs by width × seconds, the largest first. At each moment go through them in that order and "
            "begin every one for which enough cores are free; then step to the next moment at which a core becomes "
            "free. A long job that is begun last is waited for by everybody."
        ),
    ),
    exam=MeteredExam(draw_worlds, worlds="lists of jobs"),
    folder=Path(__file__).parent,
    read="lesson 15, step 5",
    idea=(
        "whenever cores become free, begin the largest jobs that fit, and let small ones fill what is left. What is "
        "large goes early, since at the end nothing is left to run beside it. The best plan of all would take a "
        "search that grows with every job; this one is never far from it."
    ),
    read_on=(
        "R. L. Graham, Bounds on Multiprocessing Timing Anomalies (1969), on how far a plan without foresight can be "
        "off; backfilling in the schedulers of clusters, such as Slurm's."
    ),
    least_gain=1.5,
)
