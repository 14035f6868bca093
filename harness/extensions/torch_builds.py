"""C++ that includes torch: `load_inline` and `Timer(language="c++")`, kept between runs.

Reading torch's headers takes a compiler tens of seconds. `load_inline` does not compile again what lies in its build
folder already: it gets one that is named by all that the result depends on. `Timer` builds in a folder of its process,
which is removed at the end; within `timer_kept` it builds in one that stays.
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

from harness import disk_cache
from harness.callgrind import tools
from harness.extensions.libraries import KIND

if sys.platform != "win32":
    import fcntl

_TOOK: Final = "seconds.json"


def inline_folder(source: str, options: Sequence[str] = ()) -> Path:
    """The build folder for `load_inline` of this source with these options; made, and filled by the first call."""
    return _folder("inline", [source, list(options)])


def timer_folder(stmt: str, setup: str, global_setup: str = "") -> Path:
    """The build folder for a `Timer` of this C++; it is made, and filled by the first run within `timer_kept`."""
    return _folder("timer", [stmt, setup, global_setup])


def compiled_before(folder: Path) -> bool:
    """Whether a build folder is filled."""
    return any(folder.glob("*.so")) and (folder / _TOOK).is_file()


def took_s(folder: Path) -> float:
    """The wall seconds that the build in a folder took, now or when it was kept; NaN for none."""
    try:
        return float(json.loads((folder / _TOOK).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return math.nan


@contextmanager
def building(folder: Path) -> Iterator[None]:
    """Build in a folder, one process at a time, and note how long it took if it was not filled before.

    torch locks a folder by a file in it, which stays when a build is killed: whoever comes here afterwards would wait
    for good. This lock ends with its process.
    """
    own, path = str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)
    if own not in path.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([path, own])  # ninja is there, whoever started this Python by its path
    with (folder / "building").open("w") as lock:
        if sys.platform != "win32":
            fcntl.flock(lock, fcntl.LOCK_EX)
        (folder / "lock").unlink(missing_ok=True)
        filled, began = compiled_before(folder), time.perf_counter()
        yield
        if not filled:
            (folder / _TOOK).write_text(json.dumps(time.perf_counter() - began), encoding="utf-8")


@contextmanager
def timer_kept() -> Iterator[None]:
    """Within this, `Timer(language="c++")` finds what an earlier process compiled of the same code, and leaves it."""
    from torch.utils.benchmark.utils import cpp_jit  # noqa: PLC0415 - takes a second, with compilers in it

    template = Path(cpp_jit.SOURCE_ROOT, "timeit_template.cpp").read_text(encoding="utf-8")

    def compile_kept(*, stmt: str, setup: str, global_setup: str) -> Any:
        folder = timer_folder(stmt, setup, global_setup)
        source = template
        for mark, text in (("GLOBAL_SETUP", global_setup), ("SETUP", setup), ("STMT", stmt)):
            source = source.replace(f"// {mark}_TEMPLATE_LOCATION", text)
        with building(folder):
            return _load(folder, source, cpp_jit)

    with mock.patch.object(cpp_jit, "compile_timeit_template", compile_kept):
        yield


def _load(folder: Path, source: str, cpp_jit: Any) -> Any:
    """Compile as `Timer` does, under a name that is the same in each process."""
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
