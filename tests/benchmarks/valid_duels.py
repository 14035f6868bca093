"""Repeat a duel of two functions on tensors until the machine is quiet enough."""

import random
from contextlib import suppress

import numpy as np

from grader.task import TensorExam
from grader.trials.speed import Contestants, VoidDuelError
from grader.trials.turns import Supply
from harness.paired.rounds import Outcome


def valid_duel(contestants: Contestants, exam: TensorExam, seed: int) -> Outcome:
    """Return the outcome of the first duel that is not void. Each duel has the same inputs."""
    while True:
        with suppress(VoidDuelError):
            return contestants.run(Supply(exam, np.random.default_rng(seed)), random.Random(seed))[0]
