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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader import catalogue
from grader.errors import GraderFault, UsageError
from grader.files import explained
from grader.student_kit import release

HERE: Final = Path(__file__).parent
SCRIPTS: Final = ("setup.sh", "run_autograder")
SETTINGS: Final = "bundle.json"
KIT: Final = "fairclock"
EXECUTABLE: Final = 0o755


@dataclass(frozen=True, slots=True)
class Bundle:
    """A zip that was written for Gradescope: its path, lessons and points.

    `parts` is the number of solution parts that were searched for in the zip.
    """

    place: Path
    lessons: tuple[str, ...]
    points: float
    parts: int
    sandboxed: bool

    def lines(self) -> Iterator[str]:
        """Yield the lines that the command `release --gradescope` prints for the instructor."""
        yield f"Wrote {self.place}, an autograder for {', '.join(self.lessons)}: {self.points:g} points."
        yield f"The zip was searched for the {self.parts} parts of the reference solutions and contains none of them."
        if self.sandboxed:
            yield "If no sandbox works on Gradescope, this autograder does not grade."
            yield "An autograder that was made with --no-sandbox grades without a sandbox."
        else:
            yield "If no sandbox works on Gradescope, this autograder grades with NO SANDBOX."
            yield "Each report then has a warning."
        yield "Give the container at least 2 cores and 3 GB of memory (Settings → Container Specifications)."


def bundle(place: Path, lessons: Sequence[str], *, sandboxed: bool = True, force: bool = False) -> Bundle:
    """Write the autograder for `lessons` to the zip `place`.

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
        released = release.release(folder / KIT, notebooks=False)
        for name in SCRIPTS:
            shutil.copyfile(HERE / name, folder / name)
            (folder / name).chmod(EXECUTABLE)
        settings = {"lessons": chosen, "sandbox": "needed" if sandboxed else "where it works"}
        (folder / SETTINGS).write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
        if leaks := list(release.files_containing(release.all_parts(), folder)):
            raise GraderFault(
                f"No bundle was written, because {', '.join(map(str, leaks))} contains a part of a solution."
            )
        release.write_zip(folder, place, top=folder)
    points = sum(task.points for lesson in chosen for task in known.tasks(lesson))
    return Bundle(place, chosen, points, released.parts, sandboxed)
