"""Tests that torch's messages about a missing GPU appear neither on the screen nor in a submission's output."""

import subprocess
import sys

import pytest
from trees import SAFE, opened

from grader.limits import Limits

NO_GPU = ("No CUDA runtime is found, using CUDA_HOME='/usr'", "you might not have a CUDA gpu")
OLD_DRIVER = "The NVIDIA driver on your system is too old"
CUDA_BUILD = f"""
import os, warnings
import torch
def count():
    warnings.warn("CUDA initialization: CUDA driver initialization failed, {NO_GPU[1]}.")
    warnings.warn("CUDA initialization: {OLD_DRIVER}")
    return 0
torch.version.cuda, torch._C._cuda_getDeviceCount = "13.0", count
os.environ["CUDA_HOME"] = "/usr"
import torch.utils.benchmark
"""
"""Code that makes torch's CPU build look for CUDA like its CUDA build on a machine with a compiler and no GPU."""


def messages(printed: str) -> list[str]:
    return [message for message in (*NO_GPU, OLD_DRIVER) if message in printed]


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr


@pytest.mark.long
def test_torch_prints_that_the_gpu_is_missing() -> None:
    assert messages(run(CUDA_BUILD)) == [*NO_GPU, OLD_DRIVER]


@pytest.mark.parametrize("package", ["grader", pytest.param("lessons", marks=pytest.mark.long)])
def test_commands_print_only_why_an_existing_gpu_cannot_be_used(package: str) -> None:
    assert messages(run(f"import {package}\n{CUDA_BUILD}")) == [OLD_DRIVER]


@pytest.mark.sandbox
def test_a_submission_prints_only_why_an_existing_gpu_cannot_be_used() -> None:
    with opened(Limits(load_s=60, memory_bytes=2 << 30), SAFE, tensors=True) as one:
        one.load(CUDA_BUILD)
        assert messages(one.output_tail) == [OLD_DRIVER]
