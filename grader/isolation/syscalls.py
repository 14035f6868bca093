"""The numbers of system calls for each CPU architecture (Linux: asm/unistd_64.h, asm-generic/unistd.h)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

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


def _read(text: str) -> list[list[str]]:
    return [entry.split() for line in text.strip().splitlines() for entry in line.split("·")]


X86_64: Final[Mapping[str, int]] = MappingProxyType(
    {name: int(x86_64) for name, x86_64, *_ in [*_read(_BOTH), *_read(_X86_64_ALONE)]}
)
AARCH64: Final[Mapping[str, int]] = MappingProxyType({name: int(aarch64) for name, _, aarch64 in _read(_BOTH)})
