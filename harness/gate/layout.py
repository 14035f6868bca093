"""Give a process another memory layout, by chance, so that no verdict depends on one layout.

Where objects lie in memory changes the speed of equal code: for a loop over small numbers by up to 15 %, and an unused
function in front of a parser made the parser 3 % slower in all of 14 pairs of processes. So the layout changes between
measurements: a number of objects of many sizes are allocated and kept, which moves all objects that are made later. The
processes of a pair allocate the same, so their layouts differ only by what their code does.
"""

import random
from collections import deque
from typing import Final

SEED_VARIABLE: Final = "FAIRCLOCK_DUEL_SEED"
"""An environment variable with the seed of the layout at the start of a process."""

PAD_VARIABLE: Final = "FAIRCLOCK_DUEL_PAD"
"""An environment variable of random length, which moves the stack."""

_MOST_OBJECTS: Final = 400
_DOUBLINGS: Final = 10  # the sizes are 16 bytes to 16 KB; each doubling is equally likely
_KEPT: Final = 32  # the objects of earlier layouts are freed, so that memory does not grow without end

_kept: deque[list[object]] = deque(maxlen=_KEPT)


def shuffle(seed: int) -> None:
    """Change the memory layout of this process. Equal seeds allocate equal objects."""
    rng = random.Random(seed)
    blocks: list[object] = [
        bytes(int(16 * 2 ** (_DOUBLINGS * rng.random()))) for _ in range(rng.randrange(_MOST_OBJECTS))
    ]
    numbers = [float(n) for n in range(rng.randrange(100))], [10**9 + n for n in range(rng.randrange(100))]
    _kept.append([blocks, numbers])
