"""Pairs of code with a known true ratio of costs: the candidate does the same as the baseline, with a larger count.

Each code is a text, as for `timeit`, so that every tool times the same code. One setup makes the data of both, so that
they use the same memory. The cost of a call is proportional to its count, except for a very small rest.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sides:
    """The input of a tool: one setup, and the statement of each side."""

    setup: str
    baseline: str
    candidate: str


@dataclass(frozen=True, slots=True)
class Work:
    """A kernel over `count` equal units.

    In `setup`, {counts} is replaced by the counts of both sides. In `statement`, {count} is the count of one side.
    """

    name: str
    count: int
    setup: str
    statement: str

    def sides(self, truth: float) -> Sides:
        """Return the baseline and the candidate, which does `truth` times as many units of work."""
        candidate = round(self.count * truth)
        setup = self.setup.format(counts=(self.count, candidate))
        return Sides(setup, self.statement.format(count=self.count), self.statement.format(count=candidate))


_TORCH = "import torch\ntorch.set_num_threads(1)\n"

WORKS = (
    # The loop neither counts nor sums, because integers above 256 cost more than those below.
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
"""The kinds of work.

In the product of matrices, a unit is one row of 128 numbers, multiplied by a matrix of 128 × 128. In the pointwise
operation, a unit is one float32 element that `streams` takes from memory, not from a cache.
"""

_MANY = "for _ in range({count}):\n    "

MORE_WORKS = (
    Work(
        "json",
        100,
        "import json\ntext = json.dumps([{{'key': k, 'value': k / 7}} for k in range(8)])",
        _MANY + "json.loads(text)",
    ),
    Work(
        "regex",
        200,
        "import re\nfound = re.compile(r'(\\w+)@(\\w+)').search\ntext = 'a long line before me@example'",
        _MANY + "found(text)",
    ),
    Work(
        "dict",
        1000,
        "from itertools import repeat\ntable = {{k: 255 - k for k in range(256)}}\nkey = 1",
        "for _ in repeat(None, {count}):\n    key = table[key]",
    ),
    Work("sort", 100, "import random\nvalues = random.Random(1).sample(range(256), 64)", _MANY + "sorted(values)"),
    Work(
        "conv2d",
        100,
        _TORCH + "images, kernel = torch.rand(max{counts}, 3, 16, 16), torch.rand(8, 3, 3, 3)\n"
        "parts = {{n: images[:n] for n in {counts}}}",
        "torch.conv2d(parts[{count}], kernel)",
    ),
    Work(
        "gather",
        100_000,
        _TORCH + "values, indices = torch.rand(4096), torch.randint(4096, (max{counts},))\n"
        "out = torch.ones(max{counts})\nparts = {{n: (indices[:n], out[:n]) for n in {counts}}}",
        "torch.index_select(values, 0, parts[{count}][0], out=parts[{count}][1])",
    ),
    Work(
        "softmax",
        1000,
        _TORCH + "rows, out = torch.rand(max{counts}, 64), torch.ones(max{counts}, 64)\n"
        "parts = {{n: (rows[:n], out[:n]) for n in {counts}}}",
        "torch.softmax(parts[{count}][0], 1, out=parts[{count}][1])",
    ),
)
"""Kinds of work that only `verdicts.py --duels` uses."""

ALL_WORKS = (*WORKS, *MORE_WORKS)


def work_named(name: str) -> Work:
    return next(work for work in ALL_WORKS if work.name == name)
