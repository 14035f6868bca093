"""Show a run as one HTML page, which needs no network and no JavaScript."""

from html import escape
from typing import Final

from harness.charts import svg
from harness.charts.plots import Axis
from harness.gate import wording
from harness.gate.outcomes import BenchmarkOutcome, Change, GateRun, GateVerdict
from harness.rendering import units

_MEANINGS: Final = {
    GateVerdict.SLOWER: "The cost here is higher than BASE's by more than the allowed change.",
    GateVerdict.BROKEN: "The test raises an exception here, so it fails.",
    GateVerdict.FAILED: "The process of BASE ended. This says nothing about the code here.",
    GateVerdict.UNDECIDED: "The interval contains the allowed change, higher or lower, so two verdicts are possible.",
    GateVerdict.SKIPPED: "pytest skips the test.",
    GateVerdict.VOID: "A control of the run failed, so its measurements prove nothing.",
    GateVerdict.NEW: "The test raises an exception only with BASE, mostly because BASE lacks what the test needs.",
    GateVerdict.SAME: "The cost here differs from BASE's by at most the allowed change.",
    GateVerdict.FASTER: "The cost here is lower than BASE's by more than the allowed change.",
}
_WIDTH, _HEIGHT, _MARGIN = 400, 28, 8  # of a chart, in units of its drawing
_SMALLEST_RANGE, _MOST_ALLOWED = 0.01, 20
"""A chart shows at least ±1 %, and at most 20 times the allowed change, so that small changes stay visible."""

_STYLE: Final = """
:root { color-scheme: light dark; --paper: #fcfcfa; --ink: #1c2024; --soft: #56606c; --line: #8a929c; --tint: #f1f2f0;
  --good: #12663a; --new: #0b5cad; --edge: #7a4d00; --alarm: #a3123a; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181c; --ink: #e6e8ea; --soft: #a3acb8; --line: #6b7480;
  --tint: #1e2329; --good: #74d19c; --new: #7db8f5; --edge: #edbb62; --alarm: #ff8fa9; } }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 60rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 0; font-weight: 500; } p { margin: .35rem 0; } .soft, footer { color: var(--soft); }
.stamp { margin: 1rem 0; padding: .6rem 1rem; border: 2px solid var(--edge); border-radius: .4rem; }
ol { list-style: none; margin: 0; padding: 0; } li { padding: .75rem 0; border-top: 1px solid var(--line); }
li b { margin-right: .5rem; } .number { font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; max-width: 40rem; margin: .4rem 0; background: var(--tint); }
path { fill: none; stroke: var(--soft); stroke-width: 1.5; } .allowed { stroke-dasharray: 4 3; }
.mark { fill: currentColor; stroke: none; } .bar { fill: currentColor; opacity: .45; }
path.beyond { stroke: currentColor; }
dt { font-weight: 600; } dd { margin: 0 0 .5rem; }
.slower, .broken { color: var(--alarm); } .failed, .undecided, .void { color: var(--edge); }
.new { color: var(--new); } .faster { color: var(--good); }
"""


