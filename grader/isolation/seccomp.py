"""Build seccomp filters: BPF programs, as bytes, that deny system calls to submissions.

Two filters apply together. The first applies to all processes of a sandbox, from before Python starts. A worker process
adds the second before it loads a submission, also without a sandbox. The kernel caches the result of a rule that needs
only the number of a call, so it takes no measurable time. Source: Documentation/userspace-api/seccomp_filter of Linux.
"""

import errno
import platform
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

from grader.isolation.sandbox_problems import SandboxProblem

ALLOW, KILL, DENY = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_LOAD, _EQUAL, _GREATER, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
_X32_BIT = 0x40000000
_ACTIONS = Path("/proc/sys/kernel/seccomp/actions_avail")

PROCESS_ERRNO: Final = errno.EOPNOTSUPP
"""The errno for a denied call that starts a process. No other rule uses it, so a report can name the cause."""


class When(Enum):
    """The kinds of conditions on the low 32 bits of a system call's argument."""

    EQUALS = "equals one of the values"
    NOT_IN = "equals none of the values"
    ANY_BIT = "has any of the bits"
    ALL_BITS = "has all of the bits"
    NO_BIT = "has none of the bits"


class Condition(NamedTuple):
    """A condition on the argument at `position` (from 0) of a system call. The call is denied if the condition holds.

    `when` is the kind of condition, and `values` are the values or bits for it.
    """

    position: int
    when: When
    values: tuple[int, ...]


class Rule(NamedTuple):
    """A rule that denies the system calls `names`, always or under a condition, with a reason and an errno."""

    names: str
    why: str
    error: int = errno.EPERM
    condition: Condition | None = None


NEW_NAMESPACES: Final = 0x7E020000
CLONE_THREAD: Final = 0x00010000
AF_UNIX: Final = 1
PR_SCHED_CORE: Final = 62
ASK_FOR_AMX: Final = (0x1021, 0x1022, 0x1023)
"""The operations of arch_prctl with which the library oneDNN asks for a CPU's matrix units (asm/prctl.h)."""
PRCTL: Final = (3, 15, 16, 39, 51, 56, 0x53564D41)
"""The operations of prctl that a submission may use (linux/prctl.h), because C libraries need them.

They name threads and memory mappings, and query CPU features: PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME,
PR_GET_NO_NEW_PRIVS, PR_SVE_GET_VL, PR_GET_TAGGED_ADDR_CTRL, PR_SET_VMA.
"""
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
SNDBUF: Final = (7, 32)
"""SO_SNDBUF and SO_SNDBUFFORCE."""
SHARED_PAGES: Final = (0x1, 0x20)
"""MAP_SHARED and MAP_ANONYMOUS."""
ASK_PERSONALITY: Final = 0xFFFFFFFF

TREE: Final = (
    Rule("ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd process_madvise", "reach into other processes"),
    Rule("unshare setns", "a new namespace: more kernel code in reach"),
    Rule("clone", "a new namespace", condition=Condition(0, When.ANY_BIT, (NEW_NAMESPACES,))),
    Rule("clone3", "a filter cannot read flags behind a pointer; C libraries then use clone", errno.ENOSYS),
    Rule("keyctl add_key request_key", "the kernel's keyrings are not separated by namespaces"),
    Rule("bpf perf_event_open userfaultfd", "run programs in the kernel, read its counters, handle page faults"),
    Rule("io_uring_setup io_uring_enter io_uring_register", "run system calls past every filter", errno.ENOSYS),
    Rule("mount umount2 move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr", "change the visible files"),
    Rule("pivot_root chroot open_by_handle_at", "leave the visible file system"),
    Rule("personality", "change the memory layout", condition=Condition(0, When.NOT_IN, (ASK_PERSONALITY,))),
    Rule("init_module finit_module delete_module create_module query_module get_kernel_syms", "kernel modules"),
    Rule("reboot kexec_load kexec_file_load swapon swapoff acct quotactl quotactl_fd syslog", "change the machine"),
    Rule("settimeofday clock_settime adjtimex clock_adjtime sethostname setdomainname", "change the machine"),
    Rule("iopl ioperm modify_ldt vhangup uselib _sysctl lookup_dcookie nfsservctl", "reach the hardware in old ways"),
    Rule("fanotify_init lsm_set_self_attr move_pages migrate_pages", "no submission needs them"),
    Rule("sync syncfs", "write out all files of the machine, which slows all programs"),
    Rule("sched_setaffinity sched_setscheduler sched_setparam sched_setattr setpriority ioprio_set", "scheduling"),
    Rule("prctl", "keep other programs off a core", condition=Condition(0, When.EQUALS, (PR_SCHED_CORE,))),
    Rule("ioctl", "type into a terminal", condition=Condition(1, When.EQUALS, (TIOCSTI, TIOCLINUX))),
    Rule("socket socketpair", "use a network", errno.EAFNOSUPPORT, Condition(0, When.NOT_IN, (AF_UNIX,))),
)
"""The system calls that are denied to every process in a sandbox."""

