"""Check whether the grading of an exercise detects small mistakes (`lint --mutants`).

A mutant is a copy of a right submission with one small change. A child process judges each mutant on the random test
cases of a grading. A mutant that passes is tried on further random cases and, for tensors, on changed inputs. If it is
wrong there, the exercise accepts a wrong answer. If it is right in all of them, it counts as equivalent. Plain
arguments are changed too, but only the author can decide whether the exercise allows the changes.
"""

import json
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from grader import catalogue, overlays, paths
from grader.authoring import forked
from grader.authoring.draws import GRADED, Draws
from grader.authoring.forked import Ended, Tell
from grader.authoring.mutant_tally import Survivor, Tally
from grader.authoring.mutation import Mutant, mutants
from grader.authoring.plain_variations import Asked
from grader.errors import MachineError, UsageError
from grader.task import Task
from grader.trials import simulated

TIME_LIMIT_S: Final = 600.0
"""The seconds for all mutants of one task. The order of mutants is random, so the tried mutants are a random sample."""

CORES: Final = 2
FURTHER_DRAWS: Final = 20
"""The number of further sets of random test cases for a mutant that passed the first set."""

FURTHER_DRAW: Final = "further draw {}"
OTHER_GRADED_DRAWS: Final = ("a second graded draw", "a third graded draw")
DRAWING_SHARE: Final = 0.1
"""After this share of the time limit, no further random test cases are made, because making them may be slow."""

LEAST_FURTHER, FURTHER_S = 3, 5.0
"""A mutant is tried on at least `LEAST_FURTHER` further sets of random test cases. After `FURTHER_S` CPU seconds,
another set follows only if the mutant was wrong in an earlier one.
"""

CHANCE_MISTAKES: Final = 1
"""The number of further sets of test cases that a right mutant may fail, if the task's function takes measurements.

A right submission for such a task fails one set of 200.
"""

SLOWER, ADDED_S = 5.0, 1.0
"""The CPU time limit of a mutant is `SLOWER` times the CPU time of the unchanged source, plus `ADDED_S` seconds."""

VARIED_S: Final = 0.3
"""CPU seconds after which a right submission is stopped on changed arguments, because it may never end with them."""

WALL_S_PER_CPU_S: Final = 20.0
"""The wall time limit of a child process, divided by its CPU time limit. Only a waiting child reaches this limit."""

REJECTED, PASSED, WRONG, VARIED = "rejected", "passed", "wrong", "varied"
"""Words that a child process sends to report on a mutant. It sends REJECTED or PASSED for the graded test cases, and
WRONG for a mistake in further cases. It sends VARIED when it begins with changed arguments.
"""

Agreed = tuple[Asked, object]
"""A call with changed arguments, and the answer that all right submissions give."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """CPU seconds that a mutant may take for the graded test cases, and for a further set of test cases."""

    graded_s: float
    further_s: float


def tasks(target: str) -> list[Task]:
    """Return the tasks named by `target`, such as `02` or `02.time_per_call`. Raise `UsageError` for a task in C."""
    lesson, name = catalogue.load().target(target)
    chosen = [task for task in catalogue.load().tasks(lesson) if name in {None, task.name}]
    in_c = [task.full_name for task in chosen if task.exam.in_c]
    if in_c:
        raise UsageError(f"{', '.join(in_c)} is solved in C, but --mutants changes only Python. Choose another task.")
    return chosen


def right_answers(task: Task) -> dict[str, str]:
    """Return the source texts of the task's right submissions by file name, with the reference solution first."""
    known = [path for path in sorted(task.known.glob("*.py")) if path.stem.startswith(("tier", "baseline"))]
    files = [path for path in (paths.solution(task.lesson), *known) if path.is_file()]
    return {_place(path.parts): overlays.whole(path) for path in files}


