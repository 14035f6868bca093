"""Task (b) of lesson 18: find the races in the recorded events of threads.

Only the answer counts. Some of the events were recorded while real programs ran.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import SimulatedExam, Task

from .events import draw_scenarios

RACES = Task(
    lesson="18_threads",
    name="races",
    summary="find the pairs of threads that access a variable in a race, in recorded events",
    points=10.0,
    cost=Cost.CALLS,
    tiers=(),
    hints=(
        "Which locks does a thread hold at each of its accesses? At which positions does main start and join it?",
        (
            "Go through the events once. For each thread, count how often it holds each lock. At each read and write, "
            "make a row: position, thread, action, variable, and the set of the locks held. Then compare each pair of "
            "rows of the same variable."
        ),
        (
            "Remember two positions per thread: start[thread] and join[thread], which is len(events) if main never "
            "joins it. Two threads a and b other than main overlap if start[a] < join[b] and start[b] < join[a]. An "
            "access of main at position p overlaps with a if start[a] < p < join[a]. Sets of locks without a common "
            "element are disjoint: held.isdisjoint(other)."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, scenario_noun="lists of events"),
    folder=Path(__file__).parent,
    read="lesson 18, “A race that lost nothing”",
    idea=(
        "The solution compares what each access needs, not what happened to it. So it finds a race even if the run "
        "lost no update. A lock orders two accesses only if both threads hold it, and a start or a join orders them "
        "without a lock."
    ),
    references=(
        "Savage et al., Eraser: A Dynamic Data Race Detector for Multithreaded Programs (1997), compare the locks of "
        "all accesses of a variable. ThreadSanitizer also follows starts, joins and other orders of events."
    ),
)
