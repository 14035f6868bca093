"""Call a submission's function with given arguments, while valgrind counts instructions or a counter counts opcodes.

`trials.counted_process` runs this text with `python -c`, and no module imports it. The process is trusted until it
executes the submission. Before that, it removes the functions with which a submission could change the count. It also
empties every module that offers system calls. An audit hook, which cannot be removed, refuses all other operations that
Python reports as relevant for security. These are imports, files, threads, frames, new code objects, and native code. A
submission can then only compute.

The standard input is a dict in Python's marshal format, written by the same version of Python:

- `sources`: source texts by name, all of which are compiled
- `run`: the name of the source to execute
- `function` and `calls`: the name of the function to call, and the arguments of each call
- `modules`: the modules to import first
- `allowed`: the names of modules in the error message about a refused import
- `answers`: the answers to return if no source is executed
- `counter`: the text of `opcode_counter.py` if opcodes are counted, or else ""
- `key`: a secret that is returned with the count, and proves that the submission did not write the count
"""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False  # importing `typing` would take longer than running this whole file
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, ModuleType
    from typing import Any, NoReturn

ALLOWED = frozenset(("compile", "exec", "builtins.id", "array.__new__", "sys.excepthook", "sys.unraisablehook"))
"""Audit events that ordinary code raises. For example, `namedtuple` compiles and executes a text."""


SYSTEM = ("os", "posix", "_signal", "_imp")
"""Modules, loaded when Python starts, that make system calls or can load such modules again."""

FRAMES = ("_getframe", "_getframemodulename")
"""Functions of `sys` that return frames. `namedtuple` works without them."""

ATTRIBUTES = {
    "object.__getattr__": frozenset(("__code__", "__defaults__", "__kwdefaults__")),
    "object.__setattr__": frozenset(
        ("__abstractmethods__", "__bases__", "__defaults__", "__doc__", "__module__", "__name__", "__qualname__")
    ),
}
"""Audited attributes that data classes and named tuples must read and write.

Through these attributes, a submission cannot reach the driver's functions or change code objects.
"""

if sys.version_info < (3, 12):
    ATTRIBUTES["object.__getattr__"] |= {"f_code"}  # the opcode counter reads it; a submission cannot get a frame

THREADS = ("start_new_thread", "start_new", "start_joinable_thread")


def text(
    value: Any, text: Callable[..., str], depth: int = 4, kind: type = type, string: type = str, number: Any = repr,
    numbers: tuple[type, type] = (int, float), truth: type = bool, rows: tuple[type, type] = (list, tuple),
    error: type[Exception] = TypeError,
) -> str:  # fmt: skip
    """Return a number, text, bool, None, list or tuple as JSON. Raise `TypeError` for any other value.

    A submission can replace builtins and the functions of this module. So this function receives itself and the
    builtins as arguments, and compares exact types, because a subclass could have methods written by the submission.
    """
    of = kind(value)
    if of is string:
        units = value.encode("utf-16-be", "surrogatepass").hex("u", 2)
        return '"' + ("\\u" + units.replace("u", "\\u") if units else "") + '"'
    if of is numbers[0] or of is numbers[1]:
        return number(value)  # type: ignore[no-any-return]
    if value is None or of is truth:
        return "null" if value is None else "true" if value else "false"
    if depth and (of is rows[0] or of is rows[1]):
        return "[" + ",".join([text(item, text, depth - 1) for item in value]) + "]"
    raise error("no plain value: " + of.__name__)


