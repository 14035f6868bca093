"""Watch live Python programs with sampling profilers.

with live(script) as program:           # `python script.py` as a process of its own
    print(dump(program.pid))            # py-spy dump
    samples = record(program.pid, 1.0)  # py-spy record
samples.share("load")                   # the share of the samples whose stack contains the function `load`
"""

from harness.sampling import standard
from harness.sampling.difference import before_after, by_function, difference_svg, scaled
from harness.sampling.live import LiveProgram, end_all, live
from harness.sampling.pyspy import Samples, StackSample, dump, lacking, record
