"""The grader's commands for authors of exercises: `lint`, with `--mutants`, and `calibrate`."""

import time
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import Progress, TaskID

from grader import calibrate, catalogue, lint, mutants, tier_records
from grader.errors import UsageError
from grader.isolation import sandbox
from grader.isolation.pool import Pool
from grader.mutant_tally import Tally
from grader.options import Debug
from grader.settings import Settings
from harness import others

out_console: Final = Console(soft_wrap=True)
err_console: Final = Console(stderr=True)


def lint_exercises(
    lessons: Annotated[list[str] | None, typer.Argument(help="Default: all lessons.")] = None,
    record: Annotated[bool, typer.Option("--record", help="Save this machine's ratios in tests/records.")] = False,
    changed: Annotated[
        str | None,
        typer.Option("--mutants", metavar="TARGET", help="Change right answers of a task, and list what passes."),
    ] = None,
    debug: Debug = False,
) -> int:
    """Prove each exercise's truth table."""
    del debug
    if changed is not None:
        if lessons or record:
            raise UsageError("--mutants TARGET stands alone: no lessons, no --record. Run `lint` twice.")
        return _lint_mutants(changed)
    found = 0
    machine = tier_records.Machine.this(others.busy_cores()) if record else None
    with Pool(sandboxed=False) as pool:
        for lesson in catalogue.load().chosen(lessons):
            rows, problems = [], [*lint.problems(lesson), *lint.unearned(lesson)]
            with err_console.status(f"Grading {lesson} …") as status:  # shown at a terminal alone
                for row in lint.table(lesson, str(time.time_ns()), pool, lambda now: status.update(f"Grading {now} …")):
                    status.stop()  # else the row would stand behind it, for they go to different streams
                    out_console.print(row.line, markup=False, highlight=False)
                    status.start()
                    rows.append(row)
                    problems += [f"{row.task.full_name}, {row.name}: {row.surprise}"] if row.surprise else []
            for problem in problems:
                print(f"SURPRISE  {problem}")
            found += len(problems)
            if machine and (measured := [row.recorded for row in rows if row.recorded]):
                file = tier_records.record(machine, measured)
                print(f"{lesson} is recorded in {file}.", flush=True)
    print(f"{found} surprises." if found else "Every known submission got what it should.")
    return 1 if found else 0


def _lint_mutants(target: str) -> int:
    """Judge small changes of right answers, task by task; return 1 where too many pass."""
    tallies = []
    for task in mutants.tasks(target):
        # No thread draws the progress: a forked process must not inherit a lock that another thread holds.
        with Progress(console=err_console, auto_refresh=False, transient=True) as progress:
            bar = progress.add_task(f"Drawing the cases of {task.full_name} …", total=None)

            def show(now: Tally, bar: TaskID = bar, progress: Progress = progress) -> None:
                words = f"{now.task}: {len(now.survivors)} survive"
                progress.update(bar, description=words, total=now.made, completed=now.tried, refresh=True)

            progress.refresh()
            tallies.append(mutants.tally(task, mutants.right_answers(task), show))
        print("\n".join(tallies[-1].lines()), flush=True)
    return 0 if all(tally.is_enough for tally in tallies) else 1


def calibrate_machine(
    lessons: Annotated[list[str] | None, typer.Argument(help="Default: all lessons.")] = None, debug: Debug = False
) -> int:
    """Measure the reference solutions here, and say which tiers this machine cannot tell apart."""
    del debug
    found = 0
    with Pool(sandboxed=not sandbox.trouble(), spare=1) as pool:
        for one in calibrate.calibrate(catalogue.load().chosen(lessons), Settings(str(time.time_ns()), pool)):
            print(f"{'–' if one.problems else '✓'} {one.line}", flush=True)
            print(*(f"    → {problem}" for problem in one.problems), sep="\n", end="\n" if one.problems else "")
            print(*(f"    · {note}" for note in one.notes), sep="\n", end="\n" if one.notes else "")
            found += len(one.problems)
    print(f"{found} tiers to look at." if found else "Every tier can be reached and told apart on this machine.")
    return 1 if found else 0
