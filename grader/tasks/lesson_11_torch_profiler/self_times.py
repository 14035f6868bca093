"""Task (a) of lesson 11: compute own times by name from the events of a trace, which has no tree of calls.

The baseline, with which submissions are compared, searches the outer event of each event among all events. On traces
with two threads and 500 events, grouping by thread first is 7 times as fast. A sort and a search through every earlier
event are 14 times as fast, a search back to the nearest outer event 24 to 29 times, and a stack 33 to 77 times (Python
3.11 and 3.13). The traces have random shapes.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import Task, Tier, ValueExam

from .traces import draw_cases, draw_timed

SELF_TIMES = Task(
    lesson="11_torch_profiler",
    name="self_times",
    summary="compute own times from a trace, 19 times as fast as the baseline",
    points=10.0,
    cost=Cost.TIME,
    tiers=(
        Tier(2.6, 0.6),
        Tier(9.8, 0.8),
        Tier(19.0, 1.0),
    ),
    hints=(
        (
            "In which order must you go through the events, so that you find the outer event of each event without a "
            "search?"
        ),
        (
            "Sort the events of each thread by their beginnings. If two events begin together, the longer event comes "
            "first. When an event begins, all open events contain it. Keep the open events in a list, and remove those "
            "that have ended."
        ),
        (
            "For each (pid, tid), sort by (ts, -dur). Keep a stack of (end, name). For each event, remove the top of "
            "the stack while its end is at most the event's ts. If the stack still has an event on top, subtract dur "
            "from the own time of that event's name. Add dur to own[name], and push (ts + dur, name). Sort the rows "
            "once at the end, by (-own, name)."
        ),
    ),
    exam=ValueExam(draw_cases, draw_timed),
    folder=Path(__file__).parent,
    read="lesson 11, “The trace”",
    idea=(
        "A trace does not state which call made which other call. But in one thread, the call that began last returns "
        "first. If you sort events by their beginnings, they open and close like brackets. So a stack of open events "
        "always has the outer event on top, and no search is necessary. An event needs no list of children, because "
        "each child subtracts its duration from the outer event."
    ),
    references=(
        "_build_tree in torch/autograd/profiler_util.py makes the tree of events for key_averages. Perfetto's trace "
        "processor computes such times in SQL, for traces of millions of events."
    ),
)
