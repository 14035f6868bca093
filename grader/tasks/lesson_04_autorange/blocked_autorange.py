"""The task of lesson 04: choose a block size, and take samples for `min_run_time` in little simulated time.

The cost is all simulated time that passes. No fixed block length is right in every scenario: with the coarse clock, a
block must last at least 26 to 41 ms, and beside another program that runs in bursts, at most about 10 ms. Neither
`min_run_time` nor the time of one run shows which scenario it is. So a submission must measure the clock's step. The
baseline measures eight times.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from grader.kinds.simulated import SIMULATED_TIME
from grader.task import Mismatch, SimulatedExam, SimulatedFunction, Task, Tier
from grader.tasks.plain import is_whole, shown
from grader.tasks.simulated import Machine, Weather, doubled, shuffled, want_no_arguments
from grader.values import Value

from .judging import MOST_RUNS, RunTruth, TimedBlock, judge


@dataclass
class StatementScenario:
    """A statement that takes `per_run_s` seconds, and `cold_s` more in its first run.

    `log` holds the blocks that were run. `read_s` is the clock's reading if the last call was one. `began_s` is the
    reading before the last call if that call was a run, so that another reading would end a timed block.
    """

    title: str
    machine: Machine
    per_run_s: float
    cold_s: float
    min_run_time_s: float
    function: str = "blocked_autorange"
    log: list[TimedBlock] = field(default_factory=list)
    read_s: float | None = None
    began_s: float | None = None

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The arguments of `blocked_autorange`: the simulated functions `run` and `clock`, and `min_run_time`."""
        return (SimulatedFunction("run"), SimulatedFunction("clock"), self.min_run_time_s)

    @property
    def cost(self) -> float:
        """The simulated seconds that have passed, at least the time of one reading of the clock."""
        return max(self.machine.reading_s, self.machine.now_s)

    @property
    def plain_cost(self) -> float:
        """Return the baseline's simulated seconds: a search for a block size, and 8 times `min_run_time_s`."""
        aim_s = 200 * self.machine.step_s
        block_s = max(aim_s, self.per_run_s)
        search_s = self.cold_s + (1 + doubled(aim_s, self.per_run_s)) * self.per_run_s
        return search_s + 8 * max(10, math.ceil(self.min_run_time_s / block_s)) * (block_s + self.machine.reading_s)

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Simulate n runs for `run(n)`, or return the clock's reading in seconds."""
        if name == "clock":
            want_no_arguments(name, arguments)
            return self._read()
        runs = arguments[0] if len(arguments) == 1 else None
        if not is_whole(runs, 1, MOST_RUNS):
            given = ", ".join(map(shown, arguments))
            raise ValueError(f"run(n) takes a whole number from 1 to {MOST_RUNS}. It got: {given}")
        start_s = self.machine.now_s
        self.machine.work(runs * self.per_run_s + (0.0 if self.log else self.cold_s))
        self.log.append(TimedBlock(runs, self.machine.now_s - start_s))
        self.began_s, self.read_s = self.read_s, None
        return None

    def _read(self) -> float:
        shown_s = self.machine.read()
        if self.began_s is not None:
            self.log[-1] = replace(self.log[-1], shown_s=shown_s - self.began_s)
        self.began_s, self.read_s = None, shown_s
        return shown_s

    def judge(self, answer: Value) -> Mismatch | None:
        """Return a `Mismatch` for the first rule that (block size, samples, median, IQR) breaks, or None."""
        truth = RunTruth(self.per_run_s, self.machine.step_s, self.min_run_time_s)
        return judge(answer, truth, self.log)


def draw_scenarios(rng: np.random.Generator) -> tuple[StatementScenario, ...]:
    """Return the four scenarios for one grading in random order, each with a different difficulty."""
    return shuffled(rng, (_long_readings(rng), _slow(rng), _bursts(rng), _coarse(rng)))


def _long_readings(rng: np.random.Generator) -> StatementScenario:
    machine = _machine(rng, tick_s=1e-6, reading_s=25e-6, weather=_breathing(rng, 7.5e-3))
    return _scenario(rng, "a clock that takes long to read", machine)


