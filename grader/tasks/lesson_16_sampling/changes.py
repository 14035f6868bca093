"""Task (b) of lesson 16: find the functions whose share changed between two simulated recordings of py-spy.

Only the answer counts. The stacks of most cases were written for a special case, and six cases have random stacks.
The names of functions, the files and the line numbers are random, and so is the number of samples of each stack. The
right answer is computed from these stacks, not from the text that a submission gets. The kit has no code that reads
such text, because reading it is the student's work.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from grader.kinds.simulated import CALLS
from grader.task import SimulatedExam, SimulatedFunction, Task
from grader.tasks.plain import RowsScenario, random_depths
from grader.values import Value

WORDS: Final = (
    *("batch", "cast", "draw", "embed", "fetch", "gate", "input"),
    *("join", "keep", "loss", "mean", "norm", "pack"),
)
"""Words for the random names of functions."""

ENDS: Final = ("", "_all", "_each", "_fast", ".<locals>.<listcomp>", ".inner", " (copy)", "::run", "::operator()")
FILES: Final = ("data", "layers", "loop", "model", "my code", "tools", "train", "work")
LIBRARIES: Final = ("libtorch_cpu.so", "libc.so.6", "libomp.so")

STACKS: Final = 9
"""The number of stacks of a random program."""

CLEAR: Final = (1.4, 3.0)
"""A case has no function whose difference is between these numbers of standard errors. The limit is 2."""


class SampledFrame(NamedTuple):
    """A frame of a stack: a function's name, its file, and the line that ran, or 0 for an unknown line."""

    name: str
    file: str
    line: int


class Stack(NamedTuple):
    """A stack, the outermost frame first, and its number of samples."""

    frames: tuple[SampledFrame, ...]
    samples: int


Run = tuple[Stack, ...]


@dataclass
class RunPair(RowsScenario):
    """Two recordings. The student reads `advice` if a row is wrong."""

    before: Run
    after: Run
    function = "changes"
    order = "by function"

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The arguments of `changes`: the lines of both recordings."""
        return ([_line(stack) for stack in self.before], [_line(stack) for stack in self.after])

    @property
    def right(self) -> list[list[Value]]:
        """The right rows, computed from the stacks."""
        return [[f"{name} ({file})", a, b] for (name, file), a, b, errors in self.compared if errors > 2]

    @property
    def compared(self) -> list[tuple[tuple[str, str], int, int, float]]:
        """Each function with its samples before and after, and the difference of the shares in standard errors."""
        runs = (self.before, self.after)
        known = {(frame.name, frame.file) for run in runs for stack in run for frame in stack.frames}
        n, m = (sum(stack.samples for stack in run) for run in runs)
        found = []
        for function in sorted(known, key=lambda each: f"{each[0]} ({each[1]})"):
            a, b = (_samples(run, function) for run in runs)
            p = (a + b) / max(n + m, 1)
            error = math.sqrt(p * (1 - p) * (1 / n + 1 / m)) if n and m else 0.0
            found.append((function, a, b, abs(a / n - b / m) / error if error else 0.0))
        return found

    @property
    def clear(self) -> bool:
        """Whether no function is near the limit of significance."""
        return not any(CLEAR[0] < errors < CLEAR[1] for *_, errors in self.compared)


def _samples(run: Run, function: tuple[str, str]) -> int:
    return sum(stack.samples for stack in run if any((frame.name, frame.file) == function for frame in stack.frames))


def _line(stack: Stack) -> str:
    frames = (
        f"{frame.name} ({frame.file}:{frame.line})" if frame.line else f"{frame.name} ({frame.file})"
        for frame in stack.frames
    )
    return f"{';'.join(frames)} {stack.samples}"


def draw_scenarios(rng: np.random.Generator) -> tuple[RunPair, ...]:
    """Return a pair of recordings for each special case, and pairs with random stacks."""
    draws: tuple[Draw, ...] = (
        lambda names: RunPair("an empty recording, and a short one", NO_SAMPLES, (), _short(names)),
        lambda names: RunPair("a short recording, and an empty one", NO_SAMPLES, _short(names), ()),
        lambda names: RunPair("a short recording, and a long one", ERRORS, *_few_and_many(names)),
        lambda names: RunPair("a long recording, and a short one", ERRORS, *_few_and_many(names)[::-1]),
        *(_one_changed, _alike, _lines, _files, _native, _recursive, _only_one, _more_samples, _odd),
        *[lambda names: _program(names, "a training loop", 8)] * 3,
        *[lambda names: _program(names, "a program that calls itself", 1)] * 3,
    )
    return tuple(_clear(rng, draw) for draw in draws)


def _clear(rng: np.random.Generator, draw: "Draw") -> RunPair:
    while not (pair := draw(_Names(rng))).clear:
        pass
    return pair


class _Names:
    """Draws frames with random names, and numbers of samples."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self._left = [str(name) for name in rng.permutation([f"{word}{end}" for word in WORDS for end in ENDS])]

    def frame(self, file: str | None = None) -> SampledFrame:
        """Return a frame with a name that no other frame has."""
        where = f"{self.rng.choice(FILES)}.py" if file is None else file
        return SampledFrame(self._left.pop(), where, self.line())

    def native(self) -> SampledFrame:
        """Return a frame of C++ code, whose line is unknown."""
        frame = self.frame(str(self.rng.choice(LIBRARIES)))
        return frame._replace(name=f"at::{self.rng.choice(WORDS)}(Tensor const&, {self.some(1, 9)})", line=0)

    def line(self) -> int:
        """Return the number of a line."""
        return int(self.rng.integers(2, 400))

    def some(self, low: int, high: int) -> int:
        """Return a number of samples from `low` to `high`."""
        return int(self.rng.integers(low, high + 1))


