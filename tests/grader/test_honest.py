"""The protection against cheats costs honest work no points: each file under `tests/honest` earns what it deserves.

`tests/honest` is the control group of `tests/exploits`. Some files do openly what a cheat would do in secret (threads,
caches, work at import, memory kept between calls). Some come near a limit, and some are merely unusual. The last line
of each docstring gives the expected verdict, as in the exploits.
"""

import pytest
from commanding import nothing_left_running
from layers import QUICK_HONEST, parameters
from promises import HONEST, Promised, quickly

from grader.isolation.pool import Pool

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


@pytest.mark.parametrize("honest", parameters(HONEST, QUICK_HONEST))
def test_honest_work_earns_what_it_deserves(honest: Promised, warm_pool: Pool) -> None:
    """One pair of processes is enough here. `test_hostile_class` grades ten of these files by the real rules."""
    with quickly(), nothing_left_running():
        broken = honest.broken(warm_pool)
    assert broken is None
