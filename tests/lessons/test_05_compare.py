from types import SimpleNamespace

import pytest
from sessions import MadeUp

from harness.machine.background_load import BackgroundLoad
from harness.paired.duel import Finding

LESSON = MadeUp("05_compare")


def fought(ratio: float, doubt: float) -> SimpleNamespace:
    finding = (
        Finding.UNDECIDED if ratio - doubt < 1 < ratio + doubt else Finding.FASTER if ratio > 1 else Finding.SLOWER
    )
    return SimpleNamespace(ratio=ratio, low=ratio - doubt, high=ratio + doubt, verdict=finding, margin=0.01)


@pytest.mark.parametrize(
    ("doubt", "quarter", "fourfold", "standing"),
    [(0.1, 0.5, 1.5, "held"), (0.1, 1.5, 0.5, "refuted"), (0.6, 0.5, 1.5, "inconclusive")],
)
def test_a_crossing_is_claimed_only_where_the_way_there_was_clear(
    doubt: float, quarter: float, fourfold: float, standing: str
) -> None:
    found = {8192: fought(0.5, doubt), 92_682: fought(1.5, doubt), 27_555: fought(0.9, 0.2)}
    steps = [LESSON.Compared(numbers, duel) for numbers, duel in found.items()]
    search = LESSON.Search(steps, fought(quarter, 0.1), fought(fourfold, 0.1))
    words = "the winner changes between 27 555 and 92 682 numbers"
    LESSON.check("where", search, standing, words, "would measure up to 44 sizes")


def test_nothing_is_said_of_several_threads_where_other_programs_use_their_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    result = LESSON.sizes_and_threads(fast=True)._replace(others=BackgroundLoad(0.5))
    LESSON.check("sizes_and_threads", result, {"threads-move-margin": "inconclusive"}, "no clear answer")
