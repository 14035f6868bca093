"""Which system calls a submission may not make, and the filter program that the kernel is given to deny them.

Pure: rules with reasons become the bytes of a classic BPF program (Linux: Documentation/userspace-api/seccomp_filter).
Two filters lie one over the other. `TREE` holds for everything in a sandbox, from before Python starts; where a tree
has no namespaces, `ALONE` holds with it. `WORKER` is added by each worker before it loads a submission, and holds
without a sandbox too: from then on no process can be started, and no filter added.

A call whose number alone decides is answered from the kernel's own cache and costs nothing that could be measured; so
only the few that must be are decided by an argument.
"""

import errno
import platform
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from grader.isolation import syscalls

PROCESS_ERRNO: Final = errno.EOPNOTSUPP
"""What starting a process ends with: no other denial has it, so that a student can be told plainly."""

ALLOW, KILL, DENY = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_LOAD, _EQUAL, _GREATER, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
_X32_BIT = 0x40000000
_MOST_SKIPPED = 255
_ACTIONS = Path("/proc/sys/kernel/seccomp/actions_avail")


class If(Enum):
    """When a condition on an argument's low 32 bits denies the call."""

    EQUAL = "is"
    OTHER = "is none of"
    SOME = "has some of the bits"
    LACKS = "has none of the bits"


@dataclass(frozen=True, slots=True)
class Condition:
    """Deny when argument `position` (from 0) stands so to `values`; `LACKS` takes one value.

    `OTHER` lists what is allowed, so no other condition may follow it on the same call.
    """

    position: int
    when: If
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """Calls that are denied, what they then end with, and why."""

    names: str
    why: str
    error: int = errno.EPERM
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class Architecture:
    """A machine that there is a filter for: its AUDIT_ARCH number, its calls, and whether it has x32 calls."""

    audit: int
    numbers: Mapping[str, int]
    x32: bool = False


ARCHITECTURES: Final[Mapping[str, Architecture]] = {
    "x86_64": Architecture(0xC000003E, syscalls.X86_64, x32=True),
    "aarch64": Architecture(0xC00000B7, syscalls.AARCH64),
}

NEW_NAMESPACES: Final = 0x7E020000
CLONE_THREAD: Final = 0x00010000
AF_UNIX: Final = 1
PR_SCHED_CORE: Final = 62
ASK_FOR_AMX: Final = (0x1021, 0x1022, 0x1023)
"""What oneDNN asks arch_prctl before it uses the matrix units of a CPU (asm/prctl.h: ARCH_GET_XCOMP_SUPP and on)."""
PRCTL: Final = {
    "PR_GET_DUMPABLE": 3,
    "PR_SET_NAME": 15,
    "PR_GET_NAME": 16,
    "PR_GET_NO_NEW_PRIVS": 39,
    "PR_SVE_GET_VL": 51,
    "PR_GET_TAGGED_ADDR_CTRL": 56,
    "PR_SET_VMA": 0x53564D41,
}
"""Operations of prctl that a submission may use (linux/prctl.h): C libraries name threads and mappings and ask what the
CPU has. Names are any bytes, so the supervisor reads them as bytes."""
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
ASK_PERSONALITY: Final = 0xFFFFFFFF

TREE: Final = (
    Rule("ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd process_madvise", "reach into other processes"),
    Rule("unshare setns", "a new namespace is a new kernel surface"),
    Rule("clone", "a new namespace is a new kernel surface", condition=Condition(0, If.SOME, (NEW_NAMESPACES,))),
    Rule("clone3", "its flags lie behind a pointer; C libraries fall back to clone", errno.ENOSYS),
    Rule("keyctl add_key request_key", "the kernel's keyrings know no namespaces"),
    Rule("bpf perf_event_open userfaultfd", "programs in the kernel, its counters, its faults"),
    Rule("io_uring_setup io_uring_enter io_uring_register", "calls that no filter sees", errno.ENOSYS),
    Rule("mount umount2 move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr", "change what is seen"),
    Rule("pivot_root chroot open_by_handle_at", "leave the file system that is shown"),
    Rule("personality", "change the layout", condition=Condition(0, If.OTHER, (ASK_PERSONALITY,))),
    Rule("init_module finit_module delete_module create_module query_module get_kernel_syms", "kernel modules"),
    Rule("reboot kexec_load kexec_file_load swapon swapoff acct quotactl quotactl_fd syslog", "the whole machine's"),
    Rule("settimeofday clock_settime adjtimex clock_adjtime sethostname setdomainname", "the whole machine's"),
    Rule("iopl ioperm modify_ldt vhangup uselib _sysctl lookup_dcookie nfsservctl", "old ways to the hardware"),
    Rule("fanotify_init lsm_set_self_attr move_pages migrate_pages", "nothing a submission needs"),
    Rule("sync syncfs", "writes out everybody's files, and slows everybody"),
    Rule("sched_setaffinity sched_setscheduler sched_setparam sched_setattr setpriority ioprio_set", "where and when"),
    Rule("prctl", "share a core with nobody else", condition=Condition(0, If.EQUAL, (PR_SCHED_CORE,))),
    Rule("ioctl", "type into a terminal", condition=Condition(1, If.EQUAL, (TIOCSTI, TIOCLINUX))),
    Rule("socket socketpair", "a network", errno.EAFNOSUPPORT, Condition(0, If.OTHER, (AF_UNIX,))),
)
"""What nothing in a sandbox may do."""

