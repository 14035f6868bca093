"""`lint --mutants` asks whether an exercise rejects small changes of its right answers.

The reference solution and each known right answer are changed in one place (`mutation`). Each change is judged in a
child process on one draw of the cases, as a hand-in is. A mutant that passes meets further draws and, of tensors,
variations of the cases. Where it is wrong in one of these, the exercise has a hole. Where it never is, it counts as
equivalent. Plain arguments are varied, too, but whether an exercise allows these is for its author to decide.
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

from grader import catalogue
from grader.errors import MachineError, UsageError
from grader.mutant_tally import Survivor, Tally
from grader.mutation import Mutant, mutants
from grader.task import Task, TensorExam
from grader.trials import forked, metered
from grader.trials.draws import GRADED, Draws
from grader.trials.forked import Ended, Tell
from grader.trials.plain_variations import Asked

MOST_S: Final = 600.0
"""Seconds for one task. Mutants not tried by then are left out. The order is random, so those tried are a sample."""

CORES: Final = 2
FURTHER: Final = 20
"""Draws that a mutant meets after it has passed the graded one."""

FURTHER_DRAW: Final = "further draw {}"
OTHERS: Final = ("a second graded draw", "a third graded draw")
DRAWING: Final = 0.1
"""The part of the time after which no further cases are drawn: an oracle may be slow."""

LEAST_FURTHER, FURTHER_S = 3, 5.0
"""No draw begins after so many CPU seconds, but for the first few and after a mistake."""

BY_LUCK: Final = 1
"""Of a task that measures, the further draws in which a mutant may be wrong: its right answers are, in one of 200."""

SLOWER, ADDED_S = 5.0, 1.0
"""A mutant may take that many times the CPU time of the unchanged source, and so many seconds more."""

VARIED_S: Final = 0.3
"""CPU seconds that a right answer may take for varied arguments. Some never end on what the exercise does not allow."""

ASLEEP: Final = 20.0
"""Wall seconds for each CPU second that a child has: more go by only where it waits for what never comes."""

REJECTED, PASSED, WRONG, VARIED = "rejected", "passed", "wrong", "varied"
"""What a child reports: the graded draw's verdict, each further draw with a mistake, and that the variations begin."""

Agreed = tuple[Asked, object]
"""Varied arguments, and the answer on which all known right answers agree."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """CPU seconds that the graded draw and a further one may take."""

    graded_s: float
    further_s: float


def tasks(target: str) -> list[Task]:
    """Return the tasks that a target names, as `check` takes it. Raises `UsageError` where mutants cannot judge one."""
    lesson, name = catalogue.load().target(target)
    chosen = [task for task in catalogue.load().tasks(lesson) if name in {None, task.name}]
    in_c = [task.full_name for task in chosen if isinstance(task.exam, TensorExam) and task.exam.in_c]
    if in_c:
        raise UsageError(f"{', '.join(in_c)} is solved in C, and --mutants changes Python alone. Choose another task.")
    return chosen


def right_answers(task: Task) -> dict[str, str]:
    """Return the source texts of the reference solution and the known right answers, by their files' names."""
    known = [path for path in sorted(task.known.glob("*.py")) if path.stem.startswith(("tier", "baseline"))]
    files = [path for path in (catalogue.solution(task.lesson), *known) if path.is_file()]
    return {_place(path.parts): path.read_text(encoding="utf-8") for path in files}


def tally(
    task: Task,
    sources: dict[str, str],
    progress: Callable[[Tally], None] = lambda _: None,
    *,
    cores: int = CORES,
    most_s: float = MOST_S,
) -> Tally:
    """Judge the mutants of a task's right answers, on so many cores and for so long.

    Raises `UsageError` when an unchanged right answer is wrong, and `MachineError` where no process can be forked.
    """
    if not hasattr(os, "fork"):
        raise MachineError("--mutants forks a process for each change, and this system cannot. Use Linux.")
    end_s = time.monotonic() + most_s
    draws = Draws(task, list(sources.values()))
    names = list(_prepared(draws, time.monotonic() + DRAWING * most_s))
    graded, allowed = _timed(draws, sources, cores)
    luck = BY_LUCK if draws.measures else 0
    agreed = list(_agreed(draws, sources, cores, time.monotonic() + DRAWING * most_s))
    made = _made(draws.functions, sources)
    random.Random(task.full_name).shuffle(made)
    found = Tally(task.full_name, len(made))
    in_time = (each for each in made if time.monotonic() < end_s)

    def judge(mutant: Mutant, tell: Tell) -> None:
        unchanged, names_of_draws = sources[mutant.file], (graded, *names)
        if _judge(draws, mutant, unchanged, allowed[mutant.file], names_of_draws, luck, tell):
            _judge_varied(draws, mutant, allowed[mutant.file], agreed, tell)

    wall_s = ASLEEP * max(each.graded_s + FURTHER * each.further_s for each in allowed.values())
    with closing(forked.each(in_time, judge, cores, wall_s)) as ended:
        for each in ended:
            found = _counted(found, each, luck)
            progress(found)
    return found


def _made(functions: Sequence[str], sources: Mapping[str, str]) -> list[Mutant]:
    """Return every mutant of the functions, each once: two of them may use the same helper."""
    found = {
        (file, mutant.source): mutant
        for file, source in sources.items()
        for function in functions
        for mutant in mutants(source, function, file)
    }
    return list(found.values())


