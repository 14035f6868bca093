"""A small project in a git repository of its own, on which a lesson runs `pytest --duel`."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Final

import harness
from harness.gate.machine_readable import from_json
from harness.gate.outcomes import GateRun

_GIT: Final = ("git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main")

_ALONE: Final = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
"""Settings without which pytest loads its other plug-ins. Then each of the processes starts five times as slowly."""


@dataclass(frozen=True, slots=True)
class PrintedRun:
    """A run of `pytest --duel`: its exit status, the table that it printed, and what its JSON file contains."""

    status: int
    table: str
    run: GateRun


def lacking_git() -> str:
    """Return what this machine lacks for `pytest --duel`, with how to get it, or ""."""
    return "" if which("git") else "needs git: install it with the package manager of your system"


def run_gate(committed: Mapping[str, str], changed: Mapping[str, str], *options: str) -> PrintedRun:
    """Commit files to a new project, change some, run `pytest --duel HEAD` with more options, and return its result."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, committed)
        for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "a first version")):
            subprocess.run([*_GIT, *arguments], cwd=folder, check=True, capture_output=True)
        _write(folder, changed)
        report = folder / "run.json"
        path = os.pathsep.join([str(Path(harness.__path__[0]).parent), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", "pytest", "-q", "-p", "harness.gate.plugin", "-p", "no:cacheprovider"]
        done = subprocess.run(
            [*command, "--duel", "HEAD", "--duel-json", str(report), *options],
            cwd=folder,
            env={**os.environ, **_ALONE, "PYTHONPATH": path.rstrip(os.pathsep)},
            capture_output=True,
            text=True,
            check=False,
        )
        if not report.exists():
            raise RuntimeError(f"pytest --duel wrote no report: {done.stdout}{done.stderr}")
        return PrintedRun(done.returncode, _table(done.stdout), from_json(report.read_text(encoding="utf-8")))


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def _table(printed: str) -> str:
    """Return the table of verdicts and the last line of a printed report."""
    lines = printed.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("verdict "))
    rows = [line for line in lines[first:] if "::" in line and "µs" in line]
    return "\n".join([lines[first], *rows, *(line for line in lines if line.startswith("The run is "))])
