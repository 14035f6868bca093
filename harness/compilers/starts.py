"""Measure the first call of a compiled function in a new process, with empty caches and with filled caches.

The two measurements take a long time. So their results are stored in the user's cache folder with the date. Later runs
use the stored results if the program, the software and the processor are the same.
"""

import contextlib
import json
import math
import os
import platform
import sys
import tempfile
import textwrap
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

import torch

from harness.callgrind import tools
from harness.compilers import inductor
from harness.compilers.implementations import run_program
from harness.errors import MachineError
from harness.rendering import units
from harness.rendering.progress import waiting
from harness.rendering.tables import Table
from harness.storage import disk_cache

KIND: Final = "starts"
"""The name of the folder in the cache that holds the measured times."""

_DRIVER: Final = """
    import json, time
    began = time.perf_counter()
    import program
    imported = time.perf_counter()
    program.call()
    first = time.perf_counter()
    program.call()
    again = time.perf_counter()
    with open("answer.json", "w") as answer:
        json.dump([imported - began, first - imported, again - first], answer)
"""


@dataclass(frozen=True, slots=True)
class Start:
    """The wall times of one start of a program, in seconds: the imports, the first call and the second call."""

    import_s: float
    first_s: float
    again_s: float


@dataclass(frozen=True, slots=True)
class Starts:
    """The times of two starts of a program, with empty and with filled caches.

    `measured` is the date, such as 2026-01-31. If there are no times, `reason` states why.
    """

    empty: Start | None = None
    filled: Start | None = None
    measured: str = ""
    reason: str = ""

    def table(self) -> Table:
        """Return a table of the two starts, with one row per start."""
        named = (("empty", self.empty), ("filled", self.filled))
        rows = [(name, each.import_s, each.first_s, each.again_s) for name, each in named if each is not None]
        heads = {"cache": None, "imports": units.seconds, "first call": units.seconds, "second call": units.seconds}
        return Table.of(f"Two fresh processes, measured on {self.measured}", heads, rows)


def starts(program: str, *, measuring: bool = True) -> Starts:
    """Return the times of two starts of a program, from the cache or newly measured.

    `program` is Python source code that defines `call()`. Each start is a new process. The two processes share cache
    folders for numba and Inductor, which are empty at the first start and filled at the second start. With
    `measuring=False`, times that are not in the cache are not measured.
    """
    key = _key(program)
    with contextlib.suppress(KeyError, TypeError):
        kept = disk_cache.load(KIND, key)
        return Starts(Start(**kept["empty"]), Start(**kept["filled"]), str(kept["measured"]))
    if not measuring:
        return Starts(reason="a short run does not start a process: run the lesson once without --fast")
    try:
        with tempfile.TemporaryDirectory(prefix="fairclock-starts-") as folder:
            Path(folder, "program.py").write_text(textwrap.dedent(program), encoding="utf-8")
            Path(folder, "driver.py").write_text(textwrap.dedent(_DRIVER), encoding="utf-8")
            with waiting("starting a new process with empty caches"):
                first = _start(Path(folder))
            with waiting("starting a second process with filled caches"):
                second = _start(Path(folder))
    except MachineError as error:
        return Starts(reason=f"the program failed: {error}")
    found = Starts(first, second, f"{datetime.now(UTC):%Y-%m-%d}")
    disk_cache.keep(KIND, key, asdict(found))
    return found


def calls_to_break_even(compile_s: float, slow_s: float, fast_s: float) -> float:
    """Return the number of calls after which compiling pays off. It is infinite if a compiled call is not faster.

    Compiling takes `compile_s` seconds. A call takes `slow_s` seconds without compiling and `fast_s` seconds with it.
    """
    return max(1, math.ceil(compile_s / (slow_s - fast_s))) if slow_s > fast_s else math.inf


def _start(folder: Path) -> Start:
    caches = {inductor.CACHE_VARIABLE: str(folder / "inductor"), "NUMBA_CACHE_DIR": str(folder / "numba")}
    command = [sys.executable, "-W", "ignore", "driver.py"]
    answer = folder / "answer.json"
    answer.unlink(missing_ok=True)
    run_program(command, folder, **caches, **{inductor.THREADS_VARIABLE: "1"})
    if not answer.exists():
        raise MachineError("it ended before its second call was over")
    return Start(*json.loads(answer.read_text(encoding="utf-8")))


def _key(program: str) -> str:
    """Return a digest of everything that the times depend on, except the load of the machine."""
    return disk_cache.digest({
        "program": program,
        "torch": [torch.__version__, torch.version.git_version],
        "numba": version("numba"),
        "python": [sys.version, os.path.realpath(sys.executable)],
        "system": [platform.libc_ver(), platform.machine(), tools.processor()],
        "compiler": inductor.compiler(),
    })  # fmt: skip
