"""Run programs in new processes, and time how they start with empty and with filled caches."""

import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from harness.callgrind import tools
from harness.compilers import inductor
from harness.errors import MachineError
from harness.rendering.wrapping import waiting
from harness.statements import indented
from harness.storage import disk_cache

TIMEOUT_S: Final = 300.0  # time limit in seconds for each process
KIND: Final = "starts"  # the folder in the cache that holds the times of starts

_START: Final = """
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


def starts(program: str, *, measuring: bool = True) -> Starts:
    """Return the times of two starts of a program, from the cache or newly measured.

    `program` is Python source code that defines `call()`. The two processes share cache folders for numba and Inductor,
    which are empty at the first start. With `measuring=False`, times that are not in the cache are not measured.
    """
    key = disk_cache.digest({"program": program, "numba": version("numba"), **tools.software(compiles=True)})
    with contextlib.suppress(KeyError, TypeError):
        kept = disk_cache.load(KIND, key)
        return Starts(Start(**kept["empty"]), Start(**kept["filled"]), str(kept["measured"]))
    if not measuring:
        return Starts(reason="a short run does not start a process: run the lesson once without --fast")
    try:
        with program_folder(program, _START) as folder:
            with waiting("starting a new process with empty caches"):
                first = _start(folder)
            with waiting("starting a second process with filled caches"):
                second = _start(folder)
    except MachineError as error:
        return Starts(reason=f"the program failed: {error}")
    found = Starts(first, second, f"{datetime.now(UTC):%Y-%m-%d}")
    disk_cache.keep(KIND, key, asdict(found))
    return found


def _start(folder: Path) -> Start:
    caches = {inductor.CACHE_VARIABLE: str(folder / "inductor"), "NUMBA_CACHE_DIR": str(folder / "numba")}
    answer = folder / "answer.json"
    answer.unlink(missing_ok=True)
    run([sys.executable, "-W", "ignore", "driver.py"], folder, **caches, **{inductor.THREADS_VARIABLE: "1"})
    if not answer.exists():
        raise MachineError("it ended before its second call was over")
    return Start(*json.loads(answer.read_text(encoding="utf-8")))


def calls_to_break_even(compile_s: float, slow_s: float, fast_s: float) -> float:
    """Return the number of calls after which compiling pays off. It is infinite if a compiled call is not faster.

    Compiling takes `compile_s` seconds. A call takes `slow_s` seconds without compiling and `fast_s` seconds with it.
    """
    return max(1, math.ceil(compile_s / (slow_s - fast_s))) if slow_s > fast_s else math.inf


@contextlib.contextmanager
def program_folder(source: str, driver: str) -> Iterator[Path]:
    """Yield a new folder with `program.py` and `driver.py`, which a `with` block may run."""
    with tempfile.TemporaryDirectory(prefix="fairclock-program-") as folder:
        for name, text in (("program.py", source), ("driver.py", driver)):
            Path(folder, name).write_text(indented(text), encoding="utf-8")
        yield Path(folder)


def run(command: list[str], folder: Path, **environment: str) -> str:
    """Run a command in a folder, and return its output. Raise `MachineError` with the last line of its error."""
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=TIMEOUT_S,
            check=True,
        ).stdout
    except subprocess.TimeoutExpired:
        raise MachineError(f"it did not end within {TIMEOUT_S:g} s") from None
    except subprocess.CalledProcessError as failed:
        raise MachineError((failed.stderr.strip().splitlines() or ["it printed nothing"])[-1][:300]) from None
