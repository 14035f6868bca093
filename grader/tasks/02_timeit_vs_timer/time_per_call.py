"""Task (a): how long does one call take? Warm up, time many calls at once, keep the best of several blocks.

The worlds are drawn in *steps*, the smallest change that two readings of the clock can show. One call is too
short for the clock (a single one is wrong by up to a tenth), while an interruption comes every 1000 to 1300
steps and lasts 300 to 500. So a block has to hold between 130 steps, where clock and reading make 1 %, and
about 500, below which two blocks in a row cannot both be hit.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from grader.records import Cost
from grader.task import MeteredExam, Scenario, Task, Tier
from grader.tasks.simulated import CALM, STANDSTILL, LateWeather, Machine, early_calls, shuffled

from .worlds import CallWorld

COLD_CALLS = 3
SHORT_STEPS = (8.5, 11.5)
LONG_STEPS = (150.0, 190.0)
MOST_EARLY_CALLS = 40
"""Warm calls within which the first interruption comes."""

EACH = 12
"""Worlds of each kind with interruptions."""


def scenarios(rng: np.random.Generator) -> Sequence[Scenario]:
    """Draw the worlds of one exam, in random order: a calm one, and `EACH` of three kinds with interruptions.

    The first interruption hits another of the early calls in each world of a kind. So a method that one interruption at
    the wrong moment leads astray meets it in every exam, not only in some.
    """
    disturbed = (
        ("a short call, interrupted now and then", SHORT_STEPS, 0.3),
        ("a longer call, interrupted now and then", LONG_STEPS, 0.3),
        ("a clock that takes long to read, interruptions", SHORT_STEPS, 1.0),
    )
    worlds = [_world(rng, "a short call, nobody disturbs", SHORT_STEPS, 0.3, None)]
    worlds += [_world(rng, *kind, first) for kind in disturbed for first in early_calls(rng, MOST_EARLY_CALLS, EACH)]
    return shuffled(rng, worlds)


def _world(
    rng: np.random.Generator,
    title: str,
    call_steps: tuple[float, float],
    reading_steps: float,
    first: int | None,
) -> CallWorld:
    """Draw a world in which the first interruption hits the `first` warm call; None for no interruptions."""
    step_s = float(rng.uniform(0.4e-6, 2.5e-6))
    per_call_s = step_s * float(rng.uniform(*call_steps))
    machine = Machine(
        tick_s=step_s if reading_steps < 1 else step_s / 20,
        reading_s=step_s * reading_steps,
        origin_s=float(rng.uniform(10, 1000)),
        weather=CALM if first is None else _interruptions(rng, step_s),
    )
    cold_s = tuple(per_call_s * float(slow) for slow in rng.uniform(30, 60, COLD_CALLS))
    interrupted = None if first is None else COLD_CALLS + first
    return CallWorld("time_per_call", "fn", title, machine, per_call_s, cold_s, interrupted)


def _interruptions(rng: np.random.Generator, step_s: float) -> LateWeather:
    """Draw a weather in which nothing gets done for 300 to 500 steps, again after every 1000 to 1300."""
    quiet = rng.uniform(1000, 1300, 64) * step_s
    stall = rng.uniform(300, 500, 64) * step_s
    pairs = zip(quiet.tolist(), stall.tolist(), strict=True)
    return LateWeather([part for quiet_s, stall_s in pairs for part in ((stall_s, STANDSTILL), (quiet_s, 1.0))])


TIME_PER_CALL = Task(
    lesson="02_timeit_vs_timer",
    name="time_per_call",
    summary="the seconds one call takes, within 1 %, in few calls",
    points=10.0,
    cost=Cost.CALLS,
    tiers=(Tier(1.4, 0.6), Tier(2.6, 0.8), Tier(4.5, 1.0)),
    hints=(
        (
            "One call is hardly longer than the smallest change the clock can show. What could you read off "
            "it for sure if you let fn run many times?"
        ),
        (
            "Time a block of calls between two readings and divide. Whatever disturbs a block only ever "
            "makes it longer: which of several blocks do you believe? And does a block ten times as long "
            "meet more disturbances, or fewer?"
        ),
        (
            "Call fn a few times unmeasured. Find the clock's smallest step by reading it until it changes. "
            "Then double the calls in a block until the best of three blocks lasts about 200 steps: that "
            "block, divided by its calls, is the answer."
        ),
    ),
    exam=MeteredExam(scenarios, forgiven=2),
    folder=Path(__file__).parent,
    read="lesson 02, step 2",
    idea=(
        "three calls that do not count, then blocks that double until the best of three lasts 200 steps of the clock. "
        "Both readings together are wrong by about a step, which is half a percent of such a block; a longer one would "
        "meet more interruptions. The best of three is one that was left alone, and taking three at every size keeps "
        "an interruption from passing a short block off as a long one."
    ),
    read_on="lesson 04, where the samples are kept; Chen and Revels, Robust benchmarking in noisy environments (2016), "
    "on why the minimum.",
)
