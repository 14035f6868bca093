"""Does luck decide a grade? Every known submission is judged on many draws of its task's inputs, not only on one.

    python tests/benchmarks/draws.py --draws 1000 --seconds 3600      # every lesson; hours
    python tests/benchmarks/draws.py 02 05.crossover --draws 3000

What a submission meets is drawn from its digest and the instructor's secret. So nobody's grade changes from one run to
the next, and yet a draw in which right code fails, or wrong code passes, would hit one student in some hundred. Counts
how often each submission gets which grade. A way to solve a task must get one grade, the one in its name, in 99.5 % of
the draws; the exit status is 1 if one does not. Of instructions and opcodes only the answers are judged here. For
tensors, counts right ones that fail, wrong ones that pass, and wrong ones that another one's sentence would explain;
the exit status is 1 if a right one ever failed.

Known submissions are the kit's own, so all this happens without workers and without timing. Functions in C are left
out.
"""

import argparse
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

from grader import catalogue
from grader.task import CountedExam, Inputs, MeteredExam, Task, TensorExam
from grader.trials.correctness import Answer, Expected, judge
from grader.trials.inputs import generator, pack
from grader.trials.tensors import Failure, alike

Known = dict[str, str]
"""Source texts of a task's known submissions, by name."""

ONE_GRADE: Final = 0.995
"""In how large a part of the draws a submission must get the grade in its name."""

WRONG: Final = "wrong"
FAILED: Final = " is right, and failed"
BATCH: Final = 16
"""Draws between two looks at the clock."""

T = TypeVar("T")


def main() -> int:
    """Go through the lessons, and print what is odd about each task."""
    parser = argparse.ArgumentParser(description="Known submissions on many draws of their inputs.")
    parser.add_argument("targets", nargs="*", default=catalogue.load().lessons, metavar="LESSON[.TASK]")
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--first", type=int, default=0, help="number of the first draw, to go on from an earlier run")
    parser.add_argument("--seconds", type=float, default=60.0, help="stop earlier, after so long for a task")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes to play in")
    options = parser.parse_args()
    draws, unfair = range(options.first, options.first + options.draws), False
    with ProcessPoolExecutor(options.jobs, initializer=_begin) as pool:
        for task in (task for target in options.targets for task in _named(target)):
            if isinstance(task.exam, TensorExam):
                if not task.exam.in_c:
                    unfair |= _tell_odd(task, list(_drawn(pool, _odd, task, draws, options.seconds)))
            else:
                unfair |= _tell_grades(task, list(_drawn(pool, _grades, task, draws, options.seconds)))
    return int(unfair)


def _named(target: str) -> list[Task]:
    lesson, name = catalogue.load().target(target)
    return [task for task in catalogue.load().tasks(lesson) if name in (None, task.name)]


def _begin() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")


def _drawn(
    pool: ProcessPoolExecutor, judged: Callable[[str, str, int], T], task: Task, draws: range, seconds: float
) -> Iterator[T]:
    """Yield what comes of each draw, in as many processes as the pool has, until the time is over."""
    end_s = time.monotonic() + seconds
    for at in range(0, len(draws), BATCH):
        yield from pool.map(partial(judged, task.lesson, task.name), draws[at : at + BATCH])
        if time.monotonic() > end_s:
            return


@cache
def _known(lesson: str, name: str) -> tuple[Task, Known]:
    task = find_task(lesson, name)
    files = [*sorted(task.known.glob("*.py")), catalogue.solution(task.lesson)]
    return task, {path.stem: path.read_text(encoding="utf-8") for path in files}


def _grades(lesson: str, name: str, draw: int) -> dict[str, str]:
    """Return the grade of each known submission in one draw: wrong, right, or its tier."""
    task, known = _known(lesson, name)
    if isinstance(task.exam, CountedExam):
        task = replace(task, exam=MeteredExam(task.exam.scenarios), tiers=())  # what is counted is not asked for here
    return {stem: _grade(task, source, draw) for stem, source in known.items()}


def _grade(task: Task, source: str, draw: int) -> str:
    assert isinstance(task.exam, MeteredExam)
    try:
        game = play(task, source, draw, enough=task.exam.forgiven)
    except Exception:  # noqa: BLE001 - whatever it is, it is a way to be wrong
        return WRONG
    if not game.kept:
        return WRONG
    return f"tier {tier_reached(game)}" if task.tiers else "right"


def _tell_grades(task: Task, drawn: list[dict[str, str]]) -> bool:
    """Print what each submission got that did not always get one grade; return whether any is graded by luck."""
    odd, unfair = [], False
    for stem in drawn[0]:
        got = Counter(grades[stem] for grades in drawn)
        as_named = got[_grade_in_name(task, stem)] / len(drawn)
        unfair |= as_named < ONE_GRADE
        if as_named < 1:
            told = ", ".join(f"{grade}: {times}" for grade, times in got.most_common())
            odd.append(f"\n    {stem}: {told}{'' if as_named >= ONE_GRADE else '  BY LUCK, OR MISNAMED'}")
    rest = f"{len(drawn[0]) - len(odd)} of {len(drawn[0])} submissions always got the grade in their names"
    print(f"{task.full_name}, {len(drawn)} draws: {rest}{''.join(odd)}", flush=True)
    return unfair


def _grade_in_name(task: Task, stem: str) -> str:
    """Return what the name of a known submission promises; a solution's is that of the lesson."""
    if stem.startswith("wrong_"):
        return WRONG
    if not task.tiers or isinstance(task.exam, CountedExam):
        return "right"
    if stem == "baseline":
        return "tier 0"
    found = re.match(r"tier(\d+)_", stem)
    return f"tier {found[1] if found else len(task.tiers)}"


def _tell_odd(task: Task, drawn: list[dict[str, int]]) -> bool:
    """Print what was odd about tensors, and how often; return whether a right one ever failed."""
    found = Counter[str]()
    for each in drawn:
        found.update(each)
    told = "; ".join(f"{what}: {times}" for what, times in sorted(found.items()))
    print(f"{task.full_name}, {len(drawn)} draws: {told or 'nothing odd'}", flush=True)
    return any(what.endswith(FAILED) for what in found)


def _odd(lesson: str, name: str, draw: int) -> dict[str, int]:
    """Return what is odd about one draw of tensors."""
    task, known = _known(lesson, name)
    assert isinstance(task.exam, TensorExam)
    found = Counter[str]()
    for stem, explained_by in _failed_tensors(task.name, task.exam, known, draw).items():
        if not stem.startswith("wrong_"):
            found[f"{stem}{FAILED}"] += explained_by is not None
        elif explained_by is None:
            found[f"{stem} passed"] += 1
        elif explained_by not in ("", stem):
            found[f"{stem} would be told what {explained_by} is"] += 1
    return dict(+found)


def _failed_tensors(function: str, exam: TensorExam, known: Known, draw: int) -> dict[str, str | None]:
    """None for who was right in all cases; otherwise who explains it, as the grader finds that out."""
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
            return alike(failures, lambda inputs: answers[other][id(inputs)])

        best = max(wrong, key=shared)
        return best if shared(best) else ""

    return {name: explained_by(name) for name in known}


@cache
def _loaded(source: str) -> dict[str, Callable[..., Any]]:
    names: dict[str, Callable[..., Any]] = {}
    exec(compile(source, "known", "exec"), names)  # noqa: S102 - it is the kit's own
    return names


def _answer(function: Callable[..., Any], inputs: Inputs) -> Answer | None:
    """What came back, None for an exception. Views of one array are given as views of one tensor."""
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
