"""Arrays arrive in a worker unchanged: each dtype, shape, stride, and memory shared by two arrays."""

import os
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from trees import opened

from grader.isolation.pool import Pool
from grader.limits import Limits
from grader.session import Session
from grader.task import Array
from grader.trials.correctness import DTYPES, Answer
from grader.trials.inputs import POISON, SharedMemory, pack
from grader.trials.worker_client import WorkerClient

MIRROR = """
import torch
def same(x, *others): return x.clone(memory_format=torch.contiguous_format)
def strides(x, *others): return torch.tensor(x.stride(), dtype=torch.int64)
def shared(x, y): return torch.tensor([x.data_ptr() == y.data_ptr()])
def aligned(*all): return torch.tensor([x.data_ptr() % 64 for x in all])
def second(x, y): x.fill_(7); return y.clone()
"""


@pytest.fixture(scope="module")
def mirror() -> Iterator[WorkerClient]:
    with opened(Limits(load_s=60), Session("a secret", Pool(sandboxed=False)), tensors=True) as one:
        one.load(MIRROR)
        yield one


def ask(one: WorkerClient, function: str, *inputs: Array) -> Array:
    packed = pack(inputs)
    answer = Answer.read(one.call(function, packed), one.outputs, inputs_unchanged=packed.unchanged(one.inputs))
    assert answer.array is not None
    return answer.array


def whole(dtype: str) -> Array:
    return np.arange(24).reshape(4, 6).astype(dtype)


VIEWS: dict[str, Callable[[Array], Array]] = {
    "whole": lambda x: x,
    "one element": lambda x: x[2:3, 1:2],
    "no dimension": lambda x: x[2, 1],
    "empty": lambda x: x[:0],
    "every other": lambda x: x[:, 1::2],
    "transposed": lambda x: x.T,
    "a column": lambda x: x[:, 3],
    "broadcast": lambda x: np.broadcast_to(x[1:2], (5, 6)),
    "broadcast scalar": lambda x: np.broadcast_to(x[3, 5], (2, 2)),
    "three dimensions": lambda x: x.reshape(2, 2, 6)[:, 1, ::3],
}


def test_every_view_of_every_dtype_arrives_as_it_is(mirror: WorkerClient) -> None:
    for dtype in DTYPES:
        for name, view in VIEWS.items():
            array = np.asanyarray(view(whole(dtype)))
            got = ask(mirror, "same", array)
            assert (got.dtype, got.shape) == (array.dtype, array.shape), name
            np.testing.assert_array_equal(got, array)
            if array.ndim:
                strides = [stride // array.itemsize for stride in array.strides]
                assert ask(mirror, "strides", array).tolist() == strides, name


def test_what_shares_memory_here_shares_it_there(mirror: WorkerClient) -> None:
    x = whole("float64")
    assert ask(mirror, "shared", x, x).tolist() == [True]
    assert ask(mirror, "shared", x, x[:2]).tolist() == [True]
    assert ask(mirror, "shared", x, x.copy()).tolist() == [False]
    np.testing.assert_array_equal(ask(mirror, "second", x, x.T), np.full((6, 4), 7.0))
    np.testing.assert_array_equal(ask(mirror, "second", x, x.copy()), x)


def test_what_another_writes_is_read_and_poison_covers_what_was_asked_and_no_more() -> None:
    memory = SharedMemory(4096)
    os.pwrite(memory.descriptor, b"answer", 0)
    assert memory.read(6) == b"answer"
    memory.poison(10)
    assert memory.read(12) == bytes([POISON]) * 10 + b"\0\0"
    for size in (0, 1 << 20) if sys.platform == "linux" else ():  # only Linux seals memory
        with pytest.raises(PermissionError):
            os.ftruncate(memory.descriptor, size)
    memory.close()
