"""Measure the benchmarks of a run, and measure again with new processes what was slower. See `README.md`."""

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from statistics import median
from typing import Final

from harness.errors import UsageError
from harness.gate.outcomes import BenchmarkOutcome, Change, GateControl, GateRun, GateVerdict
from harness.gate.pairing import MOST_LIMITS, TimedBenchmark, compare
from harness.gate.settings import GateBenchmark, GateCost, GateSettings, GateSide
from harness.gate.timed_calls import RUNS_ONCE_S
from harness.gate.verdicts import PAIRS, measurement_error
from harness.gate.worker_process import BenchmarkError
from harness.gate.workers import Workers, workers
from harness.machine.environment import Environment
from harness.machine.lanes import lane
from harness.rendering import units

_FIRST_PAIRS: Final = PAIRS[2]  # the most that start before the first benchmark; many benchmarks need more than ten
_CLEAR: Final = (GateVerdict.SLOWER, GateVerdict.SAME, GateVerdict.FASTER)
Report = Callable[[BenchmarkOutcome], None]
Compare = Callable[[Sequence[GateBenchmark], Report], dict[str, BenchmarkOutcome]]
"""A function that measures benchmarks with new processes, reports each outcome, and returns all of them."""


def measure(
    benchmarks: Sequence[GateBenchmark],
    sides: tuple[GateSide, GateSide],
    settings: GateSettings,
    report: Report,
    seed: int | None = None,
) -> GateRun:
    """Compare all benchmarks on both sides, BASE and here, and return what was found.

    What is slower is measured again with new processes. Then BASE is compared with itself on one of the benchmarks.
    `report` is called with each outcome as soon as it is known. `seed` fixes the random order and the hash seeds.
    """
    rng, began_s, started = random.Random(seed), time.monotonic(), datetime.now(UTC)
    with lane() as held:
        core = None if settings.cost.is_counted else held.core
        own = _Measurements(settings.cost, measurement_error(len(benchmarks)), core, rng)
        control = replace(own, most=PAIRS[0])
        outcomes, controls = judge(
            benchmarks, partial(own.all_of, sides), partial(control.all_of, (sides[0], sides[0])), report
        )
    return GateRun(
        base=settings.base,
        commit="",
        allowed=settings.allowed,
        cost=settings.cost,
        outcomes=outcomes,
        controls=controls,
        started=started,
        spent_s=time.monotonic() - began_s,
        machine=_machine(),
        shadow=settings.shadow,
        strict=settings.strict,
    )


def measure_once(sides: tuple[GateSide, GateSide], benchmark: GateBenchmark, error: float) -> BenchmarkOutcome:
    """Compare the CPU time of one benchmark on both sides, with this error rate in each direction.

    Nothing is measured again, and there is no control.
    """
    with lane() as held:
        own = _Measurements(GateCost.CPU, error, held.core, random.Random())
        return own.all_of(sides, [benchmark], _leave_out)[benchmark.name]


def judge(
    benchmarks: Sequence[GateBenchmark], against_base: Compare, base_itself: Compare, report: Report
) -> tuple[tuple[BenchmarkOutcome, ...], tuple[GateControl, ...]]:
    """Return the outcomes of a run after all its measurements, and its controls.

    `against_base` measures benchmarks with new processes of both sides, and `base_itself` with processes of BASE alone.
    """
    found = against_base(benchmarks, report)
    slower = [one for one in benchmarks if found[one.name].verdict is GateVerdict.SLOWER]
    for name, again in against_base(slower, _leave_out).items():
        found[name] = settled(found[name], again)
        report(found[name])
    timed = [one for one in benchmarks if found[one.name].change]
    controls = _control(base_itself, min(timed, key=lambda one: found[one.name].spent_s)) if timed else ()
    if any(control.failed for control in controls):
        found = {name: _void(outcome) for name, outcome in found.items()}
    return tuple(found[one.name] for one in benchmarks), controls


def settled(first: BenchmarkOutcome, second: BenchmarkOutcome) -> BenchmarkOutcome:
    """Return the outcome of a benchmark that was slower in a first measurement, after the second one."""
    both = replace(second, spent_s=first.spent_s + second.spent_s, measured_again=True)
    if second.verdict in {GateVerdict.SLOWER, GateVerdict.SAME} or first.change is None:
        return both
    why = f"A first measurement found {units.percent(first.change.measured)} more, and a second one did not agree."
    return replace(both, verdict=GateVerdict.UNDECIDED, why=" ".join(filter(None, (why, second.why))))


