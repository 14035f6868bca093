"""Count the instructions of Python statements and C++ snippets in separate processes, with a cache."""

import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from torch.utils.benchmark import CallgrindStats

from harness.callgrind import tools
from harness.errors import MachineError
from harness.processes.channel import Closed, Late
from harness.processes.launcher import KIT, Child
from harness.rendering.wrapping import progress_bars
from harness.storage import disk_cache
from harness.torch_benchmark.result_store import callgrind_from_dict

KIND: Final = "callgrind"  # the folder in the cache
_POLL_S: Final = 0.1
_TIMEOUT_S: Final = 900.0
_ANSWER_S: Final = 60.0  # for the rest of an answer whose first bytes have arrived


@dataclass(frozen=True, slots=True)
class Snippet:
    """Code whose instructions are counted: a statement with its setup, as for `torch.utils.benchmark.Timer`.

    A count is for `number` runs of the statement. `language` is "python" or "cpp". `repeats` is the number of counts
    per process, `runs` the number of processes. `extension` is the source of a C++ module that `load_inline` compiles
    first, and `functions` are its functions. Setup and statement use it under the name `extension`. Its source can use
    `at::Tensor`, but must include all other headers. `environment` is added to the environment variables.
    """

    stmt: str
    setup: str = "pass"
    language: str = "python"
    number: int = 100
    repeats: int = 1
    runs: int = 1
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
        return disk_cache.digest({**asdict(self), **tools.software(compiles=self.compiles)})

    @property
    def program(self) -> str:
        """A digest of compiled code without its environment, or else `key`. One process counts all equal programs."""
        code = (self.language, self.stmt, self.setup, self.extension, self.functions)
        return disk_cache.digest({"code": code}) if self.compiles else self.key


@dataclass(frozen=True, slots=True)
class SnippetCounts:
    """The instruction counts of one snippet. If nothing was counted, `reason` states why."""

    all: tuple[CallgrindStats, ...] = ()
    reason: str = ""

    @property
    def stats(self) -> CallgrindStats:
        """The last count of the snippet. The first count of a Python process is slightly too large.

        Raise `MachineError` if there are no counts.
        """
        if not self.all:
            raise MachineError(f"Nothing was counted: {self.reason.removesuffix('.')}.")
        return self.all[-1]


def collect(snippet: Snippet, *, compiling: bool = True) -> SnippetCounts:
    """Return the counts of one snippet, from the cache or newly counted, as `collect_all` does."""
    return collect_all({"it": snippet}, compiling=compiling)["it"]


def collect_all(snippets: Mapping[str, Snippet], *, compiling: bool = True) -> dict[str, SnippetCounts]:
    """Return the counts of several snippets by name. Snippets that are not in the cache are counted at the same time.

    If a snippet cannot be counted, its result has the reason, such as a missing compiler. With `compiling=False`,
    snippets that must be compiled and are not in the cache are not counted. A terminal shows a progress bar.
    """
    found: dict[str, SnippetCounts] = {}
    missing: dict[str, Snippet] = {}
    for name, snippet in snippets.items():
        kept = decode(disk_cache.load(KIND, snippet.key))
        reason = tools.lacking(compiler=snippet.compiles)
        if kept:
            found[name] = SnippetCounts(kept)
        elif reason or (snippet.compiles and not compiling):
            found[name] = SnippetCounts(
                reason=reason or "a short run does not compile: run the lesson once without --fast"
            )
        else:
            missing[name] = snippet
    if missing:
        found |= _run_side_by_side(missing)
    return {name: found[name] for name in snippets}


def _run_side_by_side(missing: Mapping[str, Snippet]) -> dict[str, SnippetCounts]:
    programs: dict[str, list[str]] = {}
    for name in sorted(missing, key=lambda name: not missing[name].compiles):
        programs.setdefault(missing[name].program, []).append(name)
    waiting = list(programs.values())
    running: list[tuple[list[str], Child, float]] = []
    found: dict[str, SnippetCounts] = {}
    with ExitStack() as stack, progress_bars() as bars:
        task = bars.add_task("counting instructions", total=len(missing))
        while waiting or running:
            while waiting and len(running) < (os.cpu_count() or 1):
                names = waiting.pop(0)
                child = stack.enter_context(_start([missing[name] for name in names]))
                running.append((names, child, time.monotonic() + _TIMEOUT_S))
            for each in list(running):
                names, child, deadline_s = each
                if child.has_message() or time.monotonic() > deadline_s:
                    found |= zip(names, _counts([missing[name] for name in names], child), strict=True)
                    running.remove(each)
                    bars.advance(task, len(names))
            counting = ", ".join(name for names, _, _ in running for name in names)
            bars.update(task, description=f"counting instructions of {counting or 'nothing more'}")
            time.sleep(_POLL_S)
    return found


def _start(snippets: Sequence[Snippet]) -> Child:
    child = Child([sys.executable, "-m", "harness.callgrind.child"], tools.environment(), folder=KIT)
    child.send(b"c", {"snippets": [asdict(each) for each in snippets]})
    return child


def _counts(snippets: Sequence[Snippet], child: Child) -> list[SnippetCounts]:
    try:
        found = child.receive(_ANSWER_S)[1]["counts"]
    except Late:
        return [SnippetCounts(reason=f"valgrind did not end within {_TIMEOUT_S:g} s")] * len(snippets)
    except Closed:
        lines = child.log_lines()
        errors = [line for line in lines if re.search("[Ee]rror: ", line) and not line.endswith(":")]
        reason = errors[0] if errors else (lines or ["it printed nothing"])[-1]
        return [SnippetCounts(reason=f"valgrind failed: {reason}")] * len(snippets)
    finally:
        child.end()
    for snippet, runs in zip(snippets, found, strict=True):
        if not isinstance(runs, str):
            disk_cache.keep(KIND, snippet.key, runs)
    return [SnippetCounts(reason=runs) if isinstance(runs, str) else SnippetCounts(decode(runs)) for runs in found]


def decode(runs: Any) -> tuple[CallgrindStats, ...]:
    """Return the counts that `callgrind_to_dict` converted to values for JSON. Return () for any other value."""
    try:
        return tuple(map(callgrind_from_dict, runs))
    except (AttributeError, KeyError, TypeError):
        return ()