def _short(names: _Names) -> Run:
    a, b = names.frame(), names.frame()
    return (Stack((a, b), names.some(20, 90)), Stack((a,), names.some(20, 90)))


def _few_and_many(names: _Names) -> tuple[Run, Run]:
    """Return two recordings in which one large share changed, and two small shares differ by 1.2 standard errors.

    Only the short recording contributes much to a standard error, and a share near 1 has a small standard error.
    """
    a, large, more, less = (names.frame() for _ in range(4))
    n, m = names.some(220, 300), names.some(4000, 6000)
    off = round(1.25 * n * math.sqrt(0.25 * 0.75 * (1 / n + 1 / m)))
    paths = ((a, large, more), (a, large, less), (a, large))
    runs = []
    for total, sizes in ((n, (n // 4 + off, n // 4 - off, 3 * n // 10)), (m, (m // 4, m // 4, 2 * m // 5))):
        stacks = [Stack(frames, size) for frames, size in zip(paths, sizes, strict=True)]
        runs.append((*stacks, Stack((a,), total - sum(sizes))))
    return runs[0], runs[1]


def _one_changed(names: _Names) -> RunPair:
    a, b, c = names.frame(), names.frame(), names.frame()
    rest = names.some(300, 400)
    before = (Stack((a, b), names.some(300, 400)), Stack((a, c), rest))
    after = (Stack((a, c), rest), Stack((a, b), names.some(40, 80)))
    return RunPair("one function became faster", "If one share shrinks, the others grow.", before, after)


def _alike(names: _Names) -> RunPair:
    a, b, c = names.frame(), names.frame(), names.frame()
    sizes = [names.some(150, 400) for _ in range(3)]
    before, after = (
        tuple(
            Stack(frames, size + names.some(-6, 6)) for frames, size in zip(((a, b), (a, c), (a,)), sizes, strict=True)
        )
        for _ in range(2)
    )
    return RunPair("two recordings of the same program", ERRORS, before, after)


def _lines(names: _Names) -> RunPair:
    a, b, c = names.frame(), names.frame(), names.frame()
    other = b._replace(line=b.line + 2)
    rest = names.some(250, 300)
    before = (Stack((a, b), names.some(80, 120)), Stack((a, other), names.some(90, 130)), Stack((a, c), rest))
    after = (Stack((a, other), names.some(15, 30)), Stack((a, c), rest), Stack((a, b), names.some(15, 30)))
    return RunPair("a function with several lines", "Remove the line from each frame.", before, after)


def _files(names: _Names) -> RunPair:
    a, b = names.frame("main.py"), names.frame("data.py")
    same = b._replace(file="model.py", line=names.line())
    rest, size = names.some(200, 300), names.some(200, 260)
    before = (Stack((a, b), size), Stack((a, same), size // 5), Stack((a,), rest))
    after = (Stack((a, b), size // 5), Stack((a, same), size), Stack((a,), rest))
    return RunPair("the same name in two files", "A function is a name and a file.", before, after)


def _native(names: _Names) -> RunPair:
    a, b, c = names.frame(), names.frame(), names.native()
    d = names.frame(LIBRARIES[0])._replace(line=0)
    rest = names.some(200, 300)
    before = (Stack((a, b, c), names.some(200, 260)), Stack((a, d), rest))
    after = (Stack((a, b, c), names.some(20, 40)), Stack((a, d), rest))
    return RunPair("functions of C and C++", "A function of C has no line, so remove nothing.", before, after)


def _recursive(names: _Names) -> RunPair:
    a, b, c = names.frame(), names.frame(), names.frame()
    before = (Stack((a, b, b, b), names.some(60, 90)), Stack((a, b), names.some(60, 90)), Stack((a, c), 300))
    after = (Stack((a, b, b, b, b), names.some(120, 150)), Stack((a, b), 200), Stack((a, c), 120))
    return RunPair("a function that calls itself", "A sample counts once for each function.", before, after)


def _only_one(names: _Names) -> RunPair:
    a, b, c, d = (names.frame() for _ in range(4))
    rest = names.some(150, 200)
    before = (Stack((a, b), names.some(60, 90)), Stack((a, c), rest))
    after = (Stack((a, d), names.some(60, 90)), Stack((a, c), rest + names.some(-5, 5)))
    return RunPair("functions that only one run has", "Such a function has 0 samples in the other run.", before, after)


def _more_samples(names: _Names) -> RunPair:
    a, b, c = names.frame(), names.frame(), names.frame()
    sizes = (names.some(40, 60), names.some(60, 90), names.some(50, 80))
    before = tuple(Stack(frames, size) for frames, size in zip(((a, b), (a, c), (a,)), sizes, strict=True))
    after = tuple(Stack(stack.frames, 10 * stack.samples + names.some(-8, 8)) for stack in before)
    return RunPair("a longer recording of the same program", "Compare shares, not numbers of samples.", before, after)


def _odd(names: _Names) -> RunPair:
    a = names.frame("C:/my work/main.py")
    b, c = names.frame("<frozen importlib._bootstrap>"), names.frame("<string>")
    rest = names.some(150, 220)
    before = (Stack((a, b), names.some(200, 260)), Stack((a, c), rest))
    after = (Stack((a._replace(line=a.line + 1), b), names.some(20, 40)), Stack((a, c), rest))
    return RunPair("files with blanks and colons", "Remove only the last colon and the digits after it.", before, after)


def _program(names: _Names, title: str, functions: int) -> RunPair:
    """Return two runs of a random program. One stack has a larger share in the second run, and one a smaller share."""
    main, *frames = names.frame(), names.native(), names.frame("C:/my work/main.py"), names.frame("<string>")
    frames = [*frames, frames[1]._replace(file="model.py"), *(names.frame() for _ in range(functions))]
    runs: tuple[list[Stack], list[Stack]] = ([], [])
    path: tuple[SampledFrame, ...] = ()
    order = [int(place) for place in names.rng.permutation(STACKS)]
    few, many, times = names.some(0, 1) * names.some(30, 50), names.some(150, 400), names.some(1, 3)
    changed = {order[0]: (few, many), order[1]: (many, few)}
    for place, depth in enumerate(random_depths(names.rng, STACKS, 0.6, 2, 6)):
        frame = frames[names.some(1, len(frames)) - 1] if depth else main
        path = (*path[:depth], frame._replace(line=names.line()) if frame.line else frame)
        samples = names.some(150, 400)
        before, after = changed.get(place, (samples, samples + names.some(-6, 6)))
        runs[0].append(Stack(path, before))
        runs[1].append(Stack(path, times * after))
    return RunPair(
        title,
        "Test your function on two lines that you count by hand.",
        tuple(stack for stack in runs[0] if stack.samples),
        tuple(runs[1][n] for n in order if runs[1][n].samples),
    )


NO_SAMPLES: Final = "If a recording has no samples, return an empty list."
ERRORS: Final = "A difference within two standard errors is not significant."

Draw = Callable[[_Names], RunPair]
"""A function that draws one pair of recordings."""


CHANGES = Task(
    summary="find the functions whose share changed significantly between two simulated recordings",
    cost=CALLS,
    tiers=(),
    hints=(
        "How many samples does a line stand for? On which side of the line do you find this number?",
        (
            "For each line, make a set of its functions, so that a function that calls itself counts once. Split the "
            "stack at the semicolons. In each frame, remove the last colon and the digits after it."
        ),
        (
            'stack, _, number = line.rpartition(" ") splits a line. frame[:-1].rpartition(":") finds the line in a '
            "frame without its last parenthesis. Remove it only if it consists of digits. Add int(number) to the count "
            "of each function in the set. n and m are the sums of the numbers of all lines, not the numbers of lines. "
            "A function that is in only one recording has 0 samples in the other."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, scenario_noun="pairs of recordings"),
    read="lesson 16, “Two runs compared: a differential flame graph”",
    idea=(
        "The solution counts each function once per stack. Then it compares the difference of the two shares with its "
        "standard error. Without this comparison, every function would count as changed, because the shares of two "
        "recordings of the same program are never exactly equal."
    ),
    references=(
        "Compare two proportions with the pooled two-sample z-test. Brendan Gregg's script difffolded.pl makes the "
        "input of a differential flame graph from two files with such lines."
    ),
)
