"""Grade every known submission on many draws of its task's inputs, to see whether a grade depends on chance.

    python tests/benchmarks/draws.py --draws 1000 --seconds 3600      # every lesson; hours
    python tests/benchmarks/draws.py 02 05.crossover --draws 3000

The inputs of a submission are drawn from its digest and the instructor's secret. So a student's grade does not change
from run to run. But if right code fails in one of a hundred draws, or wrong code passes, about one of a hundred
students is affected. This benchmark counts how often each submission gets each grade. A submission must get the grade
in its name in 99.5 % of the draws; else the exit status is 1. For tasks with counted instructions or opcodes, only the
answers are checked. For tensors, it counts right submissions that fail, wrong submissions that pass, and wrong
submissions that would get the explanation of another wrong submission. The exit status is 1 if a right submission ever
failed.

The benchmark uses no workers, because known submissions are trusted code, and times nothing. It leaves out functions in
C.
"""

import argparse
import gc
import os
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "grader" / "tasks"))
from playing import find_task, play, tier_reached

from grader import catalogue, overlays, paths
from grader.seeds import generator
from grader.task import CountedExam, Inputs, SimulatedExam, Task, TensorExam
from grader.trials.correctness import Answer, Expected, judge
from grader.trials.inputs import pack
from grader.trials.tensors import Failure, count_reproduced

Known = dict[str, str]
"""The source texts of a task's known submissions, by name."""

ONE_GRADE: Final = 0.995
"""The share of draws in which a submission must get the grade in its name."""

WRONG: Final = "wrong"
FAILED: Final = " is right, and failed"
BATCH: Final = 16
"""The number of draws between two checks of the time."""

T = TypeVar("T")


def main() -> int:
    """Grade the known submissions of each lesson, and print the irregularities of each task."""
    parser = argparse.ArgumentParser(description="Known submissions on many draws of their inputs.")
    parser.add_argument("targets", nargs="*", default=catalogue.load().lessons, metavar="LESSON[.TASK]")
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--first", type=int, default=0, help="number of the first draw, to continue an earlier run")
    parser.add_argument("--seconds", type=float, default=60.0, help="most seconds per task")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of processes")
    options = parser.parse_args()
    draws, unfair = range(options.first, options.first + options.draws), False
    with ProcessPoolExecutor(options.jobs, initializer=begin) as pool:
        for task in (task for target in options.targets for task in tasks_of(target)):
            if isinstance(task.exam, TensorExam):
                if not task.exam.in_c:
                    unfair |= _tell_odd(task, list(results(pool, _odd, task, draws, options.seconds)))
            else:
                unfair |= _tell_grades(task, list(results(pool, _grades, task, draws, options.seconds)))
    return int(unfair)


def tasks_of(target: str) -> list[Task]:
    """Return the tasks of a lesson, or the one task that `LESSON.TASK` names."""
    lesson, name = catalogue.load().target(target)
    return [task for task in catalogue.load().tasks(lesson) if name in (None, task.name)]


def begin() -> None:
    """Prepare a process of the pool.

    Python's cyclic garbage collection is off. It would visit each of a million measurements again and again, which
    took half of the time.
    """
    gc.disable()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")


def results(
    pool: ProcessPoolExecutor, judged: Callable[[str, str, int], T], task: Task, draws: range, seconds: float
) -> Iterator[T]:
    """Yield the result of `judged` for each draw, computed by a process pool, until the time is over."""
    end_s = time.monotonic() + seconds
    for at in range(0, len(draws), BATCH):
        yield from pool.map(partial(judged, task.lesson, task.name), draws[at : at + BATCH])
        if time.monotonic() > end_s:
            return


@cache
def known_files(lesson: str, name: str) -> tuple[Task, Known]:
    """Return a task and its known submissions, the solution included."""
    task = find_task(lesson, name)
    files = [*sorted(task.known.glob("*.py")), paths.solution(task.lesson)]
    return task, {path.stem: overlays.whole(path) for path in files}


def _grades(lesson: str, name: str, draw: int) -> dict[str, str]:
    """Return the grade of each known submission in one draw: wrong, right, or its tier."""
    gc.collect()
    task, known = known_files(lesson, name)
    if isinstance(task.exam, CountedExam):
        task = replace(
            task, exam=SimulatedExam(task.exam.scenarios), tiers=()
        )  # this benchmark does not use the counts
    return {stem: _grade(task, source, draw) for stem, source in known.items()}


def _grade(task: Task, source: str, draw: int) -> str:
    assert isinstance(task.exam, SimulatedExam)
    try:
        game = play(task, source, draw, enough=task.exam.forgiven)
    except Exception:  # noqa: BLE001 - whatever it is, it is a way to be wrong
        return WRONG
    if not game.kept:
        return WRONG
    return f"tier {tier_reached(game)}" if task.tiers else "right"