_KNOWN: Final = Condition(0, When.NOT_IN, PRCTL)

WORKER: Final = (
    Rule("fork vfork execve execveat", "start a process that no clock measures", PROCESS_ERRNO),
    Rule("clone", "start a process that is not a thread", PROCESS_ERRNO, Condition(0, When.NO_BIT, (CLONE_THREAD,))),
    Rule("clone3", "a filter cannot read flags behind a pointer; C libraries then use clone", errno.ENOSYS),
    Rule("memfd_create memfd_secret", "get memory that no limit counts", errno.ENOSYS),
    Rule("setsockopt", "enlarge a socket's buffer in the kernel", condition=Condition(2, When.EQUALS, SNDBUF)),
    Rule("bind listen accept accept4", "connections wait in kernel memory that no limit counts"),
    Rule("shmget shmat shmctl msgget msgsnd msgrcv msgctl", "objects in kernel memory that no limit counts"),
    Rule("semget semop semtimedop semctl mq_open mq_unlink", "objects in kernel memory that no limit counts"),
    Rule("inotify_init inotify_init1 inotify_add_watch", "events wait in kernel memory that no limit counts"),
    Rule("mmap", "shared pages stay after a process unmaps them", condition=Condition(3, When.ALL_BITS, SHARED_PAGES)),
    Rule("seccomp", "install a filter of its own"),
    Rule("prctl", "hide the process from others, or change its timers and its death signal", condition=_KNOWN),
    Rule("arch_prctl", "no submission needs it", condition=Condition(0, When.NOT_IN, ASK_FOR_AMX)),
    Rule("timer_create timerfd_create io_setup", "the kernel charges its interrupts to the program that runs then"),
    Rule("setsid setpgid", "the scheduler divides a core by session, and signals go to process groups"),
    Rule("sched_setaffinity sched_setscheduler sched_setparam sched_setattr setpriority ioprio_set", "scheduling"),
)
"""The system calls that a worker process denies to itself before it loads a submission."""

PR_SET_DUMPABLE: Final = 4
_DATAGRAM: Final = 2

NO_NAMESPACES: Final = (
    Rule("socket", "reach sockets of other programs in the shared network and file system", errno.EAFNOSUPPORT),
    Rule("socketpair", "send datagrams to any address", errno.EAFNOSUPPORT, Condition(1, When.ANY_BIT, (_DATAGRAM,))),
    Rule("connect", "use sockets with an address"),
    Rule("truncate", "Landlock denies this only from version 3 on"),
    Rule("fallocate", "take disk space that the kernel does not count as written", errno.EOPNOTSUPP),
    Rule("prctl", "hide a process from the supervisor", condition=Condition(0, When.EQUALS, (PR_SET_DUMPABLE,))),
)
"""Further calls that are denied in a sandbox without Linux namespaces: they reach objects of other programs."""

