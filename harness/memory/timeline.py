"""Measure the memory of a script over time with `mprof run`, and plot the samples with `mprof plot`.

`mprof run` takes a sample every 0.1 s, or at the interval of its option `--interval`. It may miss a peak between two
samples.
"""

import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness.memory.lines import MIB, run
from harness.rendering import svg as drawing


@dataclass(frozen=True, slots=True)
class Timeline:
    """The memory of a process over time: samples (seconds, resident bytes), and an SVG plot of the samples by mprof.

    Seconds are counted from the first sample. `functions` holds the start and the end of each profiled function in
    seconds.
    """

    samples: tuple[tuple[float, float], ...]
    functions: dict[str, tuple[float, float]]
    svg: str = ""

    @property
    def peak_bytes(self) -> float:
        """The largest memory of all samples, in bytes."""
        return max(bytes_ for _, bytes_ in self.samples)


def timeline(
    script: str, *, title: str, interval_s: float = 0.01, plotted: bool = True, timeout_s: float = 120.0
) -> Timeline:
    """Run a script under `mprof run`, and return the samples of its memory.

    With `plotted`, the result has a plot with this title, in which functions with the decorator `@profile` are marked.
    Raise `UsageError` if `mprof` fails.
    """
    with tempfile.TemporaryDirectory(prefix="fairclock-mprof-") as folder:
        path, data, plot = (Path(folder) / name for name in ("script.py", "memory.dat", "memory.svg"))
        path.write_text(script, encoding="utf-8")
        mprof = [sys.executable, "-m", "mprof"]
        run([*mprof, "run", "--interval", str(interval_s), "--output", str(data), "--exit-code", str(path)], timeout_s)
        samples, functions = parse(data.read_text(encoding="utf-8"))
        if not plotted:
            return Timeline(samples, functions)
        run([*mprof, "plot", "--backend", "svg", "--title", title, "--output", str(plot), str(data)], timeout_s)
        most = max(bytes_ for _, bytes_ in samples) / MIB
        facts = f"{len(samples)} samples over {samples[-1][0]:.2f} s, at most {most:.1f} MiB."
        return Timeline(samples, functions, described(plot.read_text(encoding="utf-8"), title, facts))


def parse(data: str) -> tuple[tuple[tuple[float, float], ...], dict[str, tuple[float, float]]]:
    """Return the samples in a file of mprof, in order of time, and the start and end of each profiled function."""
    lines = [line.split() for line in data.splitlines()]
    seen = sorted((float(line[2]), float(line[1])) for line in lines if line[:1] == ["MEM"])
    began_s = seen[0][0]
    samples = tuple((at_s - began_s, mib * MIB) for at_s, mib in seen)
    # A line is: FUNC name memory-at-start start memory-at-end end
    functions = {
        line[1].rpartition(".")[2]: (float(line[3]) - began_s, float(line[5]) - began_s)
        for line in lines
        if line[:1] == ["FUNC"]
    }
    return samples, functions


def described(svg: str, title: str, description: str) -> str:
    """Return the SVG document `svg` with a title and a description for screen readers."""
    words = drawing.title_and_description(title, description)
    return re.sub(r"<svg\b[^>]*>", lambda match: f"{match[0]}\n{words}", svg, count=1)
