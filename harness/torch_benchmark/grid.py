"""Measure several functions at several sizes and numbers of threads, as one table and one picture."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from torch.utils.benchmark import Compare, Measurement, Timer
from torch.utils.benchmark.utils.timer import timer as synchronizing_clock

from harness.charts.pictures import curves_svg
from harness.charts.plots import curves
from harness.errors import UsageError
from harness.machine.clocks import Clock
from harness.machine.environment import Environment
from harness.rendering import units
from harness.timeable import first_result


@dataclass(frozen=True, slots=True)
class Grid:
    """The measured times of functions: `cells` has a `Measurement` for each (name, size, number of threads)."""

    label: str
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    threads: tuple[int, ...]
    cells: Mapping[tuple[str, int, int], Measurement]
    environment: Environment

    def median_s(self, name: str, size: int, threads: int = 1) -> float:
        """Return the median time per call in seconds, or raise `UsageError` if the grid has no such measurement."""
        try:
            return self.cells[name, size, threads].median
        except KeyError:
            raise UsageError(
                f"This grid has no cell for {name!r} at {size} on {threads} threads; it has {', '.join(self.names)} "
                f"at {', '.join(map(str, self.sizes))} on {', '.join(map(str, self.threads))}."
            ) from None

    def ratios(self, name: str, other: str, threads: int = 1) -> tuple[float, ...]:
        """Return, for each size, the median time of `name` divided by the median time of `other`."""
        return tuple(self.median_s(name, size, threads) / self.median_s(other, size, threads) for size in self.sizes)

    def fastest(self, size: int, threads: int = 1) -> str:
        """Return the name of the function with the smallest median time at this size."""
        return min(self.names, key=lambda name: self.median_s(name, size, threads))

    def compare(self) -> Compare:
        """Return torch's table of the medians, with a row per size and a column per function, grouped by threads.

        Digits that are uncertain because of the spread are left out, and cells about which torch warns are marked.
        """
        table = Compare(list(self.cells.values()))
        table.trim_significant_figures()
        table.highlight_warnings()
        return table

    def plot(self) -> str:
        """Return a text plot of the median times, with a curve per function and number of threads."""
        return curves(self._curves())

    def svg(self) -> str:
        """Return the curves of the median times as a complete SVG document with a description."""
        title = f"{self.label}: time of a call against the size"
        where = f"Measured on {self.environment.describe()}. Both scales are logarithmic."
        return curves_svg(self._curves(), title=title, description=where)

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
    """Measure the time of each function with the arguments `inputs(size)`, for each size and number of threads.

    `inputs` is called once per size and returns the positional arguments, which are the same for all functions.
    `min_run_time` is the smallest measuring time of a cell in seconds, in all its `turns` (repetitions) together.
    `timer` is the clock. The default is Timer's clock, which waits until the GPU has finished its work. `seed` fixes
    the random order of the repetitions.

    Raise `UsageError` if a function cannot be timed (`harness.timeable`), if there are no functions, sizes or threads,
    or if a number is not positive or occurs twice. Exceptions of a function are not caught.
    """
    if not (functions and sizes and threads):
        raise UsageError("A grid needs at least one function, one size and one number of threads.")
    for what, numbers in (("sizes", sizes), ("numbers of threads", threads)):
        if min(numbers) < 1 or len(set(numbers)) < len(numbers):
            raise UsageError(f"The {what} of a grid must be positive and different; got {list(numbers)}.")
    if turns < 1 or not min_run_time > 0:
        raise UsageError(f"A grid needs a positive min_run_time and at least 1 turn, not {min_run_time} and {turns}.")
    arguments = {size: tuple(inputs(size)) for size in sizes}
    for function, size in product(functions.values(), sizes):
        first_result(function, *arguments[size])
    timers = {
        (name, size, number): Timer(
            stmt="function(*arguments)",
            globals={"function": functions[name], "arguments": arguments[size]},
            label=label or None,
            sub_label=units.count(size),
            description=name,
            num_threads=number,
            timer=timer,
        )
        for name, size, number in product(functions, sizes, threads)
    }
    rng = random.Random(seed)
    parts: dict[tuple[str, int, int], list[Measurement]] = {place: [] for place in timers}
    for _ in range(turns):
        for place in rng.sample(list(timers), len(timers)):
            parts[place].append(timers[place].blocked_autorange(min_run_time=min_run_time / turns))
    cells = {place: Measurement.merge(several)[0] for place, several in parts.items()}
    return Grid(label, tuple(functions), tuple(sizes), tuple(threads), cells, Environment.capture())
