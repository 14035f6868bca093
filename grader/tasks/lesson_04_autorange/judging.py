"""Check a measurement of lesson 04: compare its blocks and statistics with the truth and the blocks that were run.

Only the first broken rule of the exercise is reported.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grader.task import Array, Mismatch
from grader.tasks.plain import as_number, is_whole, off_by, shown
from grader.values import Value
from harness.rendering import units

STEPS_IN_A_BLOCK = 100
"""A block must last this many steps of the clock, so that the clock's error is at most 1 % of it."""

FEWEST_SAMPLES = 10
"""An answer needs at least this many samples, because the IQR of fewer samples is unreliable."""

MEDIAN_ALLOWED = 0.02
"""The allowed error of the median, as a share of the right answer."""

FORGIVEN = 0.05
"""A block may last this share less than required, because a submission can only measure its length."""

SAME_NUMBER = 1e-6
"""The same statistic of the same samples may differ by this share, because of rounding."""

LOOKS_LONGER = 1.2
"""A block that took this many times its undisturbed time may have made the student choose too small a block."""

STEPS_OFF = 1
"""A sample may differ from the time that the clock showed for its block by this many of the clock's steps.

So a submission may subtract the time of a reading, or read the clock once more after the block.
"""

MOST_COMPARED = 10**6
"""With more blocks than samples, consecutive blocks are chosen in several ways, the last first. This many numbers are
compared at most, so that the time of a judgement is limited.
"""


MOST_RUNS = 10**9
"""The largest accepted argument of `run`. No block needs more runs, so a larger number is a typing error."""


@dataclass(frozen=True, slots=True)
class TimedBlock:
    """A block that was run: the number of runs, and their simulated time in seconds.

    `shown_s` is the difference of the clock's readings right before and right after the block, or None if one of these
    readings is missing.
    """

    runs: int
    seconds: float
    shown_s: float | None = None


@dataclass(frozen=True, slots=True)
class RunTruth:
    """The true time of one run, the clock's step, and the required time to measure, in seconds."""

    per_run_s: float
    step_s: float
    min_run_time_s: float


@dataclass(frozen=True, slots=True)
class Measured:
    """A submission's answer: block size, samples, median and IQR."""

    block_size: int
    samples_s: tuple[float, ...]
    median_s: float
    iqr_s: float


def judge(answer: Value, truth: RunTruth, log: Sequence[TimedBlock]) -> Mismatch | None:
    """Return a `Mismatch` for the first rule that the answer breaks, or None if it is right."""
    measured = _take_apart(answer)
    if isinstance(measured, Mismatch):
        return measured
    return (
        _blocks_long_enough(measured, truth, log)
        or _samples_enough(measured, truth, log)
        or _samples_were_run(measured, truth, log)
        or _statistics_fit(measured)
        or _median_is_true(measured, truth, log)
    )


def _take_apart(answer: Value) -> Measured | Mismatch:
    form = "(block size, samples, median, IQR)"
    if isinstance(answer, str | Mapping) or not isinstance(answer, Sequence) or len(answer) != 4:
        return Mismatch(form, shown(answer), f"Return four things: {form}.")
    block_size, samples, median, iqr = answer
    if not is_whole(block_size, 1, MOST_RUNS):
        return Mismatch(f"a block size: a whole number from 1 to {MOST_RUNS}", shown(block_size))
    if isinstance(samples, str | Mapping) or not isinstance(samples, Sequence):
        return Mismatch("the samples as a list of seconds", shown(samples))
    numbers = [number for sample in samples if (number := as_number(sample)) is not None]
    if len(numbers) < len(samples):
        odd = next(sample for sample in samples if as_number(sample) is None)
        return Mismatch("every sample a number of seconds", shown(odd))
    median_s, iqr_s = as_number(median), as_number(iqr)
    if median_s is None or iqr_s is None:
        return Mismatch("median and IQR as numbers of seconds", f"{shown(median)} and {shown(iqr)}")
    return Measured(block_size, tuple(numbers), median_s, iqr_s)


def _blocks_long_enough(measured: Measured, truth: RunTruth, log: Sequence[TimedBlock]) -> Mismatch | None:
    needed_s = STEPS_IN_A_BLOCK * truth.step_s
    block_s = measured.block_size * truth.per_run_s
    if block_s >= needed_s * (1 - FORGIVEN):
        return None
    return Mismatch(
        f"a block of at least {units.seconds(needed_s)}: {STEPS_IN_A_BLOCK} steps of this clock",
        f"a block size of {units.count(measured.block_size)}: {units.seconds(block_s)} undisturbed",
        _misled(measured, truth, log),
    )


def _misled(measured: Measured, truth: RunTruth, log: Sequence[TimedBlock]) -> str:
    chosen = next((place for place, block in enumerate(log) if block.runs == measured.block_size), len(log))
    looked = [
        block
        for block in log[: chosen + 1]
        if block.shown_s is not None and block.seconds >= LOOKS_LONGER * block.runs * truth.per_run_s
    ]
    if not looked:
        return ""
    block = max(looked, key=lambda one: one.seconds)
    cause = "this block includes the slow first run" if block is log[0] else "another program was running"
    return (
        f"Your block of {units.some(block.runs, 'run')} took {units.seconds(block.seconds)} instead of "
        f"{units.seconds(block.runs * truth.per_run_s)}: {cause}. If you chose the block size by that block, you chose "
        "too small a size."
    )


