"""Task (a): CPython's instructions, executed by a program of one's own that costs less than the plain one.

The baseline is a loop around a chain of comparisons, and finds out everything anew at each step. On three programs
whose loops go round 300 times (Python 3.11): a row unpacked once and the common cases first take 1.75 times fewer
instructions of the processor, a dict of operators 2.25, rows decoded beforehand 2.4 to 2.5, a closure for each row
2.8 to 2.9, and a program translated to Python 7 to 8. Programs are drawn anew for each hand-in, and move a ratio by a
few percent; other versions of Python move the first of these to 1.9. So there is a tier below all of them and one
above all but the last. `least_gain` is 1.7: a count does not depend on the CPU, and the closures must stay well below.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import CountedExam, Task, Tier

from .programs import answer, draw_cases, draw_counted

RUN = Task(
    lesson="13_bytecode",
    name="run",
    summary="a stack machine for CPython's instructions, 3.4 times cheaper than the plain way",
    points=10.0,
    cost=Cost.INSTRUCTIONS,
    tiers=(Tier(1.5, 0.7), Tier(3.4, 1.0)),
    hints=(
        "What does your machine find out about an instruction each time a loop comes by, though it never changes?",
        (
            "Translate the rows once, before anything is run: a symbol to a function of the module operator, a name to "
            "a place in a list. How deep the stack is at a row is the same each time, too."
        ),
        (
            "Run the program once with texts in place of values: LOAD_FAST a pushes 'a', BINARY_OP + pops '2' and 'a' "
            "and pushes '(a + 2)'. Between two jumps these texts are lines of Python; compile() and exec() make them a "
            "function. (Closures, one for each row, gain less: 2.8 times.)"
        ),
    ),
    exam=CountedExam(draw_cases, draw_counted, answer),
    folder=Path(__file__).parent,
    read="lesson 13, step 2",
    idea=(
        "an interpreter pays for each instruction before it does anything: fetch the row, find out which it is, look "
        "the name up, move values on and off the stack. All of that is the same in every round, so it is done once: "
        "the instructions are run with texts in place of values, and the texts are compiled. What is left in the loop "
        "is the work itself. That is what a just-in-time compiler does, with machine code in place of Python."
    ),
    read_on=(
        "PEP 659 on the adaptive interpreter, and PEP 744 on the just-in-time compiler of CPython 3.13, which pastes "
        "prepared pieces of machine code one behind the other."
    ),
    least_gain=1.7,
)
