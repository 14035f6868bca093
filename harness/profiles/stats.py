"""Run a script under a profiler of Python, and read the profile with `pstats`: one row per function."""

import cProfile
import marshal
import math
import os
import pstats
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from harness.errors import UsageError
from harness.rendering.texts import shown

Key = tuple[str, int, str]  # the key of a function in pstats: file, line, name

_BUILTIN: Final = re.compile(r"<built-in method (?P<function>.+)>|<method '(?P<method>.+?)' of '(?P<owner>.+?)'.*>")

_ENCODING: Final = re.compile(r"\A(.*\n?[ \t\f]*#.*?coding)[:=]")
FILE: Final = "FILE"  # an option that is replaced by the path of the file for the profile
_OF_MPROF: Final = "ERROR:__main__:"  # a line that mprof prints below the error of the script
TIMEOUT_S: Final = 120.0  # time limit in seconds for a script under a profiler

# For each caller: calls, outer calls, own and cumulative seconds, or in the module `profile` only the calls.
_Callers = Mapping[Key, tuple[int, int, float, float] | int]

_Entries = Mapping[Key, tuple[int, int, float, float, _Callers]]

# A damaged file can ask `marshal` for any amount of memory, or crash it. So another process, with a limit, reads first.
_TRIAL: Final = """
import contextlib, marshal, sys
data = sys.stdin.buffer.read()
with contextlib.suppress(ImportError):
    import resource
    resource.setrlimit(resource.RLIMIT_AS, ((1 << 28) + 100 * len(data),) * 2)
marshal.loads(data)
"""


@dataclass(frozen=True, slots=True)
class ProfiledFunction:
    """One function of a profile. Times are in seconds.

    `calls` is the number of all calls. `outer_calls` is the number of calls that were not made inside another call of
    the same function. `own_s` is the time in the function itself, without functions that it called. `cumulative_s` is
    the time of the outer calls, with functions that they called. `callers` maps each caller's name to the number of its
    calls and to their cumulative seconds (None in a profile of the module `profile`).
    """

    name: str
    file: str
    calls: int
    outer_calls: int
    own_s: float
    cumulative_s: float
    callers: dict[str, tuple[int, float | None]]

    @property
    def ncalls(self) -> str:
        """The number of calls as pstats prints it: "8", or "177/1" for a function that called itself."""
        return str(self.calls) if self.calls == self.outer_calls else f"{self.calls}/{self.outer_calls}"


def rows(profile: cProfile.Profile | pstats.Stats | Path) -> tuple[ProfiledFunction, ...]:
    """Return the functions in a profile or in its file. The function with the largest own time comes first.

    Raise `UsageError` if the file is not a complete profile that this version of Python can read.
    """
    if not isinstance(profile, str | Path):
        if not isinstance(profile, pstats.Stats):
            profile.create_stats()
        return _sorted(vars(profile)["stats"])
    try:
        data = expanded(profile).read_bytes()
        subprocess.run([sys.executable, "-I", "-S", "-c", _TRIAL], input=data, capture_output=True, check=True)
        return _sorted(marshal.loads(data))  # noqa: S302 - the trial has read it
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RuntimeError,
        TypeError,
        ValueError,
        subprocess.SubprocessError,
    ):
        reason = "is damaged, or another tool or version of Python wrote it: save it again with cProfile"
    raise UsageError(f"The profile {shown(str(profile), lines=False)} {reason}.")


def expanded(file: str | Path) -> Path:
    """Return the path of a file, with the user's folder for a first `~`."""
    return Path(os.path.expanduser(file))  # noqa: PTH111 - `Path.expanduser` raises an error for an unknown user


