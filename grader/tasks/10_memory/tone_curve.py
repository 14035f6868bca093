"""Task (b): `tone_curve(x)`, nine simple steps on a picture, each of which may ask for new memory or do without.

It is timed where malloc gives freed memory back at once (`Limits.returns_memory`), as it does for every block beyond
32 MiB anywhere: a picture that large would not be more telling, only slower to check. There the plain line spends most
of its time on pages that the system clears for it. Half of the steps in place gain 1.4×, all but two 2×, all 4×, and
memory that is kept from call to call 18×. The one tier, 2.7, lies between all but two and all. (A submission that tells
malloc to keep what was freed is as fast as one that keeps its memory.)
(Measured on a 2-core VM, torch 2.13, glibc 2.36.)
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grader.records import Cost
from grader.task import Array, Inputs, Limits, Task, TensorExam, Tier

PIXELS = 1 << 18
SHAPES = ((0,), (1,), (7,), (0, 4), (3, 5), (16, 16), (3, 8, 6))


def cases(rng: np.random.Generator) -> list[Inputs]:
    """Draw every small shape in both dtypes, contiguous and not; then what is easily overlooked."""
    drawn: list[Inputs] = []
    for dtype in ("float32", "float64"):
        for shape in SHAPES:
            drawn += [(_picture(rng, shape, dtype),), (_picture(rng, shape, dtype),)]
        wide = _picture(rng, (6, 10), dtype)
        drawn += [(wide.T,), (wide[:, ::2],), (np.broadcast_to(wide[:1], (4, 10)),), (wide,), (wide[1:3],)]
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -5.0, 5.0], dtype=dtype)
        drawn += [(special,), (special.reshape(2, 4),)]
    return drawn


def timed(rng: np.random.Generator) -> Iterator[Inputs]:
    """Draw a new picture for each call."""
    while True:
        yield (_picture(rng, (PIXELS,), "float32"),)


def oracle(x: Array) -> NDArray[np.float64]:
    """The curve in float64."""
    with np.errstate(invalid="ignore"):
        t = np.clip(x.astype(np.float64) * 1.5 - 0.25, 0.0, 1.0)
        curve: NDArray[np.float64] = t * t * (3.0 - 2.0 * t) * 255.0 + 16.0
    return curve


def allowed(x: Array) -> NDArray[np.float64]:
    """A rounding or two of each step, of numbers up to 271; the curve is nowhere steeper than 1.5 × 1.5 × 255."""
    return np.full(x.shape, 4 * np.finfo(x.dtype).eps * 600.0)


def _picture(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    return rng.uniform(-0.2, 1.2, shape).astype(dtype)


TONE_CURVE = Task(
    lesson="10_memory",
    name="tone_curve",
    summary="nine steps on a picture, in memory that is asked for once",
    points=10.0,
    cost=Cost.TIME,
    tiers=(Tier(2.7, 1.0),),
    limits=Limits(returns_memory=True),
    hints=(
        "How many tensors as large as the picture does each call ask the system for?",
        (
            "Every operation has a form that writes into a tensor which is there already: t.mul_(2), or "
            "torch.mul(x, 2, out=t). Which tensors are yours to be written into, and which one is not?"
        ),
        (
            "Only the first step reads x: let it make t. All later ones can be t.sub_(0.25), t.clamp_(0, 1) and so on; "
            "one more tensor, for 3 - 2t, is needed beside it. Both could also be kept for the next call."
        ),
    ),
    exam=TensorExam(("x",), cases, timed, oracle, allowed),
    folder=Path(__file__).parent,
    read="lesson 10, step 8",
    idea=(
        "a new tensor is new pages, each of which the system has to find and to clear, and that takes longer than to "
        "compute with it. In place, two tensors are asked for where the plain way asks for nine. Kept from call to "
        "call, not even those: an answer is copied before the next call, so it may be written over then."
    ),
    read_on="torch.Tensor's methods that end in _, and torch's out= argument; mallopt(3) on M_MMAP_THRESHOLD.",
)
