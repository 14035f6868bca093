"""A C function compiled ahead of time, by the C++ compiler of this machine, and called through ctypes."""

import ctypes
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from harness.compilers.inductor import compiler
from harness.errors import MachineError


def build(source: str, name: str) -> Any:
    """Compile C source with full optimisation and return its function `name`, from one `long` to another.

    Raises `MachineError` with the compiler's own words where that fails.
    """
    with tempfile.TemporaryDirectory(prefix="fairclock-ahead-") as folder:
        text, library = Path(folder, "source.cpp"), Path(folder, "library.so")
        text.write_text(source, encoding="utf-8")
        command = [compiler(), "-O2", "-shared", "-fPIC", str(text), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
        if done.returncode:
            raise MachineError(f"{compiler()} compiled nothing: {done.stderr.strip()[:300]}")
        function = getattr(ctypes.CDLL(str(library)), name)
    function.argtypes, function.restype = [ctypes.c_longlong], ctypes.c_longlong
    return function
