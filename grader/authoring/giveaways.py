"""Find simulated scenarios whose right answer can be guessed before anything was measured.

Decision trees learn from drawn scenarios to predict each number or word in the solution's answer. A tree sees the
arguments of the student's function and the place of a scenario in its grading. Some trees also see

- the answer to the solution's first call, or
- the answers to two calls of each simulated function that needs no arguments, such as a clock.

No tree may be right more often than the most frequent answer is. Usually it predicts the quarter in which a number
lies. From two calls, it predicts the number within 1 %, because two readings of a clock may show roughly how long
everything takes. If there are no simulated functions, the arguments determine the answer, so a tree sees only the
place.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from grader import kinds, paths
from grader.errors import UsageError
from grader.kinds.simulated import as_plain, measures
from grader.task import Array, Scenario, SimulatedExam, SimulatedFunction, Task
from grader.values import Value
from harness.rendering import units

DRAWN: Final = 1000
"""The number of drawn scenarios."""

FEWEST_GRADINGS: Final = 10
"""The scenarios come from at least this many gradings. A tree is tried on gradings from which it did not learn."""

MARGIN: Final = 0.06
"""How much more often than the most frequent answer a tree may be right by luck: about four standard errors."""

Seen = dict[str, float]
"""What a tree sees of a scenario: numbers by name."""


@dataclass
class _Watched:
    """A scenario that keeps the answer to the first call."""

    scenario: Scenario
    first: list[Value] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.scenario, name)

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Answer a call as the scenario does."""
        answer = self.scenario.call(name, arguments)
        self.first = self.first or [as_plain(answer)]
        return answer


def giveaways(task: Task, drawn: int = DRAWN) -> Iterator[str]:
    """Yield a sentence for each part of the right answers that a tree predicts, and each view that suffices for it.

    Raise `UsageError` if scikit-learn is missing.
    """
    if not isinstance(task.exam, SimulatedExam):
        return
    views: dict[str, list[Seen]] = {"before the first call": [], "after its first call": [], "after two calls": []}
    right, gradings = list[dict[str, Value]](), list[int]()
    solution = kinds.examiner(task, "").solver(paths.solution(task.lesson).read_text(encoding="utf-8"))
    for grading, place, scenario, again in _scenarios(task, drawn):
        before: Seen = {f"place % {n}": place % n for n in (2, 3, 4, 5, 1000)}
        if measures(scenario):
            _describe([scenario.function, *map(_argument, scenario.arguments)], "argument", before)
        watched = _Watched(scenario)
        right.append(dict(_parts(solution(watched))))
        for seen, answers in zip(views.values(), ([], watched.first, _two_calls(again)), strict=True):
            seen.append(dict(before))
            _describe(answers, "answer", seen[-1])
        gradings.append(grading)
    for name in [name for name in right[0] if all(name in one for one in right)]:
        wanted = [one[name] for one in right]
        for view, seen in views.items():
            if not (task.exam.tells and view.startswith("after")):
                learn = _by_regression if view == "after two calls" and all(map(_is_number, wanted)) else _by_classes
                share, constant = learn(seen, wanted, gradings)
                if share > constant + MARGIN:
                    yield (
                        f"what a submission sees {view} gives {name} away: a decision tree is right in "
                        f"{units.percent(share)} of the scenarios, and the most frequent answer in "
                        f"{units.percent(constant)}"
                    )


def _scenarios(task: Task, drawn: int) -> Iterator[tuple[int, int, Scenario, Scenario]]:
    """Yield the number of a grading, a scenario's place in it, the scenario, and the same scenario once more."""
    count = grading = 0
    while count < drawn:
        one, other = (kinds.examiner(task, f"grading {grading}").given for _ in range(2))
        most = math.ceil(drawn / FEWEST_GRADINGS)
        yield from ((grading, place, *pair) for place, pair in enumerate(zip(one[:most], other[:most], strict=True)))
        count, grading = count + min(len(one), most), grading + 1


def _argument(argument: Value | SimulatedFunction) -> Value:
    return None if isinstance(argument, SimulatedFunction) else as_plain(argument)  # a copy, as a submission gets it


def _two_calls(scenario: Scenario) -> list[Value]:
    answers: list[Value] = []
    for function in scenario.arguments:
        if isinstance(function, SimulatedFunction):
            with suppress(ValueError):  # it needs arguments
                one, other = (as_plain(scenario.call(function.name, ())) for _ in range(2))
                answers += [one, other, other - one if isinstance(one, float) else None]
    return answers


