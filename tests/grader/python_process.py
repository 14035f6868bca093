"""A second Python process for tests that read what Linux says of a process.

The test's own process does not serve: threads of earlier tests may end while it is read.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def running(source: str) -> Iterator[subprocess.Popen[str]]:
    """Run a source text in a new Python process, and end it after the `with` block."""
    started = subprocess.Popen(
        [sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def says(process: subprocess.Popen[str], word: str) -> None:
    """Wait until the process prints a line, which must be this word."""
    assert process.stdout is not None
    assert process.stdout.readline() == f"{word}\n"
