"""Build seccomp filters: BPF programs, as bytes, that deny system calls to submissions.

Two filters apply together. The first applies to all processes of a sandbox, from before Python starts. A worker process
adds the second before it loads a submission, also without a sandbox. `seccomp_rules` lists the denied calls.

The kernel caches the result of a rule that needs only the number of a call, so it takes no measurable time. An argument
of a call is checked only where this is necessary. Source: Documentation/userspace-api/seccomp_filter of Linux.
"""

import errno
import platform
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.isolation import syscalls
from grader.isolation.sandbox_problems import SandboxProblem
from grader.isolation.seccomp_rules import NO_NAMESPACES, STORES_OUTSIDE, TREE, WORKER, Rule, When

ALLOW, KILL, DENY = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_LOAD, _EQUAL, _GREATER, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
_X32_BIT = 0x40000000
_ACTIONS = Path("/proc/sys/kernel/seccomp/actions_avail")


@dataclass(frozen=True, slots=True)
class Architecture:
    """A CPU architecture: its AUDIT_ARCH number, its system call numbers, and whether it has x32 calls."""

    audit: int
    numbers: Mapping[str, int]
    x32: bool = False


ARCHITECTURES: Final[Mapping[str, Architecture]] = {
    "x86_64": Architecture(0xC000003E, syscalls.X86_64, x32=True),
    "aarch64": Architecture(0xC00000B7, syscalls.AARCH64),
}


def problem() -> SandboxProblem | None:
    """Return why this machine cannot use the seccomp filters, with the fix, or None if it can use them."""
    if platform.machine() not in ARCHITECTURES:
        found = f"the grader has no seccomp filter for {platform.machine()}"
        return SandboxProblem(found, f"grade on {' or '.join(ARCHITECTURES)}")
    try:
        actions = _ACTIONS.read_text().split()
    except OSError:
        fix = "use a kernel with CONFIG_SECCOMP_FILTER=y; in a container, make /proc/sys visible"
        return SandboxProblem("this kernel has no seccomp filters", fix)
    if {"errno", "kill_process"} <= set(actions):
        return None
    return SandboxProblem("this kernel's seccomp filters are too old", "use Linux 4.14 or newer")


def worker_filter(*, stores_outside: bool = True) -> bytes | None:
    """Return the seccomp filter that a process adds before it loads a submission, or None without seccomp.

    With `stores_outside=False`, the filter also denies calls that store data outside of process memory.
    """
    rules = WORKER if stores_outside else (*WORKER, *STORES_OUTSIDE)
    return None if problem() else compiled(rules, ARCHITECTURES[platform.machine()])


def tree_filter(*, alone: bool = False) -> bytes | None:
    """Return the seccomp filter for all processes of a sandbox, or None without seccomp.

    With `alone`, the filter denies further calls, because the sandbox has no Linux namespaces.
    """
    rules = (*TREE, *NO_NAMESPACES) if alone else TREE
    return None if problem() else compiled(rules, ARCHITECTURES[platform.machine()])


def compiled(rules: Sequence[Rule], architecture: Architecture) -> bytes:
    """Return a BPF program that denies the system calls in `rules`.

    A call of another architecture kills the process. Calls that are newer than the rules return ENOSYS. Raise
    `KeyError` for a call without a number.
    """
    program = [(_LOAD, 0, 0, _ARCHITECTURE_AT), (_EQUAL, 1, 0, architecture.audit), (_RETURN, 0, 0, KILL)]
    program += [(_LOAD, 0, 0, _NUMBER_AT)]
    if architecture.x32:
        program += [(_AT_LEAST, 0, 1, _X32_BIT), (_RETURN, 0, 0, KILL)]
    program += [(_GREATER, 0, 1, syscalls.NEWEST), (_RETURN, 0, 0, DENY | errno.ENOSYS)]
    for rule in rules:
        denying = _denying(rule)
        for name in rule.names.split():
            if name in architecture.numbers or name not in syscalls.X86_64:
                program += [(_EQUAL, 0, len(denying), architecture.numbers[name]), *denying]
    return b"".join(struct.pack("<HBBI", *step) for step in [*program, (_RETURN, 0, 0, ALLOW)])


def _denying(rule: Rule) -> list[tuple[int, int, int, int]]:
    """Return the steps of a BPF program that deny a call under the rule's condition. Otherwise the program goes on."""
    deny = (_RETURN, 0, 0, DENY | rule.error)
    if rule.condition is None:
        return [deny]
    when, values = rule.condition.when, rule.condition.values
    test = _EQUAL if when in {When.EQUALS, When.NOT_IN} else _ANY_BIT
    if when in {When.EQUALS, When.ANY_BIT}:
        steps = [step for value in values for step in ((test, 0, 1, value), deny)]
    else:
        steps = [*((test, len(values) - place, 0, value) for place, value in enumerate(values)), deny]
    # Only the low 32 bits of an argument are loaded, because the kernel reads 32-bit arguments too.
    return [(_LOAD, 0, 0, _ARGUMENTS_AT + 8 * rule.condition.position), *steps, (_LOAD, 0, 0, _NUMBER_AT)]