_KNOWN: Final = Condition(0, If.OTHER, tuple(PRCTL.values()))

WORKER: Final = (
    Rule("fork vfork execve execveat", "a helper that no clock sees", PROCESS_ERRNO),
    Rule("clone", "a helper that no clock sees", PROCESS_ERRNO, Condition(0, If.LACKS, (CLONE_THREAD,))),
    Rule("clone3", "its flags lie behind a pointer; C libraries fall back to clone", errno.ENOSYS),
    Rule("memfd_create memfd_secret shmget", "memory that no limit counts", errno.ENOSYS),
    Rule("seccomp", "a filter of its own"),
    Rule("prctl", "what others can read of it, its timers and its death", condition=_KNOWN),
    Rule("arch_prctl", "nothing a submission needs", condition=Condition(0, If.OTHER, ASK_FOR_AMX)),
    Rule("setsid setpgid", "the scheduler shares a core out by sessions, and signals go to groups"),
    Rule("sched_setaffinity sched_setscheduler sched_setparam sched_setattr setpriority ioprio_set", "where and when"),
)
"""What a worker may not do from before it loads a submission."""

PR_SET_DUMPABLE: Final = 4
_DATAGRAM: Final = 2
"""The bit that SOCK_DGRAM and SOCK_RAW have, and SOCK_STREAM and SOCK_SEQPACKET lack."""

ALONE: Final = (
    Rule("socket", "sockets of other programs, which a shared network and file system hold", errno.EAFNOSUPPORT),
    Rule(
        "socketpair",
        "a datagram goes to any address, whomever its socket is paired with",
        errno.EAFNOSUPPORT,
        Condition(1, If.SOME, (_DATAGRAM,)),
    ),
    Rule("connect bind listen accept accept4", "no socket has an address"),
    Rule("shmget shmat shmctl msgget msgsnd msgrcv msgctl", "all trees share these, and they outlive a tree"),
    Rule("semget semop semtimedop semctl mq_open mq_unlink", "all trees share these, and they outlive a tree"),
    Rule("inotify_init inotify_init1 inotify_add_watch", "Landlock lets a process watch files that it may not open"),
    Rule("truncate", "Landlock denies this only from version 3 on"),
    Rule("fallocate", "space on a disk that nobody counts as written", errno.EOPNOTSUPP),
    Rule("prctl", "hides a process from the supervisor's count", condition=Condition(0, If.EQUAL, (PR_SET_DUMPABLE,))),
)
"""What nothing in a tree without namespaces may do, beyond `TREE`: reach what they would have kept apart."""

O_CREAT, O_TMPFILE = 0x40, 0x400000
MAP_SHARED, MAP_HUGETLB = 0x1, 0x40000
MADV_COLD, MADV_PAGEOUT = 20, 21
F_SETPIPE_SZ: Final = 1031

