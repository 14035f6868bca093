"""Task (a): own time by name from the events of a trace, which have no tree.

It stands for the time that it takes, in instructions of the processor: exams that are timed are for tensors. A sort,
which is where an opcode hides most, is paid for like all else. The baseline looks for the outer one of each event among
all. On a step of training in two threads, 390 events (Python 3.11), grouping by thread first takes 7.2 times fewer, a
sort and a look at every earlier event 15, a look back to the nearest that holds it 51, a stack 71, and two lists in its
place 109. Traces keep their shapes and are drawn with other names and times, which moves a ratio by a few percent.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import CountedExam, Task, Tier
from grader.tasks.plain import right_rows

from .traces import draw_cases, draw_counted

SELF_TIMES = Task(
    lesson="11_torch_profiler",
    name="self_times",
    summary="own time by operator from a trace, in a 25th of the baseline's instructions",
    points=10.0,
    cost=Cost.INSTRUCTIONS,
    tiers=(Tier(4.0, 0.6), Tier(10.0, 0.8), Tier(25.0, 1.0)),
    hints=(
        "In which order would you have to meet the events, so that one look back tells which one each lies within?",
        (
            "Sort each thread's events by their beginnings, the longer first where they begin together. Then whatever "
            "is still open when an event begins has it within: keep those in a list, and drop what has ended."
        ),
        (
            "For each (pid, tid), sort by (ts, -dur). Keep a stack of (end, name). At each event: pop while the end on "
            "top is not after its ts; if one is left, take dur from own[its name]; add dur to own[name]; push "
            "(ts + dur, name). Sort the rows once, at the end, by (-own, name)."
        ),
    ),
    exam=CountedExam(draw_cases, draw_counted, right_rows, timed_draws=8),
    folder=Path(__file__).parent,
    read="lesson 11, step 5",
    idea=(
        "a trace holds no tree, but calls of one thread return in order. Sorted by their beginnings, events open and "
        "close like brackets, so a stack has the one that an event lies within on top: one look instead of a search "
        "among all. The children of an event need not be kept: each takes its own duration away from it."
    ),
    read_on=(
        "torch/autograd/profiler_util.py, _build_tree: how key_averages comes about; and Perfetto's trace processor, "
        "which answers questions like this one in SQL over traces of millions of events."
    ),
)
