"""Task (b) of lesson 10: `tone_curve(x)`, nine simple steps on a picture, which may allocate memory or reuse it.

The function is timed in a process where malloc returns freed memory to the system at once (`Limits.returns_memory`).
For blocks above 32 MiB, malloc always does this, but a picture of that size would be slower to check. Most of the
baseline's time is spent on pages that the system must clear. Five tensors instead of nine gain 1.5×, four 1.9 to 2.2×,
and the two necessary ones 2.8 to 4.0×.
"""

import numpy as np
from numpy.typing import NDArray

from grader.kinds.timing import TIME
from grader.limits import Limits
from grader.task import Array, Inputs, Task, TensorExam, Tier, endless

PIXELS = 1 << 18
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
    """Return the tone curve of `x`, computed in float64."""
    with np.errstate(invalid="ignore"):
        t = np.clip(x.astype(np.float64) * 1.5 - 0.25, 0.0, 1.0)
        curve: NDArray[np.float64] = t * t * (3.0 - 2.0 * t) * 255.0 + 16.0
    return curve


def allowed(x: Array) -> NDArray[np.float64]:
    """Return the allowed error: up to two roundings per step, for numbers up to 271 and slopes up to 574."""
    return np.full(x.shape, 4 * np.finfo(x.dtype).eps * 600.0)


def _picture(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    return rng.uniform(-0.2, 1.2, shape).astype(dtype)


TONE_CURVE = Task(
    summary="compute nine steps on a picture, with memory that is allocated once",
    cost=TIME,
    tiers=(Tier(2.3, 1.0),),
    limits=Limits(returns_memory=True),
    hints=(
        "How many tensors as large as the picture does each call allocate?",
        (
            "Every operation can write into an existing tensor: t.mul_(2), or torch.mul(x, 2, out=t). Into which "
            "tensors may you write? Into which tensor may you not write?"
        ),
        (
            "Only the first step reads x, and makes t. All later steps can work in place: t.sub_(0.25), t.clamp_(0, "
            "1) and so on. Only 3 - 2t needs a second tensor. You can also keep both tensors for the next call."
        ),
    ),
    exam=TensorExam(("x",), cases, timed, oracle, allowed),
    read="lesson 10, “New memory takes time”",
    idea=(
        "A new tensor needs new pages, which the system must find and clear. Finding and clearing pages takes longer "
        "than the computation. With in-place steps, a call allocates two tensors instead of the baseline's nine. If "
        "your code keeps the two tensors between calls, a call allocates no tensor. Keeping the tensors is allowed, "
        "because the grader copies an answer before the next call."
    ),
    references=(
        "The methods of torch.Tensor that end in _, and the argument out= of torch's functions; mallopt(3) on "
        "M_MMAP_THRESHOLD."
    ),
)
