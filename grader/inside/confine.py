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

LARGE_BYTES = 128 << 10
"""Freed blocks of at least this many bytes go back to the system. The GNU C library starts with the same value."""

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER_MODE = 38, 22, 2
_INSTRUCTION_BYTES = 8
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF, _PATH_BENEATH = 444, 445, 446, 1

RULESET = Path(__file__).parents[2] / "ruleset.json"
"""The file with the Landlock rules. It exists only where a sandbox works without Linux namespaces."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


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


def return_memory() -> None:
    """Make malloc return large freed blocks to the system, if the C library has mallopt(3)."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:
        mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES)
        mallopt(_M_TRIM_THRESHOLD, LARGE_BYTES)


def install_filter(program: str) -> None:
    """Install a seccomp filter, given in hexadecimal, for this process and all processes that it starts.

    Raise `OSError` if the kernel refuses the filter. Raise `RuntimeError` in a process with several threads, because
    the filter would not apply to the other threads.
    """
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        raise RuntimeError("a filter would not apply to the other threads of this process")
    code = bytes.fromhex(program)
    libc = ctypes.CDLL(None, use_errno=True)
    word = ctypes.c_ulong
    filled: Any = ctypes.byref(_Program(len(code) // _INSTRUCTION_BYTES, code))
    for arguments in ((_PR_SET_NO_NEW_PRIVS, word(1), word(0)), (_PR_SET_SECCOMP, word(_FILTER_MODE), filled)):
        if libc.prctl(*arguments, word(0), word(0)):
            number = ctypes.get_errno()
            raise OSError(number, f"no seccomp filter: {os.strerror(number)}")


def apply_ruleset(ruleset: dict[str, Any]) -> None:
    """Restrict this process and its children to the files that a ruleset of `grader.isolation.landlock` allows.

    Paths that do not exist are skipped. Raise `OSError` if the kernel refuses the ruleset.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    attributes = bytes.fromhex(ruleset["attributes"])
    _succeeded(libc.prctl(_PR_SET_NO_NEW_PRIVS, *map(ctypes.c_ulong, (1, 0, 0, 0))))
    rules = _succeeded(libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0))
    for path, access in ruleset["rules"]:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            access &= ruleset["of_files"]  # noqa: PLW2901 - the kernel refuses other kinds of access for a file
        _succeeded(libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", access, place), 0))
        os.close(place)
    _succeeded(libc.syscall(_RESTRICT_SELF, rules, 0))
    os.close(rules)


def restrict_files() -> None:
    """Apply the Landlock rules in the file `RULESET` to this process, if the file exists.

    A sandbox with Linux namespaces does not need the rules: the forbidden files do not exist there.
    """
    if RULESET.exists():
        apply_ruleset(json.loads(RULESET.read_text(encoding="utf-8")))


def _succeeded(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"no Landlock rules: {os.strerror(number)}")
    return result
