"""Task (a) of lesson 17: find the functions that hold memory at the peak, from the allocations that memray recorded.

The baseline, with which submissions are compared, computes the memory in use again for each event. If the blocks in use
are added up after each event, the ratio is 9 to 22. With a running sum and a search in a list, it is 41 to 52, and with
a running sum and a dict 82 to 120 (Python 3.11 and 3.13). The timed recordings are random. They are not those that the
answers are checked with.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import Task, Tier, ValueExam

from .blocks import draw_cases, draw_timed

AT_PEAK = Task(
    lesson="17_peaks_and_leaks",
    name="at_peak",
    summary="find the memory at the peak, 65 times as fast as the baseline",
    points=10.0,
    cost=Cost.TIME,
    tiers=(
        Tier(3.2, 0.7),
        Tier(65.0, 1.0),
    ),
    hints=(
        "How does the memory in use change with one event? Which events must your code read again for the next event?",
        (
            "Keep a dict of the blocks in use, with the address as the key, and one number for the sum of all blocks. "
            "Then one pass over the events finds the position of the peak."
        ),
        (
            "In a first pass, add the bytes of each alloc to the sum, and subtract the bytes of the block that a free "
            "removes: blocks.pop(address, None) returns None for an unknown address. Remember the position of the "
            "first largest sum. In a second pass up to this position, keep only the blocks in use. Then add them up by "
            "function."
        ),
    ),
    exam=ValueExam(draw_cases, draw_timed),
    folder=Path(__file__).parent,
    read="lesson 17, “Each allocation: memray”",
    idea=(
        "Each event changes the sum by one block, so the sum needs no second look at earlier events. The bytes of each "
        "function are needed only at the peak. So the solution first finds the peak, and then adds up the blocks once."
    ),
    references=(
        "memray.FileReader.get_high_watermark_allocation_records does the same for a whole recording. memray keeps "
        "such sums while it reads the file, so that it reads the file only once."
    ),
    least_gain=1.3,
)
