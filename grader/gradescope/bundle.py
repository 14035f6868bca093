"""Write fairclock as one zip that an instructor uploads to Gradescope as an autograder.

    setup.sh  run_autograder     the scripts that Gradescope runs, once and for each submission
    bundle.json                  the lessons to grade, and whether grading without a sandbox is allowed
    fairclock/                   the files that students get, without solutions

To ensure that the zip has no solutions, every part of every solution is searched for in all of its files. Grading does
not need them: submissions are compared with simple baselines. The zip has no random seed either, because each grading
draws its own.
"""

import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from grader import catalogue
from grader.errors import UsageError
from grader.files import explained
from grader.student_kit import release

HERE: Final = Path(__file__).parent
SCRIPTS: Final = ("setup.sh", "run_autograder")
EXECUTABLE: Final = 0o755


def bundle(place: Path, lessons: Sequence[str], *, sandboxed: bool = True, force: bool = False) -> tuple[str, ...]:
    """Write the autograder for `lessons` to the zip `place`. Return the lines that the command prints.

    Raise `UsageError` if something exists at `place`, if it is not a .zip, or if the solutions are missing. The
    students' files are made from the solutions. Raise `GraderFault`, and leave no file, if the zip would contain a part
    of a solution.
    """
    if place.suffix != ".zip":
        raise UsageError(f"{place} is not a zip; give a name such as autograder.zip.")
    release.refuse_existing(place, force=force)
    known = catalogue.load()
    chosen = tuple(known.named(lesson) for lesson in lessons) or known.lessons
    with explained(place), tempfile.TemporaryDirectory(dir=release.parent_of(place), prefix=".bundle-") as scratch:
        folder = Path(scratch) / "bundle"
        folder.mkdir()
        release.release(folder / "fairclock", notebooks=False)
        for name in SCRIPTS:
            shutil.copyfile(HERE / name, folder / name)
            (folder / name).chmod(EXECUTABLE)
        settings = {"lessons": chosen, "sandbox": "needed" if sandboxed else "where it works"}
        (folder / "bundle.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
        searched = release.search_line("zip", folder)
        release.write_zip(folder, ".", place)
    points = sum(task.points for lesson in chosen for task in known.tasks(lesson))
    if sandboxed:
        told = ("does not grade.", "An autograder that was made with --no-sandbox grades without a sandbox.")
    else:
        told = ("grades with NO SANDBOX.", "Each report then has a warning.")
    return (
        f"Wrote {place}, an autograder for {', '.join(chosen)}: {points:g} points.",
        searched,
        f"If no sandbox works on Gradescope, this autograder {told[0]}",
        told[1],
        "Give the container at least 2 cores and 3 GB of memory (Settings → Container Specifications).",
    )
