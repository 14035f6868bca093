"""Task (a) of lesson 13: execute CPython's instructions in plain Python, with few opcodes.

The baseline, with which submissions are compared, is a loop around a chain of comparisons, and decodes each row again
at each step. These are the baseline's opcodes divided by those of other methods, for three programs with loops of 300
rounds, on Python 3.11 to 3.14:

- `match` instead of the chain of comparisons: 1.1 to 1.2
- a row unpacked only once, and common cases tested first: 2.1 to 2.2
- a dict of operators, a dict of handlers, or rows decoded before the run: 2.3 to 3.2
- a closure for each row: 3.9 to 4.4
- a closure for several rows: 6.8 to 8.2
- a translation to Python: 8.5 to 23

So the first points need 1.6, and full points 5.2. The cost is not counted in processor instructions, because the number
of instructions for a call depends on how Python was built. With different builds, the gain of a dict of handlers was
1.05 or 1.58.

CPU time does not distinguish the fastest submission of tier 0, with `match`, and the slowest of tier 1. Nor does it
distinguish a closure per row, of tier 1, and a closure for several rows, of tier 2. So a forged count can earn one tier
more (`grader/trials/cpu_time.py`).
"""

from pathlib import Path

from grader.records import Cost
from grader.task import Task, Tier, ValueExam

from .programs import draw_cases, draw_timed

RUN = Task(
    lesson="13_bytecode",
    name="run",
    summary="write a stack machine for CPython's instructions, with 5.2 times fewer opcodes than the baseline",
    points=10.0,
    cost=Cost.TIME,
    tiers=(
        Tier(1.6, 0.7, cpu_gain=1.1, counting_gain=1.22),
        Tier(5.2, 1.0, cpu_gain=2.2, counting_gain=3.4),
    ),
    hints=(
        (
            "Which parts of an instruction does your machine decode again in each round of a loop, although they "
            "never change?"
        ),
        (
            "Translate the rows once, before you execute them: a symbol to a function of the module operator, a name "
            "to an index of a list. At each row of the program, the depth of the stack is also always the same."
        ),
        (
            "Run the program once with texts instead of values: LOAD_FAST a pushes 'a', BINARY_OP + pops '2' and 'a' "
            "and pushes '(a + 2)'. From these texts, write the instructions between two jumps as lines of Python code. "
            "Turn the lines into a function with compile() and exec(). If you make a closure for each row instead, the "
            "ratio is only about 4."
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
)
