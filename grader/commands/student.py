"""The commands for students: `check`, `practise`, `submit`, `login`, `logout`, `notebook` and `doctor`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import typer

from grader import catalogue, paths
from grader.commands.options import Debug, Force, err_console, lesson_names, out_console
from grader.course.roll import is_faulted
from grader.desk import check as checking
from grader.desk import check_screen, course_server, exercise_files, exercise_notebook, handing_in
from grader.desk import practise as practising
from grader.desk import submit as packing
from grader.desk.check_screen import ScreenLine
from grader.desk.exercise_files import FileChoice, settle
from grader.desk.recognition import suffix_of
from grader.diagnosis.machine import HealthCheck
from grader.errors import UsageError
from grader.files import write_atomically
from grader.hand_ins.left_out import folded
from grader.isolation.pool import Pool
from grader.records import Report, Verdict
from harness.rendering.texts import shown
from harness.rendering.wrapping import columns, say, wrapped
from harness.storage.user_files import refuse_edited

PART_WIDTH: Final = 34  # of the column of parts on the screen of `doctor`


@dataclass(frozen=True, slots=True)
class _Check:
    """One call of the command `check`: its options, and the exercises in each checked file."""

    choices: dict[Path, list[FileChoice]]
    only: str | None
    ask_hint: bool
    past_hints: bool
    json_file: Path | None
    is_complete: bool
    verbose: bool
    before: dict[Path, dict[str, Verdict]] = field(default_factory=dict)

    @property
    def is_overview(self) -> bool:
        """Whether several lessons are checked, so that each task gets only one line."""
        return len({choice.lesson for choices in self.choices.values() for choice in choices}) > 1

    def __call__(self, files: Sequence[Path]) -> int:
        """Grade these files, print the results and store the points. Return the exit code."""
        with checking.own_pool() as pool:
            if self.is_overview and not pool.sandboxed:
                say(out_console, check_screen.NO_SANDBOX, 1)
            graded = [self._graded(path, choice, pool) for path in files for choice in self.choices[path]]
        if self.is_overview and len(graded) > 1:
            choices = [choice for path in files for choice in self.choices[path]]
            if unchanged := ", ".join(choice.lesson for choice in choices if choice.taken and not choice.taken.changed):
                say(out_console, f"Not changed yet: {unchanged}", 1)
            checking.print_lines(check_screen.total(graded), out_console)
            say(out_console, "To see the next step of one lesson: fairclock check LESSON", 1)
        if self.json_file:
            write_atomically(self.json_file, checking.as_json(graded).encode())
        full = self.is_complete and all(report.points == report.max_points for report in graded)
        return 2 if any(map(is_faulted, graded)) else int(not full)

    def find(self) -> list[Path]:
        """Return the exercise files that exist now, also new files under any name."""
        lessons = {choice.lesson for choices in self.choices.values() for choice in choices}
        for files in exercise_files.find_files(sorted(lessons)).values():
            for file in files:
                self.choices.setdefault(file.path, [FileChoice(file.lesson, file)])
        return list(self.choices)

    def _graded(self, path: Path, choice: FileChoice, pool: Pool) -> Report:
        report = checking.check(choice.lesson, path, pool, self.only)
        checking.print_lines(self._lines(path, choice, report), out_console)
        self.before[path] = {verdict.task: verdict for verdict in report.verdicts}
        return report

    def _lines(self, path: Path, choice: FileChoice, report: Report) -> list[ScreenLine]:
        notes = [] if path in self.before else _notes(choice)
        if self.is_overview:
            is_stub = choice.taken and not (choice.taken.changed or choice.left_out)
            return [] if is_stub else [*check_screen.overview(report), *map(ScreenLine, (*notes, *report.remarks))]
        hints = checking.hint_lines(report, ask_hint=self.ask_hint, past_hints=self.past_hints)
        return check_screen.screen(report, hints, notes=notes, verbose=self.verbose, before=self.before.get(path))


def check(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="LESSON|TASK|FILE",
            help="A lesson, a task or a file, such as 2 or time_per_call. Default: all.",
            autocompletion=lesson_names,
        ),
    ] = None,
    task: Annotated[str | None, typer.Argument(metavar="TASK", help="Check only this task of the lesson.")] = None,
    hint: Annotated[
        bool, typer.Option("--hint", help="Show the next hint: check 4 --hint, or check 2 --hint TASK.")
    ] = False,
    past_hints: Annotated[bool, typer.Option("--hints", help="Show again the hints that you have read.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the results to a file.")
    ] = None,
    watched: Annotated[bool, typer.Option("--watch", help="Check again after each save, until Ctrl-C.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show all details, and other ways after full marks.")
    ] = False,
    force: Force = False,
    debug: Debug = False,
) -> int:
    """Grade your own exercises on this machine."""
    if json_file:
        refuse_edited(json_file, force=force)
    found, only = checking.selected(target, task)
    choices = settle(found, "fairclock check", err_console)
    by_file: dict[Path, list[FileChoice]] = {}
    for choice in choices:
        if choice.taken:
            by_file.setdefault(choice.taken.path, []).append(choice)
    missing = [choice.why_no_file for choice in choices if not choice.taken]
    if not by_file:
        raise UsageError(" ".join(missing))
    for why in missing:
        say(err_console, why, 1)
    files = list(by_file)
    by_file = {file.path: [choice] for choice in choices for file in choice.unchanged} | by_file
    grade_files = _Check(by_file, only, hint and len(choices) == 1, past_hints, json_file, not missing, verbose)
    if not watched:
        return grade_files(files)
    folders = [] if target and exercise_files.is_path(target) else [path.parent for path in by_file] + [Path.cwd()]
    return checking.watch(grade_files, files, [*by_file, *folders], err_console, grade_files.find)


def practise(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="LESSON", help="Begin here. Default: the first unfinished exercise.", autocompletion=lesson_names
        ),
    ] = None,
    debug: Debug = False,
) -> int:
    """Solve one exercise after the other, with a check at each save."""
    return practising.practise(checking.selected(target, None)[0][0].lesson if target else "", out_console)


def submit(
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="LESSON|PLACE",
            help="Lessons, folders or files. Default: all exercises of the kit and of this folder.",
            autocompletion=lesson_names,
        ),
    ] = None,
    take: Annotated[
        list[Path] | None,
        typer.Option("--take", metavar="FILE", help="Use this file of an exercise, if you changed several."),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The zip to write.")] = Path("submission.zip"),
    graded: Annotated[
        bool | None,
        typer.Option(
            "--grade/--no-grade",
            help="Also grade the files on this machine and show their points. Default: unless you are logged in.",
        ),
    ] = None,
    send: Annotated[
        bool | None,
        typer.Option(
            "--send/--no-send", help="Hand the zip in. Default: if you are logged in and all files are valid."
        ),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="At a terminal, wait for the points.")] = True,
    force: Force = False,
    debug: Debug = False,
) -> int:
    """Pack your exercises into one zip. If you are logged in, hand it in."""
    login = None if send is False else course_server.read_login()
    if send and not login:
        raise UsageError("You are not logged in, so nothing was handed in. Log in first: fairclock login LINK")
    choices = settle(packing.select(places or (), take or ()), "fairclock submit --take", err_console)
    grades = login is None if graded is None else graded
    code = packing.submit(choices, out, out_console, force=force, graded=grades, sends=bool(login))
    if login and code and not send:
        say(err_console, "Not handed in, because of a file above. To hand in all the same: fairclock submit --send")
    elif login:
        handing_in.hand_in(login, out, out_console, follow=wait and out_console.is_terminal)
    return code


def login(
    link: Annotated[
        str, typer.Argument(metavar="[LINK]", help="Your personal link, between quotes. Default: show your login.")
    ] = "",
    debug: Debug = False,
) -> int:
    """Log in at the server of your course, or show your lessons, due dates and points there."""
    if link:
        handing_in.log_in(link, out_console)
    else:
        handing_in.show_login(out_console)
    return 0


def logout(debug: Debug = False) -> int:
    """End your login at the server of your course."""
    handing_in.log_out(out_console)
    return 0


def notebook(
    lesson: Annotated[
        str,
        typer.Argument(metavar="LESSON", help="An exercise, such as 4 or autorange.", autocompletion=lesson_names),
    ],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Default: LESSON.ipynb in this folder.")] = None,
    force: Force = False,
    debug: Debug = False,
) -> int:
    """Write an exercise as a Jupyter notebook, for check and submit."""
    name = catalogue.load().named(lesson)
    written = exercise_notebook.write(name, out or Path(f"{name}.ipynb"), force=force)
    print(f"Wrote {shown(str(written))}. Open it with Jupyter. Its cells grade your answers.")
    return 0


def _notes(choice: FileChoice) -> list[str]:
    taken, notes = choice.taken, list[str]()
    if taken and (suffix := suffix_of(taken.path)) and folded(taken.path.name) != (name := f"{choice.lesson}{suffix}"):
        notes.append(
            f"Hand in {taken.path} with submit, which packs it as {name}. Under another name it is not graded."
        )
    if taken and taken.code:  # "" if the student named the file
        how = "which you have changed." if taken.changed else "which you have not changed yet."
        notes.append(f"Checked: {taken.path}, {how}")
    return [*notes, *(exercise_files.not_used(file, why) for file, why in choice.left_out)]


def examine_machine(debug: Debug = False) -> int:
    """Show what this machine has, and what to install."""
    from grader.diagnosis import doctor  # noqa: PLC0415 - imports torch, and every command imports this module

    works, complete = _print_parts(doctor.for_students())
    lessons = "every lesson and" if complete else "the lessons and"
    more = "" if complete else " Each line marked with – names what it is needed for."
    can = f"You can take {lessons} check your work.{more}"
    say(out_console, can if works else "You cannot take the lessons yet. See the list above.")
    if not paths.SOLUTIONS.is_dir():
        return 0 if works else 2
    print("\nTo grade a class, these parts count too:")
    can_grade = _print_parts(doctor.for_a_class())[0] and works
    print("This machine can grade a class." if can_grade else "This machine cannot grade a class. See the list above.")
    return 0 if can_grade else 2


def _print_parts(parts: Iterable[HealthCheck]) -> tuple[bool, bool]:
    works = complete = True
    for part in parts:
        works &= part.works or not part.needed
        complete &= part.works
        _print_part(f"{'✓' if part.works else '–'} {part.part:{PART_WIDTH}}", part.found)
        if not part.works:
            _print_part(f"{'→':>{PART_WIDTH + 5}}", part.fix)
    return works, complete


def _print_part(head: str, text: str) -> None:
    width = columns(out_console)
    lines = wrapped(shown(text), width and width - len(head) - 1)
    next_line = "\n" + " " * (len(head) + 1)
    print(f"{head} {next_line.join(lines)}", flush=True)
