"""The commands of the cells in an exercise's notebook: `%check TASK`, `%hint TASK` and `%submit`.

They are magics of IPython, because grading skips magics. No command raises an exception, so "Run All Cells" goes on.
"""

import ast
import io
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import chdir
from dataclasses import astuple, dataclass
from functools import cache, partial
from html import escape
from pathlib import Path
from textwrap import dedent
from typing import Final
from urllib.parse import quote
from warnings import catch_warnings

from IPython.core.getipython import get_ipython
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from IPython.display import display
from rich.console import Console

from grader import catalogue, paths
from grader.desk import check as checking
from grader.desk import check_screen, exercise_files, student_state
from grader.desk import submit as packing
from grader.desk.check_screen import ScreenLine
from grader.desk.exercise_files import ExerciseFile, settle
from grader.errors import FairclockError, UsageError
from grader.hand_ins.ipython_cells import CellTransformer, TooManyMagicsError
from grader.trials.faults import NOT_WRITTEN
from harness import syntax
from harness.rendering.tables import Table
from harness.storage.notebook_files import code_texts

ZIP: Final = "submission.zip"
UNSAVED: Final = (
    "{} is not saved since your last change, so your last change does not count here. Save it (Ctrl+S), and run this "
    "cell again."
)


@cache
def load() -> None:
    """Add the commands to the kernel in which this function is called, and begin to note which cells it runs."""
    if shell := get_ipython():
        before = shell.user_ns.get("In", ())
        commands = NotebookCommands(shell, {text.strip(): time.time() for text in before})
        shell.events.register("post_run_cell", commands.note_cell)
        for command in (commands.check, commands.hint, commands.submit):
            run = partial(_without_traceback, command, Path.cwd())
            shell.register_magic_function(run, magic_name=command.__name__)  # type: ignore[call-arg, arg-type]  # wrong in traitlets


def _without_traceback(command: Callable[[list[str]], None], folder: Path, line: str) -> None:
    """Run a command with the words of its line, and show each error as one sentence.

    The command runs in the folder in which the kernel was started, and without warnings, whatever the cells have set.
    """
    try:
        with chdir(folder if folder.is_dir() else Path.cwd()), catch_warnings(action="ignore"):
            command(shlex.split(line, comments=True))
    except (FairclockError, OSError) as error:
        _show(str(error))
    except KeyboardInterrupt as error:
        vars(error)["_render_traceback_"] = lambda: ["Stopped."]  # IPython shows it, and "Run All Cells" stops
        raise
    except Exception as error:  # noqa: BLE001 - every other exception is an internal error
        _show(f"Internal error: {error!r}. To see its details, run fairclock {command.__name__} --debug.")


