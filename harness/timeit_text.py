"""What `python -m timeit -v` prints, as numbers."""

import re

from harness.errors import UsageError

_SECONDS = {"sec": 1.0, "msec": 1e-3, "usec": 1e-6, "nsec": 1e-9}
_TIME = r"([\d.e+-]+) (sec|msec|usec|nsec)"


def read(printed: str) -> tuple[int, float, list[float]]:
    """Return the loops a run, the seconds a loop of its last line, and the seconds of every run.

    Raises `UsageError` for a text that timeit has not printed, or not with `-v`.
    """
    raw_line = next((line for line in printed.splitlines() if line.startswith("raw times:")), None)
    last = re.search(rf"(\d+) loops?, best of \d+: {_TIME} per loop", printed)
    if raw_line is None or last is None:
        raise UsageError("This is not what python -m timeit -v prints.")
    raw_s = [float(value) * _SECONDS[unit] for value, unit in re.findall(_TIME, raw_line)]
    return int(last[1]), float(last[2]) * _SECONDS[last[3]], raw_s
