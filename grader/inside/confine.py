"""What a worker gives up for good before it loads a submission: memory, files, processes.

It runs in the sandbox beside the worker: standard library alone.
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
"""Address space beyond the submission's own, so that running out of memory can still be told."""

LARGE_BYTES = 128 << 10
"""A block that malloc gives back to the system when it is freed: its own default, before it has learned."""

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER_MODE = 38, 22, 2
_INSTRUCTION_BYTES = 8
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF, _PATH_BENEATH = 444, 445, 446, 1

RULESET = Path(__file__).parents[2] / "ruleset.json"
"""Rules for files that hold from before a submission is loaded. The file is there where the tree has no namespaces."""


class _Program(ctypes.Structure):
    """Linux: struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def limit(limits: dict[str, int]) -> None:
    """Lower this process's limits for good. Memory is what it may use beyond what it uses now."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE if sys.platform == "linux" else 0
    for name, value in limits.items():
        kind = getattr(resource, name)
        wanted = value + used if name == "RLIMIT_AS" else value
        hard = resource.getrlimit(kind)[1]
        wanted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        spare = SPARE_BYTES if name == "RLIMIT_AS" and hard == resource.RLIM_INFINITY else 0
        resource.setrlimit(kind, (wanted, wanted + spare))


def return_memory() -> None:
    """Let malloc give large blocks back when they are freed, where it can be told to (glibc: mallopt(3))."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:
        mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES)
        mallopt(_M_TRIM_THRESHOLD, LARGE_BYTES)


def install(program: str) -> None:
    """Install a seccomp filter, given in hexadecimal, for this process and all that it will ever start.

    Raises OSError when the kernel refuses it, and RuntimeError in a process with threads, which would stay without.
    """
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        raise RuntimeError("a filter would not hold for the threads that run already")
    code = bytes.fromhex(program)
    libc = ctypes.CDLL(None, use_errno=True)
    word = ctypes.c_ulong
    filled: Any = ctypes.byref(_Program(len(code) // _INSTRUCTION_BYTES, code))
    for arguments in ((_PR_SET_NO_NEW_PRIVS, word(1), word(0)), (_PR_SET_SECCOMP, word(_FILTER_MODE), filled)):
        if libc.prctl(*arguments, word(0), word(0)):
            number = ctypes.get_errno()
            raise OSError(number, f"no seccomp filter: {os.strerror(number)}")


def restrict(ruleset: dict[str, Any]) -> None:
    """Give up all files but those that a ruleset of `grader.isolation.landlock` allows, for this process and its own.

    A path of the ruleset that does not exist is left out. Raises OSError when the kernel refuses.
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
            access &= ruleset["of_files"]  # noqa: PLW2901 - the kernel takes no others for a file
        _succeeded(libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", access, place), 0))
        os.close(place)
    _succeeded(libc.syscall(_RESTRICT_SELF, rules, 0))
    os.close(rules)


def narrow() -> None:
    """Give up the files that a submission must not open. In a sandbox with namespaces, these do not exist."""
    if RULESET.exists():
        restrict(json.loads(RULESET.read_text(encoding="utf-8")))


def _succeeded(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"no Landlock rules: {os.strerror(number)}")
    return result