def _tell_grades(task: Task, drawn: list[dict[str, str]]) -> bool:
    """Print the submissions with a grade other than in their name. Return whether any grade depends on chance."""
    odd, unfair = [], False
    for stem in drawn[0]:
        got = Counter(grades[stem] for grades in drawn)
        as_named = got[grade_in_name(task, stem)] / len(drawn)
        unfair |= as_named < ONE_GRADE
        if as_named < 1:
            told = ", ".join(f"{grade}: {times}" for grade, times in got.most_common())
            odd.append(
                f"\n    {stem}: {told}{'' if as_named >= ONE_GRADE else '  DEPENDS ON CHANCE, OR HAS THE WRONG NAME'}"
            )
    rest = f"{len(drawn[0]) - len(odd)} of {len(drawn[0])} submissions always got the grade in their names"
    print(f"{task.full_name}, {len(drawn)} draws: {rest}{''.join(odd)}", flush=True)
    return unfair


def grade_in_name(task: Task, stem: str) -> str:
    """Return the grade in a known submission's name. The solution's grade is the top tier."""
    if stem.startswith("wrong_"):
        return WRONG
    if not task.tiers or isinstance(task.exam, CountedExam):
        return "right"
    if stem == "baseline":
        return "tier 0"
    found = re.match(r"tier(\d+)_", stem)
    return f"tier {found[1] if found else len(task.tiers)}"


def _tell_odd(task: Task, drawn: list[dict[str, int]]) -> bool:
    """Print each irregularity of a tensor task, and how often it occurred. Return whether a right submission failed."""
    found = Counter[str]()
    for each in drawn:
        found.update(each)
    told = "; ".join(f"{what}: {times}" for what, times in sorted(found.items()))
    print(f"{task.full_name}, {len(drawn)} draws: {told or 'nothing irregular'}", flush=True)
    return any(what.endswith(FAILED) for what in found)


def _odd(lesson: str, name: str, draw: int) -> dict[str, int]:
    """Return the irregularities in one draw of a tensor task."""
    task, known = known_files(lesson, name)
    assert isinstance(task.exam, TensorExam)
    found = Counter[str]()
    for stem, explained_by in _failed_tensors(task.name, task.exam, known, draw).items():
        if not stem.startswith("wrong_"):
            found[f"{stem}{FAILED}"] += explained_by is not None
        elif explained_by is None:
            found[f"{stem} passed"] += 1
        elif explained_by not in ("", stem):
            found[f"{stem} would get the explanation of {explained_by}"] += 1
    return dict(+found)


def _failed_tensors(function: str, exam: TensorExam, known: Known, draw: int) -> dict[str, str | None]:
    """Return None if the submission was right in all cases, else the known answer that explains its error.

    The explanation is found as the grader finds it.
    """
    cases = exam.cases(generator(f"draw {draw}", "cases"))
    expected = [Expected.of(exam, inputs) for inputs in cases]
    answers: dict[str, dict[int, Answer | None]] = {}
    for name, source in known.items():
        call = _loaded(source)[function]
        answers[name] = {id(inputs): _answer(call, inputs) for inputs in cases}
    wrong = sorted(name for name in known if name.startswith("wrong_"))

    def explained_by(name: str) -> str | None:
        tried = zip(cases, answers[name].values(), expected, strict=True)
        failures = [Failure(inputs, got) for inputs, got, want in tried if got is None or judge(want, got)]
        if not failures:
            return None

        def shared(other: str) -> int:
            return count_reproduced(failures, lambda inputs: answers[other][id(inputs)])

        best = max(wrong, key=shared)
        return best if shared(best) else ""

    return {name: explained_by(name) for name in known}


@cache
def _loaded(source: str) -> dict[str, Callable[..., Any]]:
    names: dict[str, Callable[..., Any]] = {}
    exec(compile(source, "known", "exec"), names)  # noqa: S102 - the kit's own source
    return names


def _answer(function: Callable[..., Any], inputs: Inputs) -> Answer | None:
    """Return the submission's answer, or None if it raised an exception.

    Views of one array are passed as views of one tensor.
    """
    packed = pack(inputs)
    copies = [base.reshape(-1).copy() for _, base in packed.bases]
    whole = {at: copy for (at, _), copy in zip(packed.bases, copies, strict=True)}
    tensors = [
        torch.from_numpy(whole[each["at"]]).as_strided(each["shape"], each["strides"], each["offset"])
        for each in packed.layouts
    ]
    try:
        answer = function(*tensors)
    except Exception:  # noqa: BLE001 - whatever it is, it is a way to be wrong
        return None
    unchanged = all(copy.tobytes() == base.tobytes() for (_, base), copy in zip(packed.bases, copies, strict=True))
    if not isinstance(answer, torch.Tensor):
        return Answer(None, type(answer).__name__, unchanged)
    return Answer(np.array(answer.detach().resolve_conj()), "Tensor", unchanged)


if __name__ == "__main__":
    sys.exit(main())
