"""A served course for each test."""

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import served_course


@pytest.fixture
def served(tmp_path: Path) -> Iterator[served_course.Served]:
    """Return a served course, and close its browsers afterwards."""
    with closing(served_course.serve(tmp_path)) as one:
        yield one


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a file system of 60 MB."""
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=60m", "tmpfs", tmp_path], check=False)
    if made.returncode:
        pytest.skip("only root can mount a small file system")
    yield tmp_path
    subprocess.run(["umount", "--lazy", tmp_path], check=True)
