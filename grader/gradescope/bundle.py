"""`release --gradescope`: the kit as an autograder to upload to Gradescope, one zip.

    setup.sh  run_autograder     what Gradescope runs, once and for each submission
    bundle.json                  the lessons it grades, and whether it may do so without a sandbox
    fairclock/                   the student kit

Tiers are ratios to the exercises' own baselines, so no reference solution is needed, and as in the student kit none is
in it: everything that was written is searched for every part of every solution. It holds no seed either: each grading
draws its own, in memory.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader import catalogue, release
from grader.errors import GraderFault, UsageError
from grader.files import explained

HERE: Final = Path(__file__).parent
SCRIPTS: Final = ("setup.sh", "run_autograder")
SETTINGS: Final = "bundle.json"
KIT: Final = "fairclock"
EXECUTABLE: Final = 0o755


@dataclass(frozen=True, slots=True)
class Bundle:
    """What was written, and what it was searched for in vain."""

    place: Path
    lessons: tuple[str, ...]
    points: float
    parts: int
    sandboxed: bool

    def lines(self) -> Iterator[str]:
        """What to tell the instructor."""
        yield f"Wrote {self.place}, an autograder for {', '.join(self.lessons)}: {self.points:g} points."
        yield f"Searched all of it for the {self.parts} parts of the reference solutions: none is in it."
        if self.sandboxed:
            yield "It refuses to grade where no sandbox works; with --no-sandbox it would, and say so."
        else:
            yield "It grades with NO SANDBOX where none works, and says so on each report."
        yield "Give its container 2 cores and 3 GB of memory or more (Settings → Container Specifications)."


def bundle(place: Path, lessons: Sequence[str], *, sandboxed: bool = True, force: bool = False) -> Bundle:
    """Write the autograder for `lessons` to the zip `place`.

    Raises `UsageError` when something is there already, it is no .zip, or this kit has no solutions to make stubs of;
    `GraderFault` when a part of a solution was found in it, and nothing is left there then.
    """
    if place.suffix != ".zip":
        raise UsageError(f"{place} is no zip; name one, such as autograder.zip.")
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
        if leaks := list(release.found(release.all_parts(), folder)):
            raise GraderFault(f"No bundle was written: a part of a solution is in {', '.join(map(str, leaks))}.")
        release.write_zip(folder, place, top=folder)
    points = sum(task.points for lesson in chosen for task in known.tasks(lesson))
    return Bundle(place, chosen, points, released.parts, sandboxed)
