"""`Timer.collect_callgrind` for a Python statement or a C++ snippet: run apart, several at once, kept between runs.

A collection takes tens of seconds, mostly for importing torch under valgrind and for compiling. So each runs in a
process of its own (`harness.callgrind.child`), as many at a time as there are cores, and its counts are kept in the
user's cache folder, under everything that they depend on. What differs in its environment alone is one program: that is
compiled once, and counted in one environment after the other.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final, Self

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import CallgrindStats

from harness import disk_cache
from harness.callgrind import cache, tools
from harness.errors import MachineError

CHOOSING: Final = ("ATEN_CPU_CAPABILITY", "LD_PRELOAD", "GLIBC_TUNABLES", "MALLOC_ARENA_MAX")
"""Environment variables that choose which code runs."""

_POLL_S: Final = 0.1
_TIMEOUT_S: Final = 900.0
"""A collection that hangs is ended after this long."""


def software(*, compiles: bool) -> dict[str, object]:
    """Everything that a count depends on besides its code: libraries, interpreter, processor, settings."""
    return {
        "torch": [torch.__version__, torch.version.git_version, torch.__config__.show()],
        "python": [sys.version, os.path.realpath(sys.executable)],
        "system": [platform.libc_ver(), platform.machine(), tools.processor(), tools.version()],
        "compiler": os.environ.get("CXX", "") if compiles else "",
        "chosen": {name: os.environ.get(name) for name in CHOOSING},
    }


@dataclass(frozen=True, slots=True)
class Snippet:
    """What to count: a statement, run `number` times, as `torch.utils.benchmark.Timer` takes it.

    `language` is "python" or "cpp". `repeats` counts that many times in one process, `runs` in so many processes.
    `extension` is C++ source that is compiled first, by `load_inline` with these `functions`; setup and statement find
    it under the name `extension`. It knows `at::Tensor`, and has to include what else it needs. `environment` is added
    to that of the counted process.
    """

    stmt: str
    setup: str = "pass"
    language: str = "python"
    number: int = 100
    repeats: int = 1
    runs: int = 1
    num_threads: int = 1
    global_setup: str = ""
    extension: str = ""
    functions: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def compiles(self) -> bool:
        """Whether it takes a compiler."""
        return self.language != "python" or bool(self.extension)

    @property
    def key(self) -> str:
        """A digest of everything that its counts depend on."""
        return disk_cache.digest({**asdict(self), **software(compiles=self.compiles)})

    @property
    def program(self) -> str:
        """A digest of the code that is compiled, which one program serves; its key where nothing is."""
        code = (self.language, self.stmt, self.setup, self.global_setup, self.extension, self.functions)
        return disk_cache.digest({"code": code}) if self.compiles else self.key


@dataclass(frozen=True, slots=True)
class Counted:
    """The counts of one snippet, one for each repeat of each run; or in `reason` why there are none."""

    all: tuple[CallgrindStats, ...] = ()
    reason: str = ""

    @property
    def stats(self) -> CallgrindStats:
        """The last of them: the first ones of a Python process are a little too large. `MachineError` without any."""
        if not self.all:
            raise MachineError(f"Nothing was counted: {self.reason}.")
        return self.all[-1]


def collect(snippet: Snippet, *, compiling: bool = True) -> Counted:
    """Count one snippet, or take its counts from the cache; see `collect_all`."""
    return collect_all({"it": snippet}, compiling=compiling)["it"]


def collect_all(snippets: Mapping[str, Snippet], *, compiling: bool = True) -> dict[str, Counted]:
    """Count several snippets, those not in the cache side by side, with a bar on a terminal.

    What cannot be counted has its reason instead, such as a missing compiler. `compiling=False` leaves out what would
    have to be compiled and is not in the cache.
    """
    found: dict[str, Counted] = {}
    missing: dict[str, Snippet] = {}
    for name, snippet in snippets.items():
        kept = cache.load(snippet.key)
        reason = tools.lacking(compiler=snippet.compiles)
        if kept is not None:
            found[name] = Counted(kept)
        elif reason or (snippet.compiles and not compiling):
            found[name] = Counted(
                reason=reason or "the short run compiles nothing: take the lesson without --fast once"
            )
        else:
            missing[name] = snippet
    if missing:
        found |= _run_side_by_side(missing)
    return {name: found[name] for name in snippets}


def _run_side_by_side(missing: Mapping[str, Snippet]) -> dict[str, Counted]:
    programs: dict[str, list[str]] = {}
    for name in sorted(missing, key=lambda name: not missing[name].compiles):
        programs.setdefault(missing[name].program, []).append(name)
    waiting = list(programs.values())
    running: list[tuple[list[str], _Child]] = []
    found: dict[str, Counted] = {}
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with (
        ExitStack() as stack,
        Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar,
    ):
        task = bar.add_task("counting instructions", total=len(missing))
        while waiting or running:
            while waiting and len(running) < (os.cpu_count() or 1):
                names = waiting.pop(0)
                running.append((names, stack.enter_context(_Child([missing[name] for name in names]))))
            for names, child in list(running):
                if (counted := child.poll()) is not None:
                    found |= zip(names, counted, strict=True)
                    running.remove((names, child))
                    bar.advance(task, len(names))
            counting = ", ".join(name for names, _ in running for name in names)
            bar.update(task, description=f"counting instructions of {counting or 'nothing more'}")
            time.sleep(_POLL_S)
    return found


class _Child:
    """Collections of one program under way, in a process group of their own that ends with it."""

    def __init__(self, snippets: Sequence[Snippet]) -> None:
        self._snippets = snippets
        self._folder = tempfile.TemporaryDirectory(prefix="fairclock-callgrind-")
        self._answer = Path(self._folder.name) / "answer.json"
        self._began_s = time.monotonic()
        self._log = (Path(self._folder.name) / "log").open("w+b")
        described = json.dumps([asdict(each) for each in snippets])
        self._popen = subprocess.Popen(
            [sys.executable, "-m", "harness.callgrind.child", described, str(self._answer)],
            env=tools.surroundings(),
            cwd=Path(__file__).parent.parent.parent,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._popen.poll() is None:
            os.killpg(self._popen.pid, 9)
            self._popen.wait()
        self._log.close()
        self._folder.cleanup()

    def poll(self) -> list[Counted] | None:
        """What came of each snippet; None while any is under way."""
        code = self._popen.poll()
        if code is None and time.monotonic() - self._began_s < _TIMEOUT_S:
            return None
        if code is None:
            os.killpg(self._popen.pid, 9)
            self._popen.wait()
            return self._none(f"valgrind did not end within {_TIMEOUT_S:g} s")
        try:
            lines = self._answer.read_text(encoding="utf-8").splitlines()
            found = [cache.loads(line) for line in lines]
        except (OSError, ValueError, KeyError, TypeError):
            return self._none(f"valgrind failed: {self._last_words()}")
        for snippet, runs in zip(self._snippets, found, strict=True):
            cache.keep(snippet.key, runs)
        return [Counted(runs) for runs in found]

    def _none(self, reason: str) -> list[Counted]:
        return [Counted(reason=reason)] * len(self._snippets)

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        errors = [line for line in lines if "error" in line.lower()]
        return (errors or lines or ["it said nothing"])[0 if errors else -1][:300]
