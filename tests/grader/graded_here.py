"""Grade exploits and honest files in this process's environment: `python graded_here.py FILE …`.

Tests run it in a container that allows no namespaces. For each file it prints a line of JSON: the file's name, and how
its verdict differs from its promise, or null.
"""

import json
import sys
from pathlib import Path

from commanding import ROOT, nothing_left_running
from promises import promised, quickly

from grader.isolation.pool import Pool


def main(files: list[str]) -> None:
    """Grade each file in a tree of its own. All share one tree of trusted code."""
    with Pool(hidden=(ROOT,)) as pool, quickly():
        for tensors in (False, True):
            with pool.trusted(tensors=tensors):
                pass  # this starts the tree, which stays in the pool
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
