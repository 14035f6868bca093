"""Install what BASE needs where its declared dependencies differ from those of this tree, and are not installed.

Only the missing packages are installed, in a folder that the workers of BASE search before the installed packages. So
both sides run with the same interpreter, the same pytest and the same plug-ins.
"""

import configparser
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from harness.errors import MachineError

_LONGEST_S: Final = 1800.0


def declared(root: Path) -> frozenset[str]:
    """Return the dependencies that the files in a project's folder declare.

    The files are pyproject.toml, setup.cfg, requirements.txt, and the METADATA of an unpacked wheel.
    """
    found = [*_from_toml(_text(root / "pyproject.toml")), *_from_cfg(_text(root / "setup.cfg"))]
    for file in (root / "requirements.txt", *root.glob("*.dist-info/METADATA")):
        mark = "Requires-Dist: " if file.name == "METADATA" else ""
        lines = (line for line in _text(file).splitlines() if line.startswith(mark))
        found += [line.removeprefix(mark) for line in lines]
    plain = (re.sub(r"\s+#.*", "", line).strip() for line in found)
    return frozenset(line for line in plain if line and not line.startswith(("#", "-", "git+", "http")))


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""


def _from_toml(text: str) -> Iterator[str]:
    try:
        project: dict[str, Any] = tomllib.loads(text).get("project", {})
    except tomllib.TOMLDecodeError:
        return
    yield from project.get("dependencies", [])


def _from_cfg(text: str) -> list[str]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return []
    return parser.get("options", "install_requires", fallback="").splitlines()


def missing(base: frozenset[str], here: frozenset[str]) -> list[str]:
    """Return the requirements of BASE that `here` does not declare, and that the installed packages do not meet."""
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415 - takes 10 ms

    found = []
    for line in sorted(base - here):
        try:
            needed = Requirement(line)
            if needed.marker is not None and not needed.marker.evaluate({"extra": ""}):
                continue
            version = metadata.version(needed.name)
        except (InvalidRequirement, metadata.PackageNotFoundError):
            found.append(line)
        else:
            if not needed.specifier.contains(version, prereleases=True):
                found.append(line)
    return found


def install(requirements: list[str], folder: Path, run: Callable[..., Any] = subprocess.run) -> None:
    """Install requirements, with all that they need, in `folder`. Raise `MachineError` if this fails."""
    command = [*_installer(), "--quiet", "--target", str(folder), *requirements]
    try:
        done = run(command, capture_output=True, text=True, timeout=_LONGEST_S, check=False)
    except subprocess.TimeoutExpired:
        done = subprocess.CompletedProcess(command, 1, "", f"no end after {_LONGEST_S:.0f} s")
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"exit status {done.returncode}"]
        reason = next((line for line in lines if line.lower().startswith("error")), lines[-1]).strip().rstrip(".")
        raise MachineError(
            f"BASE declares other dependencies ({', '.join(requirements)}), and installing them failed: {reason}. "
            "Install them yourself, and run it again, or compare with a revision that has the same dependencies."
        )


def _installer() -> list[str]:
    if next(iter(metadata.distributions(name="pip")), None):
        return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", sys.executable]
    raise MachineError("BASE declares other dependencies, but pip and uv are not installed. Run: python -m ensurepip")
