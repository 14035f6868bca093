"""Count every opcode that Python executes in a process. The counted code must not be able to change the count.

`trials.counted` sends this text to `counted_driver.py`, which executes it before the submission. No module imports it.
`start` starts the counter and returns a function. This function returns the count, or a negative number if the count is
not valid.

Only the submission's own Python code is counted. C code is not counted, and neither is Python code of the standard
library, for example in `Counter.most_common` or when a named tuple is created. So a count depends less on the version
of Python. Code that existed before the submission was loaded is regarded as code of the standard library.

The counter runs in the same process as the code that it counts. It is protected as follows:

- *The submission cannot reach the counter.* The counter is a function whose state is in its default arguments. The
  driver's audit hook refuses to read default arguments of functions, frames and code objects, and refuses
  `sys.settrace`. The names `sys.gettrace` and `sys.monitoring` are removed, and so is the garbage collector's module.
- *The counter calls no function by its name.* It stored all functions that it needs before the submission was loaded.
  So a submission does not change the counter by replacing builtins.
- *No code runs untraced.* Python does not trace code that runs while the tracer itself runs. This could only be the
  finalizer of an object that is released at that moment. So no garbage is collected, and the tracer does not read the
  local variables of a function's frame. Python 3.11 would copy them into a dict, and release the old values in it. The
  tracer reads the namespace of a module or a class only to check that it is a dict, because Python copies nothing
  there. If it is not a dict, the count is not valid. A class with a cell for `__class__` makes the count invalid too,
  because Python copies this cell. `super()` needs the cell, so `written_out` replaces it. A submission cannot get the
  dict of a frame: `locals` is removed, and `vars` needs an argument. (This `vars` is written in C, because a Python
  function would give access to this file's globals.)
- *The counter detects that Python has removed it.* If the tracer cannot be called, Python removes it from the frame.
  This happens if a recursion is too deep or memory is used up. Then the counter receives no event for the end of the
  frame, and the count is not valid.

Python 3.12 and later have `sys.monitoring`, which needs fewer of these rules. It reads no names from a frame, and it
calls the counter before each instruction. If this call fails, the instruction fails too, so all work is counted. But
one file should earn the same points on every version of Python. So the counter also refuses there what it must refuse
on Python 3.11: a recursion that reaches its limit, and a class with a cell.

On every version, Python does not trace an audit hook. So the driver's hook calls no method of its arguments.
"""

from __future__ import annotations

import builtins
import gc
import operator
import sys

TYPE_CHECKING = False  # importing `typing` would take longer than running this whole file
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

TOOL = 3
"""The id under which the counter registers with `sys.monitoring`. No standard tool uses this id."""

OPTIMIZED = 1
"""The flag of code objects that keep local names in an array, as all functions do, and not in a dict."""

GONE = (
    *("settrace", "gettrace", "setprofile", "getprofile", "call_tracing", "monitoring"),
    *("_settraceallthreads", "_setprofileallthreads", "activate_stack_trampoline"),  # from Python 3.12 on
)
SUPER = "__super__"
"""The name that replaces `super` in the code that is counted."""

LOST, ODD = -1, -2
"""Values returned in place of a count: LOST if Python removed the counter, ODD if code may have run uncounted."""


def written_out(source: str) -> str:
    """Return the source text with each `super()` replaced, such as by `SUPER(Row, self)` in a class `Row`.

    Python gives a closure cell to a class that uses `super()`, and the counter refuses classes with cells. In a class
    inside another class, `super()` stays.
    """
    if "super(" not in source:
        return source
    import ast  # noqa: PLC0415 - few submissions need it

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
        if "super" not in stored | named:  # else the submission defines its own `super`
            visit(tree, "", "", in_class=False)
        return ast.unparse(tree)
    except Exception:  # noqa: BLE001 - a broken source must not end the processes that only compile it
        return source


def start() -> Callable[[], int]:
    """Start to count the opcodes that Python executes in new frames. Return a function that returns the count."""
    gc.collect()
    gc.disable()
    library = _codes()
    free = frozenset(map(id, library))
    said = _monitored(free, library) if hasattr(sys, "monitoring") else _traced(free, library)
    for name in GONE:
        vars(sys).pop(name, None)
    vars(builtins).pop("locals", None)
    setattr(builtins, SUPER, super)
    setattr(builtins, "vars", operator.attrgetter("__dict__"))  # noqa: B010 - this `vars` has another type
    return said


def _codes() -> list[CodeType]:
    found = [each.__code__ for each in gc.get_objects() if type(each) is type(start)]
    for code in found:  # the list grows during the loop
        found += [constant for constant in code.co_consts if type(constant) is type(start.__code__)]
    return found


def _monitored(free: frozenset[int], library: list[CodeType]) -> Callable[[], int]:
    monitoring = getattr(sys, "monitoring")  # noqa: B009 - type checkers for Python 3.11 reject it
    # `seen`: opcodes, LOST or ODD
    seen, kept = [0, 0], []  # type: tuple[list[int], list[object]]

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
            keep(names)  # dropping the tuple here could run finalizers untraced
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
    seen = [0, 0, 0, 0]  # opcodes, frames entered, frames left, LOST or ODD

    def local(
        _frame: FrameType, event: str, about: Any, seen: list[int] = seen, deep: type = RecursionError,
        lost: int = LOST,
    ) -> None:  # fmt: skip
        if event == "opcode":
            seen[0] += 1
        elif event == "return":
            seen[2] += 1
        elif event == "exception" and about[0] is deep:
            seen[3] = seen[3] or lost

    def enter(
        frame: FrameType, _event: str, _: object, local: Any = local, seen: list[int] = seen, kind: Any = type,
        plain: type = dict, optimized: int = OPTIMIZED, odd: int = ODD, identity: Any = id,
        free: frozenset[int] = free,
    ) -> Any:  # fmt: skip
        code = frame.f_code
        if identity(code) in free:
            return None
        seen[1] += 1
        if not code.co_flags & optimized and (code.co_cellvars or kind(frame.f_locals) is not plain):
            seen[3] = odd
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return local

    def said(
        seen: list[int] = seen, _library: list[CodeType] = library, tracer: Any = sys.gettrace, enter: Any = enter,
        lost: int = LOST,
    ) -> int:  # fmt: skip
        return seen[3] or (seen[0] if tracer() is enter and seen[1] == seen[2] else lost)

    sys.settrace(enter)
    return said
