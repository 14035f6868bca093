"""What guards against cheats must cost honest work nothing: each file under `tests/honest` earns what it deserves.

`tests/honest` lies beside `tests/exploits` and is its control group. Some of these do openly what a cheat would do in
secret (threads, caches, work at import, memory kept between calls), some come near a limit, some are merely odd. The
last line of each docstring says what it must earn, in the form that exploits have.
"""

from collections.abc import Iterator

import pytest
from commanding import ROOT, nothing_left_running
from needs import needs
from promises import HONEST, Promised, all_promised

from grader.isolation.pool import Pool

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(hidden=(ROOT,)) as one:
        for tensors in (False, True):
            with one.trusted(tensors=tensors):
                pass  # it is started, and stays
        yield one


@pytest.mark.parametrize(
    "honest", [pytest.param(one, id=one.path.stem, marks=needs(one.task)) for one in all_promised(HONEST)]
)
def test_honest_work_earns_what_it_deserves(honest: Promised, pool: Pool) -> None:
    with nothing_left_running():
        broken = honest.broken(pool)
    assert broken is None


def test_there_are_honest_controls_of_a_dozen_kinds() -> None:
    assert len(all_promised(HONEST)) >= 12
