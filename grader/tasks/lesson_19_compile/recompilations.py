"""Task (a) of lesson 19: find the causes of recompilations in the log of torch. Only the answer counts.

The messages have the form of torch 2.13, and are drawn anew: the number of earlier graphs, and the guard that fails for
each of them, with its names and numbers. The cause of a message is drawn before its lines are written. So no table of
messages has the answer, and no code here reads a log.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from grader.kinds.simulated import CALLS
from grader.task import SimulatedExam, SimulatedFunction, Task
from grader.tasks.plain import RowsScenario, invented
from grader.tasks.simulated import shuffled
from grader.values import Value

VERBS: Final = ("attend", "blend", "clip", "decode", "embed", "fuse", "gate", "merge", "norm", "pool", "route", "warp")
ENDS: Final = ("", "_all", "_batch", "_each", "_rows", "_step")
FILES: Final = ("/home/ada/train.py", "/srv/app/layers.py", "/app/model.py", "/app/my code/loop.py", "<string>")
OUTPUT: Final = ("epoch 3: loss 0.21", "recompiled nothing today", "step 40: size mismatch: 0", "saved size.pt", "")

NEWEST: Final = "The cause is the failed guard of the graph with the highest number. The lines come in any order."
NUMBERS: Final = "Compare the numbers of the graphs as numbers: graph 10 is newer than graph 9."
PLACES: Final = "Two functions can have the same name. They differ in the file or in the line."
VALUES: Final = "A text such as mode == 'size mismatch' is a guard on a value. Guards on tensors begin with tensor."
RANGES: Final = "A guard such as 2 <= x.size()[0] is a range."
OTHERS: Final = "Ignore all lines that do not belong to a recompilation."


@dataclass(frozen=True)
class Message:
    """A recompilation in a log: its function with its place, its known cause, and its lines."""

    function: str
    place: str
    cause: str
    lines: tuple[str, ...]


@dataclass
class Log(RowsScenario):
    """A log: messages about recompilations and other lines, in order."""

    parts: tuple[Message | str, ...]
    function = "recompilations"
    order = "by function, then by place, then by cause"

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The argument of `recompilations`: the lines of the log."""
        return ([line for part in self.parts for line in ([part] if isinstance(part, str) else part.lines)],)

    @property
    def right(self) -> list[list[Value]]:
        """The right rows, counted from the known causes."""
        known = Counter((part.function, part.place, part.cause) for part in self.parts if isinstance(part, Message))
        return [[*key, number] for key, number in sorted(known.items())]


CAUSES: Final = ("dtype", "mode", "range", "rank", "requires_grad", "size", "stride", "value")
"""The causes of recompilations."""

TENSORS: Final = ("bias", "h", "keys", "mask", "q", "weight", "x", "y")
VARIABLES: Final = ("axis", "kind", "mode", "n", "scale", "steps")
CONSTANTS: Final = ("'sum'", "'mean'", "'size mismatch'", "'dtype mismatch'", "True", "0.5")
DTYPES: Final = ("BFloat16", "Bool", "Double", "Float", "Half", "Int", "Long")
STATES: Final = ("grad_mode", "num_threads", "deterministic_algorithms", "allow_tf32")

BREAK: Final = """Graph break in user code at {file}:{line}
Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):

{name} method not supported for non-export cases
  Explanation: {name} methods are not supported for non-export cases.
  Hint: Add the logging method to `torch._dynamo.config.ignore_logging_functions`.

User code traceback:
  File "{file}", line {line}, in {function}
    {name}("size mismatch")
"""
"""A message of torch about a graph break."""


@dataclass(frozen=True)
class _Target:
    """A compiled function: its name, its place in a file, and the number that torch gives to its code."""

    name: str
    file: str
    line: int
    frame: int

    def message(self, rng: np.random.Generator, *causes: str, order: Sequence[int] = ()) -> Message:
        """Return a message about this function, with a failed guard for each earlier graph, the oldest first.

        `order` are the numbers of the graphs in the order of their lines. Without it, the newest graph comes first.
        """
        place, numbers = f"{self.file}:{self.line}", order or range(len(causes))[::-1]
        prefix = self.prefix(rng, "guards", len(causes), "recompiles")
        lines = [f"Recompiling function {self.name} in {place}", "    triggered by the following guard failure(s):"]
        for number in numbers:
            guard, *more = self._guard(rng, causes[number])
            lines += [f"    - {self.frame}/{number}: {guard}", *(f"    - {line}" for line in more)]
        return Message(self.name, place, causes[-1], tuple(prefix + line for line in lines))

    def mixed(self, rng: np.random.Generator, number: int = 0) -> Message:
        """Return a message with random causes of `number` guards, by default 1 to 8, in random order."""
        number = number or int(rng.integers(1, 9))
        causes = [str(cause) for cause in rng.choice(CAUSES, number)]
        return self.message(rng, *causes, order=shuffled(rng, range(number)))

    def graph_break(self, rng: np.random.Generator) -> list[str]:
        """Return the lines of a message about a graph break in this function."""
        prefix = self.prefix(rng, "symbolic_convert", int(rng.integers(20)), "graph_breaks")
        name, line = f"log.{rng.choice(('debug', 'info', 'warning'))}", self.line + int(rng.integers(1, 30))
        text = BREAK.format(file=self.file, line=line, name=name, function=self.name)
        return [prefix + each for each in text.splitlines()]

    def prefix(self, rng: np.random.Generator, module: str, graph: int, kind: str) -> str:
        """Return the beginning of each line of a message, with a random time, process and place in torch."""
        day, hour, minute, second, process, line = rng.integers((1, 0, 0, 0, 1, 1), (29, 24, 60, 60, 30_000, 6000))
        when = f"V11{day:02} {hour:02}:{minute:02}:{second:02}.{rng.integers(1000):03}000 {process}"
        return f"{when} torch/_dynamo/{module}.py:{line}] [{self.frame}/{graph}] [__{kind}] "

    def _guard(self, rng: np.random.Generator, cause: str) -> list[str]:
        """Return a failed guard of this cause with its comment, and the lines about the place of the guard."""
        tensor, variable, value = (str(rng.choice(names)) for names in (TENSORS, VARIABLES, CONSTANTS))
        one, other = (int(number) for number in rng.choice(np.arange(2, 99), 2, replace=False))
        index = int(rng.integers(4))
        line = self.line + index
        if cause == "mode":
            return [f"GLOBAL_STATE changed: {rng.choice(STATES)} "]
        if cause == "range":
            code, most = f"if len({tensor}) > {other}:", f" <= {max(one, other)}" * (index % 2)
            comment = f"# {code}  # {self.file}:{line} in {self.name} (_dynamo/variables/tensor.py:2606)"
            return [f"{min(one, other)} <= {tensor}.size()[{index}]{most}  {comment}"]
        if cause == "value":
            code = f"return {tensor} * {variable}"
            guard = f"{variable} == {one if index % 2 else value}"
            place = f'  File "{self.file}", line {line}, in {self.name}'
            comment = f"# {code}  # {self.file}:{line} in {self.name}"
            return [f"{guard:<60}  {comment}", "User stack trace:", place, f"    {code}"]
        first, second = rng.choice(DTYPES, 2, replace=False)
        detail = {
            "dtype": f". expected {first}, actual {second}",
            "rank": f". expected {index + 1}, actual {index + 2}",
            "requires_grad": f". expected requires_grad={index % 2}",
        }
        differs = detail.get(cause, f" at index {index}. expected {one}, actual {other}")
        return [f"tensor '{tensor}' {cause} mismatch{differs}"]


