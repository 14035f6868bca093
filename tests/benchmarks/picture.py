"""Draw the results of several timing tools as one SVG: errors and false verdicts of each tool under each load."""

from collections.abc import Mapping
from functools import partial
from html import escape
from io import StringIO

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from tally import MARGIN, Score

from harness.rendering import units

_MARKS = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#CC79A7", "D"))
"""A colour and a shape for each load. The colours of Okabe and Ito remain distinct for colour-blind readers."""

_LEAST_ERROR, _LARGEST_ERROR = 1e-4, 3.0
"""The ends of the logarithmic axis of errors. Errors beyond them are drawn at the end."""


def svg(scores: Mapping[str, Mapping[str, Score]]) -> str:
    """Return the picture of the scores by load and by reading (a figure of a tool), with a title and a description."""
    readings = list(dict.fromkeys(reading for by_reading in scores.values() for reading in by_reading))
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "verdicts", "font.size": 10}):
        figure = Figure(figsize=(9.6, 1.6 + 0.42 * len(readings)), layout="constrained")
        errors, wrong = figure.subplots(1, 2, sharey=True, gridspec_kw={"wspace": 0.08})
        for axes in (errors, wrong):
            _rows(axes, readings)
        for place, (load, by_reading) in enumerate(scores.items()):
            # Marks of one row are shifted slightly by load, so that equal values do not hide each other.
            above = 0.16 * (place - (len(scores) - 1) / 2)
            heights = [readings.index(reading) + above for reading in by_reading]
            _marks(errors, wrong, list(by_reading.values()), heights, load, *_MARKS[place % len(_MARKS)])
        _label(errors, wrong)
        figure.legend(*errors.get_legend_handles_labels(), loc="outside lower center", ncols=len(scores), frameon=False)
        written = StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    return _with_words(written.getvalue(), _title(), _description(scores))


def _marks(
    errors: Axes, wrong: Axes, known: list[Score], heights: list[float], load: str, colour: str, shape: str
) -> None:
    """Draw one load: a mark per reading. A hollow mark to the right of it adds the undecided verdicts."""
    draw = partial(Line2D, color=colour, marker=shape, markersize=6, clip_on=False)
    errors.add_line(
        draw(
            [min(max(one.error_p95, _LEAST_ERROR), _LARGEST_ERROR) for one in known],
            heights,
            linestyle="none",
            label=load,
        )
    )
    for one, height in zip(known, heights, strict=True):
        open_too = one.false_rate + one.undecided_rate
        wrong.add_line(draw([one.false_rate, open_too], [height, height], markerfacecolor="white", linewidth=1))
        wrong.add_line(draw([one.false_rate], [height]))


def _rows(axes: Axes, readings: list[str]) -> None:
    """Draw one line per reading; fairclock's readings have a pale background."""
    for row, reading in enumerate(readings):
        if reading.startswith("duel"):
            axes.axhspan(row - 0.5, row + 0.5, color="#f0f0f0", zorder=0)
        if row:
            axes.axhline(row - 0.5, color="#e0e0e0", linewidth=0.8, zorder=0)
    axes.set_yticks(range(len(readings)), readings)
    axes.set_ylim(len(readings) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.grid(axis="x", color="#d0d0d0", linewidth=0.6)


def _label(errors: Axes, wrong: Axes) -> None:
    errors.set_xscale("log")
    errors.set_xlim(_LEAST_ERROR, _LARGEST_ERROR)
    errors.xaxis.set_major_formatter(lambda value, _: units.percent(value, 1))
    errors.axvline(MARGIN, color="#444444", linewidth=1, linestyle=(0, (4, 3)))
    errors.set_xlabel(f"error that 95 % stay below (dashed: the margin, {units.percent(MARGIN)})")
    wrong.set_xlim(0, 1)
    wrong.xaxis.set_major_formatter(lambda value, _: units.percent(value, 2))
    wrong.set_xlabel("verdicts that are false (hollow: and undecided)")


def _title() -> str:
    return "How far tools err, and how often their verdict is false, by what else the machine does"


def _description(scores: Mapping[str, Mapping[str, Score]]) -> str:
    return " ".join(
        f"Machine {load}: "
        + "; ".join(
            f"{reading} {units.percent(known.error_p95)} error, {units.percent(known.false_rate)} false, "
            f"{units.percent(known.undecided_rate)} undecided"
            for reading, known in by_reading.items()
        )
        + "."
        for load, by_reading in scores.items()
    )


def _with_words(picture: str, title: str, description: str) -> str:
    """Add a title and a description as the first elements, where screen readers look for them."""
    begin = picture.index("<svg ")
    end = picture.index(">", begin)
    words = f"<title>{escape(title)}</title>\n <desc>{escape(description)}</desc>"
    root = picture[begin:end] + ' role="img">'
    return f"{picture[:begin]}{root}\n {words}{picture[end + 1 :]}"
