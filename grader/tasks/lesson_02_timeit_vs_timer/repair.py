"""Task (b) of lesson 02: repair five benchmarks that run and return a wrong number.

The student's file holds the broken functions. Each has one common fault, and one or two changed lines repair it. A
repaired benchmark earns full points, however many calls it makes. Each function is tested in two scenarios with
different true times, so that a constant cannot be right.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from grader.kinds.simulated import CALLS
from grader.task import Scenario, SimulatedExam, Task
from grader.tasks.simulated import CALM, STANDSTILL, Machine, Weather

from .scenarios import CallScenario, ListScenario

SCENARIOS_EACH = 2


def scenarios(rng: np.random.Generator) -> Sequence[Scenario]:
    """Return two scenarios for each of the five functions, in the order of the file."""
    add_up = partial(_with_lists, "time_sum", "add_up", "making a list takes time too", sorts=False)
    sort = partial(_with_lists, "time_sort", "sort", "a list that is already sorted takes less time", sorts=True)
    scenarios: tuple[Callable[[np.random.Generator], Scenario], ...] = (add_up, _multiply, _matmul, sort, _hash)
    return tuple(scenario(rng) for scenario in scenarios for _ in range(SCENARIOS_EACH))


def _machine(rng: np.random.Generator, tick_s: float, weather: Weather = CALM) -> Machine:
    return Machine(tick_s, reading_s=tick_s, origin_s=float(rng.uniform(10, 1000)), weather=weather)


def _per_call_s(rng: np.random.Generator) -> float:
    """Return the right answer, drawn alike for each function, so that its name does not show how long a call takes."""
    return float(rng.uniform(5e-6, 50e-6))


def _step_s(rng: np.random.Generator, per_call_s: float) -> float:
    """Return a clock step that does not show how long a call takes: it is from 1 / 6 to 1 / 14 of a call."""
    return per_call_s / float(rng.uniform(6, 14))


def _with_lists(function: str, measured: str, why: str, rng: np.random.Generator, *, sorts: bool) -> Scenario:
    per_call_s = _per_call_s(rng)
    make_s = per_call_s * float(rng.uniform(0.3, 0.6))
    sorted_share = float(rng.uniform(0.03, 0.07))
    machine = _machine(rng, per_call_s / float(rng.uniform(300, 600)))
    title = f"{function}, where {why}"
    return ListScenario(
        function, measured, title, machine, per_call_s, make_s=make_s, sorts=sorts, sorted_share=sorted_share
    )


def _multiply(rng: np.random.Generator) -> Scenario:
    per_call_s = _per_call_s(rng)
    title = "time_multiply, a steady function"
    machine = _machine(rng, _step_s(rng, per_call_s))
    return CallScenario("time_multiply", "multiply", title, machine, per_call_s)


def _matmul(rng: np.random.Generator) -> Scenario:
    per_call_s = _per_call_s(rng)
    cold_s = (per_call_s * float(rng.uniform(40, 80)),)
    title = "time_matmul, where the first call loads a library"
    machine = _machine(rng, _step_s(rng, per_call_s))
    return CallScenario("time_matmul", "matmul", title, machine, per_call_s, cold_s)


def _hash(rng: np.random.Generator) -> Scenario:
    per_call_s = _per_call_s(rng)
    quiet = rng.uniform(150, 250, 64) * per_call_s
    stall = rng.uniform(60, 100, 64) * per_call_s
    pairs = zip(quiet.tolist(), stall.tolist(), strict=True)
    weather = Weather([part for quiet_s, stall_s in pairs for part in ((quiet_s, 1.0), (stall_s, STANDSTILL))])
    title = "time_hash, interrupted now and then"
    machine = _machine(rng, _step_s(rng, per_call_s), weather)
    return CallScenario("time_hash", "hash_text", title, machine, per_call_s)


REPAIR = Task(
    summary="repair five broken benchmarks, so that each result is within 1 % of the true time",
    cost=CALLS,
    tiers=(),
    hints=(
        (
            "For each function, list what happens between the two readings of the clock. Is there anything except the "
            "measured call? Does the function divide by the number of calls?"
        ),
        (
            "The five faults, in a different order: a list that an earlier call has changed; the time of all calls "
            "instead of the time of one; a slow first call that is counted; a mean of blocks, although interruptions "
            "only add time; other work that is timed too."
        ),
        (
            "time_sum: make the list before you read the clock. time_multiply: divide by the number of calls. "
            "time_matmul: call matmul once before you read the clock. time_sort: make a new list for each sort, before "
            "you read the clock. time_hash: return the smallest time, not the mean."
        ),
    ),
    exam=SimulatedExam(scenarios),
    read="lesson 02, “A statement with side effects”",
    idea=(
        "Only the measured calls happen between the two readings of the clock, and the total is divided by their "
        "number. The lists are made before the first reading, a new list for each call that changes its list. If the "
        "first call loads a library, the solution makes this call before it reads the clock. The solution returns the "
        "smallest time of several blocks, because interruptions only add time."
    ),
    references=(
        "Lesson 06 compares the results of two benchmarks. Python's documentation of timeit explains why to take the "
        "min() of repeat() and not the mean."
    ),
    correct_share=1.0,
)
