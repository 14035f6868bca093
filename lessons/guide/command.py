"""The command `python -m lessons guide OUT`, which writes the teacher's pack into a folder."""

from collections.abc import Callable
from pathlib import Path

from harness.errors import UsageError
from harness.storage.overwriting import refuse_edited
from lessons.engine.catalogue import lesson_names
from lessons.guide import contents, pages, results
from lessons.guide.rendering import written

RESULTS = "results"
"""The folder in the pack for the results of `--run`."""


def write(
    out: Path, *, results_folder: Path | None, run: bool, seed: int, force: bool, report: Callable[[str], None]
) -> tuple[int, list[str]]:
    """Write the pack to the folder `out`. Return the number of files, and the lessons whose run failed.

    With `run`, run all lessons first, and show their results. Otherwise show the results in `results_folder`, or the
    recorded results of this kit. `seed` draws the questions of the midterm. Without `force`, raise `UsageError` if the
    folder contains a pack already. `report` is called with what happens now.
    """
    refuse_edited(out / "index.html", force=force)
    if run and results_folder is not None:
        raise UsageError("--run makes new results, and --results names old ones. Use one of the two options.")
    try:
        out.mkdir(parents=True, exist_ok=True)
        failed = results.run_all(lesson_names(), out / RESULTS, lambda name: report(f"lesson {name}")) if run else []
        report("the pack")
        chosen = out / RESULTS if run else results_folder
        found = results.load(chosen) if chosen else results.recorded()
        files = dict(pages.files_of(contents.load_all(found), seed=seed))
        written(files, out)
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be written ({error.strerror}). Name another folder.") from error
    return len(files), failed
