"""Count in one variable on two threads, and find out how many counts each run lost."""

from collections.abc import Iterable

from harness.threads.builds import PythonBuild
from harness.threads.scaling import ServerRun, serve

Counts = list[tuple[str, ServerRun, int]]
"""Runs on two threads, in order of time: the function's name, the times, and the value of `hits` after the run."""


def two_threads(
    builds: Iterable[PythonBuild | None], program: str, names: tuple[str, ...], turns: int
) -> dict[str, Counts]:
    """Run functions of a program on two threads in turn, in each build, and return the runs by the build's name.

    `read` of the program returns `hits`, which grows over all runs.
    """
    found: dict[str, Counts] = {}
    for build in filter(None, builds):
        runs = found.setdefault(build.name, [])
        with serve(build, program) as (server,):
            for name in names * turns:
                run = server.run(name, threads=2)
                runs.append((name, run, server.run("read").results[0]))
    return found


def lost_counts(counts: Counts, each: int) -> dict[str, list[int]]:
    """Return how many counts each run lost, by the name of its function. Without losses, a run adds `each`."""
    lost: dict[str, list[int]] = {name: [] for name, _, _ in counts}
    before = 0
    for name, _, hits in counts:
        lost[name].append(each - (hits - before))
        before = hits
    return lost
