"""Find simulated scenarios whose right answer can be guessed before anything was measured.

Decision trees learn from drawn scenarios to predict each number or word in the solution's answer. A tree sees the
arguments of the student's function and the place of a scenario in its grading. Some trees also see

- the answer to the solution's first call, or
- the answers to two calls of each simulated function that needs no arguments, such as a clock.

No tree may be right more often than the most frequent answer is. Before the first call, all answers count as equally
frequent, so that a rare answer must not show either. Usually a tree predicts the quarter in which a number
lies. From two calls, it predicts the number within 1 %, because two readings of a clock may show roughly how long
everything takes. If there are no simulated functions, the arguments determine the answer, so a tree sees only the
place.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np

from grader import kinds, paths
from grader.errors import UsageError
from grader.kinds.simulated import as_plain, measures
from grader.task import Scenario, SimulatedExam, SimulatedFunction, Task
from grader.values import Value
from harness.rendering import units

DRAWN: Final = 1000
"""The number of drawn scenarios."""

FEWEST_GRADINGS: Final = 10
"""The scenarios come from at least this many gradings. A tree is tried on gradings from which it did not learn."""

MARGIN: Final = 0.08
"""How much more often than the most frequent answer a tree may be right by luck: about six standard errors.

Many trees are tried. One saw only random places and was right in 6 % more of the scenarios, and in 0 to 4 % more of
those from four other seeds.
"""

Seen = dict[str, float]
"""What a tree sees of a scenario: numbers by name."""


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
            given = [as_plain(one) for one in scenario.arguments if not isinstance(one, SimulatedFunction)]
            _describe([scenario.function, *given], "argument", before)
        answers = _watched(scenario)
        right.append(dict(_parts(solution(scenario))))
        for seen, known in zip(views.values(), ([], answers[:1], _two_calls(again)), strict=True):
            seen.append(dict(before))
            _describe(known, "answer", seen[-1])
        gradings.append(grading)
    for name in [name for name in right[0] if all(name in one for one in right)]:
        for view, seen in views.items():
            if task.exam.tells and view.startswith("after"):
                continue
            share, constant = _predicted(seen, [one[name] for one in right], gradings, view)
            if share > constant + MARGIN:
                rates = (
                    f"{units.percent(share)} of the scenarios, the most frequent answer in {units.percent(constant)}"
                )
                yield f"what a submission sees {view} gives {name} away: a decision tree is right in {rates}"


def _scenarios(task: Task, drawn: int) -> Iterator[tuple[int, int, Scenario, Scenario]]:
    count, most = 0, math.ceil(drawn / FEWEST_GRADINGS)
    for grading in range(drawn):
        pairs = [*zip(*(kinds.examiner(task, f"grading {grading}").given[:most] for _ in range(2)), strict=True)]
        yield from ((grading, place, *pair) for place, pair in enumerate(pairs))
        if (count := count + len(pairs)) >= drawn:
            return


def _watched(scenario: Scenario) -> list[Value]:
    answers, call = list[Value](), scenario.call

    def watched(name: str, arguments: Sequence[Value]) -> Value:
        answers.append(as_plain(call(name, arguments)))
        return answers[-1]

    vars(scenario)["call"] = watched
    return answers


def _two_calls(scenario: Scenario) -> list[Value]:
    answers: list[Value] = []
    for function in scenario.arguments:
        if isinstance(function, SimulatedFunction):
            with suppress(ValueError):  # it needs arguments
                one, other = (as_plain(scenario.call(function.name, ())) for _ in range(2))
                answers += [one, other, other - one if isinstance(one, float) else None]
    return answers


def _parts(answer: Value) -> Iterator[tuple[str, Value]]:
    inside = answer.items() if isinstance(answer, dict) else enumerate(answer) if isinstance(answer, list) else ()
    for name, value in [("the right answer", answer), *((f"part {n} of the right answer", v) for n, v in inside)]:
        if not isinstance(value, dict | list):
            yield name, value


def _describe(value: Value, name: str, seen: Seen) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            _describe(item, f"{name} {key}", seen)
    elif isinstance(value, list):
        seen[f"{name} length"] = len(value)
        for place in {*range(min(3, len(value))), len(value) - 1} if value else ():
            _describe(value[place], f"{name} {place if place < 3 else 'last'}", seen)
        columns: dict[Any, list[Value]] = {}
        for item in value:
            rows = (
                item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else [("", item)]
            )
            for key, entry in rows:
                columns.setdefault(key, []).append(entry)
        for key, column in columns.items():
            _summarize([entry for entry in column if not isinstance(entry, dict | list)], f"{name} any {key}", seen)
    elif isinstance(value, str):
        seen |= {f"{name} is {value}": 1.0, f"{name} length": len(value)}
    else:
        seen |= {name: _finite(value), f"{name} digits": len(repr(value))}


def _summarize(values: Sequence[Value], name: str, seen: Seen) -> None:
    for word, count in Counter(map(repr, values)).items():
        seen[f"{name} {word}"] = count
        seen[f"first {name} {word}"] = 1 + [*map(repr, values)].index(word)
    known = [_finite(value) for value in values if not isinstance(value, str)] or [0.0]
    seen |= {f"least {name}": min(known), f"most {name}": max(known), f"mean {name}": sum(known) / len(known)}
    seen[f"different {name}"] = len(set(values))


def _finite(value: Any) -> float:
    return float(np.clip(np.nan_to_num(-1.0 if value is None else float(value)), -1e30, 1e30))


def _predicted(seen: Sequence[Seen], wanted: Sequence[Any], gradings: Sequence[int], view: str) -> tuple[float, float]:
    """Return the share of the answers that a tree predicts, small or large, and the share of the most frequent answer.

    A tree predicts the quarter in which a number lies, or after two calls, the number within 1 %. Before the first call
    all answers count as equally frequent, so that a rare answer, too, must not show.
    """
    try:
        from sklearn import tree  # noqa: PLC0415 - only this check needs scikit-learn
        from sklearn.feature_extraction import DictVectorizer  # noqa: PLC0415
        from sklearn.model_selection import GroupKFold, cross_val_predict  # noqa: PLC0415
    except ImportError:
        raise UsageError("`lint` needs scikit-learn: run `python -m pip install scikit-learn`.") from None
    numbers = [one for one in wanted if type(one) in {int, float}]
    if view == "after two calls" and len(numbers) == len(wanted):
        kind, within, target = tree.DecisionTreeRegressor, 0.01, np.log(np.maximum(wanted, 1e-12))
    else:
        limits = np.quantile(numbers or [0], (0.25, 0.5, 0.75))
        names = [repr(np.searchsorted(limits, one) if type(one) in {int, float} else one) for one in wanted]
        kind, within, target = tree.DecisionTreeClassifier, 0.0, np.unique(names, return_inverse=True)[1]
    table, ordered, weights = DictVectorizer().fit_transform(seen), np.sort(target), np.ones(len(target))
    trees = [kind(min_samples_leaf=least, random_state=0) for least in (20, 1)]
    if view == "before the first call":
        weights = 1 / np.bincount(target)[target]
        trees = [one.set_params(class_weight="balanced") for one in trees]
    found = (cross_val_predict(one, table, target, groups=gradings, cv=GroupKFold(5)) for one in trees)
    near = np.searchsorted(ordered, ordered + 2 * within, "right") - np.arange(len(ordered))
    share = max(float(np.average(abs(one - target) <= within, weights=weights)) for one in found)
    return share, float(max(near * weights[np.argsort(target)]) / sum(weights))
