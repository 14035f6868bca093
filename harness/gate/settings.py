"""What the options of `pytest --duel BASE` choose."""

import math
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from harness.errors import UsageError
from harness.rendering import units

ALLOWED: Final = 0.01
LIMIT_S: Final = 10.0


class GateCost(StrEnum):
    """What is compared: a cost of one call."""

    CPU = "CPU time"
    WALL = "wall time"
    INSTRUCTIONS = "instructions"
    MEMORY = "peak memory"

    @property
    def is_counted(self) -> bool:
        """Whether the cost is counted, so that other work on the machine does not change it."""
        return self in {GateCost.INSTRUCTIONS, GateCost.MEMORY}

    def ratio(self, base: float, here: float) -> float:
        """Return the ratio of two costs. A cost below `LEAST` counts as `LEAST`, because a call may need no memory."""
        least = LEAST.get(self, 0.0)
        return max(base, least) / max(here, least)

    @property
    def unit(self) -> units.Format:
        """The function that writes a cost as text."""
        return {GateCost.INSTRUCTIONS: units.count, GateCost.MEMORY: units.size}.get(self, units.seconds)


LEAST: Final = {GateCost.INSTRUCTIONS: 1.0, GateCost.MEMORY: 1024.0}
"""Lower costs are equal to this one: instructions, or bytes. A few more small objects are not a change."""


@dataclass(frozen=True, slots=True)
class GateSettings:
    """The settings of a run: BASE as it was typed, and what is red.

    A change of the cost of at most `allowed` is not SLOWER: 0.01 allows 1 %. `limit_s` is the time limit of the
    measurements of one benchmark, in seconds; a marker can change both for its test. With `strict`, UNDECIDED is red,
    too. With `shadow`, nothing is red.
    """

    base: str
    allowed: float = ALLOWED
    limit_s: float = LIMIT_S
    cost: GateCost = GateCost.CPU
    strict: bool = False
    shadow: bool = False


@dataclass(frozen=True, slots=True)
class GateSide:
    """One of the two source trees, `base` or `here`, with what its processes need.

    `root` is the folder in which the workers collect the tests. `python` is the interpreter, and `environment` has all
    environment variables of its workers, with the import path of this tree. `arguments` are the workers' arguments for
    pytest: options, and the files of the benchmarks.
    """

    name: str
    root: Path
    python: str
    environment: dict[str, str]
    arguments: tuple[str, ...] = ()


def number(option: str, given: str, most: float) -> float:
    """Return the positive number that was given for an option, perhaps with a percent sign, or raise `UsageError`."""
    value, text = math.nan, given.strip()
    with suppress(ValueError):
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    if not 0 < value <= most:
        raise UsageError(f"{option} {given} is not valid. Give a number above 0, and at most {most:g}.")
    return value


@dataclass(frozen=True, slots=True)
class GateBenchmark:
    """A benchmark to measure: the node id of its test, and the settings of the run or of its marker."""

    name: str
    allowed: float = ALLOWED
    limit_s: float = LIMIT_S
