"""Measure the resident memory of a script with memory_profiler: after each line, or over time.

The first misses memory that a line allocates and frees again, the second a peak between two samples.
"""

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.charts import svg as drawing
from harness.errors import UsageError
from harness.profiles.stats import run_module, run_script

MIB: Final = 1 << 20

_FIGURES: Final = r" +(?P<usage>-?[\d.]+) MiB +(?P<increment>-?[\d.]+) MiB +(?P<times>\d+)   "
_ROW: Final = re.compile(rf"^ *(?P<line>\d+)(?:{_FIGURES}| {{41}}| *$)(?P<text>.*)$")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a profiled function, and how often it ran.

    `resident_bytes` is the resident memory of the process after the line, `more_bytes` the increase by the line. They
    are None if the line never ran.
    """

    number: int
    text: str
    resident_bytes: float | None = None
    more_bytes: float | None = None
    times: int = 0


@dataclass(frozen=True, slots=True)
class Timeline:
    """The memory of a process over time: samples (seconds, resident bytes), and an SVG plot of the samples by mprof.

    `functions` holds the start and the end of each profiled function, in seconds from the first sample.
    """

    samples: tuple[tuple[float, float], ...]
    functions: dict[str, tuple[float, float]]
    svg: str = ""

    @property
    def peak_bytes(self) -> float:
        """The largest memory of all samples, in bytes."""
        return max(bytes_ for _, bytes_ in self.samples)


def line_table(script: str) -> tuple[Line, ...]:
    """Run a script under memory_profiler, and return the lines of its functions with the decorator `@profile`.

    Raise `UsageError` if the script fails, takes too long, or calls no such function.
    """
    found = parse_table(run_script(script, "memory_profiler").printed)
    if not found:
        raise UsageError("The script has no profiled function: decorate a function with @profile, and call it.")
    return found


def parse_table(printed: str) -> tuple[Line, ...]:
    """Return the lines of the functions in a table that memory_profiler printed."""
    found = []
    for row in filter(None, map(_ROW.match, printed.splitlines())):
        resident, more = (float(row[name]) * MIB if row[name] else None for name in ("usage", "increment"))
        found.append(Line(int(row["line"]), row["text"].rstrip(), resident, more, int(row["times"] or 0)))
    return tuple(found)


def timeline(script: str, *, title: str, plotted: bool = True) -> Timeline:
    """Run a script under `mprof run`, and return the samples of its memory, one every 10 ms.

    With `plotted`, the result has a plot with this title, in which functions with the decorator `@profile` are marked.
    Raise `UsageError` if `mprof` fails.
    """
    with tempfile.TemporaryDirectory(prefix="fairclock-mprof-") as folder:
        path, data, plot = (str(Path(folder, name)) for name in ("script.py", "memory.dat", "memory.svg"))
        Path(path).write_text(script, encoding="utf-8")
        run_module("mprof", "run", "--interval", "0.01", "--output", data, "--exit-code", path)
        samples, functions = parse_samples(Path(data).read_text(encoding="utf-8"))
        if not plotted:
            return Timeline(samples, functions)
        run_module("mprof", "plot", "--backend", "svg", "--title", title, "--output", plot, data)
        most = max(bytes_ for _, bytes_ in samples) / MIB
        facts = f"{len(samples)} samples over {samples[-1][0]:.2f} s, at most {most:.1f} MiB."
        words, svg = drawing.title_and_description(title, facts), Path(plot).read_text(encoding="utf-8")
        svg = re.sub(r"<svg\b[^>]*>", lambda match: f"{match[0]}\n{words}", svg, count=1)
        return Timeline(samples, functions, svg)


def parse_samples(data: str) -> tuple[tuple[tuple[float, float], ...], dict[str, tuple[float, float]]]:
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
