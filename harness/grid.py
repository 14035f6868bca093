"""Comparison grids: several functions, at several sizes, on several numbers of threads, in one table and one picture.

Every cell is measured by `torch.utils.benchmark.Timer`, in several turns, and all cells take turns in random order:
a machine that is slow for a while is slow for all of them a little, and not for one of them wholly. The turns of a cell
are then merged into one `Measurement`, all samples kept.

A grid shows where to look. Whether two cells differ at all is for `harness.duel` to say.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Literal

from torch.utils.benchmark import Compare, Measurement, Timer
from torch.utils.benchmark.utils.timer import timer as synchronizing_clock

from harness import units
from harness.clocks import Clock
from harness.curves import curves, curves_svg
from harness.environment import Environment
from harness.errors import UsageError
from harness.tables import Cell, Column, Table

Colour = Literal["rowwise", "columnwise"]
"""What `Compare` compares to choose its colours: the functions at one size, or the sizes of one function."""


@dataclass(frozen=True, slots=True)
class Place:
    """A cell of a grid: which function, at which size, on how many threads."""

    name: str
    size: int
    threads: int


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of a grid as torch's `Measurement`s, in the order measured for, and where they were measured."""

    label: str
    cells: Mapping[Place, Measurement]
    environment: Environment

    @property
    def names(self) -> tuple[str, ...]:
        """The functions."""
        return tuple(dict.fromkeys(place.name for place in self.cells))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes, in the order given."""
        return tuple(dict.fromkeys(place.size for place in self.cells))

    @property
    def threads(self) -> tuple[int, ...]:
        """The numbers of threads, in the order given."""
        return tuple(dict.fromkeys(place.threads for place in self.cells))

    def median_s(self, name: str, size: int, threads: int = 1) -> float:
        """Return the median of a cell, in seconds a call. Raises `UsageError` when there is no such cell."""
        try:
            return self.cells[Place(name, size, threads)].median
        except KeyError:
            raise UsageError(
                f"This grid has no cell for {name!r} at {size} on {threads} threads; it has {', '.join(self.names)} "
                f"at {', '.join(map(str, self.sizes))} on {', '.join(map(str, self.threads))}."
            ) from None

    def ratios(self, name: str, other: str, threads: int = 1) -> tuple[float, ...]:
        """Return, for each size, how many times as long as `other` the function `name` takes, by the medians."""
        return tuple(self.median_s(name, size, threads) / self.median_s(other, size, threads) for size in self.sizes)

    def fastest(self, size: int, threads: int = 1) -> str:
        """Return the function with the smallest median there."""
        return min(self.names, key=lambda name: self.median_s(name, size, threads))

    def changes(self, threads: int = 1) -> tuple[tuple[int, int], ...]:
        """Return the neighbouring sizes between which another function becomes the fastest, by the medians."""
        found = pairwise(self.sizes)
        return tuple((a, b) for a, b in found if self.fastest(a, threads) != self.fastest(b, threads))

    def compare(self, *, colour: Colour | None = None, trim: bool = True, warnings: bool = True) -> Compare:
        """Return torch's table of the medians: a row a size, a column a function, a group a number of threads.

        `trim` leaves out digits that the spread does not bear, `warnings` marks cells that torch warns of, `colour`
        writes codes for a terminal into the text.
        """
        table = Compare(list(self.cells.values()))
        if trim:
            table.trim_significant_figures()
        if warnings:
            table.highlight_warnings()
        if colour:
            table.colorize(rowwise=colour == "rowwise")
        return table

    def table(self) -> Table:
        """Return the medians as a table of ours, with raw seconds in its records."""
        columns = [Column("threads", units.count), Column("size", units.count)]
        columns += [Column(name, units.seconds) for name in self.names]
        rows: list[tuple[Cell, ...]] = [
            (threads, size, *(self.median_s(name, size, threads) for name in self.names))
            for threads, size in product(self.threads, self.sizes)
        ]
        return Table(self.label, tuple(columns), tuple(rows))

    def plot(self, *, width: int = 56, height: int = 10) -> str:
        """Return the medians against the size as terminal text, a curve for each function and number of threads."""
        return curves(self._curves(), width=width, height=height, x_unit=units.count)

    def svg(self) -> str:
        """Return the same as a complete SVG document that says in words what it shows."""
        title = f"{self.label}: time of a call against the size"
        where = f"Measured on {self.environment.describe()}. Both scales are logarithmic."
        return curves_svg(self._curves(), title=title, description=where, x_unit=units.count)

    def _curves(self) -> dict[str, list[tuple[float, float]]]:
        several = len(self.threads) > 1
        return {
            f"{name}, {units.some(threads, 'thread')}" if several else name: [
                (size, self.median_s(name, size, threads)) for size in self.sizes
            ]
            for name, threads in product(self.names, self.threads)
        }


def grid(
    functions: Mapping[str, Callable[..., object]],
    inputs: Callable[[int], Sequence[object]],
    sizes: Sequence[int],
    *,
    threads: Sequence[int] = (1,),
    label: str = "",
    min_run_time: float = 0.05,
    turns: int = 3,
    timer: Clock = synchronizing_clock,
    seed: int | None = None,
) -> Grid:
    """Measure each function on `inputs(size)` at each size and number of threads.

    `inputs` is called once a size and gives the positional arguments; all functions get the same. `min_run_time` is the
    least time spent on one cell, in seconds, over all of its `turns`; more goes into finding each cell's block size.
    `timer` is the clock, and Timer's own waits for a GPU before it is read. `seed` fixes the order of turns.

    Raises `UsageError` for nothing to measure, for sizes that are not positive or come twice, and for a bad number of
    threads or turns. What a function raises passes through.
    """
    _check(functions, sizes, threads, min_run_time, turns)
    timers: dict[Place, Timer] = {}
    for size in sizes:
        arguments = tuple(inputs(size))
        for name, number in product(functions, threads):
            timers[Place(name, size, number)] = Timer(
                stmt="function(*arguments)",
                globals={"function": functions[name], "arguments": arguments},
                label=label or None,
                sub_label=units.count(size),
                description=name,
                num_threads=number,
                timer=timer,
            )
    rng = random.Random(seed)
    parts: dict[Place, list[Measurement]] = {place: [] for place in timers}
    for _ in range(turns):
        for place in rng.sample(list(timers), len(timers)):
            parts[place].append(timers[place].blocked_autorange(min_run_time=min_run_time / turns))
    cells = {
        place: Measurement.merge(parts[place])[0]
        for place in (Place(*key) for key in product(functions, sizes, threads))
    }
    return Grid(label, cells, Environment.capture())


def _check(
    functions: Mapping[str, object], sizes: Sequence[int], threads: Sequence[int], min_run_time: float, turns: int
) -> None:
    if not (functions and sizes and threads):
        raise UsageError("A grid needs at least one function, one size and one number of threads.")
    for what, numbers in (("sizes", sizes), ("numbers of threads", threads)):
        if min(numbers) < 1 or max(Counter(numbers).values()) > 1:
            raise UsageError(f"The {what} of a grid are positive and each comes once; got {list(numbers)}.")
    if turns < 1 or not min_run_time > 0:
        raise UsageError(f"A grid needs a positive min_run_time and a turn at least, not {min_run_time} and {turns}.")
