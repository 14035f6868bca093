"""Count the instructions of a script that uses only the standard library, and read Callgrind's profiles.

Counting takes about a second, and the counts are repeatable. Python's option `-E` is not used, because it ignores the
hash seed. Valgrind's manual describes the profiles in "Callgrind Format Specification".
"""

import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import FunctionCount, FunctionCounts

from harness.callgrind import tools
from harness.errors import MachineError, UsageError

_PYTHON_FLAGS: Final = ("-S", "-s", "-P")  # no site packages or packages of the user, no imports from the folder

_NAME: Final = re.compile(r"(?:\((\d+)\))?\s*(.*)")
_SPEC: Final = re.compile(r"(c?(?:ob|fi|fl|fe|fn)|calls)=(.*)")
_COST: Final = re.compile(r"(?:[+\-*]|0x|\d)")

TIMEOUT_S: Final = 300.0
"""Time limit for a script under valgrind, in seconds."""


@dataclass(frozen=True, slots=True)
class ScriptCounts:
    """The instruction counts of a process from its start to its end: in total and by function. Also its output."""

    instructions: int
    exclusive: FunctionCounts
    inclusive: FunctionCounts
    printed: str


def count_script(source: str, *, hash_seed: str = tools.HASH_SEED) -> ScriptCounts:
    """Run a script under Callgrind, and return its counts. `hash_seed="random"` is Python's default.

    Raise `MachineError` if valgrind is missing, and `UsageError` if the script fails or takes too long.
    """
    if missing := tools.lacking():
        raise MachineError(f"Instructions cannot be counted on this machine: {missing}.")
    with tempfile.TemporaryDirectory(prefix="fairclock-count-") as folder:
        out, log = Path(folder) / "callgrind.out", Path(folder) / "log"
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", f"--log-file={log}", "--vgdb=no"]
        base = tools.environment(base={})
        try:
            done = subprocess.run(
                [*valgrind, sys.executable, *_PYTHON_FLAGS, "-"],
                env={**base, "PYTHONHASHSEED": hash_seed, "PYTHONDONTWRITEBYTECODE": "1"},
                cwd="/",
                input=source,  # a script in a file has a path, whose hash changes the count
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise UsageError(
                f"The script ran longer than {TIMEOUT_S:g} s under valgrind; count a shorter one."
            ) from None
        if done.returncode:
            lines = (done.stderr.strip() or log.read_text(errors="replace").strip()).splitlines()
            raise UsageError(f"The script failed under valgrind: {lines[-1] if lines else done.returncode}.")
        with out.open(encoding="utf-8", errors="replace") as file:
            profile = parse(file)
    return ScriptCounts(
        profile.total,
        _counts(profile.exclusive, inclusive=False),
        _counts(profile.inclusive, inclusive=True),
        done.stdout,
    )


def count_scripts(sources: Sequence[str], *, hash_seed: str = tools.HASH_SEED) -> list[ScriptCounts]:
    """Run several scripts under Callgrind, one per core at the same time. Return their counts in the same order."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(partial(count_script, hash_seed=hash_seed), sources))


def _counts(found: dict[str, int], *, inclusive: bool) -> FunctionCounts:
    rows = sorted((FunctionCount(spent, name) for name, spent in found.items() if spent), reverse=True)
    return FunctionCounts(tuple(rows), inclusive)


class ProfileError(ValueError):
    """The text is not a Callgrind profile that counts instructions."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The number of instructions and calls of each function ("file:function [object]"), and of the whole program."""

    exclusive: dict[str, int]
    inclusive: dict[str, int]
    total: int
    calls: dict[str, int] = field(default_factory=dict)


@dataclass
class _ProfileReader:
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    object: str = ""
    file: str = ""
    function: str = ""
    called_object: str = ""
    called_file: str = ""
    called: str = ""
    call_follows: bool = False
    exclusive: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    inclusive: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    calls: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    total: int | None = None

    def name(self, kind: str, text: str) -> str:
        """Return the name in a text such as "(7) main", "main", or "(7)" if the number 7 was given a name before."""
        match = _NAME.fullmatch(text)
        number, written = (match[1], match[2]) if match else (None, text)
        if number is None:
            return written
        if written:
            self.names[kind, number] = written
        return self.names.get((kind, number), f"({number})")

    def specify(self, key: str, value: str) -> None:
        if key == "ob":
            self.object = self.name("ob", value)
        elif key in {"fl", "fi", "fe"}:
            self.file = self.name("fl", value)
        elif key == "fn":
            self.function = f"{self.file}:{self.name('fn', value)} [{self.object}]"
            self.called_object, self.called_file = self.object, self.file
        elif key == "cob":
            self.called_object = self.name("ob", value)
        elif key in {"cfi", "cfl"}:
            self.called_file = self.name("fl", value)
        elif key == "cfn":
            self.called = f"{self.called_file}:{self.name('fn', value)} [{self.called_object}]"
            self.called_object, self.called_file = self.object, self.file
        elif key == "calls":
            self.calls[self.called] += int(value.split(maxsplit=1)[0])
            self.call_follows = True

    def spend(self, cost: int) -> None:
        # The instructions of a call belong only to the caller's inclusive count.
        self.inclusive[self.function] += 0 if self.call_follows and self.called == self.function else cost
        if self.call_follows:
            self.call_follows = False
        else:
            self.exclusive[self.function] += cost


def parse(lines: Iterable[str]) -> Profile:
    """Return the profile in these lines.

    Raise `ProfileError` if there is no total, or if the first event is not `Ir`.
    """
    reader, positions = _ProfileReader(), 1
    for raw in lines:
        line = raw.strip()
        if match := _SPEC.match(line):
            reader.specify(match[1], match[2])
        elif line.startswith("positions:"):
            positions = len(line.split()) - 1
        elif line.startswith("events:") and line.split()[1:2] != ["Ir"]:
            raise ProfileError(f"The profile counts {line.removeprefix('events:').strip()}, not instructions (Ir).")
        elif line.startswith(("summary:", "totals:")):
            reader.total = int(line.split()[1])
        elif _COST.match(line):
            parts = line.split()
            reader.spend(int(parts[positions]) if len(parts) > positions else 0)
    if reader.total is None:
        raise ProfileError("This is not a Callgrind profile, because it has no total. Count again.")
    return Profile(dict(reader.exclusive), dict(reader.inclusive), reader.total, dict(reader.calls))
