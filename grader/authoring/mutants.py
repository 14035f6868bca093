"""Check whether the grading of an exercise detects small mistakes (`lint --mutants`).

A mutant is a copy of a right submission with one small change. A child process judges each mutant on the random test
cases of a grading, and then on further cases. If it is wrong only in those, the exercise accepts a wrong answer. If it
is right in all of them, it counts as equivalent.
"""

import multiprocessing
import os
import random
import signal
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own

from grader import catalogue, overlays, paths
from grader.authoring import kit_leaks
from grader.authoring.kit_leaks import mistake_in_time
from grader.authoring.mutation import Mutant, mutants
from grader.errors import MachineError, UsageError
from grader.kinds.examiner import Examiner
from grader.task import Task

TIME_LIMIT_S: Final = 600.0
"""The seconds for all mutants of one task. The order of mutants is random, so the tried mutants are a random sample."""

CORES: Final = 2
LEAST_SHARE: Final = 0.95
"""The smallest share of wrong mutants that a task must reject."""

FURTHER_DRAWS, DRAWING_SHARE, FURTHER_S = 20, 0.1, 5.0
"""The further sets of random test cases for a mutant that passed the first set. No set is drawn after this share of the
time limit, and none is tried after these CPU seconds.
"""

CHANCE_MISTAKES: Final = 1
"""The number of further sets of test cases that a right mutant may fail, if the task's function takes measurements."""

KIT_WALL_S: Final = 60.0
"""The wall time limit of a child process that tries a mutant of the kit's code."""

SLOWER, ADDED_S = 5.0, 1.0
"""The CPU time limit of a mutant in each set is `SLOWER` times that of the unchanged source, plus `ADDED_S` seconds."""

WALL_S_PER_CPU_S: Final = 20.0
"""The wall time limit of a child process, divided by its CPU time limit. Only a waiting child reaches this limit."""

REJECTED, EQUIVALENT = "", "equivalent"
"""What a child process reports on a mutant. For a mutant that passes although it is wrong, it reports the case."""


@dataclass(frozen=True)
class Tally:
    """The number of mutants of one task by result. `made` counts all mutants, the other numbers those that were tried.

    `survivors` are accepted by the graded test cases, but wrong in another test case, which is given with each.
    """

    task: str
    made: int
    rejected: int = 0
    equivalent: int = 0
    survivors: tuple[tuple[Mutant, str], ...] = ()

    def plus(self, mutant: Mutant, report: str) -> "Tally":
        """Return these numbers with the report on another mutant."""
        if report == REJECTED:
            return replace(self, rejected=self.rejected + 1)
        if report == EQUIVALENT:
            return replace(self, equivalent=self.equivalent + 1)
        return replace(self, survivors=(*self.survivors, (mutant, report)))

    @property
    def tried(self) -> int:
        """The number of mutants that were judged."""
        return self.rejected + self.equivalent + len(self.survivors)

    @property
    def share(self) -> float:
        """The rejected share of the wrong mutants, or 1 if none was wrong."""
        changed = self.rejected + len(self.survivors)
        return self.rejected / changed if changed else 1.0

    @property
    def is_enough(self) -> bool:
        """Whether the task rejects a large enough share of the wrong mutants."""
        return self.share >= LEAST_SHARE

    def lines(self) -> Iterator[str]:
        """Yield a summary line, and then lines on each wrong mutant that was accepted."""
        sample = "" if self.tried == self.made else f" (a random sample of {self.made})"
        share = f"{100 * self.share:.1f} % of those that change an answer"
        counts = f"{self.tried} mutants{sample}, {self.equivalent} equivalent, {self.rejected} rejected: {share}"
        yield f"{'✓' if self.is_enough else '✗'} {self.task}: {counts}"
        for mutant, case in sorted(self.survivors, key=lambda each: (each[0].file, each[0].line)):
            yield f"  {mutant.file}:{mutant.line}"
            yield f"    was  {mutant.was}"
            yield f"    now  {mutant.now}"
            yield f"    a case that shows the change: {case}"


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
    return {"/".join(path.parts[-3 if path.parts[-3] == "known" else -2 :]): overlays.whole(path) for path in files}


def tally(task: Task, sources: Mapping[str, str]) -> Tally:
    """Judge all mutants of a task's right submissions for at most `TIME_LIMIT_S` seconds, and return the results.

    `sources` are the right submissions by file name. Raise `UsageError` if an unchanged submission is wrong, and
    `MachineError` if this system cannot fork.
    """
    if not hasattr(os, "fork"):
        raise MachineError("--mutants forks a process for each mutant, which this system cannot do. Use Linux.")
    end_s = time.monotonic() + TIME_LIMIT_S
    graded, allowed_s = _graded(task, sources)
    further = list(_further(task, time.monotonic() + DRAWING_SHARE * TIME_LIMIT_S))
    named = [(file, source, name) for file, source in sources.items() for name in sorted(task.functions)]
    # Several functions may use one helper. A change of this helper is made once.
    made = {(file, each.source): each for file, source, name in named for each in mutants(source, name, file)}
    found = Tally(task.full_name, len(made))
    in_random_order = random.Random(task.full_name).sample(list(made.values()), len(made))
    in_time = (each for each in in_random_order if time.monotonic() < end_s)

    def judged(mutant: Mutant) -> str:
        import resource  # noqa: PLC0415 - Windows has no such module, and must still be able to import this file

        resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + task.limits.memory_bytes,) * 2)
        return _judged(mutant, sources[mutant.file], (graded, *further), allowed_s[mutant.file])

    wall_s = WALL_S_PER_CPU_S * (2 * max(allowed_s.values()) + FURTHER_S)
    with closing(_in_children(in_time, judged, wall_s)) as reports:
        for mutant, report in reports:
            found = found.plus(mutant, report)
    return found


