"""Find a known mistake that gives the same wrong answers as a student's submission, and return its explanation.

The student kit has no code of known mistakes. `mistakes.json` has their explanations, and their answers to a few
*probes*: test cases that are drawn from a public seed. A wrong submission must answer the probes too.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import count, repeat
from typing import Any, Final

from grader import paths

FILE: Final = paths.TASKS / "mistakes.json"
"""The file with the known mistakes of all tasks, by the task's full name. `grader.authoring.mistakes` writes it."""

SEED: Final = "probes"

MOST_ITEMS: Final = 12
"""The most items of each list that are recorded and compared. They have equal distances."""

SAME_NUMBER: Final = 1e-6
"""The relative difference up to which two floats are equal. A different order of additions changes a sum slightly."""


Probed = tuple[Any, bool]
"""An answer to a probe in plain values, and whether it is wrong."""


@dataclass(frozen=True, slots=True)
class KnownMistakes:
    """The known mistakes of one task: for each explanation, the recorded answers to the probes.

    `probes` are the places of the probes among the test cases drawn from `SEED`. For each of them, numbers count as
    equal if they differ by at most one of the `tolerances`. If not `judged`, the task judges no scenario alone.
    """

    probes: Sequence[int] = ()
    tolerances: Sequence[float] = ()
    judged: bool = True
    answers: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def explanation(self, probed: Iterable[Probed]) -> str:
        """Return the explanation of the only mistake that gives these answers, at least one of them wrong, or "".

        Take no further answer once no mistake gives all of them, and keep none, because an answer may be large.
        """
        left, wrong = dict(self.answers), not self.judged
        for place, tolerance, (answer, is_wrong) in zip(count(), self.tolerances, probed, strict=False):
            left = {text: known for text, known in left.items() if is_alike(known[place], answer, tolerance)}
            wrong = wrong or is_wrong
            if not left:
                break
        return next(iter(left)) if len(left) == 1 and wrong else ""


def read() -> dict[str, KnownMistakes]:
    """Return the known mistakes of all tasks by the task's full name."""
    return {name: KnownMistakes(**each) for name, each in json.loads(FILE.read_text(encoding="utf-8")).items()}


def as_bytes(mistakes: Mapping[str, KnownMistakes]) -> bytes:
    """Return the content of the file for these known mistakes. Each task has one line."""
    found = {name: json.dumps(asdict(each), ensure_ascii=False) for name, each in mistakes.items()}
    rows = ",\n".join(f" {json.dumps(name)}: {text}" for name, text in found.items())
    return f"{{\n{rows}\n}}\n".encode()


def shortened(answer: Any) -> Any:
    """Return an answer of plain values as it is recorded: with fewer items, and floats of nine digits."""
    if (items := _items(answer)) is not None:
        return [*map(shortened, items)]
    return float(f"{answer:.9g}") if isinstance(answer, float) else answer


def is_alike(known: Any, answer: Any, tolerance: float) -> bool:
    """Return whether an answer of plain values equals a recorded one, except for rounding errors of floats."""
    if isinstance(known, list):
        items = _items(answer) or []
        return len(items) == len(known) and all(map(is_alike, known, items, repeat(tolerance)))
    if isinstance(known, float) and isinstance(answer, float):
        near = math.isclose(known, answer, rel_tol=SAME_NUMBER, abs_tol=tolerance)
        return near or (math.isnan(known) and math.isnan(answer))
    return type(known) is type(answer) and bool(known == answer)


def few(items: Any) -> Any:
    """Return at most `MOST_ITEMS` items of a list or an array, at equal distances."""
    return items[:: -(-len(items) // MOST_ITEMS) or 1]


def _items(answer: Any) -> list[Any] | None:
    if isinstance(answer, dict):
        answer = [[key, answer[key]] for key in sorted(answer)]
    return [len(answer), *few(answer)] if isinstance(answer, list) else None
