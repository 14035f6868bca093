"""Task (a): the flat list for a grouped definition, as plain values. No tiers: to expand costs nothing worth saving."""

from pathlib import Path

from grader.records import Cost
from grader.task import MeteredExam, Task

from .grouped import draw_worlds

EXPAND = Task(
    lesson="15_instruction_suite",
    name="expand",
    summary="the flat list of benchmarks that a grouped one stands for",
    points=10.0,
    cost=Cost.CALLS,
    tiers=(),
    hints=(
        "What multiplies the benchmarks, and which of these are always there? How many should come out of each?",
        (
            "Four loops, one in the other, in the order that the text names. Write one function that gives the "
            "statement for a runtime, an autograd mode and a language, or None where there is none."
        ),
        (
            'call, output = signature.split(" -> "). Scripted: call[1:] has the arguments in their brackets, so the '
            'statement is the output, " = jit_model" and that; in C++ "auto " before and ";" behind; without output '
            "only the call. Then the backward pass behind it. The global setup goes with C++ and must not be lost."
        ),
    ),
    exam=MeteredExam(draw_worlds, worlds="grouped benchmarks"),
    folder=Path(__file__).parent,
    read="lesson 15, step 2",
    idea=(
        "a product of what was asked for, with a statement for each combination made by one function. Whoever makes "
        "all combinations and then takes out the wrong ones has to know every reason twice."
    ),
    read_on=(
        "harness/suite/expand.py, which does this for the suite; pytest's parametrize and hyperfine's parameter scans "
        "are other ways to write down a product."
    ),
)
