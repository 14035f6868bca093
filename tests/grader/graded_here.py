"""Grade exploits and honest files where this runs, and print what became of each: `python graded_here.py FILE …`.

Tests run it in a container that allows no namespaces. Each file gets a line of JSON: its name, and how its verdict
breaks its promise, or null.
"""

import json
import sys
from pathlib import Path

from commanding import ROOT, nothing_left_running
from promises import promised, quickly

from grader.isolation.pool import Pool


def main(files: list[str]) -> None:
    """Grade each file alone, beside one tree of trusted code."""
    with Pool(hidden=(ROOT,)) as pool, quickly():
        for tensors in (False, True):
            with pool.trusted(tensors=tensors):
                pass  # it is started, and stays
        for name in files:
            file = promised(Path(name))
            try:
                with nothing_left_running():
                    broken = file.broken(pool)
            except AssertionError as left:
                broken = f"it left something running: {left}"
            except Exception as error:  # noqa: BLE001 - a fault of the grader's fails this file alone
                broken = repr(error)
            print(json.dumps([file.path.name, broken]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
