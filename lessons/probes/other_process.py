"""Run a function of a lesson in a new process with other environment variables."""

import os
import pickle
import subprocess
import sys
from typing import Any

_PROGRAM = """if True:
    import gc, importlib, pickle, sys
    gc.disable()  # makes the import of torch faster
    module, function, arguments = pickle.loads(sys.stdin.buffer.read())
    found = getattr(importlib.import_module(module), function)
    gc.freeze()  # makes the end of the process faster
    gc.enable()
    sys.stdout.buffer.write(pickle.dumps(found(*arguments)))
"""


def elsewhere(module: str, function: str, *arguments: object, **settings: str) -> Any:
    """Return the result of `function` in a new process, whose environment variables include `settings`.

    `module` is the module of the function. The arguments and the result are passed as pickles.
    """
    run = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        input=pickle.dumps((module, function, arguments)),
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        check=True,
    )
    return pickle.loads(run.stdout)  # noqa: S301 - the program above wrote it
