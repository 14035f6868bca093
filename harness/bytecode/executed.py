"""Executed opcodes, counted by the interpreter's own events: `sys.monitoring`, or `sys.settrace` before Python 3.12.

Whatever Python code runs meanwhile is counted, also what is called from C. Work in C is one opcode, however long it
takes; so a count of opcodes is no time. Adaptive instructions are counted under their plain names.
"""

import dis
import sys
from collections import Counter
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from harness.errors import UsageError


def executed(function: Callable[..., object], *arguments: object) -> "Counter[str]":
    """Call a function, and return how often each opcode was executed in it and in all Python code that it called.

    What the function raises passes through. Raises `UsageError` where another tool holds the interpreter's events.
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
    monitoring = getattr(sys, "monitoring")  # noqa: B009 - Python 3.11 has none, nor its types
    tool, event = next((id_ for id_ in range(6) if not monitoring.get_tool(id_)), None), monitoring.events.INSTRUCTION
    if tool is None:
        raise UsageError("Every place for a tool is taken: end the debugger or profiler that counts already.")

    def one(code: CodeType, offset: int) -> None:
        places[code, offset] += 1

    own = sys._getframe().f_code  # noqa: SLF001 - what is executed here is nobody's
    monitoring.use_tool_id(tool, "fairclock")
    monitoring.register_callback(tool, event, one)
    try:
        monitoring.set_events(tool, event)
        function(*arguments)
    finally:
        monitoring.set_events(tool, 0)
        monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)
    for place in [place for place in places if place[0] is own]:
        del places[place]
