"""The function `collatz`, compiled from C, and its times under other implementations of Python."""

import ctypes
import inspect
import json
import shutil
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from harness.compilers.inductor import compiler
from harness.compilers.new_processes import program_folder, run
from harness.errors import MachineError
from harness.machine import programs
from harness.rendering.wrapping import waiting

CALLS = """
import json, time
from program import collatz
times_s = []
for _ in range(30):
    began = time.process_time()
    collatz(1000)
    times_s.append(time.process_time() - began)
print(json.dumps(times_s))
"""


def compiled_ahead(source: str) -> Any:
    """Compile the C function `collatz` in a source text, and return the function."""
    with TemporaryDirectory(prefix="fairclock-ahead-") as folder:
        Path(folder, "source.cpp").write_text(source, encoding="utf-8")
        run([compiler(), "-O2", "-shared", "-fPIC", "source.cpp", "-o", "library.so"], Path(folder))
        function = ctypes.CDLL(str(Path(folder, "library.so"))).collatz
    function.argtypes, function.restype = [ctypes.c_longlong], ctypes.c_longlong
    return function


class ImplementationTimes(NamedTuple):
    """The times of `collatz(1000)` under one implementation, in seconds, or the `reason` why there are none.

    `build_s` is the wall time of the compiler, and `calls_s` are the CPU times of the calls, in order.
    """

    name: str
    build_s: float = 0.0
    calls_s: tuple[float, ...] = ()
    reason: str = ""

    @property
    def later_s(self) -> float:
        """The median time of the second half of the calls."""
        return median(self.calls_s[len(self.calls_s) // 2 :])


def times_under_each(collatz: Callable[[int], int], *, building: bool) -> list[ImplementationTimes]:
    """Return the times of `collatz` under CPython, PyPy, Cython and Nuitka.

    With `building=False`, the compilers do not run.
    """
    pypy = shutil.which("pypy3") or shutil.which("pypy") or ""
    source = "".join(inspect.getsource(collatz).partition("def ")[1:])
    found = [times_under(source, "CPython", sys.executable)]
    lacking_pypy = ImplementationTimes("PyPy", reason=f"PyPy is missing: {programs.install('PyPy')}")
    found.append(times_under(source, "PyPy", pypy) if pypy else lacking_pypy)
    for name, package, *build in (
        ("Cython", "Cython", "Cython.Build.Cythonize", "-i", "-3"),
        ("Nuitka", "nuitka", "nuitka", "--module"),
    ):
        reason = "" if building else "a short run does not compile: run the lesson once without --fast"
        if find_spec(package) is None:
            reason = f"{name} is missing: python -m pip install {name.lower()}"
        missing = ImplementationTimes(name, reason=reason)
        found.append(missing if reason else times_under(source, name, sys.executable, *build))
    return found


def times_under(source: str, name: str, interpreter: str, *build: str) -> ImplementationTimes:
    """Return the times under an interpreter. If `build` names a compiler, it first replaces the module's source."""
    build_s = 0.0
    with program_folder(source, CALLS) as folder, waiting(f"running {name}"):
        try:
            if build:
                began_s = time.perf_counter()
                run([sys.executable, "-m", *build, "program.py"], folder)
                build_s = time.perf_counter() - began_s
                Path(folder, "program.py").unlink(missing_ok=True)  # so that the process imports the extension
            printed = run([interpreter, "driver.py"], folder)
        except MachineError as error:
            return ImplementationTimes(name, reason=f"{name} failed: {error}")
    return ImplementationTimes(name, build_s, tuple(json.loads(printed)))
