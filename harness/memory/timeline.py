"""A script's memory over time: `mprof run` looks at its process every few milliseconds, `mprof plot` draws that.

What is shorter than the time between two looks may be missed.
"""

import html
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness.memory.lines import MIB, run


@dataclass(frozen=True, slots=True)
class Timeline:
    """Looks at a process: (seconds since the first look, resident bytes); and mprof's own plot of them, an SVG.

    `functions` holds for each profiled function when it began and ended, in the same seconds.
    """

    looks: tuple[tuple[float, float], ...]
    functions: dict[str, tuple[float, float]]
    svg: str = ""

    @property
    def peak_bytes(self) -> float:
        """The most that was seen."""
        return max(bytes_ for _, bytes_ in self.looks)


def timeline(
    script: str, *, title: str, interval_s: float = 0.01, plotted: bool = True, timeout_s: float = 120.0
) -> Timeline:
    """Run a script under `mprof run`, and if it is to be `plotted`, have `mprof plot` draw it under this title.

    Functions decorated with `@profile` are marked in it. Raises `UsageError` when either program fails.
    """
    with tempfile.TemporaryDirectory(prefix="fairclock-mprof-") as folder:
        path, data, plot = (Path(folder) / name for name in ("script.py", "memory.dat", "memory.svg"))
        path.write_text(script, encoding="utf-8")
        mprof = [sys.executable, "-m", "mprof"]
        run([*mprof, "run", "--interval", str(interval_s), "--output", str(data), "--exit-code", str(path)], timeout_s)
        looks, functions = parse(data.read_text(encoding="utf-8"))
        if not plotted:
            return Timeline(looks, functions)
        run([*mprof, "plot", "--backend", "svg", "--title", title, "--output", str(plot), str(data)], timeout_s)
        most = max(bytes_ for _, bytes_ in looks) / MIB
        said = f"{len(looks)} looks over {looks[-1][0]:.2f} s, at most {most:.1f} MiB."
        return Timeline(looks, functions, described(plot.read_text(encoding="utf-8"), title, said))


def parse(data: str) -> tuple[tuple[tuple[float, float], ...], dict[str, tuple[float, float]]]:
    """Read mprof's file: looks in order of time, and each function's beginning and end. Pure."""
    lines = [line.split() for line in data.splitlines()]
    seen = sorted((float(line[2]), float(line[1])) for line in lines if line[:1] == ["MEM"])
    began_s = seen[0][0]
    looks = tuple((at_s - began_s, mib * MIB) for at_s, mib in seen)
    # FUNC name memory-at-its-beginning its-time memory-at-its-end its-time
    functions = {
        line[1].rpartition(".")[2]: (float(line[3]) - began_s, float(line[5]) - began_s)
        for line in lines
        if line[:1] == ["FUNC"]
    }
    return looks, functions


def described(svg: str, title: str, description: str) -> str:
    """Return an SVG with a title and a description for those who cannot see it."""
    words = f"<title>{html.escape(title)}</title>\n<desc>{html.escape(description)}</desc>"
    return re.sub(r"(<svg\b[^>]*>)", lambda match: f"{match[1]}\n{words}", svg, count=1)
