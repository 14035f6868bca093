"""Work whose true cost is known: the candidate does what the baseline does, for a larger count.

Each is text, as `timeit` takes it, so that every tool times the same code. One setup makes what both sides need,
so that they share their memory too, and a call costs its count and hardly anything besides.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sides:
    """What a tool is given: one setup, and the statement of each side."""

    setup: str
    baseline: str
    candidate: str


@dataclass(frozen=True, slots=True)
class Work:
    """A kernel over `count` equal units. {counts} in `setup` stands for both sides' counts, {count} in `statement`."""

    name: str
    count: int
    setup: str
    statement: str

    def sides(self, truth: float) -> Sides:
        """Return both sides, the candidate with `truth` times the baseline's units.

        Raises `ValueError` when that is no whole number of them.
        """
        candidate = round(self.count * truth)
        if abs(candidate - self.count * truth) > 1e-6:
            raise ValueError(f"{self.name}: {truth} times {self.count} units is no whole number; choose another ratio.")
        setup = self.setup.format(counts=(self.count, candidate))
        return Sides(setup, self.statement.format(count=self.count), self.statement.format(count=candidate))


_TORCH = "import torch\ntorch.set_num_threads(1)\n"

WORKS = (
    # Neither counts nor sums up: integers above 256 cost more than those below.
    Work(
        "python loop",
        1000,
        "from itertools import repeat",
        "state = 1\nfor _ in repeat(None, {count}):\n    state = (state * 31 + 7) & 255",
    ),
    Work(
        "small torch ops",
        100,
        _TORCH + "x, y, out = torch.rand(64), torch.rand(64), torch.ones(64)",
        "for _ in range({count}):\n    torch.add(x, y, out=out)",
    ),
    Work(
        "matmul",
        600,
        _TORCH + "left, right, out = torch.rand(max{counts}, 128), torch.rand(128, 128), torch.ones(max{counts}, 128)\n"
        "rows = {{n: (left[:n], out[:n]) for n in {counts}}}",
        "torch.mm(rows[{count}][0], right, out=rows[{count}][1])",
    ),
    Work(
        "pointwise",
        1_000_000,
        _TORCH + "from streams import out, starts, x",
        "start = next(starts)\ntorch.add(x[start:start + {count}], 1.0, out=out[start:start + {count}])",
    ),
    Work("numba kernel", 50_000, "from kernels import chain", "chain({count})"),
)
"""Rows of 128 in the product of matrices (each row a vector times 128 × 128), elements of float32 in the pointwise
operation (`streams`: from memory, not from a cache)."""


def work_named(name: str) -> Work:
    """Return the work of that name."""
    return next(work for work in WORKS if work.name == name)
