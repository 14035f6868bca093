"""Random inputs cannot be predicted from earlier ones.

The control is the exploit `58_predicts_the_generator`: it predicts inputs if all of them come from one SFC64 generator,
as they once did.
"""

import ctypes
import runpy
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from grader.seeds import generator, independent
from grader.tasks.lesson_14_extensions.checksum import timed
from harness.extensions import build_library

BEFORE = 16389
"""The number of values that the grader drew before the first input that a submission saw."""
KEPT = "/tmp/state-of-the-generator"  # noqa: S108 - the file in which the exploit keeps the state
EXPLOIT = Path(__file__).parents[1] / "exploits" / "58_predicts_the_generator.py"


def one_sfc64(seed: int) -> Iterator[np.random.Generator]:
    """Yield the same generator again and again."""
    rng = np.random.Generator(np.random.SFC64(seed))
    rng.random(BEFORE)
    while True:
        yield rng


def predicted(rngs: Iterator[np.random.Generator], folder: Path) -> int:
    """Return how many of the next three inputs the exploit knows after it has seen the first one."""
    source = runpy.run_path(str(EXPLOIT))["checksum"].replace(KEPT, str(folder / "state"))
    exploit = ctypes.CDLL(build_library(source))
    (first,), *later = islice(timed(rngs), 4)
    exploit.checksum(first.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(first.size))
    firsts = (ctypes.c_uint64 * 3).in_dll(exploit, "firsts")
    return sum(int(one[:8].view(np.uint64)[0]) == guess for (one,), guess in zip(later, firsts, strict=True))


@pytest.mark.program("cc")
@pytest.mark.long
def test_the_exploit_predicts_inputs_that_come_from_one_sfc64_generator(tmp_path: Path) -> None:
    assert predicted(one_sfc64(7), tmp_path) == 3


@pytest.mark.program("cc")
@pytest.mark.long
def test_the_exploit_does_not_predict_the_graders_inputs(tmp_path: Path) -> None:
    assert predicted(independent(generator("a seed")), tmp_path) == 0


def test_independent_generators_have_keys_of_their_own_that_the_first_ones_numbers_do_not_show() -> None:
    rngs = list(islice(independent(generator("a seed")), 50))
    keys = {rng.bit_generator.state["state"]["key"].tobytes() for rng in rngs}
    assert len(keys) == 50
    drawn = {rng.bytes(16) for rng in (*rngs, generator("a seed"))}
    assert not drawn & keys


def test_equal_seeds_give_equal_generators_and_other_texts_give_others() -> None:
    one, same, other = (next(independent(generator(*parts))).random() for parts in (("a", "b"), ("a", "b"), ("a", "c")))
    assert one == same != other
