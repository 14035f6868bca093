"""Task (a) of lesson 19: find the causes of recompilations in the log of torch. Only the answer counts.

The logs consist of recorded messages (`record.py`) with random names and order. The cause of each message is known from
its recording. So the right rows do not come from the lines that the submission reads.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from grader.kinds.simulated import CALLS
from grader.task import SimulatedExam, SimulatedFunction, Task
from grader.tasks import recordings
from grader.tasks.plain import RowsScenario, invented
from grader.tasks.simulated import shuffled
from grader.values import Value

LOGS: Final = Path(__file__).parent / "logs.json"

FUNCTION: Final = "recorded_step"
FILE: Final = "/app/recorded.py"
"""The name of the recorded function and its file, which scenarios replace."""


class RecordedMessage(NamedTuple):
    """A message about a recompilation.

    `change` is its known cause. Each line begins with `prefix`, the time and place that torch's log adds. `head` are
    the first lines, and `reasons` the lines about each earlier graph, without the prefix.
    """

    change: str
    prefix: str
    head: list[str]
    reasons: list[list[str]]


def load() -> tuple[list[RecordedMessage], list[str]]:
    """Return the recorded messages about recompilations, and the lines of other messages."""
    recorded = recordings.read(LOGS)
    return [RecordedMessage(*each) for each in recorded["blocks"]], recorded["others"]


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


@dataclass(frozen=True)
class _Target:
    """A compiled function: its name, its place in a file, and the number that torch gives to its code."""

    name: str
    file: str
    line: int
    frame: int

    def message(self, block: RecordedMessage, order: Sequence[int] = ()) -> Message:
        """Return a recorded message as a message about this function, with its reasons in this order."""
        reasons = [block.reasons[place] for place in order] or block.reasons
        place = f"{self.file}:{self.line}"
        lines = [f"Recompiling function {self.name} in {place}", *block.head[1:]]
        lines += [self._renamed(line) for reason in reasons for line in reason]
        prefix = block.prefix.replace("[0/", f"[{self.frame}/")
        return Message(self.name, place, block.change, tuple(prefix + line for line in lines))

    def oldest_first(self, block: RecordedMessage) -> Message:
        """Return the message with its reasons in the opposite order."""
        return self.message(block, range(len(block.reasons))[::-1])

    def mixed(self, rng: np.random.Generator, block: RecordedMessage) -> Message:
        """Return the message with its reasons in random order."""
        return self.message(block, [int(place) for place in rng.permutation(len(block.reasons))])

    def _renamed(self, line: str) -> str:
        return line.replace("- 0/", f"- {self.frame}/", 1).replace(FILE, self.file).replace(FUNCTION, self.name)


def draw_scenarios(rng: np.random.Generator) -> tuple[Log, ...]:
    """Return a log for each special case, and longer logs of several functions, in random order."""
    blocks, others = load()
    one, two, *_ = targets = _targets(rng, 4)
    twin = replace(two, name=one.name)
    many = [block for block in blocks if len({reason[0].partition(": ")[2] for reason in block.reasons}) > 1]
    longest = [block for block in blocks if len(block.reasons) > 10]
    ranges = [two.message(_of(rng, cause)) for cause in ("range", "size", "range")]
    logs = (
        Log("an empty log", "For an empty list, return an empty list.", ()),
        Log("a log without recompilations", OTHERS, (*others[:12], OUTPUT[2])),
        Log("one recompilation", NEWEST, (one.message(_one(rng, blocks)),)),
        Log("each cause once", NEWEST, tuple(one.message(_of(rng, cause)) for cause in CAUSES)),
        Log("the newest graph is last", NEWEST, tuple(one.oldest_first(block) for block in many)),
        Log("more than ten graphs", NUMBERS, tuple(two.mixed(rng, block) for block in longest * 3)),
        Log(
            "one name in two places",
            PLACES,
            tuple(each.message(_one(rng, many)) for each in (one, twin, twin, one, twin)),
        ),
        Log("guards on values", VALUES, tuple(one.message(block) for block in blocks if block.change == "value")),
        Log("guards on ranges", RANGES, tuple(ranges)),
        *(Log(f"a log of {len(targets)} functions", NEWEST, _long(rng, targets)) for _ in range(4)),
    )
    return shuffled(rng, logs)


CAUSES: Final = ("dtype", "mode", "range", "rank", "requires_grad", "size", "stride", "value")
"""The causes of recompilations."""


def _long(rng: np.random.Generator, targets: Sequence[_Target]) -> tuple[Message | str, ...]:
    """Return a log of 14 recompilations of several functions, with other lines between them."""
    blocks, others = load()
    parts: list[Message | str] = []
    for _ in range(14):
        target = targets[int(rng.integers(len(targets)))]
        parts.append(target.mixed(rng, _one(rng, blocks)))
        if rng.random() < 0.5:
            start = int(rng.integers(len(others) - 4))
            parts += others[start : start + 4]
        if rng.random() < 0.4:
            parts.append(str(rng.choice(OUTPUT)))
    return tuple(parts)


def _one(rng: np.random.Generator, blocks: Sequence[RecordedMessage]) -> RecordedMessage:
    return blocks[int(rng.integers(len(blocks)))]


def _of(rng: np.random.Generator, cause: str) -> RecordedMessage:
    return _one(rng, [block for block in load()[0] if block.change == cause])


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
