"""Measure the memory of a process: the peak of a call, the memory after each line, and the memory over time.

peak_of(lambda: torch.rand(5000, 5000).sum())     # resident memory before the call, at its peak, and after it
line_table(script)                                # the rows that `python -m memory_profiler` prints for a script
timeline(script)                                  # the results of `mprof run` and `mprof plot` for a script
record_allocations(call)                          # each allocation of a call, recorded by memray
live_stages(script, ["load"])                     # the memory of a running script, from memray's live tracking

`harness.memory.tensors` records the memory of torch's tensors, and `harness.memory.cuda_record` that of a GPU.
"""

from harness.memory.allocations import Allocated, Recording, lacking_memray, of_function, record_allocations
from harness.memory.lines import Line, Timeline, line_table, timeline
from harness.memory.live import LiveStage, live_stages
from harness.memory.resident import MemoryUse, memory_samples, page_faults, peak_of, resident_bytes, traced_peak
