"""The rules of the seccomp filters: the system calls that are denied to submissions, the reasons, and the errors."""

import errno
from enum import Enum
from typing import Final, NamedTuple

PROCESS_ERRNO: Final = errno.EOPNOTSUPP
"""The errno for a denied call that starts a process. No other rule uses it, so a report can name the cause."""


class When(Enum):
    """The kinds of conditions on the low 32 bits of a system call's argument."""

    EQUALS = "equals one of the values"
    NOT_IN = "equals none of the values"
    ANY_BIT = "has any of the bits"
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
    Rule("memfd_create memfd_secret shmget", "get memory that no limit counts", errno.ENOSYS),
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
    Rule("connect bind listen accept accept4", "use sockets with an address"),
    Rule("shmget shmat shmctl msgget msgsnd msgrcv msgctl", "all trees share these objects, which outlive a tree"),
    Rule("semget semop semtimedop semctl mq_open mq_unlink", "all trees share these objects, which outlive a tree"),
    Rule("inotify_init inotify_init1 inotify_add_watch", "Landlock lets a process watch files that it may not open"),
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

STORES_OUTSIDE: Final = (
    Rule("open", "a new file", condition=Condition(1, When.ANY_BIT, (O_CREAT | O_TMPFILE,))),
    Rule("openat", "a new file", condition=Condition(2, When.ANY_BIT, (O_CREAT | O_TMPFILE,))),
    Rule("openat2", "a filter cannot read flags behind a pointer; C libraries then use openat", errno.ENOSYS),
    Rule("creat mkdir mkdirat mknod mknodat symlink symlinkat link linkat", "a new file; even its name can hold data"),
    Rule("rename renameat renameat2 setxattr lsetxattr fsetxattr", "names and attributes of files can hold data"),
    Rule("pipe pipe2 socket socketpair", "buffers in the kernel can hold data"),
    Rule("fcntl", "enlarge the buffer of a named pipe", condition=Condition(1, When.EQUALS, (F_SETPIPE_SZ,))),
    Rule("msgget msgsnd semget semctl semop semtimedop mq_open", "queues in the kernel can hold data"),
    Rule("mmap", "shared pages outlive their use", condition=Condition(3, When.ANY_BIT, (MAP_SHARED | MAP_HUGETLB,))),
    Rule("madvise", "move data to swap, or share equal pages", condition=Condition(2, When.EQUALS, _MOVING)),
)
"""Further calls that are denied while peak memory is measured, because they store data outside of process memory.

A process can release a page of a shared mapping and later read its data again, so new shared mappings are denied. Huge
pages (`MAP_HUGETLB`) are denied because they do not count as resident memory.
"""
