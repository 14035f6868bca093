"""Read Callgrind's profiles: the exclusive and inclusive number of instructions of each function.

Valgrind's manual describes the format in "Callgrind Format Specification".
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
    """The text is not a Callgrind profile that counts instructions."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The number of instructions and calls of each function ("file:function [object]"), and of the whole program."""

    exclusive: dict[str, int]
    inclusive: dict[str, int]
    total: int
    calls: dict[str, int] = field(default_factory=dict)


@dataclass
class _ProfileReader:
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
        """Return the name in a text such as "(7) main", "main", or "(7)" if the number 7 was given a name before."""
        match = _NAME.fullmatch(text)
        number, written = (match[1], match[2]) if match else (None, text)
        if number is None:
            return written
        if written:
            self.names[kind, number] = written
        return self.names.get((kind, number), f"({number})")

    def specify(self, key: str, value: str) -> None:
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
        # The instructions of a call belong only to the caller's inclusive count.
        self.inclusive[self.function] += 0 if self.call_follows and self.called == self.function else cost
        if self.call_follows:
            self.call_follows = False
        else:
            self.exclusive[self.function] += cost


def parse(lines: Iterable[str]) -> Profile:
    """Return the profile in these lines.

    Raise `ProfileError` if there is no total, or if the first event is not `Ir`.
    """
    reader, positions = _ProfileReader(), 1
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
        raise ProfileError("This is not a Callgrind profile, because it has no total. Count again.")
    return Profile(dict(reader.exclusive), dict(reader.inclusive), reader.total, dict(reader.calls))
