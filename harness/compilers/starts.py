"""What the first call of a compiled function takes in a fresh process: once with empty caches, once with filled ones.

The two runs take a while, so what they measured is kept in the user's cache folder, under everything that it depends
on, with the day on which it was measured.
"""

import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

import torch

from harness import disk_cache, units
from harness.callgrind import tools
from harness.compilers import inductor
from harness.compilers.waiting import waiting
from harness.tables import Table

KIND: Final = "starts"
"""The folder for them."""

_TIMEOUT_S: Final = 300.0
"""A start that hangs is ended after this long."""

_DRIVER: Final = """
    import json, sys, time
    began = time.perf_counter()
    import program
    imported = time.perf_counter()
    program.call()
    first = time.perf_counter()
    program.call()
    again = time.perf_counter()
    with open(sys.argv[1], "w") as answer:
        json.dump([imported - began, first - imported, again - first], answer)
"""


@dataclass(frozen=True, slots=True)
class Start:
    """Wall times of a fresh process, in seconds: its imports, its first call, and the call after that."""

    import_s: float
    first_s: float
    again_s: float


@dataclass(frozen=True, slots=True)
class Starts:
    """Two starts of one program: with `empty` caches and with `filled` ones; in `reason` why there are none.

    `measured` is the day, as 2026-01-31.
    """

    empty: Start | None = None
    filled: Start | None = None
    measured: str = ""
    reason: str = ""

    def table(self) -> Table:
        """Return both side by side."""
        named = (("empty", self.empty), ("filled", self.filled))
        rows = [(name, each.import_s, each.first_s, each.again_s) for name, each in named if each is not None]
        heads = {"cache": None, "imports": units.seconds, "first call": units.seconds, "second call": units.seconds}
        return Table.of(f"Two fresh processes, measured on {self.measured}", heads, rows)


def starts(program: str, *, measuring: bool = True) -> Starts:
    """Start a program twice, or take what is kept of it.

    `program` is Python source that defines `call()`. Both processes have cache folders for numba and Inductor of their
    own, which are empty for the first. `measuring=False` starts nothing: what is not kept has a reason instead.
    """
    key = _key(program)
    with contextlib.suppress(KeyError, TypeError):
        kept = disk_cache.load(KIND, key)
        return Starts(Start(**kept["empty"]), Start(**kept["filled"]), str(kept["measured"]))
    if not measuring:
        return Starts(reason="the short run starts nothing anew: take the lesson without --fast once")
    with tempfile.TemporaryDirectory(prefix="fairclock-starts-") as folder:
        Path(folder, "program.py").write_text(textwrap.dedent(program), encoding="utf-8")
        Path(folder, "driver.py").write_text(textwrap.dedent(_DRIVER), encoding="utf-8")
        with waiting("starting a fresh process, its caches empty"):
            first = _start(Path(folder))
        with waiting("starting another one, its caches filled"):
            second = _start(Path(folder)) if isinstance(first, Start) else first
    if not isinstance(first, Start) or not isinstance(second, Start):
        return Starts(reason=f"the program failed: {second}")
    found = Starts(first, second, f"{datetime.now(UTC):%Y-%m-%d}")
    disk_cache.keep(KIND, key, asdict(found))
    return found


def _start(folder: Path) -> Start | str:
    """Run the program in `folder`; what it said last when it failed."""
    answer = folder / "answer.json"
    answer.unlink(missing_ok=True)
    own = {inductor.CACHE_VARIABLE: str(folder / "inductor"), "NUMBA_CACHE_DIR": str(folder / "numba")}
    try:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "driver.py", str(answer)],
            cwd=folder,
            env={**os.environ, inductor.THREADS_VARIABLE: "1", **own},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
        return Start(*json.loads(answer.read_text(encoding="utf-8")))
    except subprocess.TimeoutExpired:
        return f"it did not end within {_TIMEOUT_S:g} s"
    except (OSError, ValueError, TypeError):
        return (done.stderr.strip().splitlines() or ["it said nothing"])[-1][:300]


def _key(program: str) -> str:
    """A digest of everything that the times depend on, but for the machine's weather."""
    return disk_cache.digest({
        "program": program,
        "torch": [torch.__version__, torch.version.git_version],
        "numba": version("numba"),
        "python": [sys.version, os.path.realpath(sys.executable)],
        "system": [platform.libc_ver(), platform.machine(), tools.processor()],
        "compiler": inductor.compiler(),
    })  # fmt: skip
