"""Task (a) of lesson 13: execute CPython's instructions in plain Python.

The baseline, with which submissions are compared, is a loop around a chain of comparisons, and reads each row again at
each step. The rows are JSON texts, so reading them takes most of its time. These are the ratios for a program with a
loop of 1500 rounds, on Python 3.11 to 3.13:

- `match` instead of the chain of comparisons: 1.0
- rows read once, then a class with methods, a dict of handlers, or a chain of comparisons: 7 to 15
- a closure for each row: 13 to 18
- a closure for several rows: 24 to 40
- a translation to Python: 58 to 85

So the first points need 2.8, and full points 48.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import Task, Tier, ValueExam

from .programs import draw_cases, draw_timed

RUN = Task(
    lesson="13_bytecode",
    name="run",
    summary="write a stack machine for CPython's instructions, 48 times as fast as the baseline",
    points=10.0,
    cost=Cost.TIME,
    tiers=(
        Tier(2.8, 0.7),
        Tier(48.0, 1.0),
    ),
    hints=(
        (
            "Which parts of an instruction does your machine read again in each round of a loop, although they "
            "never change?"
        ),
        (
            "Read and translate the rows once, before you execute them: a symbol to a function of the module "
            "operator, a name to an index of a list. At each row of the program, the depth of the stack is also "
            "always the same."
        ),
        (
            "Run the program once with texts instead of values: LOAD_FAST a pushes 'a', BINARY_OP + pops '2' and 'a' "
            "and pushes '(a + 2)'. From these texts, write the instructions between two jumps as lines of Python code. "
            "Turn the lines into a function with compile() and exec(). If you make a closure for each row instead, the "
            "ratio is only about 15."
        ),
    ),
    exam=ValueExam(draw_cases, draw_timed),
    folder=Path(__file__).parent,
    read="lesson 13, “The value stack after each instruction”",
    idea=(
        "For each instruction, an interpreter fetches the row, decodes it, looks up the name, and moves values to and "
        "from the stack. These steps are the same in every round of a loop, so the solution does them only once: it "
        "runs the instructions with texts instead of values, and compiles the texts. Then the loop contains only the "
        "computation itself. A just-in-time compiler also removes the repeated steps, but writes machine code instead "
        "of Python."
    ),
    references=(
        "PEP 659 describes the adaptive interpreter. PEP 744 describes the just-in-time compiler of CPython 3.13, "
        "which joins prepared pieces of machine code."
    ),
    least_gain=1.3,
)
