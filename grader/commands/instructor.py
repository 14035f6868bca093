"""The commands for instructors: `run`, `report`, `export` and `release`."""

import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from grader import catalogue
from grader.class_run import dry_run as listing
from grader.class_run import export, feedback, graded_on, grading, journal, run, students_csv, summary
from grader.class_run.senders import Remembered
from grader.commands.options import (
    CourseFile,
    Debug,
    Force,
    GradedOn,
    Leaderboard,
    Lessons,
    Names,
    StudentsFile,
    err_console,
    out_console,
)
from grader.course.course_file import read as read_course
from grader.course.named_students import for_class
from grader.course.roster import FILE
from grader.errors import UsageError
from grader.isolation import sandbox
from grader.reports.leaderboard import board_names
from grader.student_kit import release
from harness.rendering.texts import shown
from harness.rendering.wrapping import say

ALL_BUT_ONE_CORE: Final = max(1, (os.cpu_count() or 2) - 1)

ClassFolder = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        help="The submissions: a folder or zip with DIR/<student>/<lesson>.py or DIR/<student>.zip, or what Canvas, "
        "Moodle, Gradescope, Brightspace, Blackboard or GitHub Classroom exports.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only list who handed in what and when. OUT is not needed.")]
Jobs = Annotated[int, typer.Option(min=1, help="Number of submissions graded in parallel.")]
NoSandbox = Annotated[
    bool, typer.Option("--no-sandbox", help="Grade without protection. Each report then has a warning.")
]
Progress = Annotated[
    bool | None, typer.Option("--progress/--quiet", help="Progress on standard error. Default: only on a terminal.")
]
Regrade = Annotated[
    list[str] | None, typer.Option(metavar="STUDENT", help="Grade this student again. Can be repeated.")
]
Scheduler = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS", help="Grade on the Dask cluster at this address. tls://… uses the TLS settings of Dask."
    ),
]
SeedFile = Annotated[
    Path | None,
    typer.Option(metavar="F", help="A file with the secret seed. Default: the file that the first run writes to OUT."),
]


def run_class(
    context: typer.Context,
    folder: ClassFolder,
    out: Annotated[Path | None, typer.Option(metavar="OUT", help="The folder for grades and reports.")] = None,
    jobs: Jobs = ALL_BUT_ONE_CORE,
    lessons: GradedOn = None,
    seed_file: SeedFile = None,
    scheduler: Scheduler = "",
    no_sandbox: NoSandbox = False,
    course_file: CourseFile = None,
    students_file: StudentsFile = None,
    regrade: Regrade = None,
    progress: Progress = None,
    leaderboard: Leaderboard = None,
    names: Names = None,
    dry_run: DryRun = False,
    debug: Debug = False,
) -> int:
    """Grade a class. To continue a run, use the same OUT again."""
    known, before = catalogue.load(), journal.remembered(out) if out else Remembered()
    course = read_course(course_file, known.lessons)
    rules = course or before.course
    roster = students_csv.chosen(students_file, course_file, rules, before.roster)
    hand_ins = graded_on.HandIns(rules, roster, known.functions, catalogue.kit_version())
    meant = graded_on.meant(lessons, known.lessons)
    if dry_run:
        tasks = (*graded_on.tasks(known, meant, before.tasks, out or Path()), *before.tasks)
        print(shown("\n".join(listing.lines(folder, tasks, hand_ins, str(course_file or "")))))
        return 0
    out = _required(out, sandboxed=not no_sandbox)
    hidden, board = (folder.resolve(), out.resolve()), board_names(leaderboard, names, before.board)
    if by_default := not meant and not (before.tasks and before.knows(folder)):
        meant = graded_on.by_default(known, hand_ins, folder)
    tasks = graded_on.tasks(known, meant, before.tasks, out)
    watched = err_console.is_terminal if progress is None else progress
    warn = partial(say, out_console)
    with grading.lanes(jobs, scheduler, hidden, sandboxed=not no_sandbox, warn=warn) as (grade_one, executor, where):
        ended = run.grade_class(
            folder,
            out,
            grade=grade_one,
            tasks=tasks,
            executor=executor,
            console=err_console if watched else Console(quiet=True, force_terminal=False),
            kit=catalogue.kit_version(),
            sandboxed=not no_sandbox,
            seed_file=seed_file,
            about=_about(where, sandboxed=not no_sandbox),
            course=course,
            course_name=str(course_file or ""),
            regrade=regrade or (),
            board=board,
            known=known.functions,
            command=context.obj or "",
            roster=roster,
        )
    others = () if lessons else graded_on.not_graded(ended.roll, folder, out)
    chosen = f"Lessons graded, by hand-ins and course file: {', '.join(meant)}. For other lessons, use --lessons."
    print(shown("\n".join((ended.read_as, *([chosen] if by_default else []), *others, *ended.lines()))))
    return ended.exit_code


def _required(out: Path | None, *, sandboxed: bool) -> Path:
    if out is None:
        raise UsageError("Give the folder for grades and reports: --out OUT. To grade nothing, use --dry-run.")
    if sandboxed:
        sandbox.require()
    return out


