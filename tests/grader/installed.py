"""The program `fairclock` as an installation would put it on PATH."""

import os
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]


def environment(folder: Path) -> dict[str, str]:
    """Return an environment with the program on PATH and with `folder` as its home."""
    module, _, function = SCRIPTS["fairclock"].partition(":")
    program = folder / "bin" / "fairclock"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        f"from {module} import {function}\nsys.exit({function}())\n"
    )
    program.chmod(0o755)
    return {
        **os.environ,
        "HOME": str(folder),
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "FAIRCLOCK_STATE": str(folder / "state"),
    }
