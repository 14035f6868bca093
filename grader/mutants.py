"""`lint --mutants` asks whether an exercise rejects small changes of its right answers.

The reference solution and each known right answer are changed in one place (`mutation`). Each change is judged in a
child process on one draw of the cases, as a hand-in is. A mutant that passes meets further draws and, of tensors,
variations of the cases. Where it is wrong in one of these, the exercise has a hole. Where it never is, it counts as
equivalent.
"""

import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final

from grader import catalogue
from grader.errors import MachineError, UsageError
from grader.mutation import Mutant, mutants
from grader.task import Task, TensorExam
from grader.trials import forked
from grader.trials.draws import GRADED, Draws
from grader.trials.forked import Ended, Tell

LEAST_SHARE: Final = 0.95
"""The part of the mutants that change an answer of which an exercise must reject this much."""

MOST_S: Final = 600.0
"""Seconds for one task. Mutants not tried by then are left out. The order is random, so those tried are a sample."""

CORES: Final = 2
FURTHER: Final = 20
"""Draws that a mutant meets after it has passed the graded one."""

LEAST_FURTHER, FURTHER_S = 3, 5.0
"""No draw begins after so many CPU seconds, but for the first few."""

BY_LUCK: Final = 1
"""Of a task that measures, the further draws in which a mutant may be wrong: its right answers are, in one of 200."""

SLOWER, ADDED_S = 5.0, 1.0
"""A mutant may take that many times the CPU time of the unchanged source, and so many seconds more."""

ASLEEP: Final = 20.0
"""Wall seconds for each CPU second that a child has: more go by only where it waits for what never comes."""

REJECTED, PASSED, WRONG = "rejected", "passed", "wrong"
"""What a child reports: the graded draw's verdict, then each further draw with a mistake."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that passes although it changes an answer, and a case that shows it."""

    mutant: Mutant
    case: str

    def lines(self) -> Iterator[str]:
        """Yield it as `lint` prints it."""
        yield f"  {self.mutant.file}:{self.mutant.line}"
        yield f"    was  {self.mutant.was}"
        yield f"    now  {self.mutant.now}"
        yield f"    a case that catches it: {self.case}"


@dataclass(frozen=True)
class Tally:
    """What became of a task's mutants: `made` exist, and the others are counts of those tried."""

    task: str
    made: int
    rejected: int = 0
    equivalent: int = 0
    survivors: tuple[Survivor, ...] = ()

    @property
    def tried(self) -> int:
        """How many were judged."""
        return self.rejected + self.equivalent + len(self.survivors)

    @property
    def share(self) -> float:
        """The rejected part of those that change an answer; 1 where none does."""
        changed = self.rejected + len(self.survivors)
        return self.rejected / changed if changed else 1.0

    @property
    def is_enough(self) -> bool:
        """Whether the task rejects as many as it must."""
        return self.share >= LEAST_SHARE

    def lines(self) -> Iterator[str]:
        """Yield a summary, then the survivors by file and line."""
        sample = "" if self.tried == self.made else f" (an even sample of {self.made})"
        share = f"{100 * self.share:.1f} % of those that change an answer"
        counts = f"{self.tried} mutants{sample}, {self.equivalent} equivalent, {self.rejected} rejected: {share}"
        yield f"{'✓' if self.is_enough else '✗'} {self.task}: {counts}"
        for survivor in sorted(self.survivors, key=lambda each: (each.mutant.file, each.mutant.line)):
            yield from survivor.lines()


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
        raise MachineError("--mutants forks a process for each change, and this system cannot. Use Linux or macOS.")
    end_s = time.monotonic() + most_s
    draws = Draws(task, list(sources.values()))
    names = [f"further draw {number + 1}" for number in range(FURTHER)]
    for name in _drawn_before(end_s - 0.9 * most_s, [GRADED, *names]):
        draws.prepare(name)
    allowed = _deadlines(draws, sources, cores)
    made = [each for file, source in sources.items() for each in mutants(source, task.name, file)]
    random.Random(task.full_name).shuffle(made)
    found = Tally(task.full_name, len(made))
    in_time = (each for each in made if time.monotonic() < end_s)

    def judge(mutant: Mutant, tell: Tell) -> None:
        _judge(draws, mutant, sources[mutant.file], allowed[mutant.file], names, tell)

    wall_s = ASLEEP * max((each.graded_s + FURTHER_S + each.further_s for each in allowed.values()), default=0)
    with closing(forked.each(in_time, judge, cores, wall_s)) as ended:
        for each in ended:
            found = _counted(found, each, BY_LUCK if draws.measures else 0)
            progress(found)
    return found


