"""The grader's commands for students: `check`, `submit` and `notebook`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from grader import catalogue, exercise_notebook, kit, watch
from grader import check as checking
from grader.desk import asking, handing_in
from grader.desk.works import Choice
from grader.errors import UsageError
from grader.files import write_atomically
from grader.isolation.pool import Pool
from grader.options import Debug, Force
from grader.records import Status
from grader.wrapped import say
from harness.overwriting import refuse_edited

out_console: Final = Console(soft_wrap=True)
err_console: Final = Console(stderr=True)


def check(
    target: Annotated[
        str | None, typer.Argument(metavar="[LESSON|TASK|FILE]", help="Such as 2 or time_per_call. Default: all.")
    ] = None,
    hint: Annotated[bool, typer.Option("--hint", help="Show the next hint of each unfinished task.")] = False,
    past_hints: Annotated[bool, typer.Option("--hints", help="Show the hints again that you have read.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the verdicts there.")] = None,
    watched: Annotated[bool, typer.Option("--watch", help="Check again whenever it is saved, until Ctrl-C.")] = False,
    force: Force = False,
    debug: Debug = False,
) -> int:
    """Grade your own exercise here and now: the file of it that you have changed."""
    del debug
    if json_file:
        refuse_edited(json_file, force=force)
    target, only = checking.chosen(target)
    choices = asking.settled(
        checking.targets(target), lambda work: f"python -m grader check {asking.quoted(work)}", err_console
    )
    lessons = {choice.taken.path: choice for choice in choices if choice.taken}
    untaken = [handing_in.untaken(choice) for choice in choices if not choice.taken]
    if not lessons:
        raise UsageError(" ".join(untaken))
    for why in untaken:
        say(err_console, why, 1)
    told: set[Path] = set()

    def grade_files(files: Sequence[Path]) -> int:
        graded = []
        with Pool(sandboxed=False) as pool:
            for path in files:
                if path not in told:
                    _tell(lessons[path])
                    told.add(path)
                with err_console.status(f"Checking {path.name} …"):
                    report = checking.check(lessons[path].lesson, path, pool, only)
                checking.show(report, out_console, ask_hint=hint, past_hints=past_hints)
                graded.append(report)
        if total := checking.total(graded):
            say(out_console, total, 1)
        if json_file:
            write_atomically(json_file, checking.as_json(graded).encode())
        if any(verdict.status is Status.GRADER_ERROR for report in graded for verdict in report.verdicts):
            return 2
        return 0 if all(report.points == report.max_points for report in graded) and not untaken else 1

    files = list(lessons)
    lessons |= {work.path: choice for choice in choices for work in choice.others}
    return watch.watch(grade_files, files, err_console, watch.saves(list(lessons))) if watched else grade_files(files)


def submit(
    places: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PLACE", help="Folders or files. Default: wherever exercises lie."),
    ] = None,
    take: Annotated[
        list[Path] | None, typer.Option("--take", metavar="FILE", help="Of two changed files, this one counts.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The zip to write.")] = Path("submission.zip"),
    graded: Annotated[bool, typer.Option("--grade/--no-grade", help="Show the points that check sees.")] = True,
    force: Force = False,
    debug: Debug = False,
) -> int:
    """Pack your exercises into one zip to hand in, then show the points that they get here."""
    del debug
    choices = asking.settled(
        handing_in.choices(places or (), take or ()),
        lambda work: f"python -m grader submit --take {asking.quoted(work)}",
        err_console,
    )
    packed = handing_in.pack(choices, out, kit=kit.version(), force=force)
    for line in packed.lines():
        _say(line)
    handing_in.show_points(packed, _say, err_console, graded=graded)
    for line in packed.warnings():
        _say(line)
    return packed.exit_code


def notebook(
    lesson: Annotated[str, typer.Argument(metavar="LESSON", help="An exercise, or the start of its name.")],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Default: LESSON.ipynb, here.")] = None,
    force: Force = False,
    debug: Debug = False,
) -> int:
    """Write an exercise as a notebook to work in; check and submit take it like the file."""
    del debug
    name = catalogue.load().named(lesson)
    written = exercise_notebook.write(name, out or Path(f"{name}.ipynb"), force=force)
    print(f"Wrote {written}. Open it with Jupyter; its last cell checks it.")
    return 0


def _say(line: str) -> None:
    say(out_console, line)


def _tell(choice: Choice) -> None:
    """Say which file of an exercise is checked, and which other work there is."""
    taken = choice.taken
    if taken and taken.code:  # else the student has named the file
        how = "which you have changed." if taken.changed else "which you have not changed yet."
        say(err_console, f"Checking {taken.path}, {how}", 1)
    for work, why in choice.left_out:
        say(err_console, handing_in.left_out(work, why), 1)