def tally(
    task: Task,
    sources: dict[str, str],
    progress: Callable[[Tally], None] = lambda _: None,
    *,
    cores: int = CORES,
    time_limit_s: float = TIME_LIMIT_S,
) -> Tally:
    """Judge all small changes (mutants) of a task's right submissions, and return the results.

    `sources` are the right submissions by file name. `cores` child processes run at once, for at most `time_limit_s`
    seconds in all. `progress` is called with the results so far. Raise `UsageError` if an unchanged submission is
    wrong, and `MachineError` if this system cannot fork.
    """
    if not hasattr(os, "fork"):
        raise MachineError("--mutants forks a process for each mutant, which this system cannot do. Use Linux.")
    end_s = time.monotonic() + time_limit_s
    draws = Draws(task, list(sources.values()))
    names = list(_prepared(draws, time.monotonic() + DRAWING_SHARE * time_limit_s))
    graded, allowed = _timed(draws, sources, cores)
    chance_mistakes = CHANCE_MISTAKES if draws.measures else 0
    agreed = list(_agreed(draws, sources, cores, time.monotonic() + DRAWING_SHARE * time_limit_s))
    made = _made(draws.functions, sources)
    random.Random(task.full_name).shuffle(made)
    found = Tally(task.full_name, len(made))
    in_time = (each for each in made if time.monotonic() < end_s)

    def judge(mutant: Mutant, tell: Tell) -> None:
        unchanged, names_of_draws = sources[mutant.file], (graded, *names)
        if _judge(draws, mutant, unchanged, allowed[mutant.file], names_of_draws, chance_mistakes, tell):
            _judge_varied(draws, mutant, allowed[mutant.file], agreed, tell)

    wall_s = WALL_S_PER_CPU_S * max(each.graded_s + FURTHER_DRAWS * each.further_s for each in allowed.values())
    with closing(forked.each(in_time, judge, cores, wall_s)) as ended:
        for each in ended:
            found = _counted(found, each, chance_mistakes)
            progress(found)
    return found


def _made(functions: Sequence[str], sources: Mapping[str, str]) -> list[Mutant]:
    """Return the mutants of all functions. A change of a shared helper is listed once."""
    found = {
        (file, mutant.source): mutant
        for file, source in sources.items()
        for function in functions
        for mutant in mutants(source, function, file)
    }
    return list(found.values())


def _prepared(draws: Draws, end_s: float) -> Iterator[str]:
    """Make the graded test cases and at least one further set. Yield the seeds of the further sets.

    No other set begins after `end_s`.
    """
    draws.prepare(GRADED)
    for number in range(FURTHER_DRAWS):
        if number and time.monotonic() > end_s:
            return
        name = FURTHER_DRAW.format(number + 1)
        draws.prepare(name)
        yield name


def _timed(draws: Draws, sources: Mapping[str, str], cores: int) -> tuple[str, dict[str, Deadlines]]:
    """Return a seed for which all right submissions are right, and the mutants' time limits for each file.

    If the task's function takes measurements, a right submission fails for a rare seed. Then another seed is used.
    """
    wrong = ""
    for graded in (GRADED, *OTHER_GRADED_DRAWS) if draws.measures else (GRADED,):
        allowed: dict[str, Deadlines] = {}
        for each in forked.each(sources, partial(_time, draws, sources, graded), cores, wall_s=TIME_LIMIT_S):
            if each.by_itself and not each.lines[0]:
                allowed[each.item] = Deadlines(*(SLOWER * float(spent_s) + ADDED_S for spent_s in each.lines[1:]))
            else:
                why = each.lines[0] if each.lines else "its process ended"
                wrong = f"{each.item} is wrong without any change: {why}."
        if len(allowed) == len(sources):
            return graded, allowed
    raise UsageError(f"{wrong} Correct it first; `python -m grader lint {draws.task.lesson}` grades it.")


def _time(draws: Draws, sources: Mapping[str, str], graded: str, file: str, tell: Tell) -> None:
    began_s = time.process_time()
    tell(draws.mistake(sources[file], graded))
    tell(repr(time.process_time() - began_s))
    began_s = time.process_time()
    draws.mistake(sources[file], FURTHER_DRAW.format(1))
    tell(repr(time.process_time() - began_s))


