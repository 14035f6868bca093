"""Remove noise from torch's `FunctionCounts`, or draw them."""

from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import FunctionCounts

from harness.callgrind.lookups import searches
from harness.charts.pictures import bar_chart_svg
from harness.rendering.units import count


def denoise(counts: FunctionCounts) -> FunctionCounts:
    """Return the counts without dictionary lookups, whose counts are noisy.

    torch's `FunctionCounts.denoise` does not remove the lookups of new Python versions.
    """
    noise = {function for _, function in searches(counts)}
    return counts.denoise().filter(lambda function: function not in noise)


def picture(counts: FunctionCounts, *, title: str) -> str:
    """Return an SVG picture of the 15 functions with the largest counts.

    If `counts` is a difference of two counts, the picture shows the largest changes.
    """
    largest = sorted(counts, key=lambda each: -abs(each.count))[:15]
    ordered = sorted(largest, key=lambda each: -each.count)
    total = f"{counts.sum():,} instructions in all.".replace(",", " ")
    return bar_chart_svg([(each.function, each.count) for each in ordered], title=title, description=total, unit=count)