def _drawn_before(end_s: float, names: Sequence[str]) -> Iterator[str]:
    """Yield the draws to prepare: the graded one, and others while there is time. A child makes the rest itself."""
    for number, name in enumerate(names):
        if number == 0 or time.monotonic() < end_s:
            yield name


def _deadlines(draws: Draws, sources: dict[str, str], cores: int) -> dict[str, Deadlines]:
    """Return what each file's mutants may take, from what the unchanged source takes in a child of its own."""

    def timed(file: str, tell: Tell) -> None:
        for draw in (GRADED, "further draw 1"):
            began_s = time.process_time()
            mistake = draws.mistake(sources[file], draw)
            tell(mistake if draw == GRADED else "")
            tell(repr(time.process_time() - began_s))

    allowed = {}
    for each in forked.each(sources, timed, cores, wall_s=MOST_S):
        if not each.by_itself or each.lines[0]:
            why = each.lines[0] if each.lines else "its process ended"
            wrong = f"{each.item} is wrong without any change: {why}."
            raise UsageError(f"{wrong} Correct it first; python -m grader lint {draws.task.lesson} grades it.")
        allowed[each.item] = Deadlines(*(SLOWER * float(spent_s) + ADDED_S for spent_s in each.lines[1::2]))
    return allowed


def _judge(
    draws: Draws, mutant: Mutant, unchanged: str, allowed: Deadlines, further: Sequence[str], tell: Tell
) -> None:
    """Judge a mutant in this child process, and report what came of it."""
    forked.limit_memory(draws.task.limits.memory_bytes)
    forked.end_after(allowed.graded_s)
    if draws.mistake(mutant.source, GRADED):
        tell(REJECTED)
        return
    tell(PASSED)
    began_s = time.process_time()
    wrong = 0
    for number, draw in enumerate(further):
        if number >= LEAST_FURTHER and time.process_time() - began_s > FURTHER_S:
            return
        forked.end_after(allowed.further_s)
        mistake = draws.mistake(mutant.source, draw)
        if mistake and not (draws.measures and draws.mistake(unchanged, draw)):
            tell(f"{WRONG} {mistake}")
            wrong += 1
            if wrong > (BY_LUCK if draws.measures else 0):
                return


def _counted(found: Tally, ended: Ended[Mutant], by_luck: int) -> Tally:
    """Return a tally with one more mutant in it."""
    if PASSED not in ended.lines[:1]:  # it was wrong, or ended by the kernel
        return replace(found, rejected=found.rejected + 1)
    cases = [line.removeprefix(f"{WRONG} ") for line in ended.lines[1:]]
    if not ended.by_itself:
        cases = [*cases, f"{ended.item.file} so changed does not end, or crashes, in another draw"]
    elif len(cases) <= by_luck:
        return replace(found, equivalent=found.equivalent + 1)
    return replace(found, survivors=(*found.survivors, Survivor(ended.item, cases[-1])))


def _place(parts: Sequence[str]) -> str:
    """Return the end of a path that tells files apart: `known/task/tier1_it.py`, or `solutions/04_autorange.py`."""
    return "/".join(parts[-3:] if parts[-3:-2] == ("known",) else parts[-2:])
