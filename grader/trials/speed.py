"""Time a submission against the baseline until it is clear which of the task's tiers (required ratios) it reaches.

This is called a duel. In each pair of new processes (workers), one runs the submission, and the other the baseline, a
simple function. The two run alternately, on CPU cores that no other measurement on this machine uses. If the control
after a duel shows too much noise, the duel is repeated with new processes.
"""

import random
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median
from typing import Final

import numpy as np

from grader.errors import NoisyMachineError
from grader.isolation.forkserver import ForkServer
from grader.records import Control
from grader.session import Session
from grader.source import Source
from grader.task import Task
from grader.trials import control, native, physical_limit
from grader.trials.faults import blame_grader, blame_submission
from grader.trials.turns import FIRST_CALLS, OutOfTurn, Side, Supply
from grader.trials.worker_client import worker
from harness.paired.decide import Rules
from harness.paired.rounds import Outcome, Reading, Round, contest
from harness.processes import process_env
from harness.processes.process_env import Cores
from harness.rendering.units import percent

RULES: Final = Rules(slice_s=0.025)
"""The rules of a duel. Warm-up calls and the checking of answers take about three times as long as `slice_s`."""

CROWDED: Final = 0.7
"""The largest share of its time for which the baseline may wait for its core, or else the timing is repeated.

More than three other busy processes per core cause this share. With five of them, a ratio of 2.39 became 5 % smaller.
"""

PAUSES_S: Final = (2.0, 5.0, 10.0)
"""Seconds between a void duel and the next try: other programs often use a core for some seconds, and then stop.

If the try after the last pause is void, too, the machine is regarded as too noisy.
"""


@dataclass
class TimedPair:
    """A process that runs the baseline and one that runs the submission, alternately on the same cores."""

    number: int
    supply: Supply
    baseline: Side
    candidate: Side
    out_of_turn: OutOfTurn
    turns: list[Reading] = field(default_factory=list)
    """The candidate's turns."""

    def play(self, *, baseline_first: bool) -> Round:
        """Measure both processes once on the same new inputs, and return both costs."""
        drawn = self.supply.draw(max(self.baseline.inputs(), self.candidate.inputs()))
        if not baseline_first:
            self.turns.append(self.candidate.turn(drawn))
        with self.out_of_turn.watched():
            turn = self.baseline.turn(drawn)
        if baseline_first:
            self.turns.append(self.candidate.turn(drawn))
        plain = dict(enumerate(self.baseline.answers))
        with self.out_of_turn.watched():
            for place in self.supply.choose(range(len(plain), self.candidate.inputs())):
                plain[place] = self.baseline.answer(drawn[place])
        self.baseline.check_inputs_unchanged()
        self.candidate.check(drawn, plain)
        self.candidate.check_inputs_unchanged()
        self.candidate.check_no_helpers()
        return Round(self.number, turn, self.turns[-1], baseline_first)


class VoidDuelError(Exception):
    """The machine was too noisy during a duel. The message is the reason, as the end of a sentence."""


