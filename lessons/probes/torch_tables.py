"""Figures that lesson 11 computes from torch's profiles: columns of printed tables, stacks and traces."""

import re
from collections.abc import Iterable

from harness.profiles.flames import flame_graph, flame_graph_svg, fold_up, without_frames
from harness.profiles.kineto import Event, Operator
from harness.rendering import units
from lessons.engine.figures import Drawing, Lacking

Stacks = list[tuple[tuple[str, ...], float]]

PLUMBING = r"module\.py\(\d+\): _(wrapped_)?call_impl$|/profiler\.py\("
"""The pattern of frames that the picture omits: frames between two modules, and frames of the profiler."""


def named(rows: Iterable[Operator], name: str) -> Operator:
    """Return the row with the name `name`. If there are several, return the row with the largest own time."""
    return next(each for each in rows if each.name == name)


def columns(printed: str, *names: str) -> str:
    """Return only the named columns of a table that PyTorch printed. All columns are too wide for a terminal.

    Of a stack, only the first line is kept.
    """
    lines = printed.splitlines()
    rule = next(line for line in lines if line.startswith("---"))
    spans = [match.span() for match in re.finditer("-+", rule)]
    # Shorter lines are outside the table, and lines without text are rules.
    wide = [line for line in lines if len(line) >= len(rule.rstrip()) and line.strip("-= ")]
    rows = [[line[low:high].strip() for low, high in spans] for line in wide]
    places = [rows[0].index(name) for name in names]
    kept = [[row[place] for place in places] for row in rows if row[0]]
    widths = [max(map(len, column)) for column in zip(*kept, strict=True)]
    aligned = ([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in kept)
    return "\n".join("  ".join(cells).rstrip() for cells in aligned)


def called_from(frame: str) -> str:
    """Return an indented line that describes a frame of a stack, without memory addresses."""
    return f"  ← {re.sub(r' of .* at 0x[0-9a-f]+', '', frame)}"


def flames(stacks: Stacks) -> Drawing | Lacking:
    """Return the flame graph of the training steps. It is lacking if there are no stacks."""
    picture = fold_up(since(without_frames(stacks, PLUMBING), ": step"), name="step")
    if not picture.total:
        return Lacking("torch wrote no stack. Run the lesson again")
    svg = flame_graph_svg(picture, title="step", unit=lambda value: units.seconds(value / 1e6))
    return Drawing(flame_graph(picture, 74), svg)


def since(stacks: Stacks, ending: str) -> Stacks:
    """Return the frames of each stack after its first frame that ends in `ending`.

    Omit stacks that have no such frame.
    """
    found = []
    for frames, cost in stacks:
        place = next((n for n, frame in enumerate(frames) if frame.endswith(ending)), None)
        if place is not None:
            found.append((frames[place + 1 :], cost))
    return found


def as_tree(events: tuple[Event, ...]) -> str:
    """Return a line for each event with its duration, indented by the number of events around the event."""
    lines = [f"{'  ' * depth_of(each, events)}{each.name}  {units.seconds(each.duration_us / 1e6)}" for each in events]
    return "\n".join(lines)


def depth_of(event: Event, events: tuple[Event, ...]) -> int:
    """Return how many of the earlier events in `events` contain `event` within their time."""
    return sum(
        each.start_us <= event.start_us and event.end_us <= each.end_us and each is not event
        for each in events[: events.index(event)]
    )
