"""Permanently restrict this process before a submission is loaded: its memory, files and system calls.

This file runs in the sandbox and imports only the standard library.
"""

import ctypes
import json
import mmap
import os
import resource
import stat
import struct
import sys
from pathlib import Path
from typing import Any

SPARE_BYTES = 32 << 20
"""The bytes of address space above the submission's memory limit, so that a full memory can still be reported."""

LARGE_BYTES, MOST_BYTES = 128 << 10, 32 << 20
"""The sizes from which freed blocks go back to the system: if little memory should stay in use, and otherwise.

mallopt(3) accepts no size above `MOST_BYTES`.
"""

_LIBC = ctypes.CDLL(None, use_errno=True)
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER_MODE = 38, 22, 2
_INSTRUCTION_BYTES = 8
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF, _PATH_BENEATH = 444, 445, 446, 1

KIT = Path(__file__).parents[2]
RULESET = KIT / "ruleset.json"
"""The file with the Landlock rules. It exists only where a sandbox works without Linux namespaces."""


def set_limits(limits: dict[str, int]) -> None:
    """Permanently lower the resource limits of this process.

    Memory that the process already uses is not counted against them.
    """
    used = int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE if sys.platform == "linux" else 0
    for name, value in limits.items():
        kind = getattr(resource, name)
        wanted = value + used if name == "RLIMIT_AS" else value
        hard = resource.getrlimit(kind)[1]
        wanted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        spare = SPARE_BYTES if name == "RLIMIT_AS" and hard == resource.RLIM_INFINITY else 0
        resource.setrlimit(kind, (wanted, wanted + spare))


def hide_kit() -> None:
    """Let this process import no further module of the kit, as in a sandbox, which does not show the kit's folder."""
    sys.path[:] = [place for place in sys.path if place != str(KIT) and "__editable__" not in place]
    sys.meta_path[:] = [finder for finder in sys.meta_path if "__editable__" not in getattr(finder, "__module__", "")]
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in {"grader", "harness"} and hasattr(module, "__path__"):
            module.__path__ = []


def set_allocator(*, returns_memory: bool) -> None:
    """Make malloc return large freed blocks to the system, or keep them, if the C library has mallopt(3).

    By default, malloc keeps some blocks of 1 MiB and returns others, which depends on earlier calls. A function of such
    tensors is up to 16 times as fast if the system need not clear new memory. So a submission that changes this setting
    must not gain: timed functions all run with the faster one.
    """
    if mallopt := getattr(_LIBC, "mallopt", None):
        mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES if returns_memory else MOST_BYTES)
        mallopt(_M_TRIM_THRESHOLD, LARGE_BYTES if returns_memory else 1 << 30)


def call(what: str, name: str, *arguments: Any) -> int:
    """Call a function of the C library, and return its result. If it fails, raise `OSError`, which says `what` failed.

    Numbers are passed as C's unsigned long.
    """
    given = [ctypes.c_ulong(argument) if isinstance(argument, int) else argument for argument in arguments]
    result: int = getattr(_LIBC, name)(*given)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def fields(path: str) -> dict[str, str]:
    """Return the fields of a file of /proc by name."""
    lines = Path(path).read_text(encoding="ascii", errors="replace").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def check_threads() -> None:
    """Raise `OSError` if this process has several threads. A fork or a filter would leave the other threads out."""
    if threads := len(list(Path("/proc/self/task").iterdir())) - 1:
        raise OSError(f"this process has {threads} other threads")


def install_filter(program: str) -> None:
    """Install a seccomp filter, given in hexadecimal, for this process and all processes that it starts.

    Raise `OSError` if the kernel refuses the filter, or if this process has several threads.
    """
    check_threads()
    code = ctypes.create_string_buffer(bytes.fromhex(program))
    call("no new privileges", "prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    described = struct.pack("HP", len(code) // _INSTRUCTION_BYTES, ctypes.addressof(code))
    call("no seccomp filter", "prctl", _PR_SET_SECCOMP, _FILTER_MODE, described, 0, 0)


def apply_ruleset(ruleset: dict[str, Any]) -> None:
    """Restrict this process and its children to the files that a ruleset of `isolation.without_namespaces` allows.

    Paths that do not exist are skipped. Raise `OSError` if the kernel refuses the ruleset.
    """
    what, attributes = "no Landlock rules", bytes.fromhex(ruleset["attributes"])
    call("no new privileges", "prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    rules = call(what, "syscall", _CREATE_RULESET, attributes, len(attributes), 0)
    for path, access in ruleset["rules"]:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        # The kernel refuses other kinds of access for a file.
        allowed = access if stat.S_ISDIR(os.fstat(place).st_mode) else access & ruleset["of_files"]
        call(what, "syscall", _ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", allowed, place), 0)
        os.close(place)
    call(what, "syscall", _RESTRICT_SELF, rules, 0)
    os.close(rules)


def restrict_files(*, sandboxed: bool = True) -> None:
    """Apply the Landlock rules in the file `RULESET` to this process, if the file exists.

    A sandbox with Linux namespaces does not need the rules: the forbidden files do not exist there.
    """
    if not sandboxed:
        hide_kit()
    if RULESET.exists():
        apply_ruleset(json.loads(RULESET.read_text(encoding="utf-8")))
