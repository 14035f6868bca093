"""Grade known submissions that guess in some scenarios, for `near_clones.py`.

A family of clones is a known submission that guesses in a number of scenarios (`grader.authoring.partial_guesses`). If
even right guesses in the most expensive scenarios reach no higher tier, nothing more is tried. Otherwise, each guess is
tried in many choices of these scenarios. The choices of one draw share the other answers. So the number of tries is
larger than the number of independent tries.
"""

import gc
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final

import draws

from grader.authoring.partial_guesses import EXPENSIVE, RANDOM, Guesser, Mixer, counts
from grader.seeds import generator
from grader.task import SimulatedExam, Task
from grader.trials.simulated import mean_gain

NEAR: Final = 0.9
"""Guesses are tried if the ratio with only right guesses is at least this share of the next tier's ratio."""

WHICH: Final = (RANDOM, EXPENSIVE)
"""Where the scenarios are in random order, the first scenarios are a random choice."""

Kind = tuple[str, str]
"""A guess, and the word for the scenarios in which a submission guesses."""


@dataclass(frozen=True, slots=True)
class Guessed:
    """The grades of a submission that guesses, in one draw.

    `tier` is its tier without guesses. `best` is the logarithm of the ratio if all guesses are right and cost nothing.
    `too_good` counts, for each kind of guess, how many of `tries` choices of scenarios got a better tier.
    """

    tier: int
    best: float
    tries: int
    too_good: Counter[Kind]


def guessed(
    pool: ProcessPoolExecutor, task: Task, count: int, seconds: float, enough: int
) -> Iterator[tuple[str, list[Guessed]]]:
    """Yield each family of submissions that guess, with its grades in many draws of a task's scenarios.

    The draws together try at least `enough` choices of the scenarios in which a submission guesses.
    """
    if not isinstance(task.exam, SimulatedExam) or not task.tiers:
        return
    found = dict[tuple[str, int], list[Guessed]]()
    for drawn in draws.results(pool, partial(_grades, math.ceil(enough / count)), task, range(count), seconds):
        for key, one in drawn.items():
            found.setdefault(key, []).append(one)
    for (known, number), each in found.items():
        yield f"{task.full_name}, {known} with {number} guesses", each


def too_good(drawn: Sequence[Guessed]) -> int:
    """Return how often the luckiest kind of guess got a better tier than without guesses."""
    return max(sum((one.too_good for one in drawn), Counter[Kind]()).values(), default=0)


def _grades(choices: int, lesson: str, name: str, draw: int) -> dict[tuple[str, int], Guessed]:
    gc.collect()
    task, _ = draws.known_files(lesson, name)
    mixer = Mixer.drawn(task, f"draw {draw}")
    return {
        (known, number): _one(mixer, known, number, choices, f"draw {draw}")
        for known, honest in mixer.known.items()
        for number in counts(task, len(honest.played))
    }


def _one(mixer: Mixer, known: str, number: int, choices: int, draw: str) -> Guessed:
    honest = mixer.honest_tier(known)
    gains = sorted(mixer.known[known].gains)
    best = mean_gain([(math.inf, True)] * number + gains[number:], measured=True)
    kinds = Counter[Kind]()
    if best >= NEAR * mixer.task.tiers[honest].ratio:
        rng = generator(draw, known, str(number))
        which = WHICH if len(set(gains)) > 1 else (RANDOM,)
        for guesser in (Guesser(known, answer, each, number) for answer in mixer.guesses for each in which):
            for _ in range(choices):
                chosen = mixer.guessed(guesser, rng)
                kinds[guesser.answer, guesser.which] += mixer.tier(guesser, chosen) > honest and mixer.accepts(
                    guesser, chosen
                )
    return Guessed(honest, math.log(best), choices, kinds)
