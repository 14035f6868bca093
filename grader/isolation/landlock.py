"""Which files a process tree may open where it has no file system of its own: rules for Landlock, as data.

Landlock (Linux: Documentation/userspace-api/landlock.rst) denies each kind of access that it handles, unless a rule
allows it for a folder with all that is in it, or for a file. Here are the rules; `inside.confine.restrict` gives them
to the kernel. Two rulesets lie one over the other: `tree_rules` hold from before Python starts, and `narrowed` ones
from before a submission is loaded. These leave `/proc` out, but for the process itself and a few files about the
machine.

Landlock does not hide that a file exists, or its size and dates, from a process that knows its path.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntFlag
from pathlib import Path
from typing import Any, Final


class Access(IntFlag):
    """Kinds of access to files (linux/landlock.h: LANDLOCK_ACCESS_FS_…)."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15


READ: Final = Access.EXECUTE | Access.READ_FILE | Access.READ_DIR
DEVICE: Final = Access.READ_FILE | Access.WRITE_FILE | Access.TRUNCATE
OWN: Final = Access(sum(Access)) & ~(Access.MAKE_CHAR | Access.MAKE_BLOCK | Access.MAKE_SOCK | Access.IOCTL_DEV)
"""What a tree may do in its own folder."""
OF_FILES: Final = Access.EXECUTE | Access.WRITE_FILE | Access.READ_FILE | Access.TRUNCATE | Access.IOCTL_DEV
"""What a rule for a single file can allow."""

NEWEST: Final = ((5, 1 << 15), (3, 1 << 14), (2, 1 << 13))
"""Kinds of access that came with a later version of Landlock: the version, and the first of them."""
TCP: Final = 0b11
"""To bind and to connect a TCP socket (from version 4 on). No rule allows a port."""
SCOPES: Final = 0b11
"""To reach abstract Unix sockets, and to signal processes, outside of the tree (from version 6 on)."""

DEVICES: Final = ("null", "zero", "full", "random", "urandom")
ABOUT_THE_MACHINE: Final = ("cpuinfo", "meminfo", "stat", "loadavg", "uptime", "version", "sys/vm/overcommit_memory")
"""Files of /proc that tell of no process."""

Ruleset = dict[str, Any]
"""What `inside.confine.restrict` takes."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Allow these kinds of access to a path."""

    path: Path
    access: Access


def ruleset(rules: Sequence[Rule], version: int) -> Ruleset:
    """Return everything that this version of Landlock can deny, and the rules that allow some of it."""
    known = sum(Access)
    for since, first in NEWEST:
        known = known & (first - 1) if version < since else known
    attributes = struct.pack("=Q", known)
    attributes += struct.pack("=Q", TCP) if version >= 4 else b""
    attributes += struct.pack("=Q", SCOPES) if version >= 6 else b""
    return {
        "attributes": attributes.hex(),
        "of_files": int(OF_FILES),
        "rules": [[str(rule.path), int(rule.access) & known] for rule in rules],
    }


def tree_rules(readable: Sequence[Path], hidden: Sequence[Path], own: Path) -> list[Rule]:
    """Return what a whole tree may use: these folders and files without the hidden ones, devices, /proc, its folder."""
    rules = [rule for path in readable for rule in around(path.resolve(), [one.resolve() for one in hidden])]
    rules += [Rule(Path("/dev", name), DEVICE) for name in DEVICES]
    return [*rules, Rule(own, OWN), Rule(Path("/proc"), READ)]


def narrowed(rules: Sequence[Rule]) -> list[Rule]:
    """Return the same rules with less of /proc."""
    kept = [rule for rule in rules if rule.path != Path("/proc")]
    about = [Rule(Path("/proc", name), Access.READ_FILE) for name in ABOUT_THE_MACHINE]
    return [*kept, *about, Rule(Path("/proc/self"), READ)]


def around(path: Path, hidden: Sequence[Path]) -> Iterator[Rule]:
    """Yield rules that allow reading all of a folder, or a file, but nothing that is hidden in it.

    Rules for a folder hold for all that is in it. So a folder with something hidden is allowed entry by entry. It may
    be listed all the same, since Python finds no module in a folder that it cannot list. So a submission can see the
    names of hidden files there.
    """
    within = [one for one in hidden if one.is_relative_to(path)]
    if path in within:
        return
    if not within:
        yield Rule(path, READ)
        return
    yield Rule(path, Access.READ_DIR)
    for entry in sorted(path.iterdir()):
        if not entry.is_symlink():
            yield from around(entry, within)
