"""Source texts of submissions for the simulated scenarios of lessons 02 and 03, each with one mistake."""

WARM = "    for _ in range(5):\n        fn()\n"


def fixed_blocks(calls: int, blocks: int, keep: str = "min(times)", *, warm: bool = True) -> str:
    """Return a `time_per_call` that times `blocks` blocks of `calls` calls. `keep` computes the answer from `times`."""
    return f"""
import statistics
def time_per_call(fn, clock):
{WARM if warm else ""}    times = []
    for _ in range({blocks}):
        start = clock()
        for _ in range({calls}):
            fn()
        times.append((clock() - start) / {calls})
    return {keep}
"""


TWO_BLOCKS_APART = """
def time_per_call(fn, clock):
    for _ in range(5):
        fn()
    return (block(fn, clock, 13) - block(fn, clock, 6)) / 7

def block(fn, clock, calls):
    start = clock()
    for _ in range(calls):
        fn()
    return clock() - start
"""


def launches(calls: int, blocks: int, keep: str, inside: str = "", after: str = "synchronize()") -> str:
    """Return a `time_async` that times blocks of launches. `keep` computes the answer from `times`."""
    return f"""
def time_async(launch, synchronize, clock):
    launch()
    synchronize()
    times = []
    for _ in range({blocks}):
        start = clock()
        for _ in range({calls}):
            launch()
            {inside or "pass"}
        {after}
        times.append((clock() - start) / {calls})
        synchronize()
    return {keep}
"""
