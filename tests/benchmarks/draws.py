"""Does luck decide a grade? Every known submission is judged on many draws of its task's inputs, not only on one.

    python tests/benchmarks/draws.py --draws 400                      # every lesson; about half an hour
    python tests/benchmarks/draws.py 02_timeit_vs_timer 05_compare --draws 3000 --seconds 200

What a submission meets is drawn from its digest and the instructor's secret. So nobody's grade changes from one run to
the next, and yet a draw in which right code fails, or wrong code passes, would hit one student in some hundred. Counts
such draws: right ones called wrong or, where cost is simulated, paid for another tier, wrong ones that pass, and for
tensors wrong ones that another one's sentence would explain. Exit status 1 if a right one ever failed.

Known submissions are the kit's own, so all this happens in one process, without workers and without timing. Functions
in C are left out.
"""

import argparse
import json
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import torch

from grader import catalogue
from grader.task import CountedExam, Inputs, Metered, MeteredExam, Scenario, Task, TensorExam
from grader.trials.correctness import Answer, Expected, judge, same
from grader.trials.inputs import generator, root

Functions = dict[str, Callable[..., Any]]
"""What a known submission defines."""


def main() -> int:
    """Go through the lessons, and print a line for each task."""
    parser = argparse.ArgumentParser(description="Known submissions on many draws of their inputs.")
    parser.add_argument("lessons", nargs="*", default=catalogue.load().lessons, metavar="LESSON")
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=60.0, help="stop earlier, after so long for a task")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    unfair = False
    for task in (task for lesson in options.lessons for task in catalogue.load().tasks(lesson)):
        if isinstance(task.exam, TensorExam) and task.exam.in_c:
            continue
        files = [*sorted(task.known.glob("*.py")), catalogue.solution(task.lesson)]
        known = {path.stem: _loaded(path) for path in files}
        found, draws, end_s = Counter[str](), 0, time.monotonic() + options.seconds
        while draws < options.draws and time.monotonic() < end_s:
            found.update(_odd(task, known, f"draw {draws}"))
            draws += 1
        told = "; ".join(f"{what}: {times}" for what, times in sorted(found.items()))
        print(f"{task.full_name}, {draws} draws: {told or 'nothing odd'}", flush=True)
        unfair = unfair or any(what.endswith("right, and failed") for what in found)
    return int(unfair)


def _loaded(path: Path) -> Functions:
    names: Functions = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)  # noqa: S102 - it is the kit's own
    return names


def _odd(task: Task, known: dict[str, Functions], seed: str) -> Iterator[str]:
    """What is odd about one draw: a name, and what came of it."""
    if isinstance(task.exam, TensorExam):
        failed = _failed_tensors(task, task.exam, known, seed)
    else:
        played = {name: _played(task.exam, functions, seed) for name, functions in known.items()}
        failed = {name: "" if costs is None else None for name, costs in played.items()}
        if isinstance(task.exam, MeteredExam) and task.tiers:
            yield from _other_tiers(task, played)
    for name, explained_by in failed.items():
        if not name.startswith("wrong_"):
            if explained_by is not None:
                yield f"{name} is right, and failed"
        elif explained_by is None:
            yield f"{name} passed"
        elif explained_by not in ("", name):
            yield f"{name} would be told what {explained_by} is"


def _played(exam: MeteredExam | CountedExam, functions: Functions, seed: str) -> list[float] | None:
    """What each world cost if all were answered rightly; None otherwise."""
    worlds = exam.scenarios(generator(seed))
    for world in worlds:
        try:
            answer = functions[world.function](*_arguments(world))
            if world.judge(json.loads(json.dumps(answer))) is not None:
                return None
        except Exception:  # noqa: BLE001 - whatever it is, it is a way to be wrong
            return None
    broken = exam.together(worlds) if isinstance(exam, MeteredExam) else None
    return [world.cost for world in worlds] if broken is None else None


def _other_tiers(task: Task, played: dict[str, list[float] | None]) -> Iterator[str]:
    """Which known submission of a tier would get another."""
    baseline = played["baseline"] or []
    for name, costs in played.items():
        if name.startswith("tier") and costs:
            ratio = geometric_mean(theirs / own for own, theirs in zip(costs, baseline, strict=True))
            tier = sum(ratio >= tier.ratio for tier in task.tiers)
            if not name.startswith(f"tier{tier}_"):
                yield f"{name} reached tier {tier}"


def _arguments(world: Scenario) -> list[object]:
    def metered(name: str) -> Callable[..., object]:
        return lambda *arguments: world.call(name, arguments)

    return [metered(a.name) if isinstance(a, Metered) else json.loads(json.dumps(a)) for a in world.arguments]


def _failed_tensors(task: Task, exam: TensorExam, known: dict[str, Functions], seed: str) -> dict[str, str | None]:
    """None for who was right in all cases; otherwise who explains it, as the grader finds that out."""
    cases = exam.cases(generator(seed, "cases"))
    expected = [Expected.of(exam, inputs) for inputs in cases]
    answers = {name: [_answer(f[task.name], inputs) for inputs in cases] for name, f in known.items()}
    return {name: _explained_by(name, cases, expected, answers) for name in known}


def _explained_by(
    name: str, cases: Sequence[Inputs], expected: list[Expected], answers: dict[str, list[Answer | None]]
) -> str | None:
    mine = answers[name]
    failures = [at for at, answer in enumerate(mine) if answer is None or judge(expected[at], answer)]
    if not failures:
        return None
    smallest = min(failures, key=lambda at: (any(a.size == 0 for a in cases[at]), sum(a.size for a in cases[at])))

    def reproduces(other: str, at: int) -> bool:
        one, two = mine[at], answers[other][at]
        return one is not None and two is not None and same(one, two)

    wrong = [other for other in sorted(answers) if other.startswith("wrong_") and reproduces(other, smallest)]
    return max(wrong, key=lambda other: sum(reproduces(other, at) for at in failures), default="")


def _answer(function: Callable[..., Any], inputs: Inputs) -> Answer | None:
    """What came back, None for an exception. Views of one array are given as views of one tensor."""
    whole = {id(root(array)): torch.from_numpy(root(array).copy()).reshape(-1) for array in inputs}
    before = {key: tensor.clone() for key, tensor in whole.items()}
    tensors = []
    for array in inputs:
        base, size = root(array), array.itemsize
        offset = (array.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // size
        strides = [stride // size for stride in array.strides]
        tensors.append(whole[id(base)].as_strided(array.shape, strides, offset))
    try:
        answer = function(*tensors)
    except Exception:  # noqa: BLE001 - whatever it is, it is a way to be wrong
        return None
    unchanged = all(torch.equal(before[key].nan_to_num(), whole[key].nan_to_num()) for key in whole)
    if not isinstance(answer, torch.Tensor):
        return Answer(None, type(answer).__name__, unchanged)
    return Answer(answer.detach().resolve_conj().numpy().copy(), "Tensor", unchanged)


if __name__ == "__main__":
    sys.exit(main())
