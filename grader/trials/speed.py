"""Paired rounds → outcome → tier, for tensor tasks: the submission against the baseline, each in processes of its own.

A pair is a fresh worker of either: forked from a process tree that runs the submission alone, and from one that runs
trusted code alone. Both are started alike. The duel holds a lane, a core that no other measurement on this machine is
using, and ends with a control; when that fails, the duel is void and fought again with fresh workers.
"""

import random
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import Final

import numpy as np

from grader.errors import MachineError
from grader.isolation.forkserver import ForkServer
from grader.records import Control, Cost
from grader.settings import Settings
from grader.task import Task, TensorExam
from grader.trials import control, native
from grader.trials.faults import ours, theirs
from grader.trials.out_of_turn import OutOfTurn
from grader.trials.supervisor import worker
from grader.trials.turns import WARM_UP_CALLS, Side, Supply, net
from harness import twins
from harness.decide import Rules
from harness.rounds import Outcome, Reading, Round, contest, wall_ratio
from harness.twins import Cores

RULES: Final = Rules(slice_s=0.025)
"""A slice counts paid calls alone: with the unpaid ones, drawing and checking it takes about four times as long."""

CROWDED: Final = 0.8
"""Part of its time that a baseline may wait for its core: as with four others there that never rest. Beyond it the
caches are somebody else's at every turn, and a duel is void: computing bears that, reading memory does not."""

TRIES: Final = 4
"""Duels fought before a machine is called too restless: a control that holds nine times in ten fails four times in a
row once in ten thousand gradings."""


@dataclass
class TensorPair:
    """A baseline and a submission that are warm and take turns on one core."""

    number: int
    supply: Supply
    baseline: Side
    candidate: Side
    out_of_turn: OutOfTurn

    def play(self, *, baseline_first: bool) -> Round:
        """One round: a turn of each side, on the same inputs drawn for this round."""
        drawn = self.supply.draw(max(self.baseline.inputs, self.candidate.inputs))
        sides = (self.baseline, self.candidate) if baseline_first else (self.candidate, self.baseline)
        turns: dict[int, Reading] = {}
        for side in sides:
            with self.out_of_turn.watched() if side is self.baseline else nullcontext():
                turns[id(side)] = side.turn(drawn)
        with self.out_of_turn.watched():
            plain = self.baseline.answer(drawn[: self.candidate.inputs])
        self.candidate.check(drawn, plain)
        self.candidate.vouch()
        with self.out_of_turn.watched():
            self.baseline.ask(drawn[0].size_bytes)
        asked = self.baseline.asked
        baseline, candidate = (net(turns[id(side)], asked) for side in (self.baseline, self.candidate))
        return Round(self.number, baseline, candidate, baseline_first)


@dataclass(frozen=True)
class Contestants:
    """Who duels where: a task's baseline and a submission, the process trees they are forked from, and the cores."""

    task: Task
    source: str
    trusted: ForkServer
    tree: ForkServer
    cores: Cores

    def open_pair(self, number: int, supply: Supply, stack: ExitStack, out_of_turn: OutOfTurn) -> TensorPair:
        """Fork a fresh pair, ended with the stack, and make it ready."""
        ours_to_blame = partial(ours, f"The baseline of {self.task.full_name}")
        with ours_to_blame():
            one = stack.enter_context(worker(self.trusted, self.task.limits))
        other = stack.enter_context(worker(self.tree, self.task.limits))
        baseline = Side(one, self.task.name, lambda _: ours_to_blame())
        candidate = Side(other, self.task.name, theirs)
        drawn = supply.draw(WARM_UP_CALLS)
        for side, text in ((baseline, native.baseline(self.task)), (candidate, self.source)):
            side.load(text)
            side.arrange(supply.first, drawn, self.cores)
        baseline.check(drawn[:1])
        candidate.check(drawn, baseline.answers)
        return TensorPair(number, supply, baseline, candidate, out_of_turn)

    def fight(self, supply: Supply, rng: random.Random) -> tuple[Outcome, Control]:
        """One duel and then its control, played by the workers that were the duel's baselines."""
        pairs: list[TensorPair] = []
        out_of_turn = OutOfTurn(self.tree.computed_s)
        by_wall = self.task.cost is Cost.WALL_TIME
        ratio_of = wall_ratio if by_wall else None
        with twins.pinned(self.cores), ExitStack() as stack:

            def open_pair(number: int) -> AbstractContextManager[TensorPair]:
                pairs.append(self.open_pair(number, supply, stack, out_of_turn))
                return nullcontext(pairs[-1])

            outcome = contest(open_pair, [tier.ratio for tier in self.task.tiers], RULES, rng=rng, ratio_of=ratio_of)
            baseline_s = median(round_.baseline.call_s(by_wall=by_wall) for round_ in outcome.rounds)
            sides = [pair.baseline for pair in pairs]
            with OutOfTurn(self.tree.computed_s).watched():  # by itself: it is short, and voids the whole duel
                checked = control.play(sides, supply, baseline_s, rng, by_wall=by_wall)
            return outcome, replace(checked, holds=checked.holds and queueing(sides) <= CROWDED)


def queueing(sides: Sequence[Side]) -> float:
    """The part of its time that trusted code was ready to run and something else had its core."""
    queued_s, ran_s = sum(side.worker.queued_s for side in sides), sum(side.worker.ran_s for side in sides)
    return queued_s / (queued_s + ran_s) if queued_s else 0.0


def duel(
    task: Task, exam: TensorExam, tree: ForkServer, source: str, settings: Settings, rng: np.random.Generator
) -> tuple[Outcome, Control]:
    """Measure a right submission, whose process tree is `tree`, until its tier is clear and the control holds.

    Raises `MachineError` when the control fails `TRIES` times.
    """
    supply, order = Supply(exam, rng), random.Random(int(rng.integers(1 << 62)))
    with settings.pool.trusted(tensors=True) as trusted, settings.lane(task.limits.threads) as held:
        contestants = Contestants(task, source, trusted, tree, held.cores if held else None)
        for tried in range(TRIES):
            outcome, checked = contestants.fight(supply, order)
            if checked.holds:
                return outcome, replace(checked, voided=tried)
    raise MachineError(
        f"This machine is too restless to judge speed: {TRIES} times in a row the control failed, the last time with "
        f"{checked.same:.3f}× for 1× and {checked.slowed:.3f}× for {1 + checked.planted:.3f}×. "
        "Grade again when less runs beside it."
    )
