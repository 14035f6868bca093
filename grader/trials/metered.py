"""Measuring functions on trial: played in simulated worlds that live here.

The submission holds nothing but functions that ask the supervisor; the clock, the noise and the truth are out of its
reach, and every call is counted where it arrives. Its cost is what the world says was spent. What the plain way would
have spent there is known to the world as well (`plain_cost`). So no baseline is played, and a student's kit has none: a
baseline that measures rightly, and too often, is full marks as soon as one number in it is smaller.
"""

import json
import math
import re
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from grader.errors import GraderFault
from grader.records import Attempt, Speed, Status
from grader.settings import Settings
from grader.task import Metered, MeteredExam, Mismatch, Planned, Scenario, Task
from grader.trials.failing import FIRST, RAISED_IN
from grader.trials.faults import theirs
from grader.trials.inputs import generator
from grader.trials.known import explanation, explanation_here
from grader.trials.supervisor import Worker, worker
from grader.values import Value

LEAST_COST: Final = 1e-12
"""A cost of nothing would give an infinite ratio; no right answer is that cheap."""

MOST_SHOWN: Final = 200
"""Characters of arguments that a message shows at most."""

SAME_ANSWER: Final = 1e-6
"""Relative difference within which a known wrong answer counts as the student's: no more than other ways to add up."""


@dataclass(frozen=True)
class Played:
    """One scenario after its end: what was answered, and why that is wrong if it is."""

    scenario: Scenario
    answer: object
    mismatch: Mismatch | None


_IMPORTS_TORCH: Final = re.compile(r"^\s*(import|from)\s+torch\b", re.MULTILINE)
"""A file that does so needs a worker born with torch: a build with CUDA maps more memory than a worker may add."""

Play = Callable[[Scenario], Played]
"""Plays one scenario with some code."""


def examine(task: Task, exam: MeteredExam, source: str, settings: Settings, seed: Sequence[str]) -> Attempt:
    """Play all scenarios with the submission, and judge it."""
    imports_torch = exam.torch or _IMPORTS_TORCH.search(source) is not None
    with settings.pool.fresh(tensors=imports_torch) as tree, worker(tree, task.limits) as one:
        with theirs("The file"):
            one.load(source)
        mine = [_play(exam, one, scenario) for scenario in exam.scenarios(generator(*seed))]
        printed = one.output_tail
    return _judged(task, exam, mine, settings, seed, printed)


def examine_known(task: Task, exam: MeteredExam, source: str, settings: Settings, seed: Sequence[str]) -> Attempt:
    """Return what `examine` does for a known submission of the kit, played in this process.

    A world says the same wherever it is asked from, and here a question takes a microsecond, not a hundred. Whatever
    the source raises goes through.
    """
    mine = _played_here(exam, source, exam.scenarios(generator(*seed)))
    return _judged(task, exam, mine, settings, seed, printed="")


def _judged(
    task: Task, exam: MeteredExam, mine: list[Played], settings: Settings, seed: Sequence[str], printed: str
) -> Attempt:
    """Judge what was played, and compare its cost with the plain way's when it is right."""
    right = sum(played.mismatch is None for played in mine)
    if len(mine) - right > exam.forgiven:
        return _wrong(task, exam, mine, settings, seed, printed)
    if mismatch := exam.together([played.scenario for played in mine]):
        return _wrong_together(task, exam, mine, mismatch, settings, seed, printed)
    uncounted = Speed(ratio=1.0, low=1.0, high=1.0, rounds=len(mine), tier=0)
    measured = speed(task, mine) if task.tiers else uncounted
    return Attempt(Status.PASSED, speed=measured, cases_passed=right, cases=len(mine), output_tail=printed)


def _play(exam: MeteredExam, one: Worker, scenario: Scenario) -> Played:
    arguments = [{"metered": a.name} if isinstance(a, Metered) else {"value": a} for a in scenario.arguments]
    with theirs(scenario.function, f"{RAISED_IN} {_case(scenario)}"):
        claim = one.values(scenario.function, arguments, scenario.call, exam.max_calls)
        if "answer" in claim:
            return Played(scenario, claim["answer"], scenario.judge(claim["answer"]))
    got = f"a {str(claim.get('type'))[:80]}"
    return Played(scenario, None, Mismatch("plain numbers", got, "Return plain numbers, or a tuple of them."))


def _case(scenario: Scenario) -> str:
    """Name a world, with what its function was given where that is short and plain."""
    given = [argument for argument in scenario.arguments if not isinstance(argument, Metered)]
    text = ", ".join(map(repr, given))
    plain = len(given) == len(scenario.arguments) and len(text) <= MOST_SHOWN
    return f"{scenario.title}, {scenario.function}({text})" if plain else scenario.title


def _played_here(exam: MeteredExam, source: str, scenarios: Sequence[Scenario]) -> list[Played]:
    """Play all scenarios with a source of ours, in this process.

    What a world counts does not depend on where it is asked from, and asking across a process boundary takes longer. It
    gets copies, and answers in JSON's types alone.
    """
    play = _player(exam, source)
    return [play(scenario) for scenario in scenarios]


