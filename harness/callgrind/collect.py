"""Count the instructions of Python statements and C++ snippets with `Timer.collect_callgrind`, with a cache.

A count takes tens of seconds, mostly to import torch under valgrind and to compile. So counts run in separate processes
(`harness.callgrind.child`), as many at the same time as there are cores. The counts are stored in the user's cache
folder, under a digest of everything that they depend on. Snippets that differ only in their environment variables share
a program. This program is compiled once and counted in each environment.
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

from harness.callgrind import cache, tools
from harness.errors import MachineError
from harness.storage import disk_cache

CHOOSING: Final = ("ATEN_CPU_CAPABILITY", "LD_PRELOAD", "GLIBC_TUNABLES", "MALLOC_ARENA_MAX")
"""Environment variables that change the machine code that libraries run, and with it the number of instructions."""

_POLL_S: Final = 0.1
_TIMEOUT_S: Final = 900.0


def software(*, compiles: bool) -> dict[str, object]:
    """Return everything outside the counted code that changes a count: libraries, interpreter, processor, settings."""
    return {
        "torch": [torch.__version__, torch.version.git_version, torch.__config__.show()],
        "python": [sys.version, os.path.realpath(sys.executable)],
        "system": [platform.libc_ver(), platform.machine(), tools.processor(), tools.version()],
        "compiler": os.environ.get("CXX", "") if compiles else "",
        "chosen": {name: os.environ.get(name) for name in CHOOSING},
    }


@dataclass(frozen=True, slots=True)
class Snippet:
    """Code whose instructions are counted: a statement with its setup, as for `torch.utils.benchmark.Timer`.

    A count is for `number` runs of the statement. `language` is "python" or "cpp". `repeats` is the number of counts
    per process, `runs` the number of processes. `extension` is the source of a C++ module that `load_inline` compiles
    first, and `functions` are the module's functions. Setup and statement use this module under the name `extension`.
    Its source can use `at::Tensor`, but must include the headers of everything else. `environment` is added to the
    environment variables of the counted process.
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
        """Whether the snippet needs a compiler."""
        return self.language != "python" or bool(self.extension)

    @property
    def key(self) -> str:
        """A digest of everything that the counts of the snippet depend on."""
        return disk_cache.digest({**asdict(self), **software(compiles=self.compiles)})

    @property
    def program(self) -> str:
        """A digest of the snippet's code without its environment variables.

        Snippets with the same digest are counted in one process, which compiles their code only once. For a snippet
        without compiled code, the digest is `key`.
        """
        code = (self.language, self.stmt, self.setup, self.global_setup, self.extension, self.functions)
        return disk_cache.digest({"code": code}) if self.compiles else self.key


@dataclass(frozen=True, slots=True)
class Counted:
    """The instruction counts of one snippet. If nothing was counted, `reason` states why."""

    all: tuple[CallgrindStats, ...] = ()
    reason: str = ""

    @property
    def stats(self) -> CallgrindStats:
        """The last count of the snippet. The first count of a Python process is slightly too large.

        Raise `MachineError` if there are no counts.
        """
        if not self.all:
            raise MachineError(f"Nothing was counted: {self.reason}.")
        return self.all[-1]


def collect(snippet: Snippet, *, compiling: bool = True) -> Counted:
    """Return the counts of one snippet, from the cache or newly counted.

    With `compiling=False`, a snippet that must be compiled and is not in the cache is not counted.
    """
    return collect_all({"it": snippet}, compiling=compiling)["it"]


def collect_all(snippets: Mapping[str, Snippet], *, compiling: bool = True) -> dict[str, Counted]:
    """Return the counts of several snippets by name. Snippets that are not in the cache are counted at the same time.

    If a snippet cannot be counted, its result has the reason, such as a missing compiler. With `compiling=False`,
    snippets that must be compiled and are not in the cache are not counted. A terminal shows a progress bar.
    """
    found: dict[str, Counted] = {}
    missing: dict[str, Snippet] = {}
    for name, snippet in snippets.items():
        kept = cache.load(snippet.key)
        reason = tools.lacking(compiler=snippet.compiles)
        if kept is not None:
            found[name] = Counted(kept)
        elif reason or (snippet.compiles and not compiling):
            found[name] = Counted(reason=reason or "a short run does not compile: run the lesson once without --fast")
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
    def __init__(self, snippets: Sequence[Snippet]) -> None:
        self._snippets = snippets
        self._folder = tempfile.TemporaryDirectory(prefix="fairclock-callgrind-")
        self._answer = Path(self._folder.name) / "answer.json"
        self._began_s = time.monotonic()
        self._log = (Path(self._folder.name) / "log").open("w+b")
        described = json.dumps([asdict(each) for each in snippets])
        self._popen = subprocess.Popen(
            [sys.executable, "-m", "harness.callgrind.child", described, str(self._answer)],
            env=tools.environment(),
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
            return self._none(f"valgrind failed: {self._last_message()}")
        for snippet, runs in zip(self._snippets, found, strict=True):
            cache.keep(snippet.key, runs)
        return [Counted(runs) for runs in found]

    def _none(self, reason: str) -> list[Counted]:
        return [Counted(reason=reason)] * len(self._snippets)

    def _last_message(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        errors = [line for line in lines if "error" in line.lower()]
        return (errors or lines or ["it printed nothing"])[0 if errors else -1][:300]