def draw_scenarios(rng: np.random.Generator) -> tuple[Log, ...]:
    """Return a log for each special case, and longer logs of several functions, in random order."""
    one, two, *_ = targets = _targets(rng, 4)
    twin = replace(two, name=one.name)
    logs = (
        Log("an empty log", "For an empty list, return an empty list.", ()),
        Log("a log without recompilations", OTHERS, (*two.graph_break(rng), OUTPUT[2])),
        Log("one recompilation", NEWEST, (one.mixed(rng),)),
        Log("each cause once", NEWEST, tuple(one.message(rng, cause) for cause in CAUSES)),
        Log("the newest graph is last", NEWEST, tuple(_oldest_first(rng, one) for _ in range(12))),
        Log("more than ten graphs", NUMBERS, tuple(two.mixed(rng, int(rng.integers(11, 15))) for _ in range(6))),
        Log("one name in two places", PLACES, tuple(each.mixed(rng) for each in (one, twin, twin, one, twin))),
        Log("guards on values", VALUES, tuple(one.message(rng, "value") for _ in range(6))),
        Log("guards on ranges", RANGES, tuple(two.message(rng, cause) for cause in ("range", "size", "range"))),
        *(Log(f"a log of {len(targets)} functions", NEWEST, _long(rng, targets)) for _ in range(4)),
    )
    return shuffled(rng, logs)


def _oldest_first(rng: np.random.Generator, target: _Target) -> Message:
    causes = shuffled(rng, CAUSES)[: int(rng.integers(2, 7))]
    return target.message(rng, *causes, order=range(len(causes)))


def _long(rng: np.random.Generator, targets: Sequence[_Target]) -> tuple[Message | str, ...]:
    """Return a log of 14 recompilations of several functions, with other lines between them."""
    parts: list[Message | str] = []
    for _ in range(14):
        target, other = (targets[number] for number in rng.integers(len(targets), size=2).tolist())
        parts.append(target.mixed(rng))
        if rng.random() < 0.5:
            parts += other.graph_break(rng)[int(rng.integers(6)) :]
        if rng.random() < 0.4:
            parts.append(str(rng.choice(OUTPUT)))
    return tuple(parts)


def _targets(rng: np.random.Generator, number: int) -> list[_Target]:
    names, lines = invented(rng, number, VERBS, ENDS), rng.choice(900, number, replace=False)
    drawn = zip(names, rng.choice(FILES, number, replace=False), lines, strict=True)
    return [_Target(name, str(file), 1 + int(line), frame) for frame, (name, file, line) in enumerate(drawn)]


RECOMPILATIONS = Task(
    summary="count the causes of recompilations in the log of torch",
    cost=CALLS,
    tiers=(),
    hints=(
        "Which text does each line of a message about recompilations contain? Which line begins a new message?",
        (
            'Split each line at "[__recompiles] ". If the text after it begins with "Recompiling function ", a new '
            "message begins. Keep the failed guard of the newest graph of each message, and count at the end."
        ),
        (
            're.match(r"    - \\d+/(\\d+): (.*)", text) finds the number of a graph, and its failed guard. Compare '
            'int(number). A guard that begins with "tensor \'" has its cause before the word mismatch. Otherwise, look '
            'for "GLOBAL_STATE" at the beginning, and for ".size()[" before the comment. All other guards are values.'
        ),
    ),
    exam=SimulatedExam(draw_scenarios, scenario_noun="logs"),
    read="lesson 19, “Which change needs a new graph?”",
    idea=(
        "A message lists the failed guard of every graph, but most of these graphs are old. The newest graph fitted "
        "the calls just before. So its guard shows what changed, and the solution counts only this guard."
    ),
    references=("The package tlparse makes pages of such logs: set TORCH_TRACE=DIR, and run tlparse DIR --latest."),
)
