"""Inspect CPython bytecode: the instructions of a function, its value stack, and the opcodes that it executes.

    from harness.bytecode import count_opcodes, plain_instructions, steps

    plain_instructions(function.__code__)   # the instructions, with the same names since Python 3.11
    steps(function, 2, 3, 4)                # the value stack after each instruction
    count_opcodes(function, 2, 3, 4)        # the number of executions of each opcode

Opcodes differ between versions of Python. `CHECKED_ON` lists the tested versions. `is_checked_version()` returns
whether the running version is one of them. `version_note()` returns the running and the tested versions as text.
"""

from harness.bytecode.instructions import (
    CHECKED_ON,
    Instruction,
    UnknownOpcodeError,
    is_checked_version,
    plain_instructions,
    version_note,
)
from harness.bytecode.opcode_counts import count_opcodes
from harness.bytecode.pictures import stack_svg, stack_text
from harness.bytecode.stack import StackStep, steps