O_CREAT, O_TMPFILE = 0x40, 0x400000
MAP_SHARED, MAP_HUGETLB = 0x1, 0x40000
_MOVING: Final = (12, 20, 21)
"""MADV_MERGEABLE, MADV_COLD and MADV_PAGEOUT."""
F_SETPIPE_SZ: Final = 1031
_STORING: Final = (6, 7, 37, 38, F_SETPIPE_SZ)
"""F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW and F_SETPIPE_SZ. The kernel limits no number of locks."""

STORES_OUTSIDE: Final = (
    Rule("open", "a new file", condition=Condition(1, When.ANY_BIT, (O_CREAT | O_TMPFILE,))),
    Rule("openat", "a new file", condition=Condition(2, When.ANY_BIT, (O_CREAT | O_TMPFILE,))),
    Rule("openat2", "a filter cannot read flags behind a pointer; C libraries then use openat", errno.ENOSYS),
    Rule("creat mkdir mkdirat mknod mknodat symlink symlinkat link linkat", "a new file; even its name can hold data"),
    Rule("rename renameat renameat2 setxattr lsetxattr fsetxattr", "names and attributes of files can hold data"),
    Rule("pipe pipe2 socket socketpair", "buffers in the kernel can hold data"),
    Rule("fcntl", "enlarge a named pipe, or store data as locks", condition=Condition(1, When.EQUALS, _STORING)),
    Rule("mmap", "shared pages outlive their use", condition=Condition(3, When.ANY_BIT, (MAP_SHARED | MAP_HUGETLB,))),
    Rule("madvise", "move data to swap, or share equal pages", condition=Condition(2, When.EQUALS, _MOVING)),
)
"""Further calls that are denied while peak memory is measured, because they store data outside of process memory.

A process can release a page of a shared mapping and later read its data again, so new shared mappings are denied. Huge
pages (`MAP_HUGETLB`) are denied because they do not count as resident memory.
"""

NEWEST: Final = 462
"""The number of `mseal` (Linux 6.10), the newest system call that was considered for the seccomp rules.

From number 424 on, the numbers are the same on every architecture.
"""

_BOTH: Final = """
ptrace 101 117 · process_vm_readv 310 270 · process_vm_writev 311 271 · kcmp 312 272 · pidfd_getfd 438 438
process_madvise 440 440 · unshare 272 97 · setns 308 268 · clone 56 220 · clone3 435 435 · execve 59 221
execveat 322 281 · keyctl 250 219 · add_key 248 217 · request_key 249 218 · seccomp 317 277 · prctl 157 167
bpf 321 280 · perf_event_open 298 241 · userfaultfd 323 282 · io_uring_setup 425 425 · io_uring_enter 426 426
io_uring_register 427 427 · mount 165 40 · umount2 166 39 · move_mount 429 429 · open_tree 428 428 · fsopen 430 430
fsconfig 431 431 · fsmount 432 432 · fspick 433 433 · mount_setattr 442 442 · pivot_root 155 41 · chroot 161 51
open_by_handle_at 304 265 · personality 135 92 · init_module 175 105 · finit_module 313 273 · delete_module 176 106
reboot 169 142 · kexec_load 246 104 · kexec_file_load 320 294 · swapon 167 224 · swapoff 168 225 · acct 163 89
quotactl 179 60 · quotactl_fd 443 443 · syslog 103 116 · settimeofday 164 170 · clock_settime 227 112
adjtimex 159 171 · clock_adjtime 305 266 · sethostname 170 161 · setdomainname 171 162 · vhangup 153 58
lookup_dcookie 212 18 · nfsservctl 180 42 · fanotify_init 300 262 · sched_setaffinity 203 122
sched_setscheduler 144 119 · sched_setparam 142 118 · sched_setattr 314 274 · setpriority 141 140 · ioprio_set 251 30
ioctl 16 29 · socket 41 198 · socketpair 53 199 · memfd_create 319 279 · memfd_secret 447 447 · shmget 29 194
sync 162 81 · syncfs 306 267 · move_pages 279 239 · migrate_pages 256 238 · lsm_set_self_attr 460 460
openat 257 56 · openat2 437 437 · mkdirat 258 34 · mknodat 259 33 · symlinkat 266 36 · linkat 265 37
renameat 264 38 · renameat2 316 276 · setxattr 188 5 · lsetxattr 189 6 · fsetxattr 190 7 · pipe2 293 59
msgget 68 186 · msgsnd 69 189 · semget 64 190 · semctl 66 191 · semop 65 193 · semtimedop 220 192 · mq_open 240 180
mmap 9 222 · madvise 28 233 · fcntl 72 25 · setsid 112 157 · setpgid 109 154 · connect 42 203 · bind 49 200
listen 50 201 · accept 43 202 · accept4 288 242 · shmat 30 196 · shmctl 31 195 · msgrcv 70 188 · msgctl 71 187
mq_unlink 241 181 · inotify_init1 294 26 · inotify_add_watch 254 27 · truncate 76 45 · fallocate 285 47
setsockopt 54 208 · timer_create 222 107 · timerfd_create 283 85 · io_setup 206 0
"""

