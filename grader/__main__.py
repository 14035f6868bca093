"""`python -m grader VERB`: the grader's commands, each handing over to the module that does it.

The result goes to standard output, everything else to standard error. Exit codes: 0 as it should be (full
marks, everything graded), 1 less than that, 2 a usage or machine problem, 3 a hand-in has no grade that counts
(a fault of ours, or a policy that needs one more), or a report is unmade.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from grader import (
    catalogue,
    completion,
    doctor,
    export,
    kit,
    proving,
    release,
    reports,
)
from grader.class_run import crew, encryption, graded_on, journal, run, summary, ungraded
from grader.class_run.course import read as read_course
from grader.desk import commands
from grader.desk.commands import err_console
from grader.errors import UsageError
from grader.gradescope import bundle
from grader.isolation import sandbox
from grader.options import CourseFile, Debug, Force, GradedOn, Leaderboard, Lessons, Names
from grader.reports import pseudonyms
from grader.wrapped import say
from harness import names
from harness.command import Verbs, guarded

app = typer.Typer(
    help="Check, hand in and grade the exercises of fairclock.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    cls=Verbs,
)
AT_A_STUDENTS_DESK = not catalogue.SOLUTIONS.is_dir()
"""A released kit has no solutions: there, help and suggestions name the students' commands alone."""

app.command(name="check")(commands.check)
app.command(name="submit")(commands.submit)
app.command(name="notebook")(commands.notebook)


@app.command(name="doctor")
def examine_machine(debug: Debug = False) -> int:
    """Say what this machine has and lacks, and what brings it."""
    del debug
    can_grade = True
    for finding in doctor.examine():
        can_grade &= finding.present or not finding.needed
        print(f"{'✓' if finding.present else '–'} {finding.part:28} {finding.found}", flush=True)
        if not finding.present:
            print(f"{'→':>33} {finding.fix}")
    print("This machine can grade a class." if can_grade else "This machine cannot grade a class: see above.")
    return 0 if can_grade else 2


@app.command(name="run", hidden=AT_A_STUDENTS_DESK)
def run_class(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="DIR/<student>/<lesson>.py or DIR/<student>.zip")],
    out: Annotated[Path, typer.Option(metavar="OUT", help="Where grades and reports go.")],
    jobs: Annotated[int, typer.Option(min=1, help="Submissions graded at a time.")] = max(1, (os.cpu_count() or 2) - 1),
    lessons: GradedOn = None,
    seed_file: Annotated[Path | None, typer.Option(metavar="F", help="The secret seed; else one is made.")] = None,
    scheduler: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Grade on the Dask cluster there. tls://… uses Dask's TLS settings.")
    ] = "",
    workers: Annotated[int, typer.Option(min=0, help="Grade on a Dask cluster of N processes here, encrypted.")] = 0,
    no_sandbox: Annotated[bool, typer.Option("--no-sandbox", help="Grade unprotected, stamped on reports.")] = False,
    course_file: CourseFile = None,
    regrade: Annotated[
        list[str] | None, typer.Option(metavar="STUDENT", help="Grade again, though nothing changed; may be repeated.")
    ] = None,
    progress: Annotated[
        bool | None, typer.Option("--progress/--quiet", help="On standard error. Default: when that is a terminal.")
    ] = None,
    leaderboard: Leaderboard = None,
    names: Names = None,
    debug: Debug = False,
) -> int:
    """Grade a class; run again with the same OUT to go on."""
    del debug
    if not no_sandbox:
        sandbox.require()
    known, hidden, before = catalogue.load(), (folder.resolve(), out.resolve()), journal.remembered(out)
    tasks = graded_on.tasks(known, _meant(lessons, known.lessons), before.tasks, out)
    course, board = read_course(course_file, known.lessons), pseudonyms.asked(leaderboard, names, before.board)
    if unsafe := encryption.warning(scheduler):
        say(err_console, unsafe)
    with ExitStack() as stack:
        grade_one, lanes, where = crew.crew(stack, jobs, scheduler, workers, hidden, sandboxed=not no_sandbox)
        ended = run.grade_class(
            folder,
            out,
            grade=grade_one,
            tasks=tasks,
            lanes=lanes,
            console=err_console,
            kit=kit.version(),
            sandboxed=not no_sandbox,
            seed_file=seed_file,
            about=_about(where, sandboxed=not no_sandbox),
            course=course,
            course_name=str(course_file or ""),
            regrade=regrade or (),
            quiet=not (err_console.is_terminal if progress is None else progress),
            board=board,
            known=known.lessons,
        )
    print("\n".join(ended.lines()))
    return ended.exit_code


