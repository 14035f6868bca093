"""Compare functions on two threads with the same functions on two processes."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

from harness.machine.environment import usable_cores
from harness.threads.builds import PythonBuild
from harness.threads.scaling import ScalingTurn, serve, take_turns, undisturbed
from lessons.engine.figures import Figures, Lacking, Rows
from lessons.engine.interval import Interval

CORES: Final = usable_cores()
"""The number of cores that this process may use."""

AT_ONCE: Final = 0.7
"""From this part of the work of two processes on, two threads count as running at the same time. In turn, it is 0.5."""

NO_SECOND_CORE: Final = Lacking("needs a second core: run the lesson on a machine with two cores")

Scaled = tuple[str, dict[str, list[ScalingTurn]]]
"""The name of a build of Python, and the turns of each function of a program."""


def scaling(build: PythonBuild | None, program: str, names: Sequence[str], turns: int) -> Scaled | None:
    """Measure functions of a program on one thread, two threads, and two processes. Return None without a build."""
    if build is None:
        return None
    with serve(build, program, number=2) as servers:
        return build.name, {name: take_turns(servers, name, seconds=0.015, turns=turns) for name in names}


def speeds(found: Scaled) -> Figures:
    """Return the name of the build, and rows: calls per second of one thread, speedups of 2 threads, 2 processes.

    `disturbed` is true if other programs disturbed a function that computes.
    """
    build, functions = found
    rows = [
        (
            name,
            median(turn.one for turn in turns),
            median(turn.by_threads for turn in turns),
            median(turn.by_processes for turn in turns),
        )
        for name, turns in functions.items()
    ]
    disturbed = any(name != "wait" and not undisturbed(turns) for name, turns in functions.items())
    return {"build": build, "speeds": Rows(rows), "disturbed": disturbed}


def against(found: Scaled, *names: str) -> Figures:
    """Return the intervals of `against_of` for functions by name. They are lacking on a machine with one core."""
    return {name: against_of(found[1], name) if CORES > 1 else NO_SECOND_CORE for name in names}


def against_of(turns: Mapping[str, list[ScalingTurn]], name: str) -> Interval:
    """Return the calls of the threads divided by those of the processes. The interval is void on a disturbed machine.

    For a function that waits, the turns of `add_up` show whether the machine was disturbed.
    """
    steady = undisturbed(turns["add_up" if name == "wait" else name])
    used = steady if steady and name != "wait" else turns[name]
    return Interval.median(turn.against_processes for turn in used).void_if(not steady)


def letter_of(turns: Mapping[str, list[ScalingTurn]], letters: Mapping[str, str]) -> str | None:
    """Return the letter of the functions that two threads run at the same time, or None if this is not clear."""
    at_once = []
    for name in turns:
        found = against_of(turns, name)
        if found.lowest >= AT_ONCE:
            at_once.append(name)
        elif not found.highest <= AT_ONCE:
            return None
    return letters.get(" ".join(at_once))