_X86_64_ALONE: Final = """
fork 57 · vfork 58 · create_module 174 · query_module 178 · get_kernel_syms 177 · iopl 172 · ioperm 173
modify_ldt 154 · uselib 134 · _sysctl 156 · open 2 · creat 85 · mkdir 83 · mknod 133 · symlink 88 · link 86
rename 82 · pipe 22 · arch_prctl 158 · inotify_init 253
"""
"""The names of system calls with their numbers on x86_64 and on aarch64 (asm/unistd_64.h, asm-generic/unistd.h)."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """A CPU architecture: its AUDIT_ARCH number, its system call numbers, and whether it has x32 calls."""

    audit: int
    numbers: Mapping[str, int]
    x32: bool = False


def _numbers(text: str, column: int) -> dict[str, int]:
    entries = [entry.split() for entry in text.strip().replace("\n", "·").split("·")]
    return {entry[0]: int(entry[column]) for entry in entries}


ARCHITECTURES: Final[Mapping[str, Architecture]] = {
    "x86_64": Architecture(0xC000003E, _numbers(_BOTH, 1) | _numbers(_X86_64_ALONE, 1), x32=True),
    "aarch64": Architecture(0xC00000B7, _numbers(_BOTH, 2)),
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
    program += [(_GREATER, 0, 1, NEWEST), (_RETURN, 0, 0, DENY | errno.ENOSYS)]
    for rule in rules:
        denying = _denying(rule)
        for name in rule.names.split():
            if name in architecture.numbers or name not in ARCHITECTURES["x86_64"].numbers:
                program += [(_EQUAL, 0, len(denying), architecture.numbers[name]), *denying]
    return b"".join(struct.pack("<HBBI", *step) for step in [*program, (_RETURN, 0, 0, ALLOW)])


def _denying(rule: Rule) -> list[tuple[int, int, int, int]]:
    deny = (_RETURN, 0, 0, DENY | rule.error)
    if rule.condition is None:
        return [deny]
    when, values = rule.condition.when, rule.condition.values
    test = _EQUAL if when in {When.EQUALS, When.NOT_IN} else _ANY_BIT
    if when in {When.EQUALS, When.ANY_BIT}:
        steps = [step for value in values for step in ((test, 0, 1, value), deny)]
    else:
        jumps = [(0, past) if when is When.ALL_BITS else (past, 0) for past in range(len(values), 0, -1)]
        steps = [*((test, *jump, value) for jump, value in zip(jumps, values, strict=True)), deny]
    # Only the low 32 bits of an argument are loaded, because the kernel reads 32-bit arguments too.
    return [(_LOAD, 0, 0, _ARGUMENTS_AT + 8 * rule.condition.position), *steps, (_LOAD, 0, 0, _NUMBER_AT)]
