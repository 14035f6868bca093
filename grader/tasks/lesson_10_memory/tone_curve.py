"""Task (b) of lesson 10: `tone_curve(x)`, simple steps on a picture, whose memory may be allocated once or grow.

The baseline computes strips of the picture, and appends each to the answer. So it copies the answer 128 times, always
to a new and larger tensor. Strips that are joined once gain 2.7×, nine new tensors for the whole picture 4×, and two
tensors 10×. The top tier does not distinguish the last three: how much slower new tensors are depends on the caches,
and on a setting of malloc, which a submission may change.
"""

import numpy as np
from numpy.typing import NDArray

from grader.kinds.timing import TIME
from grader.task import Array, Inputs, Task, TensorExam, Tier, endless

PIXELS, STRIP = 1 << 20, 1 << 13
SHAPES = ((0,), (1,), (7,), (0, 4), (3, 5), (16, 16), (3, 8, 6))


def cases(rng: np.random.Generator) -> list[Inputs]:
    """Return small inputs in float32 and float64, views, and special values such as NaN and infinity."""
    drawn: list[Inputs] = []
    for dtype in ("float32", "float64"):
        for shape in SHAPES:
            drawn += [(_picture(rng, shape, dtype),), (_picture(rng, shape, dtype),)]
        wide = _picture(rng, (6, 10), dtype)
        drawn += [(wide.T,), (wide[:, ::2],), (np.broadcast_to(wide[:1], (4, 10)),), (wide,), (wide[1:3],)]
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -5.0, 5.0], dtype=dtype)
        drawn += [(special,), (special.reshape(2, 4),)]
    return drawn


timed = endless(lambda rng: (_picture(rng, (PIXELS,), "float32"),))
"""Random pictures of the timed size."""


def oracle(x: Array) -> NDArray[np.float64]:
    """Return the tone curve of `x`, computed in float64, in strips and as slowly as the baseline."""
    curve = np.empty(0)
    with np.errstate(invalid="ignore"):
        for at in range(0, x.size, STRIP):
            t = np.clip(x.reshape(-1)[at : at + STRIP].astype(np.float64) * 1.5 - 0.25, 0.0, 1.0)
            curve = np.concatenate([curve, t * t * (3.0 - 2.0 * t) * 255.0 + 16.0])
    return curve.reshape(x.shape)


def allowed(x: Array) -> NDArray[np.float64]:
    """Return the allowed error: up to two roundings per step, for numbers up to 271 and slopes up to 574."""
    return np.full(x.shape, 4 * np.finfo(x.dtype).eps * 600.0)


def _picture(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    return rng.uniform(-0.2, 1.2, shape).astype(dtype)


TONE_CURVE = Task(
    summary="compute a picture, with memory that is allocated once",
    cost=TIME,
    tiers=(Tier(1.65, 1.0),),
    hints=(
        "How long is the answer in the last call of torch.cat? How many bytes do all calls together copy?",
        (
            "torch.cat makes a new tensor each time, and copies all earlier strips. How often must a strip be copied? "
            "Can one operation work on the whole picture?"
        ),
        (
            "Compute each step on all of x. Only the first step reads x, and makes t. All later steps can work in "
            "place: t.sub_(0.25), t.clamp_(0, 1) and so on. Only 3 - 2t needs a second tensor. You can also keep both "
            "tensors for the next call."
        ),
    ),
    exam=TensorExam(("x",), cases, timed, oracle, allowed),
    read="lesson 10, “New memory takes time”",
    idea=(
        "A tensor cannot grow: torch.cat makes a new one, and copies the old one. If n strips are appended one by one, "
        "the first strip is copied n times, so the time grows with n². An answer that is allocated once is written "
        "once. With in-place steps, a call allocates two tensors instead of nine. If your code keeps the two tensors "
        "between calls, a call allocates no tensor. Keeping them is allowed, because the grader copies an answer "
        "before the next call."
    ),
    references=(
        "The methods of torch.Tensor that end in _, and the argument out= of torch's functions; mallopt(3) on "
        "M_MMAP_THRESHOLD, which decides whether a new tensor takes new memory from the system."
    ),
)
