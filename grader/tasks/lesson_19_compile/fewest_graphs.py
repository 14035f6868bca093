"""Task (b) of lesson 19: order the statements of a function so that torch needs few graphs.

The baseline, with which submissions are compared, keeps the given order. Compared with the baseline, submissions have:

- the last Python statements moved to the end: 1.3 times fewer graphs
- one Python statement at a time, and all possible torch statements between them: 2.6 times fewer
- all possible statements of one kind, and then all of the other kind: 7 to 8 times fewer

The solution must gain only 1.3 times the top tier (`least_gain`). The number of graphs is computed, so it is the same
on every machine.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import SimulatedExam, Task, Tier

from .statements import draw_scenarios

FEWEST_GRAPHS = Task(
    lesson="19_compile",
    name="fewest_graphs",
    summary="order the statements of a function, so that torch needs few graphs",
    points=10.0,
    cost=Cost.CALLS,
    tiers=(Tier(2.0, 0.7), Tier(4.2, 1.0)),
    hints=(
        "Which Python statements does no torch statement need? Can they wait?",
        (
            "Run every torch statement as soon as all results that it uses exist. A Python statement can wait until no "
            "torch statement is possible."
        ),
        (
            "Repeat two loops until all statements are done. The first loop runs Python statements in their order, as "
            "long as the next one is possible. The second loop runs all torch statements that are possible, and those "
            "that become possible through them. Run several Python statements in a row before the next graph begins."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, scenario_noun="functions"),
    folder=Path(__file__).parent,
    read="lesson 19, “Breaks repaired, and breaks forbidden”",
    idea=(
        "A new graph is necessary only if no torch statement is possible before Python has run. So the solution runs "
        "all possible statements of one kind before it changes to the other kind. No other order has fewer changes, "
        "because each change happens as late as possible."
    ),
    references=(
        "If you add print to torch._dynamo.config.reorderable_logging_functions, torch moves its calls to the end of a "
        "graph."
    ),
    least_gain=1.3,
)
