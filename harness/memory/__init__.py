"""Measure the memory of a process: the peak of a call, the memory after each line, and the memory over time.

peak_of(lambda: torch.rand(5000, 5000).sum())     # resident memory before the call, at its peak, and after it
line_table(script)                                # the rows that `python -m memory_profiler` prints for a script
timeline(script)                                  # the results of `mprof run` and `mprof plot` for a script
"""

from harness.memory.lines import Line, line_table
from harness.memory.resident import MemoryUse, memory_samples, page_faults, peak_of, resident_bytes
from harness.memory.timeline import Timeline, timeline

__all__ = [
    "Line",
    "MemoryUse",
    "Timeline",
    "line_table",
    "memory_samples",
    "page_faults",
    "peak_of",
    "resident_bytes",
    "timeline",
]
