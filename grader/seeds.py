"""The secret seed for grading a class of students, and the random generators of the hidden inputs."""

import hashlib
import secrets
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np

from grader.files import read_plain_file, storable
from harness.errors import UsageError

FILE: Final = ".seed"  # the file with the secret seed, in the output folder of a graded class
MAX_BYTES: Final = 1_000_000


def new() -> str:
    """Return a new random seed of 64 hexadecimal digits."""
    return secrets.token_hex(32)


def read_file(path: Path) -> str:
    """Return the seed in a file. Raise `UsageError` if the file is empty, too large or cannot be read."""
    try:
        seed = read_plain_file(path, MAX_BYTES, "The seed file").decode("utf-8", "backslashreplace").strip()
    except UsageError as error:
        raise UsageError(f"{error} Give the --seed-file that this class was first graded with.") from None
    if not seed:
        raise UsageError(f"The seed file {path} is empty. Write some random text into it.")
    return seed


def generator(*parts: str) -> np.random.Generator:
    """Return a random generator that is seeded by texts. Equal texts give equal random numbers.

    A submission sees random numbers, and must not compute from them the numbers that follow. Philox encrypts a counter
    with a key of 128 bits. From a few numbers of NumPy's other generators, their state can be computed.
    """
    digest = hashlib.sha256(storable("\0".join(parts)).encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "little")))


def independent(rng: np.random.Generator) -> Iterator[np.random.Generator]:
    """Yield generators without end that are seeded by numbers of `rng`.

    SHA-256 hides the state of one of them from another.
    """
    secret = rng.bytes(32).hex()
    for number in count():
        yield generator(secret, str(number))