def _slow(rng: np.random.Generator) -> StatementScenario:
    machine = _machine(rng, tick_s=2e-8, reading_s=1e-6, weather=_breathing(rng, 0.5))
    return _scenario(rng, "a statement of about 0.3 s", machine, (0.25, 0.35), (0.5, 1))


def _bursts(rng: np.random.Generator) -> StatementScenario:
    pauses = rng.uniform(24e-3, 32e-3, 64).tolist()
    bursts = rng.uniform(10e-3, 14e-3, 64).tolist()
    breath = rng.uniform(0.99, 1.01, 64).tolist()
    slower = rng.uniform(1.5, 1.9, 64).tolist()
    turns = zip(pauses, breath, bursts, slower, strict=True)
    weather = Weather([part for pause, calm, burst, slow in turns for part in ((pause, calm), (burst, slow))])
    machine = _machine(rng, tick_s=5e-7, reading_s=1e-5, weather=weather)
    return _scenario(rng, "another program that runs in bursts", machine)


def _coarse(rng: np.random.Generator) -> StatementScenario:
    machine = _machine(rng, tick_s=0.33e-3, reading_s=0.33e-3 / 40, weather=_breathing(rng, 0.1))
    return _scenario(rng, "a coarse clock", machine)


def _machine(rng: np.random.Generator, *, tick_s: float, reading_s: float, weather: Weather) -> Machine:
    slower = float(rng.uniform(0.8, 1.25))
    return Machine(tick_s * slower, reading_s * slower, origin_s=float(rng.uniform(10, 1000)), weather=weather)


def _scenario(
    rng: np.random.Generator,
    title: str,
    machine: Machine,
    run_s: tuple[float, float] = (100e-6, 300e-6),
    cold_runs: tuple[float, float] = (50, 200),
) -> StatementScenario:
    per_run_s = float(rng.uniform(*run_s))
    cold_s = per_run_s * float(rng.uniform(*cold_runs))
    return StatementScenario(title, machine, per_run_s, cold_s, min_run_time_s=float(rng.uniform(0.4, 0.6)))


def _breathing(rng: np.random.Generator, length_s: float) -> Weather:
    lengths = length_s * rng.uniform(0.5, 2, 64)
    return Weather(zip(lengths.tolist(), rng.uniform(0.99, 1.01, 64).tolist(), strict=True))


BLOCKED_AUTORANGE = Task(
    summary="find the block size, samples, median and IQR with a noisy clock, in little time",
    cost=SIMULATED_TIME,
    tiers=(Tier(1.5, 0.6), Tier(2.2, 0.8), Tier(3.0, 1.0)),
    hints=(
        (
            "First find how many runs make a block that this clock can measure. Then measure blocks of this size until "
            "they fill min_run_time. Do each of these two steps only once, and keep all measured blocks."
        ),
        (
            "Read the clock until it changes, a few times, to find its step. A block must last at least 100 steps of "
            "the clock. Double the runs until a block lasts that long. The first run is slow, and another program can "
            "make a block up to twice as long."
        ),
        (
            "Call run(1) once without timing it. Double n until run(n) lasts 200 steps of the clock. Estimate the time "
            "of one run as seconds / n. The block size is 200 steps divided by that estimate, rounded up. A block of "
            "this size lasts at least 100 steps, even if the estimate was twice as long as the true time. Then collect "
            "block times divided by the block size, until there are at least ten and the blocks together last "
            "min_run_time."
        ),
    ),
    exam=SimulatedExam(draw_scenarios),
    read="lesson 04, “Many short blocks”",
    idea=(
        "The solution runs the statement once without timing. To find the clock's step, it reads the clock until it "
        "has changed a few times. The solution doubles the runs until a block lasts 200 steps, and computes one block "
        "size from that block. If another program disturbs this one block, the block size may be twice too small. "
        "Blocks of this size still last the required 100 steps. Then the solution measures blocks until their number "
        "and their total time are large enough. Only the search for the block size takes extra time. With doubling, "
        "this search takes no longer than about two blocks."
    ),
    references="torch's own code multiplies the number of runs by ten instead of two: _estimate_block_size and "
    "blocked_autorange in torch/utils/benchmark/utils/timer.py. Lesson 06 shows when to stop measuring.",
)
