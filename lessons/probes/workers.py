"""Measure how long threads, sub-interpreters and processes take to start, and the speed of sub-interpreters."""

from dataclasses import dataclass
from typing import Final

from harness.threads.builds import PythonBuild
from harness.threads.scaling import ScalingTurn, serve, take_turns

_PROGRAM: Final = """
import subprocess, sys, threading
try:
    from concurrent.interpreters import Interpreter, create
    run, close = Interpreter.exec, Interpreter.close
except ImportError:  # Python 3.13
    from _interpreters import create, destroy as close, exec as run

PYTHON = [sys.executable, "-I", "-S", "-c", "pass"]
ADD_UP = '''
def add_up():
    total = 0
    for i in range(20_000):
        total += i * i % 7
add_up()
'''
POOL = [create(), create()]

def nothing():
    pass

def thread():
    one = threading.Thread(target=nothing)
    one.start()
    one.join()

def interpreter():
    one = create()
    run(one, "pass")
    close(one)

def process():
    subprocess.run(PYTHON)

def add_up():
    one = POOL.pop()
    run(one, ADD_UP)
    POOL.append(one)
"""


@dataclass(frozen=True, slots=True)
class Workers:
    """Seconds to start and end each kind of worker, and the turns of two threads with a sub-interpreter each.

    `build` is the name of the build of Python. `busy` are the shares of a core that starting threads used.
    """

    build: str
    start_s: dict[str, list[float]]
    busy: list[float]
    turns: list[ScalingTurn]


def measure_workers(build: PythonBuild, turns: int) -> Workers:
    """Start and end a thread, an interpreter and a process repeatedly, `turns` times for 20 ms each, in turn.

    Then compare two threads, each with a sub-interpreter, with two processes, in `turns` turns.
    """
    start_s: dict[str, list[float]] = {}
    busy = []
    with serve(build, _PROGRAM, number=2) as servers:
        for _ in range(turns):
            for name in ("thread", "interpreter", "process"):
                run = servers[0].run(name, seconds=0.02)
                start_s.setdefault(name, []).append(run.wall_s / max(run.results[0], 1))
                if name == "thread":
                    busy.append(run.cpu_s / run.wall_s)
        return Workers(build.name, start_s, busy, take_turns(servers, "add_up", seconds=0.02, turns=turns))