@dataclass(frozen=True, slots=True)
class NotebookCommands:
    """The commands of one kernel. `ran` has the time of the last run of each cell, by the cell's text."""

    shell: InteractiveShell
    ran: dict[str, float]

    def note_cell(self, result: ExecutionResult) -> None:
        """Keep the text of a cell that was run, and the time."""
        if result.info and result.info.store_history:
            self.ran[str(result.info.raw_cell).strip()] = time.time()

    def check(self, words: list[str]) -> None:
        """Grade a task, or all tasks, of the saved notebook. The words are the task, a file and `--verbose`."""
        verbose = "--verbose" in words
        names = [word for word in words if word != "--verbose"]
        lesson, only = catalogue.load().target(names[0]) if names else ("", None)
        file = self._notebook([lesson] if lesson else catalogue.load().lessons, names[1:])
        tasks = catalogue.load().tasks(file.lesson)
        only = None if len(tasks) == 1 else only
        self._warn_if_unsaved(file.path)
        _show(*_texts(_graded(file, only, verbose=verbose)))

    def hint(self, words: list[str]) -> None:
        """Show the next hint of a task, folded, below those that were read before."""
        lesson, only = catalogue.load().target(words[0]) if words else ("", None)
        tasks = [task for task in catalogue.load().tasks(lesson) if only in {None, task.name}] if lesson else []
        if len(tasks) != 1:
            raise UsageError("Name the task for which you want a hint: %hint TASK")
        new = list(student_state.next_hint(tasks[0]))
        heads = (line.partition(": ") for line in student_state.hints_again(tasks[0]))
        folded = (f"<details><summary>{escape(head)}</summary>{escape(text)}</details>" for head, _, text in heads)
        _show("\n".join(new), "".join(folded))

    def submit(self, words: list[str]) -> None:
        """Write the zip to hand in beside the notebook, and show a link to it. The words are files to choose."""
        file = self._notebook(catalogue.load().lessons, words[:1])
        self._warn_if_unsaved(file.path)
        take = [*map(Path, words)] or ([file.path] if file.changed else [])
        written = io.StringIO()
        screen = Console(file=written, force_jupyter=False)
        choices = settle(packing.select((), take), "%submit", screen)
        packing.submit(choices, file.path.with_name(ZIP), screen, force=False, graded=False)
        text = written.getvalue().strip()
        _show(text, f'<pre>{escape(text)}</pre><a href="{quote(ZIP)}" download>Download {ZIP}</a>')

    def _warn_if_unsaved(self, notebook: Path) -> None:
        saved, at = code_texts(notebook.read_bytes()), notebook.stat().st_mtime
        if any(when > at and text not in saved and self._defines(text) for text, when in self.ran.items()):
            _show(UNSAVED.format(notebook.name))

    def _defines(self, text: str) -> bool:
        try:
            body = syntax.parse(CellTransformer().python(text)).body
        except (SyntaxError, ValueError, TooManyMagicsError):
            return False
        return any(not isinstance(node, ast.Expr) for node in body)

    def _notebook(self, lessons: Sequence[str], named: Sequence[str]) -> ExerciseFile:
        """Return the saved file of the notebook whose cells this kernel runs.

        This is the file with most of the cells that ran. Of several, it is the file for which the kernel was started,
        or the one in the current folder. Raise `UsageError` if there is no such file, or if it is unclear which it is.
        """
        if named:
            return exercise_files.read_named(Path(named[0]))[0]
        searches = [exercise_files.find_files(lessons)]
        started, name = self._started_for(lessons), self._start_path
        if not name.exists():  # the notebook was moved, perhaps to a folder beside its own
            searches.append(exercise_files.find_files(lessons, [name.parent.parent]))
        found = [file for search in searches for files in search.values() for file in files]
        by_path = {file.path.resolve(): file for file in (*found, *started) if file.path.suffix == ".ipynb"}
        kept = {path: len(self.ran.keys() & code_texts(path.read_bytes())) for path in by_path}
        best = [by_path[path] for path, number in kept.items() if number == max(kept.values())]
        first, here = {file.path.resolve() for file in started}, Path.cwd().resolve()
        best = [file for file in best if file.path.resolve() in first] or best
        best = [file for file in best if file.path.resolve().parent == here] or best
        if len({file.code for file in best}) == 1:
            return best[0]
        if best:
            more = f" and {len(best) - 3} more" if len(best) > 3 else ""
            names = ", ".join(str(file.path) for file in best[:3]) + more
            raise UsageError(f"Several notebooks may be this one: {names}. Add the right name to %check or %submit.")
        raise UsageError(
            f"No notebook of this exercise was found in {Path.cwd()} and in the kit. Save this notebook there, or add "
            "the path of its file to %check or %submit."
        )

    @property
    def _start_path(self) -> Path:
        """The path of the notebook when VS Code or Jupyter started this kernel. It stays if the notebook is renamed."""
        return Path(str(self.shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME", "")))

    def _started_for(self, lessons: Sequence[str]) -> list[ExerciseFile]:
        path = self._start_path
        if path.suffix != ".ipynb" or not path.is_file():
            return []
        try:
            lesson = exercise_files.require_lesson(path)
        except UsageError:
            lesson = lessons[0] if len(lessons) == 1 else ""
        return [exercise_files.read_file(path, lesson)] if lesson in lessons else []


def _graded(file: ExerciseFile, only: str | None, *, verbose: bool) -> list[ScreenLine]:
    command = [sys.executable, "-P", "-m", __name__, file.lesson, str(file.path), only or "", str(int(verbose))]
    found = os.pathsep.join(filter(None, [str(paths.GRADER.parent), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(command, capture_output=True, check=False, env={**os.environ, "PYTHONPATH": found})
    if done.returncode:
        raise UsageError(done.stderr.decode(errors="replace").strip().rpartition("\n")[2])
    return [ScreenLine(*line) for line in json.loads(done.stdout)]


def main(lesson: str, path: Path, only: str | None, *, verbose: bool) -> None:
    """Grade a file, and print the lines of the screen as JSON. A task that is not written yet gets one line."""
    with checking.own_pool() as pool:
        report = checking.check(lesson, path, pool, only)
    lines = check_screen.screen(report, {}, verbose=verbose)
    if all(verdict.attempt.help == NOT_WRITTEN for verdict in report.verdicts):
        lines = [line for line in lines if line.indent < check_screen.INDENT]
    print(json.dumps([astuple(line) for line in lines]))


def _texts(lines: Sequence[ScreenLine]) -> tuple[str, str]:
    rows = list[list[str]]()
    for line in lines:
        if line.indent == check_screen.INDENT:
            rows[-1][2] = f"{rows[-1][2]}\n{line.text}".strip()
        else:
            points, gap, rest = line.text.partition("  ")
            rows.append([points, rest, ""] if gap else ["", "", line.text])
    text = dedent("\n".join(" " * line.indent + line.text for line in lines))
    return text, Table("", ["points", "task", "details"], rows, ()).to_html()


def _show(text: str, html: str = "") -> None:
    data = {"text/plain": text, "text/html": html or f"<p>{escape(text)}</p>"}
    display(data, raw=True)  # type: ignore[no-untyped-call]  # IPython's functions have no types


if __name__ == "__main__":
    try:
        main(sys.argv[1], Path(sys.argv[2]), sys.argv[3] or None, verbose=sys.argv[4] == "1")
    except FairclockError as error:
        sys.exit(str(error))