@dataclass(frozen=True)
class Contestants:
    """What a duel needs. `trusted` starts processes for the baseline, and `tree` processes for the submission."""

    task: Task
    source: Source
    trusted: ForkServer
    tree: ForkServer
    cores: Cores
    by_wall: bool = False

    def open_pair(self, number: int, supply: Supply, stack: ExitStack, out_of_turn: OutOfTurn) -> TimedPair:
        """Start a process for the submission and one for the baseline, and warm them up. Closing `stack` ends them."""
        blame_baseline = partial(blame_grader, f"The baseline of {self.task.full_name}")
        with blame_baseline():
            one = stack.enter_context(worker(self.trusted, self.task.limits))
        other = stack.enter_context(worker(self.tree, self.task.limits))
        baseline = Side(one, self.task.name, lambda _: blame_baseline())
        candidate = Side(other, self.task.name, blame_submission)
        drawn = supply.draw(FIRST_CALLS)
        for side, text in ((baseline, native.baseline(self.task)), (candidate, self.source)):
            side.start(text, supply.first, drawn, self.cores)
        baseline.check_inputs_unchanged()
        if number == 0:
            baseline.check(drawn, {0: None})
        candidate.check(drawn, dict(enumerate(baseline.answers)))
        return TimedPair(number, supply, baseline, candidate, out_of_turn)

    def run(self, supply: Supply, rng: random.Random) -> tuple[Outcome, Control]:
        """Run a duel, and then its control. Return both results. Raise `VoidDuelError` if the machine was too noisy."""
        pairs: list[TimedPair] = []
        out_of_turn = OutOfTurn(self.tree.computed_s)
        with process_env.pinned(self.cores), ExitStack() as stack:

            def open_pair(number: int) -> AbstractContextManager[TimedPair]:
                if number >= RULES.min_pairs:
                    check_not_crowded(pairs, by_wall=self.by_wall)
                pairs.append(self.open_pair(number, supply, stack, out_of_turn))
                return nullcontext(pairs[-1])

            tiers = [tier.ratio for tier in self.task.tiers]
            outcome = contest(open_pair, tiers, RULES, rng=rng, by_wall=self.by_wall)
            baseline_s = median(round_.baseline.call_s(by_wall=self.by_wall) for round_ in outcome.rounds)
            check_not_crowded(pairs, by_wall=self.by_wall)  # before the control, which takes long on a crowded machine
            sides = [pair.baseline for pair in pairs]
            # a separate `OutOfTurn`: work of the submission during the short control would be small beside a long duel
            with OutOfTurn(self.tree.computed_s).watched():
                checked = control.play(sides, supply, baseline_s, rng, by_wall=self.by_wall)
            check_holds(checked)  # after `OutOfTurn`, because a submission that disturbs its control is to blame
            limit_s = None if self.by_wall else supply.limit_s(self.trusted, self.cores)
            if limit_s is None:
                return outcome, checked
            call_s = physical_limit.call_s([pair.turns for pair in pairs], by_wall=outcome.hidden_work)
            impossible = call_s < limit_s / physical_limit.MARGIN
            return outcome, replace(checked, most_ratio=baseline_s / limit_s, impossible=impossible)


def check_not_crowded(pairs: Sequence[TimedPair], *, by_wall: bool) -> None:
    """Raise `VoidDuelError` if the baseline's processes waited too long for their core."""
    share = queueing([pair.baseline for pair in pairs], by_wall=by_wall)
    if share > CROWDED:
        waited = f"the timed code waited {percent(share)} of its time"
        raise VoidDuelError(f"other programs used its cores so much that {waited}")


def check_holds(checked: Control) -> None:
    """Raise `VoidDuelError` if the control measured wrong ratios."""
    if not checked.holds:
        raise VoidDuelError(
            f"the baseline compared with itself had a ratio of {checked.same:.3f}× instead of 1×, and with a slowed "
            f"copy {checked.slowed:.3f}× instead of {1 + checked.planted:.3f}×"
        )


def queueing(sides: Sequence[Side], *, by_wall: bool = False) -> float:
    """Return the time for which the baseline's processes waited for their core, as a share of that time and its calls.

    The calls' CPU time is taken, or their wall time if `by_wall`, because a function that sleeps has little CPU time.
    """
    queued_s = sum(side.worker.queued_s for side in sides)
    calls_s = sum(side.worker.took_s if by_wall else side.worker.ran_s for side in sides)
    return queued_s / (queued_s + calls_s) if queued_s else 0.0


def duel(
    task: Task,
    supply: Supply,
    tree: ForkServer,
    source: Source,
    session: Session,
    rng: np.random.Generator,
    *,
    by_wall: bool = False,
) -> tuple[Outcome, Control]:
    """Time a right submission, run in `tree`, against the baseline, and repeat this while the machine is too noisy.

    CPU times are compared, or wall times if `by_wall`. A duel with an impossible time is repeated too. If no try gives
    a possible time, return the last impossible one. Raise `NoisyMachineError` if all tries are void.
    """
    order = random.Random(int(rng.integers(1 << 62)))
    lane = tree.time.entered(session.lane(task.limits.threads))
    with session.pool.trusted(tensors=tree.tensors) as trusted, lane as held:
        contestants = Contestants(task, source, trusted, tree, held.cores if held else None, by_wall)
        found: tuple[Outcome, Control] | None = None
        voided, trouble = 0, ""
        for pause_s in (*PAUSES_S, 0.0):
            try:
                found = contestants.run(supply, order)
            except VoidDuelError as why:
                voided, trouble = voided + 1, str(why)
                tree.time.pause(pause_s)
                continue
            if not found[1].impossible:
                break
        if found:
            return found[0], replace(found[1], voided=voided)
    raise NoisyMachineError(
        f"This machine is too noisy to judge speed: {voided} measurements in a row were void. In the last one, "
        f"{trouble}. Grade again when fewer other programs run."
    )
