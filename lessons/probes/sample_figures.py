"""Figures that lesson 16 computes from samples: shares with their intervals, and flame graphs."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from harness.profiles.flames import difference_svg, flame_graph, flame_graph_svg, fold_up, scaled
from harness.rendering import units
from harness.sampling.pyspy import StackSample, StackSamples
from lessons.engine.figures import Drawing, Lacking
from lessons.engine.interval import Interval

T = TypeVar("T")
Stacks = list[tuple[tuple[str, ...], float]]

NO_SAMPLE = Lacking("py-spy took no sample. Run the lesson again")


def shortened(text: str, most: int = 74) -> str:
    """Return the threads in the output of `py-spy dump`, with lines of at most `most` characters."""
    lines = text.strip().splitlines()[3:]
    return "\n".join(line if len(line) <= most else f"{line[: most - 1]}…" for line in lines)


def in_parts(found: Sequence[T], number: int) -> Iterator[Sequence[T]]:
    """Yield `number` consecutive parts of equal length. A rest at the end is left out."""
    size = len(found) // number
    return (found[at * size : (at + 1) * size] for at in range(number))


def across(samples: StackSamples, value: Callable[[StackSamples], float], parts: int = 4) -> Interval:
    """Return the smallest and largest value of consecutive parts of the samples, as an interval.

    `value` computes the value of one part. For too few samples, the interval is unknown.
    """
    if len(samples) < 5 * parts:
        return Interval.unknown()
    return Interval.every(value(StackSamples(tuple(part))) for part in in_parts(samples.taken, parts))


def first_share(rows: Sequence[Sequence[float]], parts: int = 4) -> Interval:
    """Return the share of the first of two times in all rows, and its range over consecutive parts of the rows."""
    whole, *each = (
        sum(first for first, _ in some) / sum(first + second for first, second in some)
        for some in (rows, *in_parts(rows, min(parts, len(rows))))
    )
    return Interval(whole, min(whole, *each), max(whole, *each))


def share_of(samples: StackSamples, name: str) -> Interval:
    """Return the share of the samples that contain the function `name`, with its confidence interval."""
    return Interval.share(samples.with_function(name), len(samples))


def flames(samples: StackSamples) -> Drawing | Lacking:
    """Return a flame graph of the samples. It is lacking if there are no samples."""
    if not len(samples):
        return NO_SAMPLE
    root = fold_up((tuple(map(bare, frames)), cost) for frames, cost in samples.stacks())
    return Drawing(flame_graph(root, 74), flame_graph_svg(root, title="train", unit=units.count))


def bare(frame: str) -> str:
    """Return the name of a frame, without the file of the program."""
    return frame.removeprefix("program.py: ")


def true_share(rows: Sequence[Sequence[float]]) -> float:
    """Return the share of `in_c` in the CPU time that the program has printed."""
    python_s, c_s = (sum(row[column] for row in rows) for column in (0, 1))
    return c_s / (python_s + c_s)


def in_the_loop(sample: StackSample) -> bool:
    """Return whether a sample of the main thread is in one of the two functions that the program compares."""
    return not {"in_python", "in_c"}.isdisjoint(sample.names)


def inner_share(first: Sequence[float], last: Sequence[float], column: int) -> Interval:
    """Return the share of `in_c` in the samples that an inner sampler took between two lines of the program."""
    python, c = (last[column + place] - first[column + place] for place in (0, 1))
    return Interval.share(c, round(python + c))


def per_round(samples: StackSamples, round_s: float) -> Stacks:
    """Return the stacks of the samples with costs that add up to the seconds of a round."""
    return scaled([(tuple(map(bare, frames)), cost) for frames, cost in samples.stacks()], round_s)


def difference(before: Stacks, after: Stacks) -> Drawing:
    """Return the differential flame graph of two runs, with the widths of the run before the change."""
    picture = difference_svg(before, after, title="total, parse", widths="before", unit=units.seconds)
    return Drawing(flame_graph(fold_up(before), 74), picture)
