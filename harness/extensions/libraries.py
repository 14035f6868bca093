"""Compile C code to extension modules of CPython and to libraries for ctypes, with a cache.

Each compiled file is stored in its own folder in the user's cache folder. The name of this folder is a digest of
source, flags, compiler and Python. A second file in it holds the time of compiling in seconds.
"""

import contextlib
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final

from harness.callgrind import tools
from harness.errors import MachineError
from harness.machine import programs
from harness.storage import disk_cache

FLAGS: Final = ("-O2", "-shared", "-fPIC")
# On macOS, a library may use Python's symbols without containing them only with these flags.
_LINKING: Final = ("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()

KIND: Final = "extensions"
"""The name of the folder in the cache that holds compiled files."""


@dataclass(frozen=True, slots=True)
class CompiledFile:
    """A compiled file, and the wall time in seconds that compiling took, now or in an earlier run."""

    path: Path
    seconds: float


def lacking(*, python: bool = True) -> str:
    """Return a text that names what this machine lacks for compiling C, with the command that installs it, or "".

    With `python=True`, the headers of Python are needed too.
    """
    if missing := programs.lacking_compiler("a C compiler", programs.C_COMPILER, _compiler()):
        return missing
    if python and not Path(headers(), "Python.h").is_file():
        return f"the header Python.h is missing: {programs.PYTHON_HEADERS}"
    return ""


def build_module(source: str, name: str) -> ModuleType:
    """Compile the C source of an extension module, import the module, and return it.

    The source must define the function `PyInit_NAME`, where NAME is `name`. If it does not compile, raise
    `MachineError` with the compiler's message. Exceptions of the import are not caught.
    """
    path = str(build(source, name).path)
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def build_library(source: str) -> str:
    """Compile a C source to a shared library, and return its path. Raise `MachineError` if it does not compile."""
    return str(build(source, "library").path)


def build(source: str, name: str) -> CompiledFile:
    """Return the compiled file of a C source, from the cache or newly compiled.

    The name of the file is `name` with the suffix of an extension module. The source can include Python's headers if
    they are installed. Raise `MachineError` if the source does not compile.
    """
    command = [_compiler(), *FLAGS, "-I", headers(), *_LINKING]
    key = disk_cache.digest(
        {"source": source, "command": command, "compiler": tools.compiler_version(command[0]), "python": sys.version}
    )
    path = disk_cache.folder() / KIND / key / f"{name}{sysconfig.get_config_var('EXT_SUFFIX') or '.so'}"
    took = path.with_name("seconds")
    with contextlib.suppress(OSError, ValueError):
        if path.is_file():
            return CompiledFile(path, float(took.read_text(encoding="ascii")))
    with tempfile.TemporaryDirectory(dir=disk_cache.made(path.parent), prefix=".building-") as folder:
        Path(folder, f"{name}.c").write_text(source, encoding="utf-8")
        began = time.perf_counter()
        done = subprocess.run(
            [*command, f"{name}.c", "-o", path.name], cwd=folder, capture_output=True, text=True, check=False
        )
        seconds = time.perf_counter() - began
        if done.returncode:
            raise MachineError(f"{command[0]} cannot compile the source: {done.stderr.strip()[:300]}")
        took.write_text(str(seconds), encoding="ascii")
        Path(folder, path.name).replace(path)
    return CompiledFile(path, seconds)


def _compiler() -> str:
    return os.environ.get("CC", "cc")


def headers() -> str:
    """Return the folder with the C headers of this Python."""
    return sysconfig.get_path("include")