@dataclass(frozen=True, slots=True)
class _Measurements:
    cost: GateCost
    error: float
    core: int | None
    rng: random.Random
    most: int = PAIRS[-1]

    def all_of(
        self, sides: tuple[GateSide, GateSide], benchmarks: Sequence[GateBenchmark], report: Report
    ) -> dict[str, BenchmarkOutcome]:
        """Return the outcome of each benchmark, measured with new processes."""
        found: dict[str, BenchmarkOutcome] = {}
        if benchmarks:
            with workers(sides, self.rng, self.core, self.cost) as pairs:
                pairs.start(1)
                first_pairs = min(PAIRS[0] + len(benchmarks) - 1, _FIRST_PAIRS)
                for one, following in zip(benchmarks, [*benchmarks[1:], None], strict=True):
                    found[one.name] = self._one(pairs, one, following.name if following else None, first_pairs)
                    report(found[one.name])
        return found

    def _one(
        self, pairs: Workers, benchmark: GateBenchmark, following: str | None, first_pairs: int
    ) -> BenchmarkOutcome:
        began_s, name = time.monotonic(), benchmark.name
        try:
            pairs.begin(0, name, following)
            first_s = max(one.whole_s for one in pairs.stand(0))
            runs_again = RUNS_ONCE_S <= first_s <= benchmark.limit_s
            later_s = max(one.whole_s for one in pairs.stand(0, later=True)) if runs_again else first_s
            if (needed_s := PAIRS[0] * (first_s + later_s)) > MOST_LIMITS * benchmark.limit_s:
                pairs.end_unfinished()
                outcome = BenchmarkOutcome(name, GateVerdict.UNDECIDED, why=_too_long(first_s, needed_s))
            else:
                pairs.start(first_pairs)  # only now, because the first pair has shown that a benchmark runs
                later = later_s < first_s / 2
                outcome = outcome_of(name, compare(pairs, benchmark, following, self.error, self.most, later=later))
        except BenchmarkError as problem:
            pairs.end_unfinished()
            outcome = _problem(name, problem)
        return replace(outcome, spent_s=time.monotonic() - began_s, allowed=benchmark.allowed)


def _leave_out(_: BenchmarkOutcome) -> None:
    """Leave out an outcome that is not final."""


def _control(base_itself: Compare, benchmark: GateBenchmark) -> tuple[GateControl, ...]:
    """Compare BASE with itself. The control fails if two measurements find a difference in the same direction."""
    first = base_itself([benchmark], _leave_out)[benchmark.name]
    if first.change is None:
        return ()
    failed = False
    if first.verdict in {GateVerdict.SLOWER, GateVerdict.FASTER}:
        failed = base_itself([benchmark], _leave_out)[benchmark.name].verdict is first.verdict
    return (GateControl(benchmark.name, first.change, failed=failed),)


def outcome_of(name: str, measured: TimedBenchmark) -> BenchmarkOutcome:
    """Return the outcome of one measurement of the benchmark `name`."""
    known, rounds = measured.estimate, measured.rounds
    change = Change(1 / known.ratio - 1, 1 / known.high - 1, 1 / known.low - 1 if known.low else math.inf)
    verdict = GateVerdict.UNDECIDED if measured.index is None else _CLEAR[measured.index]
    base, here = median(one.base for one in rounds), median(one.here for one in rounds)
    return BenchmarkOutcome(name, verdict, change, base, here, rounds, why=measured.leaked)


def _void(outcome: BenchmarkOutcome) -> BenchmarkOutcome:
    return replace(outcome, verdict=GateVerdict.VOID) if outcome.change else outcome


def _problem(name: str, problem: BenchmarkError) -> BenchmarkOutcome:
    """Return the outcome of a benchmark that cannot be timed on one side."""
    if problem.kind == "foreign":
        raise UsageError(str(problem))
    if problem.kind == "skipped":
        return BenchmarkOutcome(name, GateVerdict.SKIPPED, why=str(problem))
    of_base = GateVerdict.FAILED if problem.kind == "ended" else GateVerdict.NEW
    return BenchmarkOutcome(name, of_base if problem.is_base else GateVerdict.BROKEN, why=str(problem))


def _machine() -> str:
    found = Environment.capture(ask_cuda=False)
    return f"{found.cpu}, {units.some(found.usable_cores, 'core')}, {found.implementation} {found.python}"


def _too_long(first_s: float, needed_s: float) -> str:
    return (
        f"Its first call takes {units.seconds(first_s)}, so a comparison needs about {units.seconds(needed_s)}. Make "
        f"its input smaller, or give it the time: --duel-limit {needed_s:.0f}"
    )
