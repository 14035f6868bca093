"""Build seccomp filters: BPF programs, as bytes, that deny system calls to submissions.

Two filters apply together. The first applies to all processes of a sandbox, from before Python starts. A worker process
adds the second before it loads a submission, also without a sandbox. `seccomp_rules` lists the denied calls. The kernel
caches the result of a rule that needs only the number of a call, so it takes no measurable time. Source:
Documentation/userspace-api/seccomp_filter of Linux.
"""

import errno
import platform
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.isolation.sandbox_problems import SandboxProblem
from grader.isolation.seccomp_rules import NO_NAMESPACES, STORES_OUTSIDE, TREE, WORKER, Rule, When

ALLOW, KILL, DENY = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_LOAD, _EQUAL, _GREATER, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
_X32_BIT = 0x40000000
_ACTIONS = Path("/proc/sys/kernel/seccomp/actions_avail")


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
timer_create 222 107 · timerfd_create 283 85 · io_setup 206 0
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
