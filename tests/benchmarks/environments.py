"""Virtual environments in which the tools that are compared run."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

GATE: Final = "fairclock-duel"
_BUILD: Final = Path(__file__).resolve().parents[2] / ".ci" / "duel-wheel"


def environment(folder: Path, *packages: str) -> str:
    """Return the Python of the virtual environment in this folder, which is made with these packages if it is missing.

    `GATE` stands for the small distribution of `pytest --duel`, built from this tree.
    """
    python = folder.resolve() / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        with TemporaryDirectory() as wheels:
            if GATE in packages:
                subprocess.run([sys.executable, str(_BUILD), wheels], check=True)
            named = [*(name for name in packages if name != GATE), *map(str, Path(wheels).iterdir())]
            subprocess.run([str(python), "-m", "pip", "install", "-q", *named], check=True)
    return str(python)
