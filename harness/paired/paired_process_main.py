"""The program of a paired process. On request, it runs the baseline or the candidate of a duel.

It answers messages on its standard input (`harness.processes.channel`) until this ends, or until the code fails. The
caller reads the clocks.
"""

import faulthandler
import gc
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Final, TypedDict

from harness import statements
from harness.errors import UsageError, described
from harness.machine import clocks
from harness.paired.blocks import Statement, checked_loop, gc_off_one_thread, timing_loop
from harness.processes.channel import Channel, Closed, frame, stdio_channel

PREPARE: Final = b"p"  # run the setup of a job
CALLS: Final = b"c"  # set the number of calls of later blocks
DONE: Final = b"d"  # the answer: a request is done
FAILED: Final = b"f"  # the answer: the timed code has failed

RUN_FRAME: Final = frame(b"r")
"""The message that requests one block of calls. It is read and answered without a channel, whose Python code between
two blocks increased the interquartile range of ratios from 2.5 to 3.1 % to 3.0 to 4.2 % on a busy machine."""

DONE_FRAME: Final = frame(DONE)
PAIRED_PROCESS_VARIABLE: Final = "FAIRCLOCK_PAIRED_PROCESS"
"""Name of an environment variable that is set only in processes that run the timed code of a duel."""

# A paired process loads the caller's script under this name, so the script does not run its main part.
_SCRIPT: Final = "__paired_main__"


class Job(TypedDict):
    """The code of a paired process. If `place` is not empty, `statement` names a function in this module or script."""

    statement: str
    place: str
    setup: str
    path: list[str]


def make_job(statement: Statement, setup: str) -> Job:
    """Return the job that runs `setup` and `statement` in another process. Raise the errors of `locate`."""
    path = [str(Path(entry).absolute()) for entry in sys.path]
    place, name = ("", statement) if isinstance(statement, str) else locate(statement)
    return Job(statement=name, place=place, setup=setup, path=path)


def locate(function: Callable[[], object]) -> tuple[str, str]:
    """Return where another process can find `function`: its module or script file, and its qualified name.

    Raise `UsageError` for a lambda, a closure, a method of an object, and a function from a prompt or a notebook.
    """
    name, module = getattr(function, "__qualname__", ""), sys.modules.get(getattr(function, "__module__", None) or "")
    if module is not None and _attribute(module, name) is function:
        if module.__name__ != "__main__":
            return module.__name__, name
        if module.__spec__ is not None:
            return module.__spec__.name, name
        if (script := getattr(module, "__file__", None)) and Path(script).is_file():
            return str(Path(script).absolute()), name
    raise UsageError(
        f"Another process cannot find {name or function!r}. Pass a function from the top of a file, or a statement "
        "with a setup that defines it, or leave out paired_processes=True."
    )


def serve(channel: Channel) -> None:
    """Prepare and run timed code on request, until the caller closes the channel."""
    calls, loop = 0, timing_loop("pass")
    try:
        with gc_off_one_thread():
            while True:
                began = os.read(channel.descriptor, len(RUN_FRAME))
                if began == RUN_FRAME:
                    if calls:
                        loop(calls)
                    os.write(channel.writing, DONE_FRAME)
                    continue
                kind, body = channel.receive(began=began)
                answer: dict[str, object] = {}
                if kind == PREPARE:
                    sys.path[:] = body["path"]
                    code = _load(body["place"], body["statement"]) if body["place"] else body["statement"]
                    loop, first = checked_loop(code, body["setup"], {}, clocks.wall, clocks.wall)
                    gc.collect()
                    answer = asdict(first)
                elif kind == CALLS:
                    calls = body["calls"]
                channel.send(DONE, answer)
    except (Closed, BrokenPipeError):
        return
    except BaseException as error:  # noqa: BLE001 - the caller gets every exception of the timed code
        with suppress(Closed):
            channel.send(FAILED, _failure(error))


def _load(place: str, name: str) -> Callable[[], object]:
    module = _load_script(place) if Path(place).is_absolute() else importlib.import_module(place)
    found = _attribute(module, name)
    if not callable(found):
        raise UsageError(f"Another process does not find {name}. Define it at the top of its file without a condition.")
    return found


def _load_script(file: str) -> ModuleType:
    spec = importlib.util.spec_from_loader(_SCRIPT, SourceFileLoader(_SCRIPT, file))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[_SCRIPT] = module
    spec.loader.exec_module(module)
    return module


def _attribute(module: ModuleType, qualname: str) -> object:
    found: object = module
    for name in qualname.split("."):
        found = getattr(found, name, None)
    return found


def _failure(error: BaseException) -> dict[str, object]:
    if isinstance(error, UsageError):
        return {"message": str(error), "usage": True, "traceback": ""}
    raised = statements.of_statement(error)
    return {"message": described(raised), "usage": False, "traceback": statements.traceback_text(raised)}


if __name__ == "__main__":
    faulthandler.enable()
    serve(stdio_channel())
