"""The compiled filters: their result for every call, by number and by argument."""

import errno
import re
import socket
import struct
from pathlib import Path

import container
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grader.isolation import seccomp
from grader.isolation.seccomp import ARCHITECTURES, NO_NAMESPACES, STORES_OUTSIDE, TREE, WORKER, Architecture, compiled

ALLOWED = 0x7FFF0000
KILLED = 0x80000000
MACHINES = pytest.mark.parametrize("machine", ARCHITECTURES.values(), ids=ARCHITECTURES)
NEVER = {"tree": TREE, "worker": WORKER, "measured": (*WORKER, *STORES_OUTSIDE), "no namespaces": NO_NAMESPACES}
PROGRAMS = {
    (name, kind): compiled(rules, machine) for name, machine in ARCHITECTURES.items() for kind, rules in NEVER.items()
}
HEADERS = {
    "x86_64": (Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), r"#define __NR_(\w+)\s+(\d+)"),
    "aarch64": (Path("/usr/include/asm-generic/unistd.h"), r"#define __NR(?:3264)?_(\w+)\s+(\d+)"),
}


def run(program: bytes, *, audit: int, number: int, arguments: tuple[int, ...] = ()) -> int:
    """Run a BPF program as the kernel does. Return its result for one system call.

    Raise an exception if the kernel would refuse the program.
    """
    words = struct.pack("<IIQ6Q", number, audit, 0, *arguments, *[0] * (6 - len(arguments)))
    code = [struct.unpack_from("<HBBI", program, at) for at in range(0, len(program), 8)]
    accumulator, at = 0, 0
    operand: int
    for _ in code:
        kind, then, otherwise, operand = code[at]
        at += 1
        match kind:
            case 0x20:
                assert operand % 4 == 0
                (accumulator,) = struct.unpack_from("<I", words, operand)
            case 0x06:
                return operand
            case 0x15 | 0x25 | 0x35 | 0x45:
                holds = {
                    0x15: accumulator == operand,
                    0x25: accumulator > operand,
                    0x35: accumulator >= operand,
                    0x45: bool(accumulator & operand),
                }
                at += then if holds[kind] else otherwise
            case _:
                raise AssertionError(f"no such instruction: {kind:#x}")
    raise AssertionError("the program does not end")


def denied(error: int) -> int:
    """Return the result with which a filter makes a call fail with this error."""
    return 0x00050000 | error


def ask(kind: str, machine: Architecture, name: str, *arguments: int) -> int:
    here = next(known for known, other in ARCHITECTURES.items() if other is machine)
    return run(PROGRAMS[here, kind], audit=machine.audit, number=machine.numbers[name], arguments=arguments)


@MACHINES
def test_each_rule_without_a_condition_denies_each_of_its_calls_with_its_error(machine: Architecture) -> None:
    for kind, rules in NEVER.items():
        denied_here = {name: denied(rule.error) for rule in rules if not rule.condition for name in rule.names.split()}
        found = {name: ask(kind, machine, name) for name in denied_here if name in machine.numbers}
        assert found == {name: denied_here[name] for name in found}


def test_what_docker_denies_is_denied_by_the_filter_of_a_tree() -> None:
    names = {name for rule in container.FILTERS["docker"] for name in rule.names.split()}
    assert names - {name for rule in TREE for name in rule.names.split()} == set()


@given(number=st.integers(0, seccomp.NEWEST), arguments=st.tuples(*[st.integers(0, 2**64 - 1)] * 6))
def test_whatever_no_rule_names_is_allowed_with_any_arguments(number: int, arguments: tuple[int, ...]) -> None:
    for (name, kind), program in PROGRAMS.items():
        machine = ARCHITECTURES[name]
        named = {machine.numbers.get(call) for rule in NEVER[kind] for call in rule.names.split()}
        found = run(program, audit=machine.audit, number=number, arguments=arguments)
        assert found == ALLOWED or number in named, (name, kind)


@given(audit=st.integers(0, 2**32 - 1), number=st.integers(0, 2**32 - 1))
@example(audit=0x40000003, number=11)  # i386
@example(audit=ARCHITECTURES["x86_64"].audit, number=0x40000000)  # x32
@example(audit=ARCHITECTURES["aarch64"].audit, number=seccomp.NEWEST + 1)
def test_calls_of_another_architecture_kill_and_unknown_calls_do_not_exist(audit: int, number: int) -> None:
    for (name, _), program in PROGRAMS.items():
        machine = ARCHITECTURES[name]
        found = run(program, audit=audit, number=number)
        if audit != machine.audit or (machine.x32 and number >= 0x40000000):
            assert found == KILLED
        elif number > seccomp.NEWEST:
            assert found == denied(errno.ENOSYS)


