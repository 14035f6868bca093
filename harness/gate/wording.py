"""Describe a run and its outcomes in the words and numbers that all its reports share."""

import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from harness.gate.outcomes import BenchmarkOutcome, Change, GateRun, GateVerdict
from harness.gate.settings import GateCost
from harness.rendering import units
from harness.rendering.texts import shown

_WORST_FIRST: Final = (
    GateVerdict.SLOWER,
    GateVerdict.BROKEN,
    GateVerdict.FAILED,
    GateVerdict.UNDECIDED,
    GateVerdict.VOID,
    GateVerdict.NEW,
    GateVerdict.SKIPPED,
    GateVerdict.SAME,
    GateVerdict.FASTER,
)
_MOST_ROWS: Final = 40
"""The most rows of a table in a log. More are printed only if more outcomes have a next step."""

_NEXT_STEPS: Final = {
    GateVerdict.SLOWER: "Lower its {what}, or allow the change if it is worth it: @pytest.mark.duel(allow={allow})",
    GateVerdict.BROKEN: "Run the test alone, and repair it: pytest {name}",
    GateVerdict.FAILED: "Measure it alone: pytest {name} {options}",
    GateVerdict.UNDECIDED: "Measure longer, on a machine without other work: pytest {name} {options} --duel-limit 60",
}
VOID_NEXT_STEP: Final = "No verdict of this run holds. Run the same command again, on a machine without other work."


def text(given: str) -> str:
    """Return a name or a message as one line, without characters that act on a terminal or a page."""
    return shown(given, lines=False)


def worst_first(run: GateRun) -> list[BenchmarkOutcome]:
    """Return the outcomes, the worst verdict first, and those with the same verdict by falling change."""

    def place(outcome: BenchmarkOutcome) -> tuple[int, float, str]:
        return _WORST_FIRST.index(outcome.verdict), -outcome.change.measured if outcome.change else 0.0, outcome.name

    return sorted(run.outcomes, key=place)


def rows_of(run: GateRun) -> tuple[list[BenchmarkOutcome], str]:
    """Return the outcomes for a table in a log, and a sentence about those that are left out of it, or ""."""
    found = worst_first(run)
    most = max(_MOST_ROWS, sum(outcome.verdict in _NEXT_STEPS for outcome in found))
    return found[:most], f"The table leaves out {_counts(found[most:])}." if found[most:] else ""


def comparison(run: GateRun) -> str:
    """Return what the run compared: "Compared with main (1a2b3c4d5e): CPU time, changes up to 3 % allowed"."""
    commit = "" if run.commit.startswith(run.base) or not run.commit else f" ({run.commit[:10]})"
    return f"Compared with {text(run.base)}{commit}: {run.cost}, changes up to {units.percent(run.allowed, 3)} allowed"


def headline(run: GateRun) -> str:
    """Return whether the run is red, and the number of outcomes with each verdict."""
    is_red = any(map(run.is_red, run.outcomes))
    state = "is void" if run.is_void else "only reports" if run.shadow else "is red" if is_red else "is not red"
    return f"The run {state}: {_counts(run.outcomes) or 'it has no benchmark'}."


def _counts(outcomes: Iterable[BenchmarkOutcome]) -> str:
    found = Counter(outcome.verdict for outcome in outcomes)
    return ", ".join(f"{units.count(found[verdict])} {verdict}" for verdict in _WORST_FIRST if verdict in found)


def noise(run: GateRun) -> str:
    """Return the noise that the controls found: the widest interval, of the failed controls if one failed."""
    failed = [control for control in run.controls if control.failed]
    control = max(failed or run.controls, key=lambda one: one.change.high - one.change.low, default=None)
    if control is None:
        return "Noise: unknown, because no control ran."
    found = f"BASE against itself differs by {in_brackets(control.change, run.allowed)} on {text(control.name)}."
    found += " The true change is 0."
    return f"The control failed. {found}" if failed else f"Noise: {found}"


def changes(change: Change, allowed: float) -> tuple[str, str]:
    """Return a change and its interval as texts: "+12.3 %", "+10.1 to +14.5 %".

    The texts have the decimals that the interval supports, but at least those of `allowed`. The ends are rounded
    outwards. So the text of an end is not beyond `allowed` if the end itself is not.
    """
    decimals = max(_decimals_of(allowed), _decimals((change.high - change.low) / 2))
    low, high = _percent(change.low, decimals, math.floor), _percent(change.high, decimals, math.ceil)
    return f"{_percent(change.measured, decimals, round)} %", f"{low} to {high} %"


def in_brackets(change: Change, allowed: float) -> str:
    """Return a change with its interval in brackets: "+12.3 % (+10.1 to +14.5 %)"."""
    measured, interval = changes(change, allowed)
    return f"{measured} ({interval})"


def _decimals(half: float) -> int:
    """Return the decimals for half an interval: two digits if it begins with less than 3.55, and one otherwise."""
    return next((decimals for decimals in range(3) if half * 100 >= 3.55 / 10**decimals), 3 if half == 0 else 2)


def _decimals_of(allowed: float) -> int:
    return next((n for n in range(3) if math.isclose(round(allowed * 100, n), allowed * 100, abs_tol=1e-9)), 3)


def _percent(fraction: float, decimals: int, rounded: Callable[[float], int]) -> str:
    scaled = fraction * 100 * 10**decimals
    if not math.isfinite(scaled):
        return "∞"
    near = round(scaled)  # 0.03 × 100 is a little more than 3
    whole = near if math.isclose(scaled, near, rel_tol=1e-9, abs_tol=1e-6) else rounded(scaled)
    return f"{whole / 10**decimals:+,.{decimals}f}".replace(",", " ")


def call_cost(run: GateRun, value: float | None) -> str:
    """Return the cost of one call with its unit, or "" if it is None."""
    return "" if value is None else GateCost(run.cost).unit(value)


def next_step(run: GateRun, outcome: BenchmarkOutcome) -> str:
    """Return what the user can do about an outcome, or "" if there is nothing to do."""
    change = outcome.change
    allow = math.ceil(change.high * 100 - 1e-9) / 100 if change and math.isfinite(change.high) else "…"
    cost = "" if run.cost == GateCost.CPU else f" --duel-cost {GateCost(run.cost).name.lower()}"
    name, options = shlex.quote(text(outcome.name)), f"--duel {shlex.quote(text(run.base))}{cost}"
    found = _NEXT_STEPS.get(outcome.verdict, "")
    return found.format(allow=allow, what=run.cost, name=name, options=options)


def explanation(run: GateRun, outcome: BenchmarkOutcome) -> str:
    """Return why the outcome has its verdict, as far as this is known, and what to do next. It may be ""."""
    why = text(outcome.why)
    return " ".join(filter(None, (f"{why.rstrip('.')}." if why else "", next_step(run, outcome))))
