"""The files of the project: those in git, and new ones in its folders."""

import subprocess
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
FOLDERS: Final = (".ci", ".github", "grader", "harness", "lessons", "solutions", "tests")


def tracked(root: Path = ROOT) -> tuple[str, ...]:
    """Return the files in git, and new files at the top or in the project's folders, sorted by name.

    Files that git ignores are left out. New files in other folders, such as the reports of a class, are not part of the
    project. Raise `CalledProcessError` if the folder is not a git checkout.
    """
    new = ("--others", "--exclude-standard", "--", *FOLDERS, ":(glob)*")
    listings = [
        subprocess.run(["git", "ls-files", *options], cwd=root, capture_output=True, text=True, check=True).stdout
        for options in ((), new)
    ]
    names = {name for listing in listings for name in listing.splitlines()}
    return tuple(name for name in sorted(names) if (root / name).is_file())