@app.command(hidden=AT_A_STUDENTS_DESK)
def report(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder a run wrote.")],
    lessons: GradedOn = None,
    course_file: CourseFile = None,
    leaderboard: Leaderboard = None,
    names: Names = None,
    debug: Debug = False,
) -> int:
    """Write all reports anew from OUT/grades.sqlite, also by another policy: nothing is graded for that."""
    course = read_course(course_file, catalogue.load().lessons)
    with journal.read(out) as book:
        board = pseudonyms.asked(leaderboard, names, book.board())
        if course:
            course.require_known(book.students(), str(course_file))
        pseudonyms.chosen(board, "", book.students())
        ever = (*(task.lesson for task in book.tasks(counting=False)), *catalogue.load().lessons)
        changed = graded_on.restrict(book, _meant(lessons, ever)) if lessons else ()
        if course:
            book.set_course(course.text)
        book.set_board(board)
        roll, files = reports.of_journal(book)
        ungraded_lines = tuple(ungraded.lines(roll, book))
    print(f"{files.changed} files of {out} were rewritten; the others were as they should be.")
    for unmade in files.unmade if debug else ():
        print(unmade.fault.trace, file=sys.stderr)
    print("".join(f"{line}\n" for line in (*changed, *ungraded_lines, *files.lines(out))), end="")
    return summary.EXIT_DONE if roll.is_final and not files.unmade else summary.EXIT_FAULTS


@app.command(name="export", hidden=AT_A_STUDENTS_DESK)
def export_points(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder a run wrote.")],
    canvas: Annotated[Path | None, typer.Option(metavar="CSV", help="Fill this gradebook of Canvas.")] = None,
    moodle: Annotated[Path | None, typer.Option(metavar="CSV", help="Fill this grading worksheet of Moodle.")] = None,
    nbgrader: Annotated[bool, typer.Option("--nbgrader", help="Write the columns of `nbgrader export`.")] = False,
    junit: Annotated[bool, typer.Option("--junit", help="Write JUnit XML.")] = False,
    to: Annotated[Path | None, typer.Option(metavar="FILE", help="Default: OUT/FORMAT.csv or .xml.")] = None,
    lessons: Lessons = None,
    column: Annotated[list[str] | None, typer.Option(metavar="LESSON=TITLE", help="A lesson's column; total=…")] = None,
    scale: Annotated[bool, typer.Option("--scale", help="Convert points to the maximum that the file says.")] = False,
    force: Force = False,
    debug: Debug = False,
) -> int:
    """Fill a gradebook of Canvas or a worksheet of Moodle, or write nbgrader's columns or JUnit XML."""
    del debug
    wanted = export.Wanted(canvas, moodle, nbgrader, junit)
    with journal.read(out) as book:
        roll = book.roll()
    exported = export.export(
        roll, out, wanted, to=to, lessons=lessons or (), columns=column or (), scale=scale, force=force
    )
    print("\n".join(exported.lines()))
    return exported.exit_code


@app.command(name="release", hidden=AT_A_STUDENTS_DESK)
def release_kit(
    place: Annotated[Path | None, typer.Argument(metavar="DIR", help="A new folder, or a .zip.")] = None,
    gradescope: Annotated[Path | None, typer.Option(metavar="ZIP", help="Make an autograder to upload.")] = None,
    lessons: Lessons = None,
    no_sandbox: Annotated[bool, typer.Option("--no-sandbox", help="It may grade unprotected, and says so.")] = False,
    force: Force = False,
    debug: Debug = False,
) -> int:
    """Make the student kit, or an autograder for Gradescope: no solutions, no secrets."""
    del debug
    if place is None and gradescope is None:
        raise UsageError("Name a folder or zip for the student kit, or --gradescope ZIP for an autograder.")
    if place:
        chosen = catalogue.load().chosen(lessons) if lessons else ()
        print("\n".join(release.release(place, chosen, force=force).lines()))
    if gradescope:
        print("\n".join(bundle.bundle(gradescope, lessons or (), sandboxed=not no_sandbox, force=force).lines()))
    return 0


def _meant(lessons: Sequence[str] | None, there_are: Sequence[str]) -> list[str]:
    """Return the lessons that are named, by number or name; `all` stays as it is."""
    return [one if one == graded_on.ALL else names.named(one, there_are, "exercise") for one in lessons or ()]


def _about(lanes: str, *, sandboxed: bool) -> str:
    if not sandboxed:
        return f"{lanes} · NO SANDBOX: submissions can read and write what you can"
    lacks = [layer.name for layer in sandbox.layers() if not layer.active]
    return f"{lanes} · sandbox: all layers{' but ' + ', '.join(lacks) if lacks else ''}"


app.command(name="lint", hidden=AT_A_STUDENTS_DESK)(proving.lint_exercises)
app.command(name="calibrate", hidden=AT_A_STUDENTS_DESK)(proving.calibrate_machine)
completion.offer(app, catalogue.load().lessons)

if __name__ == "__main__":
    sys.exit(guarded(app, "python -m grader", sys.argv[1:]))
