"""Compile C and C++ code for this process, and store the compiled files in the user's cache folder."""

import contextlib
import importlib.machinery
import importlib.util
import math
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final

from harness.callgrind import tools
from harness.errors import MachineError
from harness.machine import programs
from harness.storage import disk_cache

if sys.platform != "win32":
    import fcntl

FLAGS: Final = ("-O2", "-shared", "-fPIC")
# On macOS, a library may use Python's symbols without containing them only with these flags.
_LINKING: Final = ("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()

_TOOK: Final = "seconds"  # the file in a build folder that holds the time of compiling


@dataclass(frozen=True, slots=True)
class CompiledFile:
    """A compiled file, and the wall time in seconds that compiling took, now or in an earlier run."""

    path: Path
    seconds: float


def lacking(*, python: bool = True) -> str:
    """Return what this machine lacks for compiling C, with the command that installs it, or "".

    With `python=True`, the headers of Python are needed too.
    """
    if missing := programs.lacking("a C compiler", programs.C_COMPILER, _compiler()):
        return missing
    if python and not Path(headers(), "Python.h").is_file():
        return f"the header Python.h is missing: {programs.PYTHON_HEADERS}"
    return ""


def headers() -> str:
    """Return the folder with the C headers of this Python."""
    return sysconfig.get_path("include")


def build_module(source: str, name: str) -> ModuleType:
    """Compile the C source of an extension module, which defines `PyInit_NAME`, and return the imported module.

    Raise `MachineError` if the source does not compile. Exceptions of the import are not caught.
    """
    loader = importlib.machinery.ExtensionFileLoader(name, str(build(source, name).path))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def build_library(source: str) -> str:
    """Compile a C source to a shared library, and return its path. Raise `MachineError` if it does not compile."""
    return str(build(source, "library").path)


def build(source: str, name: str) -> CompiledFile:
    """Return the compiled file of a C source, from the cache or newly compiled, as the extension module `name`.

    Raise `MachineError` if the source does not compile.
    """
    command = [_compiler(), *FLAGS, "-I", headers(), *_LINKING]
    version = tools.compiler_version(command[0])
    place = _folder("c", {"source": source, "command": command, "compiler": version, "python": sys.version})
    path = place / f"{name}{sysconfig.get_config_var('EXT_SUFFIX') or '.so'}"
    if path.is_file() and not math.isnan(seconds := build_seconds(place)):
        return CompiledFile(path, seconds)
    with tempfile.TemporaryDirectory(dir=place, prefix=".building-") as folder:
        Path(folder, f"{name}.c").write_text(source, encoding="utf-8")
        began = time.perf_counter()
        done = subprocess.run(
            [*command, f"{name}.c", "-o", path.name], cwd=folder, capture_output=True, text=True, check=False
        )
        seconds = time.perf_counter() - began
        if done.returncode:
            raise MachineError(f"{command[0]} cannot compile the source: {done.stderr.strip()[:300]}")
        (place / _TOOK).write_text(str(seconds), encoding="ascii")
        Path(folder, path.name).replace(path)
    return CompiledFile(path, seconds)


def inline_folder(code: Sequence[str]) -> Path:
    """Return a permanent build folder for C++ code that torch compiles, to use in `with build_lock(folder):`."""
    return _folder("inline", {"code": list(code), **tools.software(compiles=True)})


def compiled_before(folder: Path) -> bool:
    """Return whether a build folder contains a compiled library."""
    return any(folder.glob("*.so")) and (folder / _TOOK).is_file()


def build_seconds(folder: Path) -> float:
    """Return the wall time of the build in a folder, in seconds. Return NaN if the folder has no build."""
    try:
        return float((folder / _TOOK).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return math.nan


@contextlib.contextmanager
def build_lock(folder: Path) -> Iterator[None]:
    """Lock a build folder during a `with` block. If the block compiles a library, save how long this took.

    If a build is killed, torch's own lock, a file, stays, and later builds would wait forever. So it is removed.
    """
    own, path = str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)
    if own not in path.split(os.pathsep):  # ninja is in this Python's folder
        os.environ["PATH"] = os.pathsep.join([path, own])
    with (folder / "building").open("w") as lock:
        if sys.platform != "win32":
            fcntl.flock(lock, fcntl.LOCK_EX)
        (folder / "lock").unlink(missing_ok=True)
        filled, began = compiled_before(folder), time.perf_counter()
        yield
        if not filled:
            (folder / _TOOK).write_text(str(time.perf_counter() - began), encoding="ascii")


def _compiler() -> str:
    return os.environ.get("CC", "cc")


def _folder(kind: str, depends_on: dict[str, object]) -> Path:
    return disk_cache.made(disk_cache.folder() / "extensions" / f"{kind}_{disk_cache.digest(depends_on)}")
