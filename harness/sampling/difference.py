"""Compare the samples of two runs, and draw the difference as a flame graph, as Brendan Gregg described in 2014."""

from collections.abc import Iterable, Sequence
from typing import Final

from harness.charts import svg
from harness.profiles.flames import FlameFrame, Placed, drawable, fold_up, own_cost_by_name, picture, placed
from harness.rendering import units

Stacks = Iterable[tuple[Sequence[str], float]]  # the outermost frame first, each with its cost

LITTLE, MOST = 0.02, 0.2  # the shares of the whole cost from which a difference has a colour, and the strongest colour
_LEGEND: Final = {-1.0: "costs less in the second run", 0.0: "hardly differs", 1.0: "costs more in the second run"}


def scaled(stacks: Stacks, total: float) -> list[tuple[tuple[str, ...], float]]:
    """Return the stacks with costs that add up to `total`, or [] if all costs are 0."""
    known = [(tuple(frames), cost) for frames, cost in stacks]
    whole = sum(cost for _, cost in known)
    return [(frames, cost * total / whole) for frames, cost in known] if whole else []


def by_function(stacks: Stacks) -> dict[str, float]:
    """Return the cost of all stacks that contain each function. A stack counts once, also for a recursive function."""
    costs = dict[str, float]()
    for frames, cost in stacks:
        for name in set(frames):
            costs[name] = costs.get(name, 0.0) + cost
    return costs


def difference_svg(
    before: Stacks, after: Stacks, *, title: str, widths: str = "after", unit: units.Format = units.number
) -> str:
    """Return a differential flame graph as a complete SVG document.

    `widths` is "before" or "after": the run whose costs are the widths of the boxes. A stack without samples in this
    run has no box. The colour shows the difference. `unit` converts a cost to text.
    Raise `ValueError` if the chosen run has no cost.
    """
    first, second = fold_up(before), fold_up(after)
    places = drawable({"before": first, "after": second}[widths])
    costs = [{(*each.below, each.frame.name): each.frame.total for each in placed(root)} for root in (first, second)]
    whole = max(first.total, second.total)

    def look(each: Placed) -> tuple[svg.Attributes, str]:
        one, other = (run.get((*each.below, each.frame.name), 0.0) for run in costs)
        return {"fill": colour((other - one) / whole)}, f"{each.frame.name}: {unit(one)} before, {unit(other)} after"

    legend = [({"fill": colour(share)}, words) for share, words in _LEGEND.items()]
    facts = f"{unit(first.total)} before, {unit(second.total)} after. {_largest(first, second, unit)}"
    return picture(places, look, legend, title=title, description=facts)


def colour(share: float) -> str:
    """Return the colour of a difference: red above 0, blue below 0, grey near 0. `share` is a part of the whole."""
    if abs(share) < LITTLE:
        return "#e3e1dc"
    strength = min(abs(share) / MOST, 1.0)
    faded = round(225 - 105 * strength)
    return f"#f5{faded:02x}{faded:02x}" if share > 0 else f"#{faded:02x}{round(220 - 40 * strength):02x}f5"


def _largest(first: FlameFrame, second: FlameFrame, unit: units.Format) -> str:
    own = [own_cost_by_name(root) for root in (first, second)]
    pairs = {name: (own[0].get(name, 0.0), own[1].get(name, 0.0)) for name in (*own[0], *own[1])}
    most = sorted(pairs.items(), key=lambda item: -abs(item[1][1] - item[1][0]))[:4]
    words = [f"{name} {unit(one)} before and {unit(other)} after" for name, (one, other) in most]
    return f"Largest differences of own cost: {'; '.join(words)}."
