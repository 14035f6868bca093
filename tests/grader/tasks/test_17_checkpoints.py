from importlib import import_module

import numpy as np
import pytest

from grader.values import Value

networks = import_module("grader.tasks.lesson_17_peaks_and_leaks.networks")


def judged(answer: Value, sizes: tuple[int, ...] = (5, 3, 1, 4, 2)) -> tuple[str, float]:
    """Return the mismatch of an answer as a text, and the cost."""
    scenario = networks.Network("planted", list(sizes))
    mismatch = scenario.judge(answer)
    return "" if mismatch is None else " ".join(mismatch.lines), scenario.cost


def test_the_peak_is_that_of_the_exercise() -> None:
    assert judged([[0, 2], 12]) == ("", 12.0)


def test_a_single_segment_and_all_checkpoints_need_all_memory() -> None:
    assert judged([[0], 15]) == judged([[0, 1, 2, 3, 4], 15]) == ("", 15.0)
    assert networks.Network("planted", [5, 3, 1, 4, 2]).plain_cost == 15.0


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([[0, 2], 6], "a peak of 12 for [0, 2]"),
        ([[0, 2], True], "a peak of 12"),
        ([[0, 2], None], "a peak of 12"),
        ([[2], 12], "a list that begins with layer 0"),
        ([[], 12], "a list that begins with layer 0"),
        ([[0, 2, 2], 12], "ascending numbers up to 4"),
        ([[0, 3, 2], 12], "ascending numbers up to 4"),
        ([[0, 5], 12], "ascending numbers up to 4"),
        ([[0, True], 12], "a list of the numbers of layers"),
        ([[0, "1"], 12], "a list of the numbers of layers"),
        ([0, 12], "a list of the numbers of layers"),
        ([[0, 2]], "[kept, peak]"),
        (None, "[kept, peak]"),
        ("ab", "[kept, peak]"),
        ({"0": [0], "1": 15}, "[kept, peak]"),
    ],
)
def test_an_answer_that_breaks_a_rule_is_told_which(answer: Value, said: str) -> None:
    wrong, cost = judged(answer)
    assert said in wrong
    assert cost == networks.NEVER


def test_a_wrong_peak_is_told_its_two_parts() -> None:
    assert "The kept layers need 6 KiB, and the largest segment needs 6 KiB more." in judged([[0, 2], 6])[0]


def test_all_sizes_are_at_least_one() -> None:
    for seed in range(5):
        scenarios = networks.draw_scenarios(np.random.default_rng(seed))
        assert all(scenario.sizes and min(scenario.sizes) >= 1 for scenario in scenarios)
