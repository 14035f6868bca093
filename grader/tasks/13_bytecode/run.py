"""Task (a): CPython's instructions, executed by a program of one's own in fewer opcodes than the plain one.

The baseline is a loop around a chain of comparisons, and finds out everything anew at each step. Three programs whose
loops go round 300 times take so many times fewer opcodes, on Python 3.11 to 3.14: with `match` in place of the chain
1.1 to 1.2, with a row unpacked once and the common cases first 2.1 to 2.2, with a dict of operators, a dict of handlers
or rows decoded beforehand 2.3 to 3.2, with a closure for each row 3.9 to 4.4, with a closure for several rows 6.8 to
8.2, and translated to Python 8.5 to 23. So one tier lies at 1.6, and one at 5.2.

Opcodes are counted, not the processor's instructions: how many of these a call of a function takes depends on how that
Python was built, and moved a dict of handlers from 1.05 to 1.58.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import CountedExam, Task, Tier

from .programs import answer, draw_cases, draw_counted

RUN = Task(
    lesson="13_bytecode",
    name="run",
    summary="a stack machine for CPython's instructions, in 5.2 times fewer executed opcodes than the plain one",
    points=10.0,
    cost=Cost.OPCODES,
    tiers=(Tier(1.6, 0.7), Tier(5.2, 1.0)),
    hints=(
        "What does your machine find out about an instruction each time a loop comes by, though it never changes?",
        (
            "Translate the rows once, before anything is run: a symbol to a function of the module operator, a name to "
            "a place in a list. How deep the stack is at a row is the same each time, too."
        ),
        (
            "Run the program once with texts in place of values: LOAD_FAST a pushes 'a', BINARY_OP + pops '2' and 'a' "
            "and pushes '(a + 2)'. Between two jumps these texts are lines of Python; compile() and exec() make them a "
            "function. (Closures, one for each row, gain less: 4 times.)"
        ),
    ),
    exam=CountedExam(draw_cases, draw_counted, answer, timed_draws=30),
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
)
