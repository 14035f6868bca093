"""One side of a duel in a process of its own: what is sent to it, and how it serves.

Run as `python -m harness.twin` it reads lines from standard input. A job, as JSON, makes it prepare a timing loop; a
number makes it run that many calls as one block. It answers each with an empty line once that is done. Whoever asked
reads the clocks. Any other answer is a failure, as JSON, and the last. It ends when its input does.

What the code prints goes to standard error, and it has no standard input: the pipes are not its own.
"""

import gc
import importlib
import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Final, TypedDict

from harness.blocks import Statement, TimingLoop, steady, timing_loop
from harness.clocks import FakeClock
from harness.errors import UsageError

INSIDE_VARIABLE: Final = "FAIRCLOCK_TWIN"
"""Environment variable that is set in a twin."""

_SCRIPT: Final = "__twin_main__"
"""Name of the caller's script when a twin loads it: not `__main__`, so that it only defines things."""


class Function(TypedDict):
    """Where another process finds a function: in a module by its name, or in a script by its file."""

    module: str | None
    script: str | None
    qualname: str


class Job(TypedDict):
    """What a twin is to time. `path` is where its imports look."""

    statement: str | Function
    setup: str
    path: list[str]


class Failure(TypedDict):
    """What went wrong in a twin; `usage` when what was sent cannot be timed at all."""

    message: str
    usage: bool
    traceback: str


def job(statement: Statement, setup: str) -> Job:
    """Describe a side so that another process can run it.

    Raises `UsageError` for a function that another process cannot find.
    """
    path = [str(Path(entry).absolute()) for entry in sys.path]
    return Job(statement=statement if isinstance(statement, str) else find(statement), setup=setup, path=path)


def find(function: Callable[[], object]) -> Function:
    """Return where another process finds `function`.

    Raises `UsageError` for a lambda, a closure, a method of an object, or what was typed at a prompt or a notebook.
    """
    name, module = getattr(function, "__qualname__", ""), sys.modules.get(getattr(function, "__module__", None) or "")
    if module is None or _within(module, name) is not function:
        raise UsageError(
            f"Another process cannot find {name or function!r}: twins take a function that stands at the top of a "
            "module, or a statement with a setup. Pass one of those, or leave out twins=True."
        )
    if module.__name__ != "__main__":
        return Function(module=module.__name__, script=None, qualname=name)
    if module.__spec__ is not None:
        return Function(module=module.__spec__.name, script=None, qualname=name)
    script = getattr(module, "__file__", None)
    if script is None or not Path(script).is_file():
        raise UsageError(
            f"Another process cannot find {name}, which was typed here: save it in a module, or pass a statement with "
            "a setup that defines it. Or leave out twins=True."
        )
    return Function(module=None, script=str(Path(script).absolute()), qualname=name)


def serve(requests: int, answers: int) -> None:
    """Serve whoever holds the other ends of two descriptors, until the requests end."""
    with os.fdopen(requests, "rb") as asked, os.fdopen(answers, "wb", buffering=0) as answer:
        try:
            with steady():
                while line := asked.readline():
                    if line.startswith(b"{"):
                        loop = prepare(json.loads(line))
                        gc.collect()
                    elif calls := int(line):
                        loop(calls)
                    answer.write(b"\n")
        except BrokenPipeError:
            return  # nobody is there to be told
        except BaseException as error:  # noqa: BLE001 - whatever their code raises, its owner reads
            answer.write(json.dumps(_failure(error)).encode() + b"\n")


def prepare(work: Job) -> TimingLoop:
    """Return the timing loop of a job, its setup done."""
    sys.path[:] = work["path"]
    statement = work["statement"]
    # The readings are thrown away, so their clocks may be any that always move.
    return timing_loop(
        statement if isinstance(statement, str) else _found(statement),
        setup=work["setup"],
        clock=FakeClock(tick_s=1.0),
        wall=FakeClock(tick_s=1.0),
    )


def _found(function: Function) -> Callable[[], object]:
    """Load what `find` has described."""
    module = _script(function["script"]) if function["script"] else importlib.import_module(function["module"] or "")
    found = _within(module, function["qualname"])
    if not callable(found):
        raise UsageError(
            f"{function['qualname']} is not in {module.__name__} when another process loads it: define it at the top "
            "of its file, not under a condition."
        )
    return found


def _script(file: str) -> ModuleType:
    spec = importlib.util.spec_from_loader(_SCRIPT, SourceFileLoader(_SCRIPT, file))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[_SCRIPT] = module
    spec.loader.exec_module(module)
    return module


def _within(module: ModuleType, qualname: str) -> object:
    found: object = module
    for name in qualname.split("."):
        found = getattr(found, name, None)
    return found


def _failure(error: BaseException) -> Failure:
    message = str(error) if isinstance(error, UsageError) else "".join(traceback.format_exception_only(error)).strip()
    return Failure(
        message=message,
        usage=isinstance(error, UsageError),
        traceback="".join(traceback.format_exception(error)),
    )


def main() -> None:
    """Take the standard streams for the channel, and give the code others."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    serve(requests, answers)


if __name__ == "__main__":
    main()