def _player(exam: MeteredExam, source: str) -> Play:
    """What plays one scenario with a source of ours, in this process. What it raises goes through."""
    module = types.ModuleType("ours")
    exec(compile(source, "ours.py", "exec"), module.__dict__)  # noqa: S102 - it is part of the kit, like this line

    def played(scenario: Scenario) -> Played:
        answer = as_plain(getattr(module, scenario.function)(*arguments_here(scenario, exam.max_calls)))
        return Played(scenario, answer, scenario.judge(answer))

    return played


def arguments_here(scenario: Scenario, max_calls: int = MeteredExam.max_calls) -> list[Any]:
    """Return what the function of a scenario is given, for a call in this process."""
    left = iter(range(max_calls))

    def asking(name: str) -> Callable[..., Value]:
        def ask(*given: Value) -> Value:
            if next(left, None) is None:
                raise GraderFault(f"it asked more than {max_calls} times")
            return scenario.call(name, tuple(map(as_plain, given)))

        return ask

    return [asking(one.name) if isinstance(one, Metered) else as_plain(one) for one in scenario.arguments]


_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
"""Types whose values come over the channel as they are, so that they need no copy: they are asked for often."""


def as_plain(value: Any) -> Any:
    """Return a copy, as it comes over the channel."""
    if type(value) in _SCALARS:
        return value
    return json.loads(json.dumps(value))


def speed(task: Task, mine: list[Played]) -> Speed:
    """Return the geometric mean of the plain way's cost over its own, in the worlds that were answered rightly.

    Both costs are simulated, so the ratio is exact. A world that is answered wrongly, and forgiven, counts for nothing:
    a wrong answer may be had for no cost at all.
    """
    logs = [math.log(gain(own.scenario)) for own in mine if own.mismatch is None]
    ratio = math.exp(math.fsum(logs) / len(logs))
    tier = sum(ratio >= tier.ratio for tier in task.tiers)
    return Speed(ratio=ratio, low=ratio, high=ratio, rounds=len(logs), tier=tier)


def gain(played: Scenario) -> float:
    """Return what the plain way spends in a scenario over what was spent in its play."""
    if not isinstance(played, Planned):
        raise GraderFault(f"{type(played).__name__} has no plain_cost, which a task with tiers needs.")
    return max(played.plain_cost, LEAST_COST) / max(played.cost, LEAST_COST)


def _wrong(
    task: Task, exam: MeteredExam, mine: list[Played], settings: Settings, seed: Sequence[str], printed: str
) -> Attempt:
    failed = [played for played in mine if played.mismatch]
    first = failed[0]
    assert first.mismatch is not None
    allowed = f" ({exam.forgiven} may be)" if exam.forgiven else ""
    lines = [
        f"Wrong in {len(failed)} of {len(mine)} {exam.worlds}{allowed}. {FIRST} {first.scenario.title}",
        *first.mismatch.lines,
    ]
    return Attempt(
        Status.WRONG,
        rationale="\n".join(lines),
        help=_explanation(task, exam, mine, settings, seed),
        cases_passed=len(mine) - len(failed),
        cases=len(mine),
        output_tail=printed,
    )


def _wrong_together(
    task: Task,
    exam: MeteredExam,
    mine: list[Played],
    mismatch: Mismatch,
    settings: Settings,
    seed: Sequence[str],
    printed: str,
) -> Attempt:
    """Right in each world, and wrong over all of them."""
    return Attempt(
        Status.WRONG,
        rationale="\n".join([f"Wrong over {len(mine)} {exam.worlds} taken together.", *mismatch.lines]),
        help=_explanation(task, exam, mine, settings, seed),
        cases=len(mine),
        output_tail=printed,
    )


def _explanation(task: Task, exam: MeteredExam, mine: list[Played], settings: Settings, seed: Sequence[str]) -> str:
    """Return the docstring of the known wrong submission that gives the same answers in every world; else nothing.

    The worlds that were answered rightly count as well: in a few wrong ones two different methods may agree by chance,
    and then one student would be told another's mistake.

    Known ones that ask are played here, as the baseline is and for the same reason: they end, since what they ask is
    counted. What merely computes is played in a worker, which has deadlines.
    """

    def reproduces(play: Play) -> bool:
        worlds = exam.scenarios(generator(*seed))
        return all(same_answer(play(world).answer, own.answer) for world, own in zip(worlds, mine, strict=True))

    if any(isinstance(argument, Metered) for played in mine for argument in played.scenario.arguments):
        return explanation_here(task, lambda source: reproduces(_player(exam, source)))
    return explanation(task, settings, lambda one: reproduces(partial(_play, exam, one)), failures=1, tensors=False)


def same_answer(one: Any, other: Any) -> bool:
    """Return whether two plain answers are equal, numbers up to rounding."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_answer, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_answer(one[key], other[key]) for key in one)
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=SAME_ANSWER)
    return bool(one == other)
