"""How restless is this machine just now? The same code against itself, whose true ratio is 1.

One record of short blocks is read in two ways. Cut into halves, one timed after the other by the wall
clock, it errs as a plain benchmark of this length would; taken as rounds of neighbouring blocks on the CPU
clock, with the median of their ratios, it errs as a duel of this length would. Whatever differs is the
method, not the machine.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from harness import clocks, units
from harness.blocks import COUNTED, Statement, calibrate, steady, timing_loop
from harness.clocks import Clock
from harness.errors import UsageError
from harness.rounds import Reading, Round

RESTLESS = 0.02
"""From this error on a machine is restless: plain timings of one code differ by twice a duel's usual margin."""

WINDOW_S = 0.04
"""Length of one comparison of the code with itself: 0.02 s a side, about 25 rounds of blocks."""

_FEWEST_WINDOWS = 4


@dataclass(frozen=True, slots=True)
class Noise:
    """What the same code differed from itself, as |log ratio| (0.031: 3.1 %) of every window of the record.

    `naive` compares the two halves of a window, `paired` its neighbouring blocks. `blocks` is the raw record.
    """

    naive: tuple[float, ...]
    paired: tuple[float, ...]
    blocks: tuple[Reading, ...]

    @property
    def naive_p95(self) -> float:
        """The error that 95 % of plain comparisons stay below."""
        return p95(self.naive)

    @property
    def naive_worst(self) -> float:
        """The largest error of a plain comparison."""
        return max(self.naive)

    @property
    def paired_p95(self) -> float:
        """The error that 95 % of paired comparisons stay below."""
        return p95(self.paired)

    @property
    def paired_worst(self) -> float:
        """The largest error of a paired comparison."""
        return max(self.paired)

    @property
    def restless(self) -> bool:
        """Whether plain timings cannot tell a difference of `RESTLESS` today."""
        return self.naive_p95 >= RESTLESS

    def __str__(self) -> str:
        mood = "restless" if self.restless else "quiet"
        return (
            f"{mood} today (the same code against itself: ±{units.percent(self.naive_p95)}, "
            f"in paired rounds ±{units.percent(self.paired_p95)})"
        )


def aa_control(
    statement: Statement = "sum(values)",
    *,
    setup: str = "values = list(range(1000))",
    globals: Mapping[str, object] | None = None,  # noqa: A002 - timeit's word for it
    budget_s: float = 0.4,
    clock: Clock = COUNTED,
    wall: Clock = clocks.wall,
) -> Noise:
    """Time `statement` in blocks for `budget_s` of wall time, and tell how it seems to differ from itself.

    Raises `UsageError` for a budget or a statement too long to give a few windows of several blocks.
    """
    if not _FEWEST_WINDOWS * WINDOW_S <= budget_s < math.inf:
        raise UsageError(f"An A/A control needs a budget_s of at least {_FEWEST_WINDOWS * WINDOW_S} s.")
    loop = timing_loop(statement, setup=setup, globals=globals, clock=clock, wall=wall)
    blocks: list[Reading] = []
    with steady():
        full = calibrate(loop)
        if full.calls == 1 and full.wall_s > WINDOW_S / 4:  # of more calls, a long block is one that was interrupted
            raise UsageError(
                f"One call takes {units.seconds(full.wall_s)}; a control needs calls below {WINDOW_S / 4} s."
            )
        spent_s = 0.0
        while spent_s < budget_s:
            blocks.append(loop(full.calls))
            spent_s += blocks[-1].wall_s
    return noise_of(blocks)


def noise_of(blocks: Sequence[Reading]) -> Noise:
    """Return the noise in a record of blocks of the same code. What follows the last full window is left out.

    Raises `UsageError` for a record shorter than one window of two blocks.
    """
    windows = [window for window in _windows(blocks) if len(window) > 1]
    if not windows:
        raise UsageError(f"Noise is told from windows of {WINDOW_S} s; record at least one, of two blocks or more.")
    return Noise(
        naive=tuple(abs(math.log(_naive_ratio(window))) for window in windows),
        paired=tuple(abs(math.log(_paired_ratio(window))) for window in windows),
        blocks=tuple(blocks),
    )


def _windows(blocks: Sequence[Reading]) -> list[list[Reading]]:
    windows: list[list[Reading]] = []
    window: list[Reading] = []
    spent_s = 0.0
    for block in blocks:
        window.append(block)
        spent_s += block.wall_s
        if spent_s >= WINDOW_S:
            windows.append(window)
            window, spent_s = [], 0.0
    return windows


def _naive_ratio(window: Sequence[Reading]) -> float:
    """Return mean wall time a call of the first half ÷ the same of the second."""
    middle = len(window) // 2
    first, second = window[:middle], window[middle:]
    return _wall_per_call_s(first) / _wall_per_call_s(second)


def _wall_per_call_s(blocks: Sequence[Reading]) -> float:
    return sum(block.wall_s for block in blocks) / sum(block.calls for block in blocks)


def _paired_ratio(window: Sequence[Reading]) -> float:
    """Return the median ratio of neighbouring blocks."""
    neighbours = zip(window[::2], window[1::2], strict=False)
    return median(Round(0, first, second, baseline_first=True).ratio for first, second in neighbours)


def p95(errors: Sequence[float]) -> float:
    """Return what 95 % of `errors` stay below, in their unit; of one alone, that one."""
    return quantiles(errors, n=20, method="inclusive")[-1] if len(errors) > 1 else errors[0]