def _prepared(draws: Draws, end_s: float) -> Iterator[str]:
    """Draw the graded cases and further ones, and yield the names of these; no new draw begins after `end_s`."""
    draws.prepare(GRADED)
    for number in range(FURTHER):
        if number and time.monotonic() > end_s:
            return
        name = FURTHER_DRAW.format(number + 1)
        draws.prepare(name)
        yield name


def _timed(draws: Draws, sources: Mapping[str, str], cores: int) -> tuple[str, dict[str, Deadlines]]:
    """Return a graded draw in which every right answer is right, and what the mutants of each file may take.

    In a task that measures, a right answer is wrong in a rare draw. Then another one is the graded draw.
    """
    wrong = ""
    for graded in (GRADED, *OTHERS) if draws.measures else (GRADED,):
        allowed: dict[str, Deadlines] = {}
        for each in forked.each(sources, partial(_time, draws, sources, graded), cores, wall_s=MOST_S):
            if each.by_itself and not each.lines[0]:
                allowed[each.item] = Deadlines(*(SLOWER * float(spent_s) + ADDED_S for spent_s in each.lines[1:]))
            else:
                why = each.lines[0] if each.lines else "its process ended"
                wrong = f"{each.item} is wrong without any change: {why}."
        if len(allowed) == len(sources):
            return graded, allowed
    raise UsageError(f"{wrong} Correct it first; python -m grader lint {draws.task.lesson} grades it.")


def _time(draws: Draws, sources: Mapping[str, str], graded: str, file: str, tell: Tell) -> None:
    """Report the mistake of an unchanged source in the graded draw, then its CPU seconds there and in a further one."""
    began_s = time.process_time()
    tell(draws.mistake(sources[file], graded))
    tell(repr(time.process_time() - began_s))
    began_s = time.process_time()
    draws.mistake(sources[file], FURTHER_DRAW.format(1))
    tell(repr(time.process_time() - began_s))


def _agreed(draws: Draws, sources: Mapping[str, str], cores: int, end_s: float) -> Iterator[Agreed]:
    """Yield the variations of plain arguments on which all right answers agree; one may raise, or never end.

    No variation begins after `end_s`.
    """

    def answer(asked: Asked, tell: Tell) -> None:
        forked.limit_memory(draws.task.limits.memory_bytes)
        answers = []
        for source in sources.values():
            forked.end_after(VARIED_S)
            answers.append(draws.answer(source, asked))
            if not metered.same_answer(answers[0], answers[-1]):
                return
        tell(json.dumps(answers[0]))

    asked = random.Random(draws.task.full_name).sample(found := draws.varied(), len(found))
    in_time = (each for each in asked if time.monotonic() < end_s)
    for each in forked.each(in_time, answer, cores, ASLEEP * VARIED_S * len(sources)):
        if each.by_itself and each.lines:
            yield each.item, json.loads(each.lines[0])


def _judge(
    draws: Draws, mutant: Mutant, unchanged: str, allowed: Deadlines, names: Sequence[str], luck: int, tell: Tell
) -> bool:
    """Judge a mutant in this child process, and report what came of it; return whether it was right throughout.

    `names` are the graded draw and the further ones. In `luck` of these a mutant may be wrong.
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
            if wrong > luck:
                return False
    return not wrong


def _judge_varied(draws: Draws, mutant: Mutant, allowed: Deadlines, agreed: Sequence[Agreed], tell: Tell) -> None:
    """Report the first varied arguments to which a mutant has another answer than the right ones."""
    tell(VARIED)
    for asked, right in agreed:
        forked.end_after(allowed.graded_s)
        try:
            answer = draws.answer(mutant.source, asked)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - each is another answer
            tell(f"{asked} is {right!r:.80}, and it raises {type(error).__name__}")
            return
        if not metered.same_answer(right, answer):
            tell(f"{asked} is {right!r:.80}, and it returns {answer!r:.80}")
            return


def _counted(found: Tally, ended: Ended[Mutant], by_luck: int) -> Tally:
    """Return a tally with one more mutant in it."""
    if PASSED not in ended.lines[:1]:  # it was wrong, or ended by the kernel
        return replace(found, rejected=found.rejected + 1)
    endless = () if ended.by_itself else (f"{ended.item.file} so changed does not end, or crashes, in another draw",)
    if VARIED in ended.lines:
        found = replace(found, equivalent=found.equivalent + 1)
        cases = (*ended.lines[ended.lines.index(VARIED) + 1 :], *endless)
        return replace(found, doubtful=(*found.doubtful, Survivor(ended.item, cases[0]))) if cases else found
    cases = (*(line.removeprefix(f"{WRONG} ") for line in ended.lines[1:]), *endless)
    if len(cases) <= by_luck and not endless:
        return replace(found, equivalent=found.equivalent + 1)
    return replace(found, survivors=(*found.survivors, Survivor(ended.item, cases[-1])))


def _place(parts: Sequence[str]) -> str:
    """Return the end of a path that tells files apart: `known/task/tier1_it.py`, or `solutions/04_autorange.py`."""
    return "/".join(parts[-3:] if parts[-3:-2] == ("known",) else parts[-2:])