def _parts(answer: Value) -> Iterator[tuple[str, Value]]:
    """Yield the name of each number or word in an answer, and its value."""
    inside = answer.items() if isinstance(answer, dict) else enumerate(answer) if isinstance(answer, list) else ()
    for name, value in [("the right answer", answer), *((f"the right answer's part {n}", v) for n, v in inside)]:
        if not isinstance(value, dict | list):
            yield name, value


def _describe(value: Value, name: str, seen: Seen) -> None:
    """Add numbers that describe a value and everything in it, each with a name."""
    if isinstance(value, dict):
        for key, item in value.items():
            _describe(item, f"{name} {key}", seen)
    elif isinstance(value, list):
        seen[f"{name} length"] = len(value)
        for place in {*range(min(3, len(value))), len(value) - 1} if value else ():
            _describe(value[place], f"{name} {place if place < 3 else 'last'}", seen)
        for key in dict.fromkeys(key for item in value for key in _keys(item)):
            _summarize([item[key] for item in value if key in _keys(item)], f"{name} any {key}", seen)
        _summarize([item for item in value if not _keys(item)], f"{name} any", seen)
    elif isinstance(value, str):
        seen |= {f"{name} is {value}": 1.0, f"{name} length": len(value)}
    else:
        seen |= {name: _finite(value), f"{name} digits": len(repr(value))}


def _keys(item: Value) -> Sequence[Any]:
    return list(item) if isinstance(item, dict) else range(min(len(item), 5)) if isinstance(item, list) else ()


def _summarize(values: Sequence[Value], name: str, seen: Seen) -> None:
    """Add numbers that describe the items of a list, without their order but for the first place of each word."""
    words = [value for value in values if isinstance(value, str)]
    for word, count in Counter(words).items():
        seen |= {f"{name} {word}": count, f"first {name} {word}": 1 + words.index(word)}
    if numbers := [value for value in values if not isinstance(value, str | dict | list)]:
        known = [*map(_finite, numbers)]
        seen |= {f"least {name}": min(known), f"most {name}": max(known), f"mean {name}": sum(known) / len(known)}
        seen |= {f"different {name}": len(set(known)), f"NaN {name}": sum(one != one for one in numbers)}  # noqa: PLR0124


def _finite(value: Any) -> float:
    return float(np.clip(np.nan_to_num(-1.0 if value is None else float(value)), -1e30, 1e30))


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _by_regression(seen: Sequence[Seen], wanted: Sequence[Any], gradings: Sequence[int]) -> tuple[float, float]:
    """Return the shares of the numbers that a tree and the best constant predict within 1 %."""
    logs = np.log(np.maximum(wanted, 1e-12))
    ordered = np.sort(logs)
    near = np.searchsorted(ordered, ordered + 0.02) - np.arange(len(ordered))
    return _predicted(seen, logs, gradings, "DecisionTreeRegressor", 0.01), float(near.max() / len(wanted))


def _by_classes(seen: Sequence[Seen], wanted: Sequence[Any], gradings: Sequence[int]) -> tuple[float, float]:
    """Return the shares of the answers that a tree and the most frequent answer predict. Numbers become quarters."""
    numbers = [*filter(_is_number, wanted)]
    limits = np.quantile(numbers, (0.25, 0.5, 0.75)) if numbers else ()
    names = [str(np.searchsorted(limits, one)) if one in numbers else repr(one) for one in wanted]
    numbered = np.unique(names, return_inverse=True)[1]
    share = _predicted(seen, numbered, gradings, "DecisionTreeClassifier", 0.0)
    return share, float(np.bincount(numbered).max() / len(wanted))


def _predicted(seen: Sequence[Seen], wanted: Array, gradings: Sequence[int], kind: str, allowed: float) -> float:
    """Return the share of the numbers that the better of a small and a large tree predicts."""
    try:
        from sklearn import tree  # noqa: PLC0415 - only this check needs scikit-learn
        from sklearn.feature_extraction import DictVectorizer  # noqa: PLC0415
        from sklearn.model_selection import GroupKFold, cross_val_predict  # noqa: PLC0415
    except ImportError:
        raise UsageError("`lint` needs scikit-learn: run `python -m pip install scikit-learn`.") from None
    table = DictVectorizer().fit_transform(seen)
    trees = (getattr(tree, kind)(min_samples_leaf=least, random_state=0) for least in (20, 1))
    found = (cross_val_predict(one, table, wanted, groups=gradings, cv=GroupKFold(5)) for one in trees)
    return max(float(np.mean(abs(one - wanted) <= allowed)) for one in found)
