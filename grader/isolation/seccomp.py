"""Build seccomp filters: BPF programs, as bytes, that deny system calls to submissions.

Two filters apply together. The first applies to all processes of a sandbox, from before Python starts. A worker process
adds the second before it loads a submission, also without a sandbox. `seccomp_rules` lists the denied calls.

The kernel caches the result of a rule that needs only the number of a call, so it takes no measurable time. An argument
of a call is checked only where this is necessary. Source: Documentation/userspace-api/seccomp_filter of Linux.
"""

import errno
import platform
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.isolation import syscalls
from grader.isolation.seccomp_rules import NO_NAMESPACES, STORES_OUTSIDE, TREE, WORKER, Rule, When

ALLOW, KILL, DENY = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_LOAD, _EQUAL, _GREATER, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
_X32_BIT = 0x40000000
_MOST_SKIPPED = 255
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


def trouble() -> str | None:
    """Return the reason why this machine cannot use the seccomp filters, or None if it can use them."""
    if platform.machine() not in ARCHITECTURES:
        return f"the grader has no seccomp filter for {platform.machine()}"
    try:
        actions = _ACTIONS.read_text().split()
    except OSError:
        return "this kernel has no seccomp filters"
    return None if {"errno", "kill_process"} <= set(actions) else "this kernel's seccomp filters are too old"


def remedy() -> str:
    """Return the advice for a machine that cannot use the seccomp filters."""
    if platform.machine() not in ARCHITECTURES:
        return f"grade on {' or '.join(ARCHITECTURES)}"
    if not _ACTIONS.exists():
        return "use a kernel with CONFIG_SECCOMP_FILTER=y; in a container, make /proc/sys visible"
    return "use Linux 4.14 or newer"


def worker_filter(*, stores_outside: bool = True) -> bytes | None:
    """Return the seccomp filter that a process adds before it loads a submission, or None without seccomp.

    With `stores_outside=False`, the filter also denies calls that store data outside of process memory.
    """
    rules = WORKER if stores_outside else (*WORKER, *STORES_OUTSIDE)
    return None if trouble() else compiled(rules, ARCHITECTURES[platform.machine()])


def tree_filter(*, alone: bool = False) -> bytes | None:
    """Return the seccomp filter for all processes of a sandbox, or None without seccomp.

    With `alone`, the filter denies further calls, because the sandbox has no Linux namespaces.
    """
    rules = (*TREE, *NO_NAMESPACES) if alone else TREE
    return None if trouble() else compiled(rules, ARCHITECTURES[platform.machine()])


def compiled(rules: Sequence[Rule], architecture: Architecture) -> bytes:
    """Return a BPF program that denies the system calls in `rules`.

    A call of another architecture kills the process. Calls that are newer than the rules return ENOSYS. Raise
    `ValueError` if the program is too long for BPF's jumps, and `KeyError` for a call without a number.
    """
    program = _Program()
    program.load(_ARCHITECTURE_AT)
    program.jump(_EQUAL, architecture.audit, otherwise=KILL)
    program.load(_NUMBER_AT)
    if architecture.x32:
        program.jump(_AT_LEAST, _X32_BIT, then=KILL)
    program.jump(_GREATER, syscalls.NEWEST, then=DENY | errno.ENOSYS)
    judged = [(number, rule) for rule in rules for number in _numbers(rule, architecture)]
    for number, rule in judged:
        if rule.condition is None:
            program.jump(_EQUAL, number, then=DENY | rule.error)
    for number in dict.fromkeys(number for number, rule in judged if rule.condition):
        with_conditions = [rule for other, rule in judged if other == number and rule.condition]
        program.skip_unless(number, [step for rule in with_conditions for step in _steps(rule)])
    program.finish()
    return program.assembled()


def _numbers(rule: Rule, architecture: Architecture) -> Iterator[int]:
    for name in rule.names.split():
        if name in architecture.numbers or name not in syscalls.X86_64:
            yield architecture.numbers[name]


@dataclass(frozen=True, slots=True)
class _Step:
    code: int
    operand: int
    then: int | None = None
    otherwise: int | None = None


def _steps(rule: Rule) -> Iterator[_Step]:
    assert rule.condition is not None  # only the low 32 bits are loaded: the kernel reads 32-bit arguments too
    yield _Step(_LOAD, _ARGUMENTS_AT + 8 * rule.condition.position)
    denied = DENY | rule.error
    if rule.condition.when is When.NOT_IN:
        *others, last = rule.condition.values
        yield from (_Step(_EQUAL, value, then=ALLOW) for value in others)
        yield _Step(_EQUAL, last, otherwise=denied)
        return
    for value in rule.condition.values:
        match rule.condition.when:
            case When.EQUALS:
                yield _Step(_EQUAL, value, then=denied)
            case When.ANY_BIT:
                yield _Step(_ANY_BIT, value, then=denied)
            case When.NO_BIT:
                yield _Step(_ANY_BIT, value, otherwise=denied)


class _Program:
    def __init__(self) -> None:
        self._steps: list[_Step | tuple[_Step, int]] = []

    def load(self, at: int) -> None:
        self._steps.append(_Step(_LOAD, at))

    def jump(self, code: int, operand: int, then: int | None = None, otherwise: int | None = None) -> None:
        self._steps.append(_Step(code, operand, then, otherwise))

    def skip_unless(self, number: int, steps: Sequence[_Step]) -> None:
        self._steps.append((_Step(_EQUAL, number), len(steps) + 1))
        self._steps += [*steps, _Step(_RETURN, ALLOW)]

    def finish(self) -> None:
        self._steps.append(_Step(_RETURN, ALLOW))

    def assembled(self) -> bytes:
        ends: dict[int, int] = {}
        for entry in self._steps:
            step = entry[0] if isinstance(entry, tuple) else entry
            for end in (step.then, step.otherwise):
                if end is not None:
                    ends.setdefault(end, len(self._steps) + len(ends))
        body = b"".join(_instruction(entry, at, ends) for at, entry in enumerate(self._steps))
        return body + b"".join(struct.pack("<HBBI", _RETURN, 0, 0, end) for end in ends)


def _instruction(entry: _Step | tuple[_Step, int], at: int, ends: Mapping[int, int]) -> bytes:
    step, skipped = entry if isinstance(entry, tuple) else (entry, 0)
    then = 0 if step.then is None else ends[step.then] - at - 1
    otherwise = skipped if step.otherwise is None else ends[step.otherwise] - at - 1
    if max(then, otherwise) > _MOST_SKIPPED:
        raise ValueError("the filter is too long for its jumps")
    return struct.pack("<HBBI", step.code, then, otherwise, step.operand)
