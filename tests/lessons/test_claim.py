import math

import pytest

from lessons.engine.claim import Standing, claim, every


@pytest.mark.parametrize(
    ("measured", "low", "high", "error", "standing"),
    [
        (2.0, 1.0, 3.0, 0.0, Standing.HELD),
        (2.0, 2.0, 2.0, 0.0, Standing.HELD),
        (2.0, 1.0, 3.0, 1.0, Standing.HELD),
        (2.0, 1.0, 3.0, 1.1, Standing.INCONCLUSIVE),
        (0.5, 1.0, 3.0, 0.4, Standing.REFUTED),
        (0.5, 1.0, 3.0, 0.5, Standing.INCONCLUSIVE),
        (4.0, 1.0, 3.0, 0.5, Standing.REFUTED),
        (math.inf, 1.0, math.inf, 0.0, Standing.HELD),
        (2.0, 1.0, 3.0, math.inf, Standing.INCONCLUSIVE),
        (math.nan, -math.inf, math.inf, 0.0, Standing.INCONCLUSIVE),
    ],
)
def test_a_claim_stands_only_as_far_as_its_doubt_allows(
    measured: float, low: float, high: float, error: float, standing: Standing
) -> None:
    assert claim("id", measured, low, high, error=error).standing is standing


def test_an_inconclusive_claim_says_whether_the_measurement_or_the_machine_was_to_blame() -> None:
    assert claim("id", 2.0, low=1.0, error=2.0, noise=5.0).reason == "the measurement itself was too uncertain"
    assert claim("id", 2.0, low=1.0, error=0.5, noise=0.6).reason == "the machine was too restless today"
    assert claim("id", math.nan, low=1.0).reason == "nothing could be measured"
    assert claim("id", 2.0, low=1.0, error=0.5, noise=0.5).reason == ""


def test_impossible_bounds_and_doubts_are_refused() -> None:
    with pytest.raises(ValueError, match="wrong order"):
        claim("id", 1.0, low=2.0, high=1.0)
    with pytest.raises(ValueError, match="wrong order"):
        claim("id", 1.0, low=math.nan)
    with pytest.raises(ValueError, match="half width"):
        claim("id", 1.0, error=-0.1)
    with pytest.raises(ValueError, match="half width"):
        claim("id", 1.0, noise=math.nan)


@pytest.mark.parametrize(
    ("rounds", "standing"),
    [
        ([0.1, 0.3, 0.2], Standing.HELD),
        ([-0.1, 0.3, 0.2], Standing.INCONCLUSIVE),
        ([-0.1, -0.3], Standing.REFUTED),
    ],
)
def test_a_claim_about_every_round_needs_every_round(rounds: list[float], standing: Standing) -> None:
    middle, error = every(rounds)
    assert claim("id", middle, low=0, error=error).standing is standing
