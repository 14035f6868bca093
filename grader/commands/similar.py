"""The command `similar`, which compares the code of a class."""

from pathlib import Path
from typing import Annotated

import typer

from grader.class_run import journal
from grader.class_run.graded_on import ALL, meant
from grader.commands.options import Debug, Lessons
from grader.files import rights, write_atomically
from grader.similarity import page, sources
from grader.similarity.exporting import export
from grader.similarity.pairs import Code, compare
from harness.rendering import units
from harness.rendering.texts import shown


def similar(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder that `run` wrote.")],
    earlier: Annotated[
        list[Path] | None,
        typer.Option(metavar="OUT2", help="An earlier term: its OUT, or a folder of its hand-ins. Can be repeated."),
    ] = None,
    lessons: Lessons = None,
    exported: Annotated[
        tuple[str, Path] | None,
        typer.Option(
            "--export", metavar="PROGRAM DIR", help="Write the input of `dolos` or `jplag` to DIR, instead of a page."
        ),
    ] = None,
    debug: Debug = False,
) -> int:
    """Show which hand-ins of a lesson are similar, and how unusual that is in this class. Nothing is graded."""
    with journal.read(out) as book:
        files, title = sources.of_class(book), book.course().title or Path(book.folder).name
        given = [one.chosen.hand_in for one in book.student_lessons() if one.chosen]
        counting = {(one.student, one.lesson, one.content) for one in given}
    codes = list(sources.codes(files, counting))
    for number, place in enumerate(earlier or (), start=1):
        codes += sources.codes(sources.of_earlier(place), term=f"earlier term {number}")
    known = sorted({code.lesson for code in codes if not code.term})
    chosen = {*(meant(lessons, known) or [ALL])}
    by_lesson: dict[str, list[Code]] = {lesson: [] for lesson in known if {lesson, ALL} & chosen}
    for code in codes:
        by_lesson.get(code.lesson, []).append(code)
    if exported:
        print(shown("\n".join(["Written. These commands compare the code:", *export(*exported, by_lesson)])))
        return 0
    found = [compare(lesson, of, sources.stub_of(lesson)) for lesson, of in by_lesson.items()]
    missing = sum(one.text is None for one in files)
    remarks = [f"The code of {units.some(missing, 'hand-in')} is not known, because it was not graded."] * bool(missing)
    write_atomically(out / page.PAGE, page.render(title, found, remarks).encode(), mode=rights(out), durable=False)
    print(shown("\n".join([*page.lines(found), *remarks, f"Wrote {out / page.PAGE}."])))
    return 0
