"""Compile a C function ahead of time with this machine's C++ compiler, and call it through ctypes."""

import ctypes
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from harness.compilers.inductor import compiler
from harness.errors import MachineError


def build(source: str, name: str) -> Any:
    """Compile a C source with optimisation, and return its function `name`.

    The function must have one parameter and a result of type `long long`. If compiling fails, raise `MachineError` with
    the compiler's message.
    """
    with tempfile.TemporaryDirectory(prefix="fairclock-ahead-") as folder:
        text, library = Path(folder, "source.cpp"), Path(folder, "library.so")
        text.write_text(source, encoding="utf-8")
        command = [compiler(), "-O2", "-shared", "-fPIC", str(text), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
        if done.returncode:
            raise MachineError(f"{compiler()} cannot compile the source: {done.stderr.strip()[:300]}")
        function = getattr(ctypes.CDLL(str(library)), name)
    function.argtypes, function.restype = [ctypes.c_longlong], ctypes.c_longlong
    return function
