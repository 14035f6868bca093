from random import Random
from statistics import mean

import psutil  # type: ignore[import-untyped]
import pytest
from sessions import MadeUp
from torch.utils.benchmark import Measurement
from torch.utils.benchmark.utils.common import TaskSpec

LESSON = MadeUp("04_autorange")
SPEC = TaskSpec(stmt="pass", setup="pass")


def blocks_of(seconds: float, number: int, calls: int = 1) -> Measurement:
    """Return a measurement of `number` equal blocks of `calls` calls."""
    return Measurement(calls, [seconds * calls] * number, SPEC)


def test_neighbours_are_ended_when_the_measurement_fails() -> None:
    with pytest.raises(ZeroDivisionError), LESSON.neighbours(lifetime_s=5):
        raise ZeroDivisionError
    assert [
        each.pid for each in psutil.Process().children(recursive=True) if "time() % 0.1" in str(each.cmdline())
    ] == []


def test_the_rounds_decide_together_which_figure_moved() -> None:
    for further, option in (
        ([0.1, 0.3], "the mean"),
        ([-0.1, -0.3], "the median"),
        ([0.01, -0.01], "both"),
        ([0.1, -0.1], ""),
    ):
        moves = [LESSON.Moves(mean=0.5 + each, median=0.5) for each in further]
        judged = LESSON.beside_neighbours.predict.judge(None, LESSON.moved_more(moves, noise=0.1))
        assert (judged.truth or "").startswith(option)
        assert bool(judged.truth) == bool(option)


def test_the_distance_that_chance_explains_is_that_of_medians_from_one_distribution() -> None:
    """The medians of samples from one distribution have, on average, the range that `by_chance` returns."""
    draws, shares = Random(5), []
    for _ in range(400):
        answers = [Measurement(1, [draws.gauss(1, 0.02) for _ in range(30)], SPEC) for _ in range(5)]
        shares.append(LESSON.apart(answers) / LESSON.by_chance(answers).mean)
    assert mean(shares) == pytest.approx(1, rel=0.15)


def test_one_block_as_long_as_the_measurement_refutes_nothing_about_the_spread() -> None:
    """On a machine whose clock looked slow for a moment, torch chose one block of 10 000 calls for 0.2 s."""
    one = Measurement(10_000, [0.254], SPEC)
    LESSON.check(
        "many_blocks",
        LESSON.Blocks(blocks_of(1.0, 1), one, one, 0.541, [1e-7]),
        {"blocks-have-spread": "inconclusive", "blocks-waste-less": "inconclusive"},
        "1 block of 10 000 calls",
        "This measurement has only 1 block",
        absent=["Less than 1 %.", "torch prints no warning for this IQR"],
        one_long_run=[LESSON.Run(5000, 0.172), LESSON.Run(10_000, 0.236)],
    )
