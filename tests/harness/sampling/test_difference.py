"""Tests of differential flame graphs."""

import re

import pytest

from harness.profiles import fold_up
from harness.sampling import before_after, by_function, difference_svg, scaled
from harness.sampling.difference import colour

BEFORE = [(("main", "parse"), 3.0), (("main", "total"), 1.0)]
AFTER = [(("main", "parse"), 0.5), (("main", "total"), 1.0), (("main", "new"), 1.0)]


def test_costs_are_scaled_to_a_total_and_a_stack_counts_once_for_a_recursive_function() -> None:
    assert scaled(BEFORE, 8.0) == [(("main", "parse"), 6.0), (("main", "total"), 2.0)]
    assert scaled([], 8.0) == []
    assert by_function([(("f", "f", "g"), 2.0), (("f",), 1.0)]) == {"f": 3.0, "g": 2.0}


def test_the_largest_difference_comes_first() -> None:
    pairs = before_after(fold_up(BEFORE), fold_up(AFTER))
    assert list(pairs)[:2] == ["parse", "new"]
    assert pairs["parse"] == (3.0, 0.5)
    assert pairs["new"] == (0.0, 1.0)


def test_more_is_red_less_is_blue_the_same_is_grey_and_a_small_difference_is_weaker() -> None:
    more, less, same = ([int(colour(share)[at : at + 2], 16) for at in (1, 5)] for share in (0.5, -0.5, 0.0))
    assert more[0] > more[1] + 50
    assert less[1] > less[0] + 50
    assert abs(same[0] - same[1]) < 20
    assert int(colour(0.05)[3:5], 16) > int(colour(0.15)[3:5], 16) > int(colour(0.9)[3:5], 16)


def test_each_box_has_both_costs_and_the_widths_are_those_of_the_chosen_run() -> None:
    pictures = {
        run: difference_svg(BEFORE, AFTER, title="t", widths=run, unit="{:g}".format) for run in ("before", "after")
    }
    assert "parse: 3 before, 0.5 after" in pictures["before"]
    assert "new: 0 before, 1 after" in pictures["after"]
    assert "new: 0 before" not in pictures["before"]
    widths = {run: boxes(picture) for run, picture in pictures.items()}
    assert widths["before"]["parse"] == pytest.approx(3 * widths["before"]["total"], abs=0.1)
    assert widths["after"]["new"] == pytest.approx(2 * widths["after"]["parse"], abs=0.1)


def boxes(picture: str) -> dict[str, float]:
    found = re.findall(r"<title>(\w+): [^<]*</title>\s*<rect [^>]*width=\"([\d.]+)\"", picture)
    return {name: float(width) for name, width in found}


def test_a_run_without_cost_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="cost above 0"):
        difference_svg(BEFORE, [], title="t")