def render(run: GateRun) -> str:
    """Return the page of a run."""
    title = f"{wording.headline(run)} {wording.comparison(run)}."
    stamp = f'<p class="stamp"><strong>{_html(wording.VOID_NEXT_STEP)}</strong></p>' if run.is_void else ""
    axis = _axis(run)
    outcomes = wording.worst_first(run)
    items = "\n".join(_item(run, outcome, axis) for outcome in outcomes)
    machine = f" on {run.machine}" if run.machine else ""
    facts = f"Measured on {run.started:%Y-%m-%d %H:%M %Z} in {units.seconds(run.spent_s)}{machine}."
    commit = f" BASE is the commit {run.commit}." if run.commit else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{_html(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<header>
<h1>{_html(wording.headline(run))}</h1>
<p>{_html(wording.comparison(run))}.</p>
</header>
<main>
{stamp}<p>{_html(wording.noise(run))}</p>
<h2>Benchmarks</h2>
{_legend(run, axis)}
<ol>
{items}
</ol>
<h2>What the verdicts mean</h2>
{_meanings(outcomes)}
</main>
<footer><p>{_html(facts + commit)}</p></footer>
</body>
</html>
"""


def _html(given: str) -> str:
    return escape(wording.text(given))


def _item(run: GateRun, outcome: BenchmarkOutcome, axis: Axis) -> str:
    verdict = outcome.verdict
    parts = [f'<h3><b class="{verdict}">{verdict.upper()}</b><bdi>{_html(outcome.name)}</bdi></h3>']
    if outcome.change:
        allowed = outcome.limit(run)
        own = "" if outcome.allowed is None else f", allowed: +{units.percent(allowed, 3)}"
        measured, interval = wording.changes(outcome.change, allowed)
        costs = " → ".join(filter(None, (wording.call_cost(run, cost) for cost in (outcome.base, outcome.here))))
        parts += [
            _chart(outcome.change, allowed, axis, verdict),
            f'<p class="number"><b>{measured}</b> ({interval}{own}), {run.cost} of a call: {costs}</p>',
        ]
    parts += [f"<p>{_html(explanation)}</p>" for explanation in [wording.explanation(run, outcome)] if explanation]
    if outcome.rounds:
        pairs = units.some(len({one.pair for one in outcome.rounds}), "pair")
        again = ", measured again with new processes" if outcome.measured_again else ""
        rounds = f"{units.some(len(outcome.rounds), 'round')} in {pairs} of processes{again}"
        parts.append(f'<p class="soft">{rounds}, {units.seconds(outcome.spent_s)}</p>')
    return f"<li>{''.join(parts)}</li>"


def _axis(run: GateRun) -> Axis:
    """Return the axis of all charts, with 0 in the middle."""
    ends = [abs(end) for one in run.outcomes if one.change for end in (one.change.low, one.change.high)]
    allowed = max(run.allowed, _SMALLEST_RANGE)
    reach = min(max([*ends, 2 * allowed]), _MOST_ALLOWED * allowed)
    return Axis(-reach, reach, _MARGIN, _WIDTH - _MARGIN)


def _legend(run: GateRun, axis: Axis) -> str:
    reach = units.percent(axis.high, 3)
    words = (
        f"A bar is the interval of the change, and the dot in it is the measured change. The solid line is 0, the cost "
        f"of BASE. The dashed line is the allowed change, +{units.percent(run.allowed, 3)}. Lower cost is on the left. "
        f"A chart ends at ±{reach}. An arrow shows that the interval goes on."
    )
    return f'<p class="soft">{_html(words)}</p>'


def _chart(change: Change, allowed: float, axis: Axis, verdict: GateVerdict) -> str:
    """Return the picture of an interval. Screen readers skip it, because the text below it has the same numbers."""
    middle, low, high = _HEIGHT / 2, axis.place(change.low), axis.place(change.high)
    shapes = [
        *(
            svg.line((axis.place(at), 0), (axis.place(at), _HEIGHT), class_=name)
            for at, name in ((0, "zero"), (allowed, "allowed"))
        ),
        svg.rect(low, middle - 4, max(high - low, 1), 8, class_="bar"),
        *(_arrow(axis.place(end), end > 0) for end in (change.low, change.high) if abs(end) > axis.high),
    ]
    if abs(change.measured) <= axis.high:
        shapes.append(svg.element("circle", cx=axis.place(change.measured), cy=middle, r=5, class_="mark"))
    size = f"0 0 {_WIDTH} {_HEIGHT}"
    return svg.element("svg", "".join(shapes), viewBox=size, class_=verdict.value, aria_hidden="true")


def _arrow(x: float, right: bool) -> str:
    tip, middle = x + (_MARGIN - 2) * (1 if right else -1), _HEIGHT / 2
    return svg.line((x, middle - 6), (tip, middle), (x, middle + 6), class_="beyond")


def _meanings(outcomes: list[BenchmarkOutcome]) -> str:
    found = dict.fromkeys(outcome.verdict for outcome in outcomes)
    return f"<dl>{''.join(f'<dt>{one.upper()}</dt><dd>{_html(_MEANINGS[one])}</dd>' for one in found)}</dl>"