def report(
    context: typer.Context,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder that `run` wrote.")],
    lessons: GradedOn = None,
    course_file: CourseFile = None,
    students_file: StudentsFile = None,
    leaderboard: Leaderboard = None,
    names: Names = None,
    debug: Debug = False,
) -> int:
    """Write all reports again from OUT/grades.sqlite, for example with a new course file. Nothing is graded again."""
    course = read_course(course_file, catalogue.load().lessons)
    with journal.read(out) as book:
        before = book.remembered()
        board = board_names(leaderboard, names, before.board)
        roster = students_csv.chosen(students_file, course_file, course or before.course, before.roster)
        everyone = before.students_by(roster)
        if course or students_file:
            for_class(course or before.course, everyone, roster, str(course_file or "The course file of the last run"))
        ever = (*(task.lesson for task in book.tasks(counting=False)), *catalogue.load().lessons)
        changed = tuple(graded_on.restrict(book, graded_on.meant(lessons, ever))) if lessons else ()
        book.set(board=board, course=course, command=context.obj or "", roster=roster)
        roll, files = summary.publish(book)
        told = (*summary.people_lines(roll), *summary.ungraded_lines(roll, out))
    print(f"Wrote {files.changed} files in {shown(str(out))}. All other files are unchanged.")
    for fault in files.unmade.values() if debug else ():
        print(shown(fault.trace), file=sys.stderr)
    print(shown("".join(f"{line}\n" for line in (*changed, *told, *files.lines()))), end="")
    return summary.EXIT_DONE if roll.is_final and not files.unmade else summary.EXIT_FAULTS


def export_points(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder that `run` wrote.")],
    canvas: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Fill the points into this gradebook from Canvas.")
    ] = None,
    moodle: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Fill the points into this grading worksheet from Moodle.")
    ] = None,
    nbgrader: Annotated[bool, typer.Option("--nbgrader", help="Write the columns of `nbgrader export`.")] = False,
    junit: Annotated[bool, typer.Option("--junit", help="Write JUnit XML.")] = False,
    to: Annotated[Path | None, typer.Option(metavar="FILE", help="Default: OUT/FORMAT.csv or .xml.")] = None,
    lessons: Lessons = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LESSON=TITLE",
            help="The column for the points of a lesson. For the sum of all lessons: total=TITLE.",
        ),
    ] = None,
    scale: Annotated[
        bool, typer.Option("--scale", help="Convert the points to the maximum points in that file.")
    ] = False,
    force: Force = False,
    debug: Debug = False,
) -> int:
    """Export the points to Canvas, Moodle, nbgrader or JUnit XML."""
    form = export.form_of(canvas=canvas, moodle=moodle, nbgrader=nbgrader, junit=junit)
    with journal.read(out) as book:
        roll = book.roll()
    options = {"lessons": lessons or (), "columns": column or ()}
    lines, code = export.export(roll, out, form, canvas or moodle, to=to, scale=scale, force=force, **options)
    print(shown("\n".join(lines)))
    return code


def return_pages(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder that `run` wrote.")],
    form: Annotated[feedback.Form, typer.Option("--for", help="The system that gives the pages to the students.")],
    to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Default: OUT/canvas-feedback.zip, or OUT/_feedback, a folder.")
    ] = None,
    lessons: Lessons = None,
    force: Force = False,
    debug: Debug = False,
) -> int:
    """Write each student's page as a feedback file for Canvas or Moodle, or into a folder."""
    with journal.read(out) as book:
        lines, code = feedback.return_pages(book, form, to=to, lessons=lessons or (), force=force)
    print(shown("\n".join(lines)))
    return code


def write_roster(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A gradebook or list of students from your platform.")],
    out: Annotated[Path, typer.Option(metavar="CSV", help="Write the list of students to this file.")] = Path(FILE),
    force: Force = False,
    debug: Debug = False,
) -> int:
    """Make students.csv from a file of Canvas, Moodle, Gradescope, Brightspace or Blackboard."""
    for line in students_csv.write(file, out, force=force):
        print(shown(line))
    return 0


def release_kit(
    place: Annotated[Path | None, typer.Argument(metavar="DIR", help="A new folder, or a new .zip file.")] = None,
    gradescope: Annotated[
        Path | None, typer.Option(metavar="ZIP", help="Also make an autograder for Gradescope.")
    ] = None,
    lessons: Lessons = None,
    no_sandbox: Annotated[
        bool, typer.Option("--no-sandbox", help="Let the autograder grade without a sandbox.")
    ] = False,
    force: Force = False,
    debug: Debug = False,
) -> int:
    """Make the student kit, an autograder for Gradescope, or both. The kit has no solutions."""
    if place is None and gradescope is None:
        raise UsageError("Give a folder or a zip for the student kit, or --gradescope ZIP for an autograder.")
    if place:
        chosen = catalogue.load().chosen(lessons) if lessons else ()
        print("\n".join(release.release(place, chosen, force=force)))
    if gradescope:
        print("\n".join(release.bundle(gradescope, lessons or (), sandboxed=not no_sandbox, force=force)))
    return 0


def _about(lanes: str, *, sandboxed: bool) -> str:
    if not sandboxed:
        return f"{lanes} · NO SANDBOX: submissions have all of your rights"
    lacks = [layer.name for layer in sandbox.layers() if not layer.active]
    return f"{lanes} · sandbox: all layers{' except ' + ', '.join(lacks) if lacks else ''}"
