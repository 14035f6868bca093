"""Measure the noise of this machine: compare the same code with itself, so that the true ratio is 1."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from harness.errors import UsageError
from harness.paired.blocks import calibrate, gc_off_one_thread, timing_loop
from harness.paired.rounds import Reading
from harness.rendering import units

NOISY = 0.02
"""A machine counts as noisy if unpaired comparisons of equal code err by twice a duel's usual margin or more."""

WINDOW_S = 0.04
"""Length of one comparison of the code with itself in seconds: two halves of 0.02 s, or about 25 rounds of blocks."""

_FEWEST_WINDOWS = 4


@dataclass(frozen=True, slots=True)
class Noise:
    """The errors of comparisons of code with itself, as |log ratio|: 0.031 is 3.1 %. There is one per window of blocks.

    `unpaired` compares the wall times of its halves, as an ordinary benchmark does. `paired` is the median of the
    ratios of neighbouring blocks' CPU times, as in a duel.
    """

    unpaired: tuple[float, ...]
    paired: tuple[float, ...]

    @property
    def unpaired_p95(self) -> float:
        """The 95th percentile of the errors of unpaired comparisons."""
        return p95(self.unpaired)

    @property
    def noisy(self) -> bool:
        """Whether unpaired timings are too noisy to detect a difference of `NOISY`."""
        return self.unpaired_p95 >= NOISY

    def __str__(self) -> str:
        unpaired, paired = units.percent(self.unpaired_p95), units.percent(p95(self.paired))
        return f"noise today: two timings of the same code differ by {unpaired}, or by {paired} if they alternate"


def aa_control(budget_s: float = 0.4) -> Noise:
    """Compare a short statement with itself for `budget_s` seconds of wall time, and return the noise of the machine.

    Raise `UsageError` if `budget_s` is too small.
    """
    if not _FEWEST_WINDOWS * WINDOW_S <= budget_s < math.inf:
        raise UsageError(f"An A/A control needs a budget_s of at least {_FEWEST_WINDOWS * WINDOW_S} s.")
    loop = timing_loop("sum(values)", setup="values = list(range(1000))")
    blocks: list[Reading] = []
    with gc_off_one_thread():
        calls, spent_s = calibrate(loop).calls, 0.0
        while spent_s < budget_s:
            blocks.append(loop(calls))
            spent_s += blocks[-1].wall_s
    return noise_of(blocks)


def noise_of(blocks: Sequence[Reading]) -> Noise:
    """Return the noise in a series of blocks of the same code, or raise `UsageError` if it is too short."""
    windows: list[list[Reading]] = [[]]
    for block in blocks:
        if sum(one.wall_s for one in windows[-1]) >= WINDOW_S:
            windows.append([])
        windows[-1].append(block)
    if sum(one.wall_s for one in windows[-1]) < WINDOW_S:
        windows.pop()
    windows = [window for window in windows if len(window) > 1]
    if not windows:
        raise UsageError(f"Noise needs windows of {WINDOW_S} s; record at least one window with two or more blocks.")
    return Noise(
        unpaired=tuple(abs(math.log(_unpaired_ratio(window))) for window in windows),
        paired=tuple(abs(math.log(_paired_ratio(window))) for window in windows),
    )


def _unpaired_ratio(window: Sequence[Reading]) -> float:
    middle = len(window) // 2
    first, second = (
        sum(block.wall_s for block in half) / sum(block.calls for block in half)
        for half in (window[:middle], window[middle:])
    )
    return first / second


def _paired_ratio(window: Sequence[Reading]) -> float:
    neighbours = zip(window[::2], window[1::2], strict=False)
    return median(first.call_s() / second.call_s() for first, second in neighbours)


def p95(errors: Sequence[float]) -> float:
    """Return the 95th percentile of `errors`. If there is only one error, return this error."""
    return quantiles(errors, n=20, method="inclusive")[-1] if len(errors) > 1 else errors[0]
