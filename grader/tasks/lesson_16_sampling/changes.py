"""Task (b) of lesson 16: find the functions whose share changed between two recordings of py-spy.

Only the answer counts. The recordings are those of two versions of a training loop and of a program that calls itself.
"""

from grader.records import Cost
from grader.task import SimulatedExam, Task

from .recordings import draw_scenarios

CHANGES = Task(
    lesson="16_sampling",
    name="changes",
    summary="find the functions whose share changed significantly between two recordings of py-spy",
    cost=Cost.CALLS,
    tiers=(),
    hints=(
        "How many samples does a line stand for? On which side of the line do you find this number?",
        (
            "For each line, make a set of its functions, so that a function that calls itself counts once. Split the "
            "stack at the semicolons. In each frame, remove the last colon and the digits after it."
        ),
        (
            'stack, _, number = line.rpartition(" ") splits a line. frame[:-1].rpartition(":") finds the line in a '
            "frame without its last parenthesis. Remove it only if it consists of digits. Add int(number) to the count "
            "of each function in the set. n and m are the sums of the numbers of all lines, not the numbers of lines. "
            "A function that is in only one recording has 0 samples in the other."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, scenario_noun="pairs of recordings"),
    read="lesson 16, “Two runs compared: a differential flame graph”",
    idea=(
        "The solution counts each function once per stack. Then it compares the difference of the two shares with its "
        "standard error. Without this comparison, every function would count as changed, because the shares of two "
        "recordings of the same program are never exactly equal."
    ),
    references=(
        "Compare two proportions with the pooled two-sample z-test. Brendan Gregg's script difffolded.pl makes the "
        "input of a differential flame graph from two files with such lines."
    ),
)
