"""Task (a) of lesson 02: measure the seconds of one call in blocks of calls, and keep the shortest of several blocks.

Durations are drawn in *steps*. A step is the smallest change between two readings of the clock. A single call is too
short for the clock: its measured time is wrong by up to a tenth. An interruption comes every 1000 to 1300 steps and
lasts 300 to 500 steps. So a block must last from 130 to about 500 steps. Below 130 steps the clock's error exceeds 1 %.
Above about 500 steps, interruptions may hit two blocks in a row.
"""

from collections.abc import Sequence

import numpy as np

from grader.kinds.simulated import CALLS
from grader.task import Scenario, SimulatedExam, Task, Tier
from grader.tasks.simulated import CALM, STANDSTILL, LateWeather, Machine, early_calls, shuffled

from .scenarios import CallScenario

COLD_CALLS = 3
SHORT_STEPS = (8.5, 11.5)
LONG_STEPS = (150.0, 190.0)
MOST_EARLY_CALLS = 40
"""The first interruption comes within this number of warm calls."""

EACH = 12
"""The number of scenarios of each kind with interruptions."""


def scenarios(rng: np.random.Generator) -> Sequence[Scenario]:
    """Return the scenarios for one grading in random order: one undisturbed, and `EACH` of three disturbed kinds.

    In each scenario of a kind, the first interruption hits a different early call. So every grading has interruptions
    at all times that can mislead a method.
    """
    disturbed = (
        ("a short call, interrupted now and then", SHORT_STEPS, 0.3),
        ("a longer call, interrupted now and then", LONG_STEPS, 0.3),
        ("a clock that takes long to read, interruptions", SHORT_STEPS, 1.0),
    )
    scenarios = [_scenario(rng, "a short call, no interruptions", SHORT_STEPS, 0.3, None)]
    scenarios += [
        _scenario(rng, *kind, first) for kind in disturbed for first in early_calls(rng, MOST_EARLY_CALLS, EACH)
    ]
    return shuffled(rng, scenarios)


def _scenario(
    rng: np.random.Generator, title: str, call_steps: tuple[float, float], reading_steps: float, first: int | None
) -> CallScenario:
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
    return CallScenario("time_per_call", "fn", title, machine, per_call_s, cold_s, interrupted)


def _interruptions(rng: np.random.Generator, step_s: float) -> LateWeather:
    quiet = rng.uniform(1000, 1300, 64) * step_s
    stall = rng.uniform(300, 500, 64) * step_s
    pairs = zip(quiet.tolist(), stall.tolist(), strict=True)
    return LateWeather([part for quiet_s, stall_s in pairs for part in ((stall_s, STANDSTILL), (quiet_s, 1.0))])


TIME_PER_CALL = Task(
    summary="measure the seconds of one call, within 1 %, in few calls",
    cost=CALLS,
    tiers=(Tier(1.4, 0.6), Tier(2.6, 0.8), Tier(4.5, 1.0)),
    hints=(
        (
            "In most scenarios, one call takes only about ten steps of the clock. How does the clock's error change "
            "when you time many calls together?"
        ),
        (
            "Time a block of calls between two readings, and divide by the number of calls. An interruption only makes "
            "a block longer. Which of several blocks then gives the most exact time? Is a longer block interrupted "
            "more often?"
        ),
        (
            "Call fn a few times before you read the clock. To find the smallest step of the clock, read the clock "
            "until its value changes. Then double the calls in a block until the shortest of three blocks lasts about "
            "200 steps. The answer is the time of the shortest block divided by its number of calls."
        ),
    ),
    exam=SimulatedExam(scenarios, forgiven=2),
    read="lesson 02, “Many calls, several times”",
    idea=(
        "The solution makes three warm-up calls. Then the solution doubles the calls in a block until the shortest of "
        "three blocks lasts 200 steps of the clock. The difference of two readings of the clock is wrong by about one "
        "step, which is 0.5 % of a block of 200 steps. A longer block would meet more interruptions. Of three such "
        "blocks, at least the shortest is undisturbed. The solution times three blocks of every size, because an "
        "interruption could make a single short block look long enough."
    ),
    references=(
        "In lesson 04, you keep the times of all blocks, not only the shortest. Chen and Revels, Robust benchmarking "
        "in noisy environments (2016), explain why the minimum is a good estimate."
    ),
)
