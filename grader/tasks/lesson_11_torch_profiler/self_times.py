"""Task (a) of lesson 11: compute own times by name from the events of a trace, which has no tree of calls.

The cost is counted in processor instructions, so the work within a sort counts too. Counted in opcodes, a sort would
cost only one. The baseline, with which submissions are compared, searches the outer event of each event among all
events. On a training step with two threads and 390 events (Python 3.11), grouping by thread first needs 7.2 times fewer
instructions. A sort and a search through every earlier event need 15 times fewer, and a search back to the nearest
outer event 51 times fewer. A stack needs 71 times fewer, and two lists instead of a stack 109 times fewer. Traces keep
their shapes and get new names and times, which changes a ratio by a few percent.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import Task, Tier, ValueExam

from .traces import draw_cases, draw_timed

SELF_TIMES = Task(
    lesson="11_torch_profiler",
    name="self_times",
    summary="compute own times from a trace, in a 20th of the baseline's instructions",
    points=10.0,
    cost=Cost.TIME,
    tiers=(
        Tier(4.0, 0.6, cpu_gain=2.5),
        Tier(10.0, 0.8, cpu_gain=9.5),
        Tier(20.0, 1.0, cpu_gain=17.7),
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
