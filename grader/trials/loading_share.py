"""Name the share of a submission's count that was executed while its file was loaded, before the first call.

Classes, decorators and tables at the top of a file are part of the count (`counted.py` explains why). They can cost a
submission a tier, and nothing in the function shows it.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from grader.errors import WorkerFault
from grader.session import Session
from grader.task import Task
from grader.trials.counted_process import NOTHING, SUBMISSION, count
from harness.rendering.units import percent

LEAST_SHARE: Final = 0.1
"""The smallest share of loading that the report names."""


def remark(
    task: Task, session: Session, runs: Mapping[str, Mapping[str, Any]], taken: int, *, by_valgrind: bool
) -> str:
    """Return a sentence with the share of loading in the count `taken`, or "" if it is below `LEAST_SHARE`.

    `runs` are the processes that were counted, and `taken` is the submission's count without that of the process that
    only returns the answers. Two more processes are counted, which get no calls and no answers. Only one of them loads
    the file. If one of them fails, return "", because the submission's count is known already.
    """
    both = [{**runs[whose], "calls": [], "answers": []} for whose in (SUBMISSION, NOTHING)]
    with ThreadPoolExecutor(len(both)) as side_by_side:
        counts = [side_by_side.submit(count, task, session, each, by_valgrind=by_valgrind) for each in both]
    try:
        loading, empty = (one.result().taken for one in counts)
    except WorkerFault:
        return ""
    share = min((loading - empty) / max(taken, 1), 1.0)
    if share < LEAST_SHARE:
        return ""
    return (
        f"{percent(share, 2)} of the submission's {task.cost} were executed while the file was loaded, before the "
        "first call. Classes, decorators and tables outside the function cause this cost."
    )
