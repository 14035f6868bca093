"""The commands for authors of exercises: `lint` and `calibrate`."""

import time
from typing import Annotated

import typer

from grader import catalogue, paths
from grader.authoring import calibrate, lint, mutants, task_texts
from grader.commands.options import Debug, err_console, lesson_names, out_console
from grader.errors import UsageError
from grader.isolation import sandbox
from grader.isolation.pool import Pool
from grader.session import Session


def lint_exercises(
    lessons: Annotated[
        list[str] | None, typer.Argument(help="Default: all lessons.", autocompletion=lesson_names)
    ] = None,
    record: Annotated[
        bool,
        typer.Option("--record", help="If all is as expected, save the ratios that students read about other ways."),
    ] = False,
    changed: Annotated[
        str | None,
        typer.Option(
            "--mutants",
            metavar="TARGET",
            help="Make small changes in right submissions, and list the changes that still pass.",
        ),
    ] = None,
    debug: Debug = False,
) -> int:
    """Check the verdict of each known submission. The name of its file states the expected verdict."""
    if changed is not None:
        if lessons or record:
            raise UsageError("--mutants TARGET cannot be combined with lessons or --record. Run `lint` twice.")
        return _lint_mutants(changed)
    chosen = catalogue.load().chosen(lessons)
    paths.require_solutions("lint", chosen)
    found = 0
    with Pool(sandboxed=False) as pool:
        for lesson in chosen:
            measured = dict[str, dict[str, float]]()
            problems = [*lint.problems(lesson)]
            with err_console.status(f"Grading {lesson} …") as status:  # only visible on a terminal
                for row in lint.table(lesson, str(time.time_ns()), pool, lambda now: status.update(f"Grading {now} …")):
                    status.stop()  # because the row is printed on another stream
                    out_console.print(row.line, markup=False, highlight=False)
                    status.start()
                    if speed := row.verdict.attempt.speed:
                        measured.setdefault(row.task.full_name, {})[row.name] = speed.ratio
                    problems += [f"{row.task.full_name}, {row.name}: {row.surprise}"] if row.surprise else []
            for problem in problems:
                print(f"SURPRISE  {problem}")
            found += len(problems)
            if record and not problems:
                print(f"Wrote the ratios of {lesson} to {task_texts.write_ways(measured)}.", flush=True)
    none = "Every known submission got the expected verdict."
    print(f"{found} problems, listed above as SURPRISE." if found else none)
    return int(bool(found))


def _lint_mutants(target: str) -> int:
    paths.require_solutions("lint", catalogue.load().lessons)
    tallies, leaks = list[mutants.Tally](), 0
    for task in mutants.tasks(target):
        err_console.print(f"Changing right submissions of {task.full_name}, for at most ten minutes …")
        tallies.append(mutants.tally(task, mutants.right_answers(task)))
        print("\n".join(tallies[-1].lines()), flush=True)
        for sentence in mutants.earning_code(task):
            print(f"✗ {task.full_name}: code of the student kit earns points after one change: {sentence}", flush=True)
            leaks += 1
    return 0 if all(tally.is_enough for tally in tallies) and not leaks else 1


def calibrate_machine(
    lessons: Annotated[
        list[str] | None, typer.Argument(help="Default: all lessons.", autocompletion=lesson_names)
    ] = None,
    debug: Debug = False,
) -> int:
    """Measure the reference solutions on this machine. List the tiers that it cannot reach or distinguish."""
    found = 0
    with Pool(sandboxed=not sandbox.problem(), spare=1) as pool:
        for one in calibrate.calibrate(catalogue.load().chosen(lessons), Session(str(time.time_ns()), pool)):
            print(f"{'–' if one.problems else '✓'} {one.line}", flush=True)
            print(*(f"    → {problem}" for problem in one.problems), sep="\n", end="\n" if one.problems else "")
            found += len(one.problems)
    print(f"{found} problems with tiers." if found else "This machine can reach and distinguish every tier.")
    return 1 if found else 0
