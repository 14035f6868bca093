"""Task (b): five benchmarks that run and report a number, each of them the wrong one.

The student's file holds the broken functions; every one is broken in one classic way, and a plain repair of a
line or two makes it right. The task has no tiers: what is learned is to see the fault, and a repaired
benchmark is worth full points at any number of calls. Each function is judged in two worlds, so that no
number can be typed in.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from grader.records import Cost
from grader.task import MeteredExam, Scenario, Task
from grader.tasks.simulated import CALM, STANDSTILL, Machine, Weather

from .worlds import CallWorld, ListWorld

WORLDS_EACH = 2


def scenarios(rng: np.random.Generator) -> Sequence[Scenario]:
    """Draw two worlds for each of the five functions, in the order of the file."""
    worlds: tuple[Callable[[np.random.Generator], Scenario], ...] = (_sum, _multiply, _matmul, _sort, _hash)
    return tuple(world(rng) for world in worlds for _ in range(WORLDS_EACH))


def _machine(rng: np.random.Generator, tick_s: float, weather: Weather = CALM) -> Machine:
    return Machine(tick_s, reading_s=tick_s, origin_s=float(rng.uniform(10, 1000)), weather=weather)


def _per_call_s(rng: np.random.Generator) -> float:
    return float(rng.uniform(5e-6, 50e-6))


def _sum(rng: np.random.Generator) -> Scenario:
    title = "time_sum, where making a list takes time too"
    return _with_lists(rng, "time_sum", "add_up", title, sorts=False)


def _sort(rng: np.random.Generator) -> Scenario:
    title = "time_sort, where a list that is sorted already is sorted sooner"
    return _with_lists(rng, "time_sort", "sort", title, sorts=True)


def _with_lists(rng: np.random.Generator, function: str, measured: str, title: str, *, sorts: bool) -> Scenario:
    """Draw a call that lasts 500 ticks, so that the clock may be read around each one alone."""
    per_call_s = 20 * _per_call_s(rng)
    make_s = per_call_s * float(rng.uniform(0.3, 0.6))
    machine = _machine(rng, per_call_s / 500)
    return ListWorld(function, measured, title, machine, make_s, per_call_s, sorts)


def _multiply(rng: np.random.Generator) -> Scenario:
    per_call_s = _per_call_s(rng)
    title = "time_multiply, a steady function"
    machine = _machine(rng, per_call_s / 10)
    return CallWorld("time_multiply", "multiply", title, machine, per_call_s)


def _matmul(rng: np.random.Generator) -> Scenario:
    per_call_s = _per_call_s(rng)
    cold_s = (per_call_s * float(rng.uniform(40, 80)),)
    title = "time_matmul, where the first call loads a library"
    machine = _machine(rng, per_call_s / 10)
    return CallWorld("time_matmul", "matmul", title, machine, per_call_s, cold_s)


def _hash(rng: np.random.Generator) -> Scenario:
    """Draw interruptions 150 to 250 calls apart: of two blocks of 50 calls in a row, one is left alone."""
    per_call_s = _per_call_s(rng)
    quiet = rng.uniform(150, 250, 64) * per_call_s
    stall = rng.uniform(60, 100, 64) * per_call_s
    pairs = zip(quiet.tolist(), stall.tolist(), strict=True)
    weather = Weather([part for quiet_s, stall_s in pairs for part in ((quiet_s, 1.0), (stall_s, STANDSTILL))])
    title = "time_hash, interrupted now and then"
    machine = _machine(rng, per_call_s / 10, weather)
    return CallWorld("time_hash", "hash_text", title, machine, per_call_s)


REPAIR = Task(
    lesson="02_timeit_vs_timer",
    name="repair",
    summary="five broken benchmarks repaired, each within 1 % of the truth",
    points=10.0,
    cost=Cost.CALLS,
    tiers=(),
    hints=(
        (
            "For each function, say aloud what happens between the two readings of the clock. Is it what the "
            "name says, once, and nothing else?"
        ),
        (
            "The five faults, in another order: a list that is no longer what it was, a total that should be "
            "one call's, a first call unlike all others, an average where one block tells more, work that is "
            "not the statement's."
        ),
        (
            "time_sum: make the list before the clock is read. time_multiply: divide by the calls. "
            "time_matmul: call once before the clock is read. time_sort: a fresh list for each sort, made "
            "outside the clock. time_hash: the smallest block, not the mean."
        ),
    ),
    exam=MeteredExam(scenarios),
    folder=Path(__file__).parent,
    read="lesson 02, step 4",
    idea=(
        "between the two readings of the clock stands the statement, as often as the total is divided by, and nothing "
        "else. Lists are made before the first reading, one for each call where a call changes its list. A first call "
        "that loads something comes before it, too. Of several blocks the smallest is taken: disturbances only add."
    ),
    read_on="lesson 06, where the figures of two such benchmarks are compared; Python's documentation of timeit, on "
    "why repeat() wants min() and not a mean.",
    correct_share=1.0,
)
