"""Small projects in real git repositories."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *IDENTITY, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def commit(folder: Path, files: Mapping[str, str]) -> str:
    """Write files, commit all that is not ignored, and return the full name of the commit."""
    if not (folder / ".git").exists():
        folder.mkdir(parents=True, exist_ok=True)
        git(folder, "init", "-q")
    write(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "a version")
    return git(folder, "rev-parse", "HEAD")


def write_wheel(folder: Path, name: str, files: Mapping[str, str], requires: str = "") -> Path:
    """Write version 1 of a wheel with these files, and return its path."""
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n" + (
        f"Requires-Dist: {requires}\n" if requires else ""
    )
    inside = {
        "METADATA": metadata,
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    path = folder / f"{name}-1-py3-none-any.whl"
    folder.mkdir(parents=True, exist_ok=True)
    with ZipFile(path, "w") as archive:
        for file, text in {**files, **{f"{name}-1.dist-info/{key}": value for key, value in inside.items()}}.items():
            archive.writestr(file, text)
    return path
