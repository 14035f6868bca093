"""The grader's commands for authors of exercises: `lint` and `calibrate`."""

import time
from typing import Annotated, Final

import typer
from rich.console import Console

from grader import calibrate, catalogue, lint, tier_records
from grader.isolation import sandbox
from grader.isolation.pool import Pool
from grader.options import Debug
from grader.settings import Settings
from harness import others

out_console: Final = Console(soft_wrap=True)
err_console: Final = Console(stderr=True)


def lint_exercises(
    lessons: Annotated[list[str] | None, typer.Argument(help="Default: all lessons.")] = None,
    record: Annotated[bool, typer.Option("--record", help="Save this machine's ratios in tests/records.")] = False,
    debug: Debug = False,
) -> int:
    """Prove each exercise's truth table."""
    del debug
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
