"""Keep one core busy with other programs during a test."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

ENDLESS = "import os, sys\nparent = os.getppid()\nprint(flush=True)\nwhile os.getppid() == parent: sum(range(10_000))"


@contextmanager
def busy_core(core: int, programs: int) -> Iterator[None]:
    """Run this number of busy programs on one core during the `with` block. They end with their parent process."""
    started = [
        subprocess.Popen([sys.executable, "-I", "-S", "-c", ENDLESS], stdout=subprocess.PIPE) for _ in range(programs)
    ]
    try:
        for one in started:
            os.sched_setaffinity(one.pid, {core})
            assert one.stdout is not None
            one.stdout.readline()
        yield
    finally:
        for one in started:
            one.kill()
            with one:
                pass
