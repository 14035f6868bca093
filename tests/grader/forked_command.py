"""Run a command of the grader in a process that `commanding` forks. Each fork imports this file, so it is small."""

import atexit
import os
import sys
from collections.abc import Mapping, Sequence

from grader.commands.apps import run_grader


def run(arguments: Sequence[str], environment: Mapping[str, str], folder: str, out: str) -> None:
    """Run a command in `folder`, in a session of its own. Its text goes to the files `out`/1 and `out`/2."""
    os.setsid()
    os.chdir(folder)
    for descriptor in (1, 2):
        os.dup2(os.open(f"{out}/{descriptor}", os.O_WRONLY | os.O_CREAT), descriptor)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["grader", *arguments]
    try:
        sys.exit(run_grader(list(arguments)))
    finally:
        atexit._run_exitfuncs()  # multiprocessing ends a process without them