def _agreed(draws: Draws, sources: Mapping[str, str], cores: int, end_s: float) -> Iterator[Agreed]:
    """Yield the calls with changed arguments to which all right submissions give the same answer.

    Calls on which a submission raises an exception or never ends are left out. No call begins after `end_s`.
    """

    def answer(asked: Asked, tell: Tell) -> None:
        forked.limit_memory(draws.task.limits.memory_bytes)
        answers = []
        for source in sources.values():
            forked.end_after(VARIED_S)
            answers.append(draws.answer(source, asked))
            if not simulated.same_answer(answers[0], answers[-1]):
                return
        tell(json.dumps(answers[0]))

    asked = random.Random(draws.task.full_name).sample(found := draws.varied(), len(found))
    in_time = (each for each in asked if time.monotonic() < end_s)
    for each in forked.each(in_time, answer, cores, WALL_S_PER_CPU_S * VARIED_S * len(sources)):
        if each.by_itself and each.lines:
            yield each.item, json.loads(each.lines[0])


def _judge(
    draws: Draws,
    mutant: Mutant,
    unchanged: str,
    allowed: Deadlines,
    names: Sequence[str],
    chance_mistakes: int,
    tell: Tell,
) -> bool:
    """Judge a mutant in this child process, and report the result. Return whether it was right in every test case.

    `names` are the seeds of the graded test cases and of further ones. The trial ends when the mutant is wrong for more
    than `chance_mistakes` further seeds.
    """
    graded, *further = names
    forked.limit_memory(draws.task.limits.memory_bytes)
    forked.end_after(allowed.graded_s)
    if draws.mistake(mutant.source, graded):
        tell(REJECTED)
        return False
    tell(PASSED)
    began_s = time.process_time()
    wrong = 0
    for number, draw in enumerate(further):
        if number >= LEAST_FURTHER and not wrong and time.process_time() - began_s > FURTHER_S:
            break
        forked.end_after(allowed.further_s)
        mistake = draws.mistake(mutant.source, draw)
        if mistake and not (draws.measures and draws.mistake(unchanged, draw)):
            tell(f"{WRONG} {mistake}")
            wrong += 1
            if wrong > chance_mistakes:
                return False
    return not wrong


def _judge_varied(draws: Draws, mutant: Mutant, allowed: Deadlines, agreed: Sequence[Agreed], tell: Tell) -> None:
    """Call a mutant with variations of the graded arguments, and report its first wrong answer."""
    tell(VARIED)
    for asked, right in agreed:
        forked.end_after(allowed.graded_s)
        try:
            answer = draws.answer(mutant.source, asked)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - any exception differs from the right answer
            tell(f"{asked} is {right!r:.80}, and the mutant raises {type(error).__name__}")
            return
        if not simulated.same_answer(right, answer):
            tell(f"{asked} is {right!r:.80}, and the mutant returns {answer!r:.80}")
            return


def _counted(found: Tally, ended: Ended[Mutant], chance_mistakes: int) -> Tally:
    if PASSED not in ended.lines[:1]:  # the mutant was wrong, or the kernel ended its process
        return replace(found, rejected=found.rejected + 1)
    endless = () if ended.by_itself else (f"with this change, {ended.item.file} crashes or never ends in another draw",)
    if VARIED in ended.lines:
        found = replace(found, equivalent=found.equivalent + 1)
        cases = (*ended.lines[ended.lines.index(VARIED) + 1 :], *endless)
        return replace(found, doubtful=(*found.doubtful, Survivor(ended.item, cases[0]))) if cases else found
    cases = (*(line.removeprefix(f"{WRONG} ") for line in ended.lines[1:]), *endless)
    if len(cases) <= chance_mistakes and not endless:
        return replace(found, equivalent=found.equivalent + 1)
    return replace(found, survivors=(*found.survivors, Survivor(ended.item, cases[-1])))


def _place(parts: Sequence[str]) -> str:
    """Return the end of a path that identifies a file: `known/task/tier1_it.py` or `solutions/04_autorange.py`."""
    return "/".join(parts[-3:] if parts[-3:-2] == ("known",) else parts[-2:])
