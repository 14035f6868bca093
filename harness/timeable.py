"""Refuse code whose first result shows that its work has not run: a coroutine, a generator, another iterator."""

import ast
import contextlib
import reprlib
import weakref
from collections.abc import Callable
from functools import partial

from harness.errors import UsageError

_LONGEST = 60  # a longer statement is not repeated in a message
_MAIN = "asyncio.run(main())` with `async def main(): return "


def finished(value: object, code: str, *, function: bool = False) -> object:
    """Return `value`, the first result of `code`, or raise `UsageError` with code to time instead."""
    code = code if len(code) <= _LONGEST else "…"
    what, instead = _unfinished(value, code)
    if not what:
        return value
    creation = f"[{code}]" if function else f"x = {code}"
    if what == "a coroutine":  # else Python warns that nothing awaits it
        value.close()  # type: ignore[attr-defined]
        creation = f"{code}.close()"
    head = f"lambda{' *args' * code.endswith('(*args)')}: " * function
    right = instead if instead.startswith("with ") else f"{head}{instead}"  # only a statement can do this
    raise UsageError(
        f"`{code}` returns {what}, so its work has not run yet. Measure `{right}`, or only the creation with "
        f"`{head}{creation}`."
    )


def first_result(function: Callable[..., object], *arguments: object) -> object:
    """Call a function once, and return its result. Its exceptions are not caught.

    Raise `UsageError` if the function cannot be called with these arguments, or if its work has not run yet.
    """
    name = str(getattr(function, "__name__", "f"))
    name = name if name.isidentifier() else "f"
    if not callable(function):
        raise UsageError(f"{reprlib.repr(function)} is not a function. Pass a function or a statement in a string.")
    try:
        result = function(*arguments)
    except TypeError as error:
        if error.__traceback__ is None or error.__traceback__.tb_next is not None:
            raise  # the function was called, and its own code failed
        raise UsageError(f"The call failed: {error}. Pass all arguments: `lambda: {name}(…)`.") from None
    return finished(result, f"{name}(*args)" if arguments else f"{name}()", function=True)


def checked(body: list[ast.stmt]) -> list[ast.stmt]:
    """Change statements so that they pass each value that they do not use to their template's function `finished`."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Expr):
            parts = [ast.Name(".finished", ast.Load()), ast.Constant(_text(node.value))]
            call = ast.Call(parts[0], [node.value, parts[1]], [])
            for part in (*parts, call):
                ast.copy_location(part, node)
            node.value = call
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            waiting += ast.iter_child_nodes(node)
    return body


def _text(code: ast.expr) -> str:
    try:
        return ast.unparse(code)
    except RecursionError:
        return "…"


def _unfinished(value: object, code: str) -> tuple[str, str]:
    # Return what the value is, and the code that runs its work.
    kind = type(value)
    has = partial(hasattr, kind)  # much faster than the classes of collections.abc, and the first call is timed
    without_rows = has("description") and getattr(value, "description", "") is None
    if has("read") or without_rows or kind in weakref.ProxyTypes:
        return "", ""  # a file, or the cursor of a database that found no rows, or any object
    if has("__await__"):
        if has("send"):
            return "a coroutine", f"asyncio.run({code})"
        return f"an awaitable ({kind.__name__})", f"{_MAIN}await {code}"
    if has("__anext__"):
        return f"an async iterator ({kind.__name__})", f"{_MAIN}[x async for x in {code}]"
    if has("add_done_callback") or has("successful"):  # of concurrent.futures, multiprocessing
        return f"a future ({kind.__name__})", f"{code}.{next(filter(has, ('result', 'get', 'wait')), 'wait')}()"
    if has("__next__"):
        return f"an iterator ({kind.__name__})", f"list({code})"
    if issubclass(kind, (contextlib.ContextDecorator, contextlib.AsyncContextDecorator)) and hasattr(value, "gen"):
        return "a context manager", f"with {code}: pass"
    return "", ""