OUTSIDE: Final = (
    Rule("open", "a new file", condition=Condition(1, If.SOME, (O_CREAT | O_TMPFILE,))),
    Rule("openat", "a new file", condition=Condition(2, If.SOME, (O_CREAT | O_TMPFILE,))),
    Rule("openat2", "its flags lie behind a pointer; C libraries use openat", errno.ENOSYS),
    Rule("creat mkdir mkdirat mknod mknodat symlink symlinkat link linkat", "a new file, and names hold data too"),
    Rule("rename renameat renameat2 setxattr lsetxattr fsetxattr", "names and attributes of files hold data"),
    Rule("pipe pipe2 socket socketpair", "buffers of the kernel's"),
    Rule(
        "fcntl",
        "pipes with names may be there already, and stay small",
        condition=Condition(1, If.EQUAL, (F_SETPIPE_SZ,)),
    ),
    Rule("msgget msgsnd semget semctl semop semtimedop mq_open", "queues of the kernel's, which may be there already"),
    Rule("mmap", "shared pages outlive their use", condition=Condition(3, If.SOME, (MAP_SHARED | MAP_HUGETLB,))),
    Rule("madvise", "swap is memory, too", condition=Condition(2, If.EQUAL, (MADV_COLD, MADV_PAGEOUT))),
)
"""What a worker may not do, beyond that, whose peak memory is measured: keep data where that does not see it.

A page of a shared mapping may be let go and had back with its data; so no new one is made. A huge page of `MAP_HUGETLB`
is in no count of resident memory."""


def trouble() -> str | None:
    """Why this machine has no such filters; None when it has."""
    if platform.machine() not in ARCHITECTURES:
        return f"there is no seccomp filter for {platform.machine()}"
    try:
        actions = _ACTIONS.read_text().split()
    except OSError:
        return "this kernel has no seccomp filters"
    return None if {"errno", "kill_process"} <= set(actions) else "this kernel's seccomp filters are too old"


def remedy() -> str:
    """What to do where this machine has no such filters."""
    if platform.machine() not in ARCHITECTURES:
        return f"grade on {' or '.join(ARCHITECTURES)}"
    if not _ACTIONS.exists():
        return "use a kernel with CONFIG_SECCOMP_FILTER=y, and in a container let /proc/sys be seen"
    return "use Linux 4.14 or newer"


def worker_filter(*, stores_outside: bool = True) -> bytes | None:
    """The filter that a worker installs here; None where there is none."""
    rules = WORKER if stores_outside else (*WORKER, *OUTSIDE)
    return None if trouble() else compiled(rules, ARCHITECTURES[platform.machine()])


def tree_filter(*, alone: bool = False) -> bytes | None:
    """The filter for a whole tree here, which with `alone` has no namespaces; None where there is none."""
    rules = (*TREE, *ALONE) if alone else TREE
    return None if trouble() else compiled(rules, ARCHITECTURES[platform.machine()])


def compiled(rules: Sequence[Rule], architecture: Architecture) -> bytes:
    """The program: calls of another architecture kill, what is newer than these rules does not exist (ENOSYS).

    Raises ValueError when it is too long for the jumps of BPF, and KeyError for a call without a number.
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
    """One instruction: jumps name a result of the whole program, or go on (None)."""

    code: int
    operand: int
    then: int | None = None
    otherwise: int | None = None


def _steps(rule: Rule) -> Iterator[_Step]:
    """Look at an argument's low half: the kernel itself reads these arguments as 32-bit numbers."""
    assert rule.condition is not None
    yield _Step(_LOAD, _ARGUMENTS_AT + 8 * rule.condition.position)
    denied = DENY | rule.error
    if rule.condition.when is If.OTHER:
        *others, last = rule.condition.values
        yield from (_Step(_EQUAL, value, then=ALLOW) for value in others)
        yield _Step(_EQUAL, last, otherwise=denied)
        return
    for value in rule.condition.values:
        match rule.condition.when:
            case If.EQUAL:
                yield _Step(_EQUAL, value, then=denied)
            case If.SOME:
                yield _Step(_ANY_BIT, value, then=denied)
            case If.LACKS:
                yield _Step(_ANY_BIT, value, otherwise=denied)


class _Program:
    """Instructions in order; what a call ends with stands once, at the end."""

    def __init__(self) -> None:
        self._steps: list[_Step | tuple[_Step, int]] = []

    def load(self, at: int) -> None:
        self._steps.append(_Step(_LOAD, at))

    def jump(self, code: int, operand: int, then: int | None = None, otherwise: int | None = None) -> None:
        self._steps.append(_Step(code, operand, then, otherwise))

    def skip_unless(self, number: int, steps: Sequence[_Step]) -> None:
        """These steps for one call alone, which is allowed after them."""
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
