"""Task (a) of lesson 19: find the causes of recompilations in the log that torch writes.

Only the answer counts. The messages were recorded with TORCH_LOGS=recompiles,graph_breaks.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import SimulatedExam, Task

from .logs import draw_scenarios

RECOMPILATIONS = Task(
    lesson="19_compile",
    name="recompilations",
    summary="count the causes of recompilations in the log of torch",
    points=10.0,
    cost=Cost.CALLS,
    tiers=(),
    hints=(
        "Which text does each line of a message about recompilations contain? Which line begins a new message?",
        (
            'Split each line at "[__recompiles] ". If the text after it begins with "Recompiling function ", a new '
            "message begins. Keep the failed guard of the newest graph of each message, and count at the end."
        ),
        (
            're.match(r"    - \\d+/(\\d+): (.*)", text) finds the number of a graph, and its failed guard. Compare '
            'int(number). A guard that begins with "tensor \'" has its cause before the word mismatch. Otherwise, look '
            'for "GLOBAL_STATE" at the beginning, and for ".size()[" before the comment. All other guards are values.'
        ),
    ),
    exam=SimulatedExam(draw_scenarios, scenario_noun="logs"),
    folder=Path(__file__).parent,
    read="lesson 19, “Which change needs a new graph?”",
    idea=(
        "A message lists the failed guard of every graph, but most of these graphs are old. The newest graph fitted "
        "the calls just before. So its guard shows what changed, and the solution counts only this guard."
    ),
    references=("The package tlparse makes pages of such logs: set TORCH_TRACE=DIR, and run tlparse DIR --latest."),
)