def _samples_enough(measured: Measured, truth: RunTruth, log: Sequence[TimedBlock]) -> Mismatch | None:
    number = len(measured.samples_s)
    if number < FEWEST_SAMPLES:
        remark = f"Measure until there are {FEWEST_SAMPLES} samples, even if that takes longer than min_run_time."
        return Mismatch(f"at least {FEWEST_SAMPLES} samples", f"{number}", remark)
    total_s = sum(measured.samples_s) * measured.block_size
    if total_s >= truth.min_run_time_s * (1 - FORGIVEN):
        return None
    return Mismatch(
        f"blocks that take {units.seconds(truth.min_run_time_s)} together (min_run_time)",
        f"{units.count(number)} blocks of {units.count(measured.block_size)}: {units.seconds(total_s)}",
        "Measure more blocks."
        if _samples_were_run(measured, truth, log) is None
        else (
            "Each sample must be the time of its block, divided by the block size. Some of your samples have a "
            "different value."
        ),
    )


def _samples_were_run(measured: Measured, truth: RunTruth, log: Sequence[TimedBlock]) -> Mismatch | None:
    """Return a `Mismatch` unless the samples, in any order, are those of timed blocks that were run one after another.

    Blocks of other sizes may lie between them.
    """
    size, number = measured.block_size, len(measured.samples_s)
    shown_s = np.array([block.shown_s for block in log if block.runs == size and block.shown_s is not None]) / size
    if len(shown_s) < number:
        return Mismatch(
            f"one sample for each block of {units.count(size)}",
            f"{number} samples from {len(shown_s)} such blocks",
            "All samples must come from blocks of the size that you return, with readings of the clock around each.",
        )
    claimed_s = np.sort(measured.samples_s)
    allowed_s = STEPS_OFF * truth.step_s / size + SAME_NUMBER * claimed_s
    starts = range(len(shown_s) - number, -1, -1)[: max(1, MOST_COMPARED // number)]
    if any(np.all(abs(np.sort(shown_s[at : at + number]) - claimed_s) <= allowed_s) for at in starts):
        return None
    for sample_s, most_s in zip(claimed_s.tolist(), allowed_s.tolist(), strict=True):
        nearest_s = float(shown_s[np.argmin(abs(shown_s - sample_s))])
        if abs(nearest_s - sample_s) > most_s:
            return Mismatch(
                f"seconds per run, as in the nearest block: {units.seconds(nearest_s, 4)}",
                units.seconds(sample_s, 4),
                _odd_sample(sample_s, shown_s * size, truth),
            )
    return Mismatch(
        f"the samples of {number} blocks, one after another",
        f"other samples from your {len(shown_s)} blocks of {units.count(size)}",
        "Return one sample for each block that you measured. Leave no block out, and use no block twice.",
    )


def _odd_sample(sample_s: float, blocks_s: Array, truth: RunTruth) -> str:
    if np.any(abs(blocks_s - sample_s) <= STEPS_OFF * truth.step_s):
        return "Your answer is the time of a whole block: divide this time by the block size."
    return "A sample must be the difference of the readings right before and after a block, divided by its runs."


def _statistics_fit(measured: Measured) -> Mismatch | None:
    samples = measured.samples_s
    low, high = statistics.median_low(samples), statistics.median_high(samples)
    if not _between(measured.median_s, low, high):
        expected = f"the median of your samples: {units.seconds(statistics.median(samples), 4)}"
        mean = statistics.fmean(samples)
        remark = "This is their mean." if _between(measured.median_s, mean, mean) else ""
        return Mismatch(expected, units.seconds(measured.median_s, 4), remark)
    narrow_s, wide_s = _iqr_range(samples)
    if not _between(measured.iqr_s, narrow_s, wide_s):
        expected = f"the IQR of your samples: {units.seconds(wide_s)}"
        remark = "The IQR is the third quartile minus the first quartile."
        return Mismatch(expected, units.seconds(measured.iqr_s), remark)
    return None


def _iqr_range(samples: Sequence[float]) -> tuple[float, float]:
    q1_low, q1_high = (float(np.quantile(samples, 0.25, method=method)) for method in ("lower", "higher"))
    q3_low, q3_high = (float(np.quantile(samples, 0.75, method=method)) for method in ("lower", "higher"))
    q1, _, q3 = statistics.quantiles(samples, n=4)
    return q3_low - q1_high, max(q3_high - q1_low, q3 - q1)


def _between(value: float, low: float, high: float) -> bool:
    slack = SAME_NUMBER * abs(high)
    return low - slack <= value <= high + slack


def _median_is_true(measured: Measured, truth: RunTruth, log: Sequence[TimedBlock]) -> Mismatch | None:
    if abs(off_by(measured.median_s, truth.per_run_s)) <= MEDIAN_ALLOWED:
        return None
    apart = units.deviation(measured.median_s, truth.per_run_s, "too long", "too short")
    return Mismatch(
        f"a median of {units.seconds(truth.per_run_s, 4)}, within {units.percent(MEDIAN_ALLOWED)}",
        f"{units.seconds(measured.median_s, 4)}, {apart}",
        _disturbed(measured, truth, log),
    )


def _disturbed(measured: Measured, truth: RunTruth, log: Sequence[TimedBlock]) -> str:
    blocks = [block for block in log if block.runs == measured.block_size]
    hit = sum(block.seconds > (1 + 2 * MEDIAN_ALLOWED) * block.runs * truth.per_run_s for block in blocks)
    if 2 * hit < len(blocks):
        return ""
    block_s = measured.block_size * truth.per_run_s
    return (
        f"Another program disturbed {hit} of your {len(blocks)} blocks. An undisturbed block of this size lasts "
        f"{units.seconds(block_s)}. A median is right only if more than half of the blocks are undisturbed: use "
        "shorter blocks."
    )
