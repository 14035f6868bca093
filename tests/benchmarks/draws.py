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
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "grader" / "tasks"))
from playing import Game, play, tier_reached

from grader import catalogue
from grader.task import CountedExam, Inputs, MeteredExam, Task, TensorExam
from grader.trials.correctness import Answer, Expected, judge
from grader.trials.inputs import generator, pack
from grader.trials.tensors import Failure, alike

Known = dict[str, str]
"""Source texts of a task's known submissions, by name."""


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
        known = {path.stem: path.read_text(encoding="utf-8") for path in files}
        found, draws, end_s = Counter[str](), 0, time.monotonic() + options.seconds
        while draws < options.draws and time.monotonic() < end_s:
            found.update(_odd(task, known, draws))
            draws += 1
        told = "; ".join(f"{what}: {times}" for what, times in sorted(found.items()))
        print(f"{task.full_name}, {draws} draws: {told or 'nothing odd'}", flush=True)
        unfair = unfair or any(what.endswith("right, and failed") for what in found)
    return int(unfair)


def _odd(task: Task, known: Known, draw: int) -> Iterator[str]:
    """What is odd about one draw: a name, and what came of it."""
    if isinstance(task.exam, TensorExam):
        failed = _failed_tensors(task.name, task.exam, known, draw)
    else:
        games = {name: _won(task, source, draw) for name, source in known.items()}
        failed = {name: None if game else "" for name, game in games.items()}
        yield from _other_tiers(games)
    for name, explained_by in failed.items():
        if not name.startswith("wrong_"):
            if explained_by is not None:
                yield f"{name} is right, and failed"
        elif explained_by is None:
            yield f"{name} passed"
        elif explained_by not in ("", name):
            yield f"{name} would be told what {explained_by} is"


def _won(task: Task, source: str, draw: int) -> Game | None:
    """The worlds after their play if all were answered rightly; None otherwise."""
    if isinstance(task.exam, CountedExam):
        task = replace(task, exam=MeteredExam(task.exam.scenarios), tiers=())  # what is counted is not asked for here
    try:
        game = play(task, source, draw)
    except Exception:  # noqa: BLE001 - whatever it is, it is a way to be wrong
        return None
    return game if game.kept else None


def _other_tiers(games: dict[str, Game | None]) -> Iterator[str]:
    """Which known submission of a tier would get another."""
    baseline = games["baseline"]
    for name, game in games.items():
        if name.startswith("tier") and game and baseline and game.task.tiers:
            tier = tier_reached(game, baseline)
            if not name.startswith(f"tier{tier}_"):
                yield f"{name} reached tier {tier}"


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
