import os
import sys
from collections.abc import Iterator

import pytest

from grader.trials.inputs import POISON, SharedMemory


@pytest.fixture
def memory() -> Iterator[SharedMemory]:
    one = SharedMemory(4096)
    yield one
    one.close()


def test_what_another_writes_is_read_here(memory: SharedMemory) -> None:
    os.pwrite(memory.descriptor, b"answer", 0)
    assert memory.read(6) == b"answer"


def test_poison_covers_what_was_asked_and_no_more(memory: SharedMemory) -> None:
    memory.poison(10)
    assert memory.read(12) == bytes([POISON]) * 10 + b"\0\0"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux seals memory")
@pytest.mark.parametrize("size", [0, 1 << 20])
def test_a_worker_cannot_resize_it_under_the_supervisor(memory: SharedMemory, size: int) -> None:
    with pytest.raises(PermissionError):
        os.ftruncate(memory.descriptor, size)
    assert len(memory.read(4096)) == 4096
