"""What CPython compiles a function to, and what it does with it: instructions, the value stack, opcodes counted.

    from harness.bytecode import executed, plain, steps

    plain(function.__code__)       # its instructions, the same for every version of Python from 3.11 on
    steps(function, 2, 3, 4)       # what lies on the value stack after each of them
    executed(function, 2, 3, 4)    # how often each opcode was executed, in all Python code that was called

Opcodes differ between versions of Python: `CHECKED_ON` says which ones this was checked on, `checked()` whether the one
that runs is among them, and `versions()` both in words.
"""

from harness.bytecode.executed import executed
from harness.bytecode.instructions import CHECKED_ON, Instruction, UnknownOpcodeError, checked, plain, versions
from harness.bytecode.pictures import stack_svg, stack_text
from harness.bytecode.stack import Step, steps

__all__ = [
    "CHECKED_ON",
    "Instruction",
    "Step",
    "UnknownOpcodeError",
    "checked",
    "executed",
    "plain",
    "stack_svg",
    "stack_text",
    "steps",
    "versions",
]
