"""Tests of the explanations of lesson 10, for made-up results."""

from typing import Any

import pytest
from sessions import MadeUp

from harness.memory.lines import Timeline
from harness.memory.resident import MemoryUse

LESSON = MadeUp("10_memory")
MIB = 1 << 20
WHOLE = 50_000_000


def held(added: float, kept: float = 0.0, *, exact: bool = True) -> MemoryUse:
    return MemoryUse(0, round(added * WHOLE), round(kept * WHOLE), exact)


def test_the_cost_of_new_memory_is_explained_as_it_was_measured() -> None:
    def rounds(new: list[tuple[float, int]], out: tuple[float, int], in_place: tuple[float, int]) -> list[Any]:
        timing = LESSON.Timing
        return [{"new": timing(*each), "out=": timing(*out), "in place": timing(*in_place)} for each in new]

    step, little = "asking_takes_time", "new memory adds less than half of the time"
    LESSON.check(step, rounds([(1.0, 5)] * 3, (1.0, 5), (0.9, 5)), "refuted", little)
    unclear = {"out-is-faster": "inconclusive", "in-place-is-faster": "inconclusive", "faults-tell": "held"}
    apart = rounds([(1.0, 900), (9.0, 900)], (1.0, 0), (1.0, 0))
    LESSON.check(step, apart, unclear, "does not show how much new memory costs", absent=[little])


@pytest.mark.parametrize("exact", [True, False])
def test_a_system_without_a_stored_peak_skips_the_claim_about_it(exact: bool) -> None:
    curve = Timeline(((0.0, 40 * MIB), (0.5, 40 * MIB), (0.6, 200 * MIB)), {"work": (0.5, 0.9)})
    found = LESSON.OverTime(curve, [100, 100], held(1.0, exact=exact), [100.0])
    wanted = {"mprof-sees-the-peak": "held", "mark-sees-all": "held" if exact else "skipped"}
    LESSON.check("over_time", found, wanted, "Less than a tenth. 2 samples showed a growth of 0 B.")