def earning_code(task: Task, most: int | None = None) -> Iterator[str]:
    """Yield a sentence for each mutant of the kit's code that earns points in a task."""
    draw = kit_leaks.drawn(task, "a draw")
    made = {(one.file, one.source): (one, solvers) for one, solvers in kit_leaks.changed(task)}
    chosen = dict(random.Random(task.full_name).sample(list(made.values()), min(most or len(made), len(made))))

    def judged(mutant: Mutant) -> str:
        for solver in chosen[mutant]():
            with suppress(Exception, SystemExit):  # most mutants fail
                if reached := kit_leaks.earned(draw, solver):
                    return reached
        return REJECTED

    with closing(_in_children(chosen, judged, KIT_WALL_S)) as reports:
        for mutant, reached in reports:
            if reached:
                yield f"{mutant.file}:{mutant.line} {reached}: {mutant.was!r} became {mutant.now!r}"


def _graded(task: Task, sources: Mapping[str, str]) -> tuple[Examiner[Any], dict[str, float]]:
    wrong = ""
    for seed in ("the graded draw", "a second graded draw", "a third graded draw"):
        draw, allowed_s = kit_leaks.drawn(task, seed), dict[str, float]()
        for file, source in sources.items():
            began_s = time.process_time()
            if mistake := mistake_in_time(draw, draw.solver(source)):
                wrong = f"{file} is wrong without any change: {mistake}."
                break
            allowed_s[file] = SLOWER * (time.process_time() - began_s) + ADDED_S
        else:
            return draw, allowed_s
        if not draw.measures:
            break
    raise UsageError(f"{wrong} Correct it first; `python -m grader lint {task.lesson}` grades it.")


def _further(task: Task, end_s: float) -> Iterator[Examiner[Any]]:
    for number in range(FURTHER_DRAWS):
        if number and time.monotonic() > end_s:
            return
        yield kit_leaks.drawn(task, f"further draw {number + 1}", timed=0)


def _judged(mutant: Mutant, unchanged: str, draws: Sequence[Examiner[Any]], allowed_s: float) -> str:
    graded, *further = draws
    signal.setitimer(signal.ITIMER_PROF, allowed_s)
    if _mistake(graded, mutant.source):
        return REJECTED
    chance, wrong, began_s = CHANCE_MISTAKES if graded.measures else 0, 0, time.process_time()
    for draw in further:
        signal.setitimer(signal.ITIMER_PROF, allowed_s)
        mistake = _mistake(draw, mutant.source)
        if mistake and not (graded.measures and _mistake(draw, unchanged)):
            wrong += 1
            if wrong > chance:
                return mistake
        if time.process_time() - began_s > FURTHER_S and not wrong:
            break
    return EQUIVALENT


def _mistake(draw: Examiner[Any], source: str) -> str:
    try:
        return draw.mistake(draw.solver(source))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a mutant may raise anything when it is executed
        return f"the file raises {type(error).__name__}"


def _in_children(
    items: Iterable[Mutant], work: Callable[[Mutant], str], wall_s: float
) -> Generator[tuple[Mutant, str], None, None]:
    """Call `work` on each item in a new forked process. Yield each item with the result, or `REJECTED` if it dies."""
    context, left = multiprocessing.get_context("fork"), iter(items)
    running = dict[Connection, tuple[BaseProcess, Mutant]]()
    try:
        while True:
            for item in islice(left, CORES - len(running)):
                receiving, sending = context.Pipe(duplex=False)
                child = context.Process(target=_report, args=(work, item, sending, wall_s), daemon=True)
                with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
                    child.start()  # NumPy has idle threads, but none of them holds a lock
                sending.close()
                running[receiving] = (child, item)
            if not running:
                return
            for ready in wait(list(running)):
                assert isinstance(ready, Connection)
                process, item = running.pop(ready)
                try:
                    report = ready.recv()
                except EOFError:
                    report = REJECTED
                process.join()
                ready.close()
                yield item, report
    finally:
        for process, _ in running.values():
            process.kill()
            process.join()


def _report(work: Callable[[Mutant], str], item: Mutant, sending: Connection, wall_s: float) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    signal.setitimer(signal.ITIMER_REAL, wall_s)  # the kernel ends this process
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    sending.send(work(item))
