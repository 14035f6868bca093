"""Memory of a process: the peak of a call, a line table, and a curve over time.

from harness.memory import peak_of

peak_of(lambda: torch.rand(5000, 5000).sum())     # what was resident before it, at its peak, and after it
line_table(script)                                # `python -m memory_profiler` on a script, row by row
timeline(script)                                  # `mprof run` and `mprof plot`
"""

from harness.memory.lines import Line, line_table
from harness.memory.resident import Held, looks_during, page_faults, peak_of, resident_bytes
from harness.memory.timeline import Timeline, timeline

__all__ = [
    "Held",
    "Line",
    "Timeline",
    "line_table",
    "looks_during",
    "page_faults",
    "peak_of",
    "resident_bytes",
    "timeline",
]
