"""Read the numbers that `python -m timeit -v` prints."""

import re

from harness.errors import UsageError

_SECONDS = {"sec": 1.0, "msec": 1e-3, "usec": 1e-6, "nsec": 1e-9}
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # from Python 3.15 on, timeit prints such codes if `FORCE_COLOR` is set
_TIME = r"([\d.e+-]+) (sec|msec|usec|nsec)"


def read(printed: str) -> tuple[int, float, list[float]]:
    """Return three results: the loops per run, the seconds per loop in the last line, and the seconds of each run.

    Raise `UsageError` if the text is not the output of `timeit -v`.
    """
    printed = _COLOUR.sub("", printed)
    raw_line = next((line for line in printed.splitlines() if line.startswith("raw times:")), None)
    last = re.search(rf"(\d+) loops?, best of \d+: {_TIME} per loop", printed)
    if raw_line is None or last is None:
        raise UsageError("This is not the output of python -m timeit -v.")
    raw_s = [float(value) * _SECONDS[unit] for value, unit in re.findall(_TIME, raw_line)]
    return int(last[1]), float(last[2]) * _SECONDS[last[3]], raw_s