def fence(end: Callable[[str], NoReturn], modules: str) -> None:
    """Install an audit hook that ends the process at a forbidden operation. An import raises `ImportError` instead.

    The submission can replace the functions of this module and all builtins, so the hook uses none of them. It calls no
    method of its arguments either. Python does not trace a hook, so the opcodes of such a method would not be counted.
    """

    def hook(
        event: str, arguments: tuple[Any, ...], allowed: frozenset[str] = ALLOWED, kind: type = type, plain: type = str,
        attributes: dict[str, frozenset[str]] = ATTRIBUTES, error: type[Exception] = ImportError,
    ) -> None:  # fmt: skip
        if event in allowed:
            return
        about = arguments[0] if arguments and kind(arguments[0]) is plain else ""
        if event == "import":
            raise error(about + " cannot be imported while the cost is counted. The allowed modules are " + modules)
        attribute = arguments[1] if event in attributes and kind(arguments[1]) is plain else ""
        if attribute:
            if attribute in attributes[event]:
                return
            about = attribute
        said = about.encode("ascii", "backslashreplace").decode("ascii") if about.isprintable() else ""
        said = said.replace("\\", "\\\\").replace('"', '\\"')
        end('{"refused":["' + event + '","' + said + '"]}')

    sys.addaudithook(hook)
    for module in SYSTEM:
        sys.modules[module].__dict__.clear()
    for module, names in (("sys", FRAMES), ("_thread", THREADS)):
        for name in names:
            sys.modules[module].__dict__.pop(name, None)


def settle() -> None:
    """Collect garbage, and exclude all existing objects from later collections.

    Otherwise the cost of a garbage collection would grow with the length of the source.
    """
    collector = __import__("gc")
    collector.collect()
    collector.freeze()
    del sys.modules["gc"]


def answers(given: dict[str, Any], module: ModuleType, codes: dict[str, CodeType]) -> list[object]:
    """Return the function's answers, or the given answers if no source text is to be run."""
    if given["run"] not in codes:
        known: list[object] = given["answers"]
        return known
    exec(codes[given["run"]], module.__dict__)  # noqa: S102 - running a submission is the purpose of this file
    function = getattr(module, given["function"])
    return [function(*arguments) for arguments in given["calls"]]


def counting(counter: str) -> dict[str, Any]:
    """Return the functions of an opcode counter, by name, from its source text.

    For an empty text, the functions count nothing.
    """
    names: dict[str, Any] = {"written_out": str, "start": lambda: lambda: None}
    exec(compile(counter, "counter", "exec"), names)  # noqa: S102 - the text is the kit's own
    return names


def main(log: int, out: int, gate: int) -> None:
    """Write the answer to the descriptor `out`, and then wait until the grader closes the socket `gate`.

    While this process waits, the grader reads its CPU time. It also reads the CPU time just before the submission runs,
    so that the time of starting Python does not count. The descriptor `log` is closed first, because only valgrind may
    write to it, through its own copy.
    """
    os.close(log)
    given = marshal.load(sys.stdin.buffer)  # noqa: S302 - the supervisor wrote it
    sys.stdin.close()  # so that the submission cannot read the input
    write, close, wait, leave = os.write, os.close, os.read, os._exit  # `_exit` runs no exit handlers of the submission

    def end(body: str) -> NoReturn:
        data = body.encode()
        while data:
            data = data[write(out, data) :]
        close(out)
        wait(gate, 1)
        leave(0)

    for name in given["modules"]:
        __import__(name)
    as_json = text
    as_json("é", as_json)  # loads the codecs that `text` uses, because later no module can be imported
    module = sys.modules["submission"] = type(sys)("submission")
    counter, key = counting(given["counter"]), given["key"]
    codes = {name: compile(counter["written_out"](source), name, "exec") for name, source in given["sources"].items()}
    executed = counter["start"]()
    settle()
    write(gate, b"\0")
    wait(gate, 1)
    fence(end, given["allowed"])
    try:
        called = answers
        globals().clear()  # so that the submission cannot find the driver's functions there
        body = '{"answers":' + as_json(called(given, module, codes), as_json)
    except BaseException as error:  # noqa: BLE001 - a submission may raise anything
        body = '{"raised":' + as_json([type(error).__name__, str(error)[:300]], as_json)
    taken = executed()  # only now, because until the answers are converted, a finalizer could still work on them
    if taken is not None:
        body += f',"key":"{key}","opcodes":{taken}'
    end(body + "}")


main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
