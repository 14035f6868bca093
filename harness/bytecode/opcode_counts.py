"""Count executed opcodes with `sys.monitoring`, or with `sys.settrace` before Python 3.12.

All Python code that runs during the call is counted, also Python code that C code calls. A call of a C function counts
as one opcode (two in Python 3.11), even if it takes a long time. So the number of opcodes is not a measure of time.
Specialised (adaptive) instructions are counted under the name of the general instruction.
"""

import dis
import sys
from collections import Counter
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from harness.errors import UsageError


def count_opcodes(function: Callable[..., object], *arguments: object) -> "Counter[str]":
    """Call a function, and return the number of executions of each opcode in all Python code that ran.

    Exceptions of the function are not caught. Raise `UsageError` if other tools use all tool slots of `sys.monitoring`.
    """
    places: Counter[tuple[CodeType, int]] = Counter()
    if sys.version_info >= (3, 12):
        _monitored(function, arguments, places)
    else:
        _traced(function, arguments, places)
    names: Counter[str] = Counter()
    for (code, offset), times in places.items():
        names[dis.opname[code.co_code[offset]]] += times
    return names


def _traced(function: Callable[..., object], arguments: tuple[object, ...], places: Counter[Any]) -> None:
    def local(frame: FrameType, event: str, _: object) -> None:
        if event == "opcode":
            places[frame.f_code, frame.f_lasti] += 1

    def enter(frame: FrameType, _event: str, _: object) -> Any:
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return local

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        function(*arguments)
    finally:
        sys.settrace(before)


def _monitored(function: Callable[..., object], arguments: tuple[object, ...], places: Counter[Any]) -> None:
    monitoring = getattr(sys, "monitoring")  # noqa: B009 - Python 3.11 does not have it, so mypy does not know it
    tool, event = next((id_ for id_ in range(6) if not monitoring.get_tool(id_)), None), monitoring.events.INSTRUCTION
    if tool is None:
        raise UsageError("Other tools use all tool slots of sys.monitoring. Stop a debugger or profiler and try again.")

    def add(code: CodeType, offset: int) -> None:
        places[code, offset] += 1

    own = sys._getframe().f_code  # noqa: SLF001 - opcodes of this function are not counted
    monitoring.use_tool_id(tool, "fairclock")
    monitoring.register_callback(tool, event, add)
    try:
        monitoring.set_events(tool, event)
        function(*arguments)
    finally:
        monitoring.set_events(tool, 0)
        monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)
    for place in [place for place in places if place[0] is own]:
        del places[place]
