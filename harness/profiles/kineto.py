"""What `torch.profiler` has to be told before it does what its manual says, in one place.

It prints a line to standard error whenever it starts and stops; `KINETO_LOG_LEVEL`, set before the first profile of a
process, silences these and nothing else of ours. A level that is set already is left alone.
"""

import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from torch._C._profiler import _ExperimentalConfig
from torch.profiler import ProfilerActivity, profile

QUIET: Final = "99"
"""Above every level that the profiler's lines have."""

os.environ.setdefault("KINETO_LOG_LEVEL", QUIET)


def keep_stacks() -> _ExperimentalConfig:
    """Return the `experimental_config` without which `with_stack=True` keeps no stacks for operators.

    `export_stacks` then writes an empty file, and `key_averages(group_by_stack_n=…)` has nothing to group by. A known
    fault of torch 2.13 and before; a test says when this can go.
    """
    return _ExperimentalConfig(verbose=True)


class NamedModules(NamedTuple):
    """What `with_modules=True` did: how many events named a module, and what torch warned of (empty if nothing).

    `events` is None where this torch no longer has the option.
    """

    events: int | None
    warning: str


def named_modules(call: Callable[[], object]) -> NamedModules:
    """Profile a call with `with_modules=True` and return how many events of the trace name a module.

    torch 2.15 warns that the option is deprecated. That warning is returned, not shown; others are shown as ever.
    """
    with warnings.catch_warnings(record=True) as seen, tempfile.TemporaryDirectory(prefix="fairclock-trace-") as folder:
        warnings.simplefilter("always")
        file = Path(folder) / "trace.json"
        try:
            with profile(activities=[ProfilerActivity.CPU], with_modules=True) as found:
                call()
        except TypeError:
            return NamedModules(None, "")
        found.export_chrome_trace(str(file))
        events = file.read_text(encoding="utf-8").count("Module Hierarchy")
    said = [each for each in seen if "with_modules" in str(each.message)]
    for each in seen:
        if each not in said:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return NamedModules(events, str(said[0].message) if said else "")
