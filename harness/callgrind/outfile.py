"""Callgrind's profile format, read: instructions by function, exclusive and inclusive.

The format is told in Valgrind's manual, "Callgrind Format Specification". Names are written out once and referred to by
number; positions may be relative. Only what a single event, `Ir`, needs is read.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

_NAME: Final = re.compile(r"(?:\((\d+)\))?\s*(.*)")
_SPEC: Final = re.compile(r"(c?(?:ob|fi|fl|fe|fn)|calls)=(.*)")
_COST: Final = re.compile(r"(?:[+\-*]|0x|\d)")


class ProfileError(ValueError):
    """A text that is no Callgrind profile."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Instructions by function ("file:function [object]"), and how often each was called; `total` is the program's."""

    exclusive: dict[str, int]
    inclusive: dict[str, int]
    total: int
    calls: dict[str, int] = field(default_factory=dict)


@dataclass
class _Reader:
    """What the lines read so far have said: names by number, and where the next cost belongs."""

    names: dict[tuple[str, str], str] = field(default_factory=dict)
    object: str = ""
    file: str = ""
    function: str = ""
    called_object: str = ""
    called_file: str = ""
    called: str = ""
    call_follows: bool = False
    exclusive: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    inclusive: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    calls: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    total: int | None = None

    def name(self, kind: str, text: str) -> str:
        """A name written out, or the one that its number stands for."""
        match = _NAME.fullmatch(text)
        number, written = (match[1], match[2]) if match else (None, text)
        if number is None:
            return written
        if written:
            self.names[kind, number] = written
        return self.names.get((kind, number), f"({number})")

    def specify(self, key: str, value: str) -> None:
        """Take in one line that names where the costs below it belong."""
        if key == "ob":
            self.object = self.name("ob", value)
        elif key in {"fl", "fi", "fe"}:
            self.file = self.name("fl", value)
        elif key == "fn":
            self.function = f"{self.file}:{self.name('fn', value)} [{self.object}]"
            self.called_object, self.called_file = self.object, self.file
        elif key == "cob":
            self.called_object = self.name("ob", value)
        elif key in {"cfi", "cfl"}:
            self.called_file = self.name("fl", value)
        elif key == "cfn":
            self.called = f"{self.called_file}:{self.name('fn', value)} [{self.called_object}]"
            self.called_object, self.called_file = self.object, self.file
        elif key == "calls":
            self.calls[self.called] += int(value.split(maxsplit=1)[0])
            self.call_follows = True

    def spend(self, cost: int) -> None:
        """Give instructions to the function, or to what it has called."""
        self.inclusive[self.function] += 0 if self.call_follows and self.called == self.function else cost
        if self.call_follows:
            self.call_follows = False
        else:
            self.exclusive[self.function] += cost


def parse(lines: Iterable[str]) -> Profile:
    """Read a profile. Raises `ProfileError` for a text that has no total, or events other than `Ir` first."""
    reader, positions = _Reader(), 1
    for raw in lines:
        line = raw.strip()
        if match := _SPEC.match(line):
            reader.specify(match[1], match[2])
        elif line.startswith("positions:"):
            positions = len(line.split()) - 1
        elif line.startswith("events:") and line.split()[1:2] != ["Ir"]:
            raise ProfileError(f"The profile counts {line.removeprefix('events:').strip()}, not instructions (Ir).")
        elif line.startswith(("summary:", "totals:")):
            reader.total = int(line.split()[1])
        elif _COST.match(line):
            parts = line.split()
            reader.spend(int(parts[positions]) if len(parts) > positions else 0)
    if reader.total is None:
        raise ProfileError("This is no Callgrind profile: it has no total.")
    return Profile(dict(reader.exclusive), dict(reader.inclusive), reader.total, dict(reader.calls))
