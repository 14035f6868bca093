"""The protection against cheats costs honest work no points: each file under `tests/honest` earns what it deserves.

`tests/honest` is the control group of `tests/exploits`. Some files do openly what a cheat would do in secret (threads,
caches, work at import, memory kept between calls). Some come near a limit, and some are merely unusual. The last line
of each docstring gives the expected verdict, as in the exploits.
"""

from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from commanding import ROOT, nothing_left_running
from needs import needs
from promises import HONEST, Promised, all_promised, quickly

from grader.isolation.pool import Pool

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

COMPILED = {"compiled_by_torch", "compiled_if_it_can_be"}
"""Files that import torch's compiler for seconds in each worker. One pair of workers is enough for them."""


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(hidden=(ROOT,)) as one:
        for tensors in (False, True):
            with one.trusted(tensors=tensors):
                pass  # this starts the tree, which stays in the pool
        yield one


@pytest.mark.parametrize(
    "honest", [pytest.param(one, id=one.path.stem, marks=needs(one.task)) for one in all_promised(HONEST)]
)
def test_honest_work_earns_what_it_deserves(honest: Promised, pool: Pool) -> None:
    with quickly() if honest.path.stem in COMPILED else nullcontext(), nothing_left_running():
        broken = honest.broken(pool)
    assert broken is None


def test_there_are_honest_controls_of_a_dozen_kinds() -> None:
    assert len(all_promised(HONEST)) >= 12
