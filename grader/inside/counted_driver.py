"""What is counted, under valgrind or opcode by opcode: a submission's function, called on each of the arguments given.

`trials.counted` runs this text with `python -c`; nothing imports it. It is trusted until it executes the submission,
and before that takes away what could move the count: every system call that Python has a name for, and by an audit hook
that cannot be removed everything else that Python itself calls security-relevant (importing, opening, threads, frames,
code objects made by hand, native code). What is left computes.

Its standard input is a mapping in Python's own format, written by this very Python: `sources` by name, all of which are
compiled; the name of the one to `run`, the `function` to call there and the arguments of its `calls`; the names of
`modules` to import before, and of those that are `allowed`; and, where nothing is to be run, the `answers` to give
instead. Where opcodes are counted, the text of the `counter` (`opcode_counter.py`), and a `key` that goes back with the
sum: who knows it was here before the submission.
"""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False  # `typing` would take longer to import than all of this takes to run
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, ModuleType
    from typing import Any, NoReturn

ALLOWED = frozenset(("compile", "exec", "builtins.id", "array.__new__", "sys.excepthook", "sys.unraisablehook"))
"""Audit events of ordinary computing: a named tuple is compiled and executed."""


SYSTEM = ("os", "posix", "_signal", "_imp")
"""Modules of nothing but system calls, and ways to get them back. Python has loaded them all when it starts."""

FRAMES = ("_getframe", "_getframemodulename")
"""What a named tuple asks for, and does without."""

ATTRIBUTES = {
    "object.__getattr__": frozenset(("__code__", "__defaults__", "__kwdefaults__")),
    "object.__setattr__": frozenset(
        ("__abstractmethods__", "__bases__", "__defaults__", "__doc__", "__module__", "__name__", "__qualname__")
    ),
}
"""Audited attributes that data classes and named tuples read and write. A submission cannot use them against the
driver: it cannot get any of the driver's functions, make a code object, or replace the code of a function."""

if sys.version_info < (3, 12):
    ATTRIBUTES["object.__getattr__"] |= {"f_code"}  # the opcode counter reads it from a frame; a submission has none

THREADS = ("start_new_thread", "start_new", "start_joinable_thread")


def text(
    value: Any, text: Callable[..., str], depth: int = 4, kind: type = type, string: type = str, number: Any = repr,
    numbers: tuple[type, type] = (int, float), truth: type = bool, rows: tuple[type, type] = (list, tuple),
    error: type[Exception] = TypeError,
) -> str:  # fmt: skip
    """Return a plain value as JSON. Raises TypeError for any other value.

    The submission can replace this module's functions and all builtins, so this function uses neither: it gets itself
    and each builtin as an argument. It compares exact types, and so calls no method that the submission wrote.
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
    """End the process from now on at every audit event that is not in `ALLOWED`; refuse to import with an ImportError.

    The hook uses no name of this module or of builtins: the submission can replace them. It calls no method of an
    argument either: Python runs a hook untraced, so the opcodes of such a method would not be counted.
    """

    def hook(
        event: str, arguments: tuple[Any, ...], allowed: frozenset[str] = ALLOWED, kind: type = type, plain: type = str,
        attributes: dict[str, frozenset[str]] = ATTRIBUTES, error: type[Exception] = ImportError,
    ) -> None:  # fmt: skip
        if event in allowed:
            return
        about = arguments[0] if arguments and kind(arguments[0]) is plain else ""
        if event == "import":
            raise error(about + " cannot be imported while this is counted; there are " + modules)
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
    """Collect garbage, and let no later collection look at what is there by now: it would cost by the source's size."""
    collector = __import__("gc")
    collector.collect()
    collector.freeze()
    del sys.modules["gc"]


def answers(given: dict[str, Any], module: ModuleType, codes: dict[str, CodeType]) -> list[object]:
    """Execute the code and call the function, or give the answers that were given."""
    if given["run"] not in codes:
        known: list[object] = given["answers"]
        return known
    exec(codes[given["run"]], module.__dict__)  # noqa: S102 - that is this file's work
    function = getattr(module, given["function"])
    return [function(*arguments) for arguments in given["calls"]]


def counting(counter: str) -> dict[str, Any]:
    """Return what the opcode counter defines; where there is none, what stands for it."""
    names: dict[str, Any] = {"written_out": str, "start": lambda: lambda: None}
    exec(compile(counter, "counter", "exec"), names)  # noqa: S102 - it is ours
    return names


def main(log: int, out: int, gate: int) -> None:
    """Close the log's descriptor, of which valgrind has its own copy, and answer on `out`.

    Then wait at the gate: the supervisor reads this process's CPU time and opens it.
    """
    os.close(log)
    given = marshal.load(sys.stdin.buffer)  # noqa: S302 - the supervisor wrote it
    sys.stdin.close()  # it could be read once more
    write, close, wait, leave = os.write, os.close, os.read, os._exit  # at once: no parting word of a submission's

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
    as_json("é", as_json)  # loads its codecs, because nothing can be imported later
    module = sys.modules["submission"] = type(sys)("submission")
    counter, key = counting(given["counter"]), given["key"]
    codes = {name: compile(counter["written_out"](source), name, "exec") for name, source in given["sources"].items()}
    executed = counter["start"]()
    settle()
    fence(end, given["allowed"])
    try:
        called = answers
        globals().clear()  # the submission would find our functions there
        body = '{"answers":' + as_json(called(given, module, codes), as_json)
    except BaseException as error:  # noqa: BLE001 - a submission may raise anything
        body = '{"raised":' + as_json([type(error).__name__, str(error)[:300]], as_json)
    taken = executed()  # after the answers are written: until then a finalizer could still change them
    if taken is not None:
        body += f',"key":"{key}","opcodes":{taken}'
    end(body + "}")


main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
