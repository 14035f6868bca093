"""Time a function under CPython, PyPy, Cython and Nuitka, each in a new process.

PyPy is another interpreter. Cython and Nuitka translate a module to C, and a C compiler turns it into an extension.
Programs that are not installed are not measured. The result then contains the command that installs the program.
"""

import importlib.util
import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from harness.errors import MachineError
from harness.machine import programs
from harness.rendering.progress import waiting

TIMEOUT_S: Final = 300.0
"""Time limit for each process, in seconds."""

_DRIVER: Final = """
    import json, sys, time
    from program import NAME
    times_s = []
    for _ in range(int(sys.argv[2])):
        began = time.process_time()
        NAME(int(sys.argv[1]))
        times_s.append(time.process_time() - began)
    print(json.dumps(times_s))
"""


@dataclass(frozen=True, slots=True)
class Implementation:
    """A way to run a Python module: an interpreter, or a compiler whose extensions CPython imports.

    `build` is the command of the compiler without the name of the file, empty for an interpreter. `missing` contains
    the command that installs it, or is empty if it is installed.
    """

    name: str
    interpreter: str
    build: tuple[str, ...] = ()
    missing: str = ""


@dataclass(frozen=True, slots=True)
class ImplementationTimes:
    """The times of a function under one implementation, in seconds.

    `build_s` is the wall time of the compiler, and `calls_s` are the CPU times of the calls, in order. If there are no
    times, `reason` is not empty.
    """

    name: str
    build_s: float = 0.0
    calls_s: tuple[float, ...] = ()
    reason: str = ""

    @property
    def later_s(self) -> float:
        """The median time of the second half of the calls."""
        return median(self.calls_s[len(self.calls_s) // 2 :])


def implementations() -> tuple[Implementation, ...]:
    """Return CPython, PyPy, Cython and Nuitka, also those that are not installed."""
    pypy = next(filter(None, map(shutil.which, ("pypy3", "pypy"))), "")
    return (
        Implementation("CPython", sys.executable),
        Implementation("PyPy", pypy, missing="" if pypy else f"PyPy is missing: {programs.install('PyPy')}"),
        _compiler("Cython", "Cython", ("Cython.Build.Cythonize", "-i", "-3")),
        _compiler("Nuitka", "nuitka", ("nuitka", "--module")),
    )


def _compiler(name: str, module: str, command: tuple[str, ...]) -> Implementation:
    found = importlib.util.find_spec(module) is not None
    missing = "" if found else f"{name} is missing: python -m pip install {name.lower()}"
    return Implementation(name, sys.executable, (sys.executable, "-m", *command), missing)


def times_under_each(
    function: Callable[[int], object], argument: int, *, calls: int = 30, building: bool = True
) -> tuple[ImplementationTimes, ...]:
    """Return the times of calls of `function` under each implementation.

    The function must not use other names of its module. With `building=False`, the compilers do not run.
    """
    source = "def " + textwrap.dedent(inspect.getsource(function)).partition("def ")[2]
    driver = textwrap.dedent(_DRIVER).replace("NAME", function.__name__)
    return tuple(_times(each, source, driver, (str(argument), str(calls)), building) for each in implementations())


def _times(
    one: Implementation, source: str, driver: str, arguments: tuple[str, str], building: bool
) -> ImplementationTimes:
    if one.missing:
        return ImplementationTimes(one.name, reason=one.missing)
    if one.build and not building:
        return ImplementationTimes(one.name, reason="a short run does not compile: run the lesson once without --fast")
    with tempfile.TemporaryDirectory(prefix="fairclock-implementation-") as folder, waiting(f"running {one.name}"):
        program = Path(folder, "program.py")
        program.write_text(source, encoding="utf-8")
        Path(folder, "driver.py").write_text(driver, encoding="utf-8")
        try:
            began_s = time.perf_counter()
            if one.build:
                run_program([*one.build, program.name], Path(folder))
                program.unlink(missing_ok=True)  # so that the process imports the extension and not the source
            build_s = time.perf_counter() - began_s if one.build else 0.0
            printed = run_program([one.interpreter, "driver.py", *arguments], Path(folder))
        except MachineError as error:
            return ImplementationTimes(one.name, reason=f"{one.name} failed: {error}")
    return ImplementationTimes(one.name, build_s, tuple(json.loads(printed)))


def run_program(command: list[str], folder: Path, **environment: str) -> str:
    """Run a command in a folder, and return its output.

    Raise `MachineError` with the last line of its errors if it fails, or if it takes longer than `TIMEOUT_S`.
    """
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=TIMEOUT_S,
            check=True,
        ).stdout
    except subprocess.TimeoutExpired:
        raise MachineError(f"it did not end within {TIMEOUT_S:g} s") from None
    except subprocess.CalledProcessError as failed:
        raise MachineError((failed.stderr.strip().splitlines() or ["it printed nothing"])[-1][:300]) from None
