"""What is counted, under valgrind or opcode by opcode: a submission's function, called on each of the arguments given.

`trials.counted` runs this text with `python -c`; nothing imports it. It is trusted until it executes the submission,
and before that takes away what could move the count: every system call that Python has a name for, and by an audit hook
that cannot be removed everything else that Python itself calls security-relevant (importing, opening, threads, frames,
code objects made by hand, native code). What is left computes.

Its standard input is a mapping in Python's own format, written by this very Python: `sources` by name, all of which are
compiled; the name of the one to `run`, the `function` to call there and the arguments of its `calls`; the names of
`modules` to import before; and, where nothing is to be run, the `answers` to give instead. Where opcodes are counted,
the text of the `counter` (`opcode_counter.py`), and a `key` that goes back with the sum: who knows it was here
before the submission.
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

CODE = "f_code"
"""The attribute that the counter of opcodes asks of a frame. Nobody else has a frame."""

THREADS = ("start_new_thread", "start_new", "start_joinable_thread")


def text(value: object, depth: int = 4) -> str:
    """A plain value as JSON; a TypeError for all else."""
    kind = type(value)
    if isinstance(value, str) and kind is str:
        units = value.encode("utf-16-be", "surrogatepass").hex("u", 2)
        return '"' + ("\\u" + units.replace("u", "\\u") if units else "") + '"'
    if kind is int or kind is float:
        return repr(value)
    if value is None or kind is bool:
        return "null" if value is None else "true" if value else "false"
    if isinstance(value, list | tuple) and (kind is list or kind is tuple) and depth:
        return "[" + ",".join([text(item, depth - 1) for item in value]) + "]"
    raise TypeError("no plain value: " + kind.__name__)


def fence(end: Callable[[str], NoReturn]) -> None:
    """From now on, end the process at whatever is not computing. No name of this file's or of builtins decides that."""

    def hook(
        event: str, arguments: tuple[Any, ...], allowed: frozenset[str] = ALLOWED, kind: type = type, plain: type = str,
        reading: str = "object.__getattr__", code: str = CODE,
    ) -> None:  # fmt: skip
        if event not in allowed and not (event == reading and arguments[1] == code):
            about = arguments[0] if arguments and kind(arguments[0]) is plain else ""
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


def counting(counter: str) -> Callable[[], int] | None:
    """Count opcodes from now on, where there is a counter to do so; what it gives says how many they were."""
    if not counter:
        return None
    names: dict[str, Any] = {}
    exec(compile(counter, "counter", "exec"), names)  # noqa: S102 - it is ours
    said: Callable[[], int] = names["start"]()
    return said


def main(log: int, out: int) -> None:
    """Close the log's descriptor, of which valgrind has its own copy, and answer on the other."""
    os.close(log)
    given = marshal.load(sys.stdin.buffer)  # noqa: S302 - the supervisor wrote it
    sys.stdin.close()  # it could be read once more
    write, leave = os.write, os._exit  # at once: no parting word of a submission's

    def end(body: str) -> NoReturn:
        data = body.encode()
        while data:
            data = data[write(out, data) :]
        leave(0)

    for name in given["modules"]:
        __import__(name)
    text("é")  # its codecs are there, now that nothing can be imported
    module = sys.modules["submission"] = type(sys)("submission")
    codes = {name: compile(source, name, "exec") for name, source in given["sources"].items()}
    executed, key = counting(given["counter"]), given["key"]
    settle()
    fence(end)
    try:
        body = '{"answers":' + text(answers(given, module, codes))
    except BaseException as error:  # noqa: BLE001 - a submission may raise anything
        body = '{"raised":' + text([type(error).__name__, str(error)[:300]])
    if executed is not None:  # no builtins are asked from here on: they may be others by now
        body += f',"key":"{key}","opcodes":{executed()}'
    end(body + "}")


main(int(sys.argv[1]), int(sys.argv[2]))
