"""Task (a) of lesson 15: expand a grouped benchmark to a flat list. Only the answer counts, and not the time."""

from pathlib import Path

from grader.records import Cost
from grader.task import SimulatedExam, Task

from .grouped import draw_scenarios

EXPAND = Task(
    lesson="15_instruction_suite",
    name="expand",
    summary="expand a grouped benchmark to the flat list of its benchmarks",
    points=10.0,
    cost=Cost.CALLS,
    tiers=(),
    hints=(
        "Which options multiply the number of benchmarks? By how much does each option multiply it?",
        (
            "Write four nested loops, in the order that the exercise states. Write one function that returns the "
            "statement for a runtime, an autograd mode and a language, or None if there is none."
        ),
        (
            'Split the signature at the arrow: call, output = signature.split(" -> "). Then call[1:] holds the '
            'arguments in parentheses. A scripted statement is the output, " = jit_model" and the arguments. In C++, '
            'put "auto " before the statement and ";" after it. Without an output, write only the call. Add the line '
            "for the backward pass. Keep the global setup only for benchmarks in C++."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, scenario_noun="grouped benchmarks"),
    folder=Path(__file__).parent,
    read="lesson 15, “Nested names”",
    idea=(
        "The solution loops over the requested options, and one function makes the statement for each combination. If "
        "code first makes all combinations and then removes some, it must contain every rule twice."
    ),
    references=(
        "harness/suite/expand.py expands the benchmarks of the suite. pytest's parametrize and hyperfine's parameter "
        "scans are other notations for a product of options."
    ),
)
