"""Settings that make `torch.profiler` behave as its manual describes.

The profiler prints a line to standard error when it starts and when it stops. This module hides these lines: it sets
the environment variable `KINETO_LOG_LEVEL` before the first profile, unless it is already set. The functions import
torch when they are called, because the import takes seconds and most users of `harness.profiles` do not need torch.
"""

import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from torch._C._profiler import _ExperimentalConfig

QUIET: Final = "99"
"""A log level above that of all messages of the profiler, so that none is printed."""

os.environ.setdefault("KINETO_LOG_LEVEL", QUIET)


def keep_stacks() -> "_ExperimentalConfig":
    """Return an `experimental_config` with which `with_stack=True` records the stacks of operators.

    Without this setting, `export_stacks` writes an empty file, and `key_averages(group_by_stack_n=…)` has no groups.
    This is a known bug of torch up to 2.13. A test fails as soon as this function is no longer needed.
    """
    from torch._C._profiler import _ExperimentalConfig  # noqa: PLC0415

    return _ExperimentalConfig(verbose=True)


def every_thread() -> "_ExperimentalConfig | None":
    """Return an `experimental_config` with which the profiler also records other threads of the program.

    Without this setting, the profiler records only the thread that starts it. Return None if the installed torch has no
    such setting.
    """
    from torch._C._profiler import _ExperimentalConfig  # noqa: PLC0415

    try:
        return _ExperimentalConfig(profile_all_threads=True)
    except TypeError:
        return None


class NamedModules(NamedTuple):
    """The measured effect of the profiler's option `with_modules=True`.

    `events` is the number of events that name a module, or None if this torch no longer has the option. `warning` is
    torch's warning about the option, or "".
    """

    events: int | None
    warning: str


def named_modules(call: Callable[[], object]) -> NamedModules:
    """Profile a call with `with_modules=True`, and return the number of events in the trace that name a module.

    torch 2.15 warns that the option is deprecated. The result contains this warning. Other warnings are shown as usual.
    """
    from torch.profiler import ProfilerActivity, profile  # noqa: PLC0415

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
    about_option = [each for each in seen if "with_modules" in str(each.message)]
    for each in seen:
        if each not in about_option:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return NamedModules(events, str(about_option[0].message) if about_option else "")