def _sorted(entries: _Entries) -> tuple[ProfiledFunction, ...]:
    """Return the functions of a profile. Raise one of several errors if it has another structure."""
    found = []
    for key, (outer_calls, calls, own_s, cumulative_s, callers) in entries.items():
        if not isinstance(key[0], str) or not all(map(math.isfinite, (outer_calls, calls, own_s, cumulative_s))):
            raise ValueError(f"{key} has no file or a number that is not finite")
        found.append(ProfiledFunction(_name(key), key[0], calls, outer_calls, own_s, cumulative_s, _by_name(callers)))
    return tuple(sorted(found, key=lambda each: (-each.own_s, each.name)))


def of_one_thread(functions: Sequence[ProfiledFunction]) -> bool:
    """Return whether the profile of a script seems to contain only the calls of one thread.

    Since Python 3.12, cProfile records the calls of all threads in one stack. So a return in another thread may end a
    call of this thread. The script then seems to start several times or never, or an own time is negative.
    """
    whole = [each.calls for each in functions if each.name == "<module>"]
    return whole == [1] and all(each.own_s >= 0 for each in functions)


def _by_name(callers: _Callers) -> dict[str, tuple[int, float | None]]:
    added: dict[str, tuple[int, float | None]] = {}
    for key, times in callers.items():
        calls, whole_s = added.get(_name(key), (0, 0.0))
        more, more_s = (times, None) if isinstance(times, int) else (times[0], times[3])
        added[_name(key)] = calls + more, None if whole_s is None or more_s is None else whole_s + more_s
    return added


def _name(key: Key) -> str:
    name: object = key[2]
    if not isinstance(name, str):
        return key[0]  # the module `profile` stores the profiled code there
    match = _BUILTIN.fullmatch(name)
    if match is None:
        return name
    return match["function"] or f"{match['owner']}.{match['method']}"


@dataclass(frozen=True, slots=True)
class ProfiledScript:
    """The output of a script and its profiler, and the functions in the profile that the option `-o` saved."""

    printed: str
    functions: tuple[ProfiledFunction, ...]


def run_script(script: str, profiler: str, *options: str) -> ProfiledScript:
    """Run `python -m PROFILER OPTIONS script.py`, and return the output and the saved profile.

    An option "FILE" is replaced by the path of the profile. Raise `UsageError` as `run_module` does.
    """
    with tempfile.TemporaryDirectory(prefix="fairclock-profile-") as folder:
        path, saved = Path(folder) / "script.py", Path(folder) / "out.prof"
        write_script(path, script)
        named = [str(saved) if option == FILE else option for option in options]
        printed = run_module(profiler, *named, str(path))
        return ProfiledScript(printed, rows(saved) if saved.exists() else ())


def write_script(path: Path, script: str) -> None:
    """Write a script in UTF-8, without the comment that declares another encoding."""
    path.write_bytes(_ENCODING.sub(r"\1 ", script).encode(errors="surrogatepass"))


def run_module(profiler: str, *options: str, timeout_s: float = TIMEOUT_S) -> str:
    """Run `python -m PROFILER OPTIONS`, and return the output. Raise `UsageError` if it fails or takes too long."""
    command = [sys.executable, "-m", profiler, *options]
    text = partial(tempfile.TemporaryFile, "w+", encoding="utf-8", errors="backslashreplace")
    with text() as output, text() as errors:  # not pipes, which a process that the script has started may keep open
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, timeout=timeout_s, check=False
            )
        except subprocess.TimeoutExpired:
            raise UsageError(f"The script ran longer than {timeout_s:g} s; profile a shorter script.") from None
        printed, said = (file.read() for file in (output, errors) if not file.seek(0))
    if done.returncode:
        lines = [line for line in (said.strip() or printed.strip()).splitlines() if not line.startswith(_OF_MPROF)]
        raise UsageError(f"The script failed under {profiler}: {(lines or [ending(done.returncode)])[-1]}.")
    return printed


def ending(status: int) -> str:
    """Return how a process ended: "exit status 3", or "signal 9 (Killed)"."""
    return f"signal {-status} ({signal.strsignal(-status)})" if status < 0 else f"exit status {status}"
