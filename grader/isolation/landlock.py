"""Build the Landlock rules, which decide which files a sandbox without Linux namespaces may use.

Landlock denies each kind of access to files, unless a rule allows it. A rule is for a file, or for a folder with all of
its contents. This module builds the rules as data, and `confine.apply_ruleset` gives them to the kernel. Two sets of
rules apply together. The rules of `tree_rules` are applied before Python starts, and the rules of `narrowed` before a
submission is loaded. The narrowed rules allow only two parts of `/proc`: the process's own folder and a few files about
the machine. Source: Documentation/userspace-api/landlock.rst of Linux.

Landlock does not hide that a file exists, or its size and dates, from a process that knows its path.
"""

import struct
from collections.abc import Iterator, Sequence
from enum import IntFlag
from pathlib import Path
from typing import Any, Final

Access = IntFlag(
    "Access",
    "EXECUTE WRITE_FILE READ_FILE READ_DIR REMOVE_DIR REMOVE_FILE MAKE_CHAR MAKE_DIR MAKE_REG MAKE_SOCK MAKE_FIFO "
    "MAKE_BLOCK MAKE_SYM REFER TRUNCATE IOCTL_DEV",
)
"""The kinds of access to files (linux/landlock.h: LANDLOCK_ACCESS_FS_…)."""
READ: Final = Access.EXECUTE | Access.READ_FILE | Access.READ_DIR
DEVICE: Final = Access.READ_FILE | Access.WRITE_FILE | Access.TRUNCATE
OWN: Final = Access(sum(Access)) & ~(Access.MAKE_CHAR | Access.MAKE_BLOCK | Access.MAKE_SOCK | Access.IOCTL_DEV)
"""The kinds of access that a sandboxed process has in its own folder."""
OF_FILES: Final = Access.EXECUTE | Access.WRITE_FILE | Access.READ_FILE | Access.TRUNCATE | Access.IOCTL_DEV
"""The kinds of access that apply to files, and not only to folders."""

ADDED_BY_VERSION: Final = ((5, 1 << 15), (3, 1 << 14), (2, 1 << 13))
"""Pairs (version of Landlock, the first kind of access that this version added)."""
TCP: Final = 0b11
"""The bits that deny TCP connections and servers on all ports. Landlock has them from version 4 on."""
SCOPES: Final = 0b11
"""The bits that deny abstract Unix sockets and signals to processes outside of the sandbox (from version 6 on)."""

DEVICES: Final = ("null", "zero", "full", "random", "urandom")
ABOUT_THE_MACHINE: Final = ("cpuinfo", "meminfo", "stat", "loadavg", "uptime", "version", "sys/vm/overcommit_memory")
"""Files of /proc that contain nothing about other processes."""

Rules = dict[Path, Access]
"""The allowed kinds of access, for each file, or for each folder with all of its contents."""
Ruleset = dict[str, Any]
"""A set of Landlock rules as plain data, to be sent to another process as JSON."""


def ruleset(rules: Rules, version: int) -> Ruleset:
    """Return the Landlock rules that allow only the access in `rules`, as JSON data for one version of Landlock.

    Kinds of access that this version does not know stay allowed.
    """
    known = sum(Access)
    for since, first in ADDED_BY_VERSION:
        known = known & (first - 1) if version < since else known
    attributes = struct.pack("=Q", known)
    attributes += struct.pack("=Q", TCP) if version >= 4 else b""
    attributes += struct.pack("=Q", SCOPES) if version >= 6 else b""
    return {
        "attributes": attributes.hex(),
        "of_files": int(OF_FILES),
        "rules": [[str(path), int(access) & known] for path, access in rules.items()],
    }


def tree_rules(readable: Sequence[Path], hidden: Sequence[Path], own: Path) -> Rules:
    """Return the rules for a sandbox. They allow readable paths, devices, /proc, and the sandbox's own folder.

    The `hidden` paths inside readable paths are not allowed.
    """
    hidden = [one.resolve() for one in hidden]
    rules = dict(rule for path in readable for rule in rules_around(path.resolve(), hidden))
    return rules | {Path("/dev", name): DEVICE for name in DEVICES} | {own: OWN, Path("/proc"): READ}


def narrowed(rules: Rules) -> Rules:
    """Return `rules` with access to only a few files of /proc, instead of all of them."""
    kept = {path: access for path, access in rules.items() if path != Path("/proc")}
    return kept | {Path("/proc", name): Access.READ_FILE for name in ABOUT_THE_MACHINE} | {Path("/proc/self"): READ}


def rules_around(path: Path, hidden: Sequence[Path]) -> Iterator[tuple[Path, Access]]:
    """Yield rules that allow reading a folder or file, except for the hidden paths in it.

    A rule applies to all contents of a folder. So a folder with a hidden path gets one rule per entry. The names in
    this folder stay visible, because Python imports no module from a folder that it cannot list.
    """
    within = [one for one in hidden if one.is_relative_to(path)]
    if path in within:
        return
    yield path, Access.READ_DIR if within else READ
    for entry in sorted(path.iterdir()) if within else ():
        if not entry.is_symlink():
            yield from rules_around(entry, within)
