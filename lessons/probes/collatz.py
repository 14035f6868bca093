"""The function `collatz`, compiled from C."""

import ctypes
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from harness.compilers.inductor import compiler
from harness.compilers.new_processes import run

COLLATZ_IN_C: Final = """
extern "C" long long collatz(long long n) {
  long long steps = 0;
  for (long long start = 1; start < n; start++)
    for (long long value = start; value > 1; steps++)
      value = value % 2 ? 3 * value + 1 : value / 2;
  return steps;
}
"""


def compiled_ahead() -> Any:
    """Compile the C function `collatz`, and return the function."""
    with TemporaryDirectory(prefix="fairclock-ahead-") as folder:
        Path(folder, "source.cpp").write_text(COLLATZ_IN_C, encoding="utf-8")
        run([compiler(), "-O2", "-shared", "-fPIC", "source.cpp", "-o", "library.so"], Path(folder))
        function = ctypes.CDLL(str(Path(folder, "library.so"))).collatz
    function.argtypes, function.restype = [ctypes.c_longlong], ctypes.c_longlong
    return function
