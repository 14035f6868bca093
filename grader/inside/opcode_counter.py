"""Counts every opcode that Python executes in a process, out of the reach of the code that is counted.

`trials.counted` sends this text to `counted_driver.py`, which executes it before anything of a submission;
nothing imports it. `start` sets the counter off; the function that it returns gives the sum, or what stands for none.

Not counted is the Python code of the standard library, as what is written in C is not: a data class that is made, a
named tuple, `Counter.most_common`. So a count depends less on the version of Python. Code counts as the library's by
the identity of its code object: that of every function that was there before the submission.

The counter lives in the very process that it counts, so this is what holds it there:

- *It cannot be reached.* It is a function whose state is in its defaults, and reading those, a frame, or a code object
  is refused by the driver's audit hook; so is `sys.settrace`. `sys.gettrace`, `sys.monitoring` and the garbage
  collector have no names any more.
- *It calls nothing that has a name.* What it needs it took before; new builtins do not change it.
- *Nothing runs behind its back.* Python does not trace what runs while the tracer does: that would be the finalizer of
  an object that is dropped just then. So no garbage is collected, and every object that a frame has had a name for is
  kept to the end. A submission cannot get the dict of a frame: `locals` is removed, and `vars` needs an argument. (This
  `vars` is written in C, because a Python function would give access to our globals.) A namespace of another kind ends
  the count, and so does one from which the interpreter itself takes names away: that of a class with a cell for
  `__class__`. So `super()`, which needs that cell, is written out before.
- *It cannot be worn out.* Where the tracer cannot be called, for too deep a recursion or too little memory, Python
  takes it off the frame. Then that frame is not seen to be left, and there is no sum.

Python 3.12 and later have `sys.monitoring`, which needs less of this. It asks a frame for no names, and it calls the
counter before each instruction. If that call fails, the instruction fails too, so no work is left uncounted. Yet the
counter refuses there what it must refuse on Python 3.11, so that one file earns the same on every Python: a recursion
that reaches its limit, and a class with a cell.

Python calls an audit hook untraced on every version. So the driver's hook calls no method of what it is given.
"""

from __future__ import annotations

import builtins
import gc
import operator
import sys

TYPE_CHECKING = False  # `typing` would take longer to import than all of this takes to run
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

TOOL = 3
"""A tool's place in `sys.monitoring` that nobody has claimed."""

OPTIMIZED = 1
"""The flag of a function's code, whose names live in no dict."""

GONE = (
    *("settrace", "gettrace", "setprofile", "getprofile", "call_tracing", "monitoring"),
    *("_settraceallthreads", "_setprofileallthreads", "activate_stack_trampoline"),  # from Python 3.12 on
)
SUPER = "__super__"
"""What `super` is called in what is counted."""

LOST, ODD = -1, -2
"""Given in place of a sum: the counter was taken off, or met a namespace in which others may act."""


