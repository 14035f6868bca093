"""Live tracking of memray: the memory of a script at each of its stages."""

import pytest

from harness.errors import UsageError
from harness.memory import lacking_memray, live_stages

pytestmark = pytest.mark.skipif(bool(lacking_memray()), reason=lacking_memray())
SCRIPT = """
def load():
    return bytearray(20_000_000)

data = load()
pause("loaded")
del data
pause("freed")
"""


def test_each_stage_has_the_memory_that_is_in_use_then() -> None:
    loaded, freed = live_stages(SCRIPT, ["load", "other"])
    assert (loaded.name, freed.name) == ("loaded", "freed")
    assert 20_000_000 <= loaded.n_bytes["load"] < 20_100_000
    assert freed.n_bytes == {"load": 0, "other": 0}


def test_a_script_that_fails_is_an_error() -> None:
    with pytest.raises(UsageError, match="script failed"):
        live_stages("pause('begun')\n1 / 0\n", [])


def test_a_script_that_takes_too_long_is_ended() -> None:
    with pytest.raises(UsageError, match=r"ended before|longer than 3 s"):
        live_stages("import time\ntime.sleep(300)\n", [], timeout_s=3)
