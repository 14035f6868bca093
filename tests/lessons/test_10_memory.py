"""Tests of the explanations of lesson 10, for made-up results."""

import pytest
from sessions import MadeUp

from harness.memory.lines import Timeline
from harness.memory.resident import MemoryUse

LESSON = MadeUp("10_memory")
MIB = 1 << 20
WHOLE = 50_000_000


@pytest.mark.parametrize("exact", [True, False])
def test_a_system_without_a_stored_peak_skips_the_claim_about_it(exact: bool) -> None:
    curve = Timeline(((0.0, 40 * MIB), (0.5, 40 * MIB), (0.6, 200 * MIB)), {"work": (0.5, 0.9)})
    found = LESSON.OverTime(curve, [100, 100], MemoryUse(0, WHOLE, 0, exact), [100.0])
    wanted = {"mprof-sees-the-peak": "held", "mark-sees-all": "held" if exact else "skipped"}
    LESSON.check("over_time", found, wanted, "Less than a tenth. 2 samples showed a growth of 0 B.")
