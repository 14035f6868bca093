"""What `torch.profiler` has to be told before it does what its manual says, in one place.

It prints a line to standard error whenever it starts and stops; `KINETO_LOG_LEVEL`, set before the first profile of a
process, silences these and nothing else of ours. A level that is set already is left alone.
"""

import os
from typing import Final

from torch._C._profiler import _ExperimentalConfig

QUIET: Final = "99"
"""Above every level that the profiler's lines have."""

os.environ.setdefault("KINETO_LOG_LEVEL", QUIET)


def keep_stacks() -> _ExperimentalConfig:
    """Return the `experimental_config` without which `with_stack=True` keeps no stacks for operators.

    `export_stacks` then writes an empty file, and `key_averages(group_by_stack_n=…)` has nothing to group by. A known
    fault of torch 2.13 and before; a test says when this can go.
    """
    return _ExperimentalConfig(verbose=True)