def written_out(source: str) -> str:
    """Return a source text in which each `super()` names its class and its object: `SUPER(Row, self)`.

    Python gives a class in which anything is called `super` a cell of its own, and such a class is not counted. What
    cannot be written out stays as it is: a class within a class has no name that its methods know.
    """
    if "super(" not in source:
        return source
    import ast  # noqa: PLC0415 - few need it

    def visit(node: ast.AST, owner: str, first: str, *, in_class: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                known = not in_class and not child.name.startswith("__")
                visit(child, child.name if known else "", "", in_class=True)
            elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                names = [each.arg for each in (*child.args.posonlyargs, *child.args.args)]
                visit(child, owner, names[0] if names else "", in_class=False)
            else:
                if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id == "super":
                    if owner and first:
                        child.args = child.args or [ast.Name(owner, ast.Load()), ast.Name(first, ast.Load())]
                    child.func.id = SUPER if child.args else "super"
                visit(child, owner, first, in_class=in_class)

    try:
        tree = ast.parse(source)
        stored = {getattr(node, "name", None) or getattr(node, "arg", None) for node in ast.walk(tree)}
        named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        if "super" not in stored | named:  # one of its own is none of Python's
            visit(tree, "", "", in_class=False)
        return ast.unparse(tree)
    except Exception:  # noqa: BLE001 - whatever is odd about it, it is not to end all three processes
        return source


def start() -> Callable[[], int]:
    """Count from now on, every opcode of every frame entered."""
    gc.collect()
    gc.disable()
    library = _codes()
    free = frozenset(map(id, library))
    said = _monitored(free, library) if hasattr(sys, "monitoring") else _traced(free, library)
    for name in GONE:
        vars(sys).pop(name, None)
    vars(builtins).pop("locals", None)
    setattr(builtins, SUPER, super)
    setattr(builtins, "vars", operator.attrgetter("__dict__"))  # noqa: B010 - no other `vars` has its type
    return said


def _codes() -> list[CodeType]:
    """Return the code of all functions that are there: the standard library's, and ours."""
    found = [each.__code__ for each in gc.get_objects() if type(each) is type(start)]
    for code in found:  # which grows meanwhile
        found += [constant for constant in code.co_consts if type(constant) is type(start.__code__)]
    return found


def _monitored(free: frozenset[int], library: list[CodeType]) -> Callable[[], int]:
    monitoring = getattr(sys, "monitoring")  # noqa: B009 - Python 3.11 has none, nor its types
    seen, kept = [0, 0], []  # type: tuple[list[int], list[object]]  # opcodes, and what stands for no sum

    def one(
        code: CodeType, _offset: int, seen: list[int] = seen, identity: Any = id, free: frozenset[int] = free,
        never_again: object = monitoring.DISABLE,
    ) -> object:  # fmt: skip
        if identity(code) in free:
            return never_again
        seen[0] += 1
        return None

    def enter(
        code: CodeType, _offset: int, seen: list[int] = seen, keep: Any = kept.append, optimized: int = OPTIMIZED,
        odd: int = ODD, identity: Any = id, free: frozenset[int] = free,
    ) -> None:  # fmt: skip
        if not code.co_flags & optimized and identity(code) not in free:
            names = code.co_cellvars
            keep(names)  # a tuple that is dropped here could take objects along that wait for their finalizers
            if names:
                seen[1] = odd

    def failed(
        _code: CodeType, _offset: int, error: BaseException, seen: list[int] = seen, kind: Any = type,
        deep: type = RecursionError, lost: int = LOST,
    ) -> None:  # fmt: skip
        if kind(error) is deep:
            seen[1] = seen[1] or lost

    called = {"INSTRUCTION": one, "PY_START": enter, "RAISE": failed}  # type: dict[str, Callable[..., object]]
    events = sum(getattr(monitoring.events, name) for name in called)

    def said(
        seen: list[int] = seen, _library: list[CodeType] = library, active: Any = monitoring.get_events,
        events: int = events, tool: int = TOOL, lost: int = LOST,
    ) -> int:  # fmt: skip
        return seen[1] or (seen[0] if active(tool) == events else lost)

    monitoring.use_tool_id(TOOL, "opcodes")
    for name, callback in called.items():
        monitoring.register_callback(TOOL, getattr(monitoring.events, name), callback)
    monitoring.set_events(TOOL, events)
    vars(monitoring).clear()
    return said


def _traced(free: frozenset[int], library: list[CodeType]) -> Callable[[], int]:
    seen, kept = [0, 0, 0, 0], {}  # type: tuple[list[int], dict[int, object]]  # opcodes, frames entered, left, no sum

    def local(
        frame: FrameType, event: str, about: Any, seen: list[int] = seen, kept: Any = kept, identity: Any = id,
        deep: type = RecursionError, lost: int = LOST,
    ) -> None:  # fmt: skip
        if event == "opcode":
            seen[0] += 1
        elif event == "return":
            seen[2] += 1
        elif event == "exception" and about[0] is deep:
            seen[3] = seen[3] or lost
        for value in frame.f_locals.values():
            kept[identity(value)] = value

    def enter(
        frame: FrameType, _event: str, _: object, local: Any = local, seen: list[int] = seen, kind: Any = type,
        plain: type = dict, optimized: int = OPTIMIZED, odd: int = ODD, identity: Any = id,
        free: frozenset[int] = free,
    ) -> Any:  # fmt: skip
        code = frame.f_code
        if identity(code) in free:
            return None
        seen[1] += 1
        if kind(frame.f_locals) is not plain or (code.co_cellvars and not code.co_flags & optimized):
            seen[3] = odd
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        local(frame, "call", None)
        return local

    def said(
        seen: list[int] = seen, _library: list[CodeType] = library, tracer: Any = sys.gettrace, enter: Any = enter,
        lost: int = LOST,
    ) -> int:  # fmt: skip
        return seen[3] or (seen[0] if tracer() is enter and seen[1] == seen[2] else lost)

    sys.settrace(enter)
    return said
