"""C compiled ahead of time by this machine's compiler: extension modules of CPython, and libraries for ctypes.

What was compiled is kept in the user's cache folder, under everything that it depends on: source, flags, compiler,
Python. Beside it lies how long that took.
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

from harness import disk_cache, programs
from harness.callgrind import tools
from harness.errors import MachineError

FLAGS: Final = ("-O2", "-shared", "-fPIC")
KIND: Final = "extensions"
"""The folder for it."""


@dataclass(frozen=True, slots=True)
class Build:
    """A compiled file, and the wall seconds that compiling took, now or when it was kept."""

    path: Path
    seconds: float


def lacking(*, python: bool = True) -> str:
    """What this machine lacks for C, and if asked for modules of Python, with what brings it; "" when nothing."""
    if missing := programs.lacking_compiler("a C compiler", programs.C_COMPILER, compiler()):
        return missing
    if python and not Path(headers(), "Python.h").is_file():
        return f"the header Python.h is missing: {programs.PYTHON_HEADERS}"
    return ""


def compiler() -> str:
    """The C compiler that is taken."""
    return os.environ.get("CC", "cc")


def headers() -> str:
    """The folder of this Python's headers."""
    return sysconfig.get_path("include")


def build_module(source: str, name: str) -> ModuleType:
    """Compile the C source of an extension module and import it, anew each time.

    Its init function has to be `PyInit_` and `name`. Raises `MachineError` with the compiler's words where it does not
    compile, and whatever importing it raises.
    """
    path = str(build(source, name).path)
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def build_library(source: str) -> str:
    """Compile C source as a shared library and return its path. Raises `MachineError` where it does not compile."""
    return str(build(source, "library").path)


def build(source: str, name: str) -> Build:
    """Compile C source to `name` with the ending of an extension module, or take what is kept of it.

    It finds Python's headers where there are any. Raises `MachineError` where it does not compile.
    """
    command = [compiler(), *FLAGS, "-I", headers(), *_unresolved()]
    key = disk_cache.digest(
        {"source": source, "command": command, "compiler": tools.compiler_version(command[0]), "python": sys.version}
    )
    path = disk_cache.folder() / KIND / key / f"{name}{sysconfig.get_config_var('EXT_SUFFIX') or '.so'}"
    took = path.with_name("seconds")
    with contextlib.suppress(OSError, ValueError):
        if path.is_file():
            return Build(path, float(took.read_text(encoding="ascii")))
    with tempfile.TemporaryDirectory(dir=disk_cache.made(path.parent), prefix=".building-") as folder:
        Path(folder, f"{name}.c").write_text(source, encoding="utf-8")
        began = time.perf_counter()
        done = subprocess.run(
            [*command, f"{name}.c", "-o", path.name], cwd=folder, capture_output=True, text=True, check=False
        )
        seconds = time.perf_counter() - began
        if done.returncode:
            raise MachineError(f"{compiler()} compiled nothing: {done.stderr.strip()[:300]}")
        took.write_text(str(seconds), encoding="ascii")
        Path(folder, path.name).replace(path)
    return Build(path, seconds)


def _unresolved() -> tuple[str, ...]:
    """On macOS a linker has to be told that Python's own names come with the process that loads the module."""
    return ("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()