THREAD = 0x3D0F00  # as the C library starts a thread: VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, SETTLS, …
FORK = 0x1200011  # CHILD_CLEARTID, CHILD_SETTID and SIGCHLD
NAMESPACE_BITS = (1 << 17, *(1 << n for n in range(25, 31)))
BY_ARGUMENTS = [
    ("tree", "clone", (THREAD,), 0),
    ("worker", "clone", (THREAD,), 0),
    ("tree", "clone", (FORK,), 0),
    ("worker", "clone", (FORK,), seccomp.PROCESS_ERRNO),
    ("worker", "clone", (0,), seccomp.PROCESS_ERRNO),
    *(("tree", "clone", (THREAD | bit,), errno.EPERM) for bit in NAMESPACE_BITS),
    *(("tree", "clone", (bit | 1 << 40,), errno.EPERM) for bit in NAMESPACE_BITS),  # only the low 32 bits decide
    *(("tree", "socket", (n,), 0 if n == socket.AF_UNIX else errno.EAFNOSUPPORT) for n in socket.AddressFamily),
    ("tree", "personality", (0xFFFFFFFF,), 0),
    ("tree", "personality", (0x0040000,), errno.EPERM),
    *(("tree", "ioctl", (0, request), errno.EPERM) for request in (0x5412, 0x541C, 0x5412 | 1 << 32)),
    ("tree", "ioctl", (0, 0x5401), 0),
    *(("worker", "prctl", (operation,), 0) for operation in seccomp.PRCTL),
    # From PR_SET_PDEATHSIG to PR_SET_PTRACER (linux/prctl.h)
    *(("worker", "prctl", (n,), errno.EPERM) for n in (1, 4, 8, 14, 22, 29, 31, 35, 36, 41, 53, 62, 67, 0x59616D61)),
    # ARCH_SET_FS, ARCH_SET_CPUID, ARCH_MAP_VDSO, ARCH_SHSTK_ENABLE
    *(("worker", "arch_prctl", (n,), errno.EPERM) for n in (0x1002, 0x1012, 0x4002, 0x5001)),
    ("tree", "prctl", (22,), 0),  # the worker must still be able to install its own filter
    *(("measured", "openat", (0, 0, flags), 0) for flags in (0, 0o2)),
    *(("measured", "openat", (0, 0, flags), errno.EPERM) for flags in (0o100, 0o20200000)),
    ("worker", "openat", (0, 0, 0o100), 0),
    *(("worker", "setsockopt", (3, 1, option), errno.EPERM if option == 7 else 0) for option in (7, 8)),
    *(("worker", "mmap", (0, 4096, 3, flags), 0) for flags in (0x1, 0x22)),
    *(("worker", "mmap", (0, 4096, 3, flags), errno.EPERM) for flags in (0x21, 0x23)),
    ("measured", "mmap", (0, 4096, 3, 0x22), 0),
    *(("measured", "mmap", (0, 4096, 3, flags), errno.EPERM) for flags in (0x21, 0x40022)),
    ("measured", "madvise", (0, 4096, 4), 0),
    *(("measured", "madvise", (0, 4096, advice), errno.EPERM) for advice in (12, 20, 21)),
    *(("measured", "fcntl", (0, operation), errno.EPERM) for operation in (6, 37, 1031)),  # locks, F_SETPIPE_SZ
    ("no namespaces", "socketpair", (1, 1), 0),
    *(("no namespaces", "socketpair", (1, kind), errno.EAFNOSUPPORT) for kind in (2, 2 | 0o4000)),
    ("no namespaces", "prctl", (4,), errno.EPERM),  # PR_SET_DUMPABLE
]


@MACHINES
def test_arguments_decide_where_they_must(machine: Architecture) -> None:
    for kind, name, arguments, error in [one for one in BY_ARGUMENTS if one[1] in machine.numbers]:
        found = ask(kind, machine, name, *arguments)
        assert found == (denied(error) if error else ALLOWED), (kind, name, arguments)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_numbers_are_those_of_the_systems_headers(name: str) -> None:
    header, pattern = HEADERS[name]
    if not header.exists():
        pytest.skip(f"{header} is missing: install it with `apt-get install linux-libc-dev`")
    known = {call: int(number) for call, number in re.findall(pattern, header.read_text())}
    ours = ARCHITECTURES[name].numbers
    assert len(ours.keys() & known.keys()) > 60
    assert {call: number for call, number in ours.items() if call in known} == {
        call: known[call] for call in ours if call in known
    }
