"""Store the compiled C++ code of `load_inline` and `Timer(language="c++")` for later runs.

A compiler needs tens of seconds to read torch's headers. `load_inline` does not compile again if its build folder
already contains the compiled library. So this module returns a permanent build folder, whose name is a digest of
everything that the library depends on. `Timer` normally compiles in a temporary folder. In a `with
timer_builds_kept():` block, it uses a permanent folder too.
"""

import json
import math
import os
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest import mock

import torch

from harness.callgrind import tools
from harness.extensions.libraries import KIND
from harness.storage import disk_cache

if sys.platform != "win32":
    import fcntl

_TOOK: Final = "seconds.json"


def inline_folder(source: str, options: Sequence[str] = ()) -> Path:
    """Return the build folder for `load_inline` with this source and these options. It is created if it is missing."""
    return _folder("inline", [source, list(options)])


def timer_folder(stmt: str, setup: str, global_setup: str = "") -> Path:
    """Return the build folder that `timer_builds_kept` uses for this C++ code. It is created if it is missing."""
    return _folder("timer", [stmt, setup, global_setup])


def compiled_before(folder: Path) -> bool:
    """Return whether a build folder contains a compiled library."""
    return any(folder.glob("*.so")) and (folder / _TOOK).is_file()


def build_seconds(folder: Path) -> float:
    """Return the wall time of the build in a folder, in seconds. Return NaN if the folder has no build."""
    try:
        return float(json.loads((folder / _TOOK).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return math.nan


@contextmanager
def build_lock(folder: Path) -> Iterator[None]:
    """Lock a build folder during a `with` block. If the block compiles a library, save how long this took.

    torch also locks a build folder, with a file. If a build is killed, torch's file stays, and later builds would wait
    forever. So this function removes such a file. Its own lock ends when its process ends.
    """
    own, path = str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)
    if own not in path.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join(
            [path, own]
        )  # ninja is in this Python's folder, which may be missing from PATH
    with (folder / "building").open("w") as lock:
        if sys.platform != "win32":
            fcntl.flock(lock, fcntl.LOCK_EX)
        (folder / "lock").unlink(missing_ok=True)
        filled, began = compiled_before(folder), time.perf_counter()
        yield
        if not filled:
            (folder / _TOOK).write_text(json.dumps(time.perf_counter() - began), encoding="utf-8")


@contextmanager
def timer_builds_kept() -> Iterator[None]:
    """Make `Timer(language="c++")` store its compiled code in the cache, and use it again, during a `with` block."""
    from torch.utils.benchmark.utils import cpp_jit  # noqa: PLC0415 - takes a second, because it imports compilers

    template = Path(cpp_jit.SOURCE_ROOT, "timeit_template.cpp").read_text(encoding="utf-8")

    def compile_kept(*, stmt: str, setup: str, global_setup: str) -> Any:
        folder = timer_folder(stmt, setup, global_setup)
        source = template
        for mark, text in (("GLOBAL_SETUP", global_setup), ("SETUP", setup), ("STMT", stmt)):
            source = source.replace(f"// {mark}_TEMPLATE_LOCATION", text)
        with build_lock(folder):
            return _load(folder, source, cpp_jit)

    with mock.patch.object(cpp_jit, "compile_timeit_template", compile_kept):
        yield


def _load(folder: Path, source: str, cpp_jit: Any) -> Any:
    from torch.utils import cpp_extension  # noqa: PLC0415 - as above

    file = folder / "timer.cpp"
    if not file.is_file() or file.read_text(encoding="utf-8") != source:
        file.write_text(source, encoding="utf-8")
    return cpp_extension.load(
        name=folder.name,
        sources=[str(file)],
        build_directory=str(folder),
        extra_cflags=cpp_jit.CXX_FLAGS,
        extra_include_paths=cpp_jit.EXTRA_INCLUDE_PATHS,
    )


def _folder(kind: str, code: object) -> Path:
    key = disk_cache.digest({
        "code": code,
        "torch": [torch.__version__, torch.version.git_version],
        "python": [sys.version, os.path.realpath(sys.executable)],
        "system": [platform.libc_ver(), platform.machine(), tools.processor()],
        "compiler": tools.compiler_version(os.environ.get("CXX", "c++")),
    })  # fmt: skip
    folder = disk_cache.folder() / KIND / f"{kind}_{key}"
    return disk_cache.made(folder)
