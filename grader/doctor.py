"""`doctor`: what this machine has and lacks for grading and for the lessons, with the command that brings each."""

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from grader.isolation import sandbox
from harness import noise, programs, twins
from harness.clocks import process_cpu
from harness.environment import Environment, usable_cores
from harness.errors import MachineError


@dataclass(frozen=True, slots=True)
class Finding:
    """One part of the machine: whether it is there, what was found, and what to do when it is not.

    `needed` parts are those without which other people's code is not graded.
    """

    part: str
    present: bool
    found: str
    fix: str = ""
    needed: bool = False


def examine() -> Iterator[Finding]:
    """Look at each part in turn; the last takes half a second of measuring."""
    yield _gil()
    yield _package("torch", "pip install 'torch>=2.9,<2.14'")
    trouble = sandbox.trouble()
    yield Finding(
        "sandbox", not trouble, trouble or f"bubblewrap: {sandbox.bwrap()}", "apt-get install bubblewrap", needed=True
    )
    for layer in () if trouble else sandbox.layers():
        yield Finding(f"· {layer.name}", layer.active, layer.found, layer.fix)
    yield _clock()
    yield Finding(
        "fixed memory layout",
        twins.fixed_layout(),
        "setarch -R" if twins.fixed_layout() else "processes get random layouts: ratios scatter by 2 to 6 %",
        programs.SETARCH,
    )
    cores = usable_cores()
    yield Finding("cores", cores > 1, str(cores), "grade with --jobs 1, and expect restless times")
    yield _program("valgrind", "counts instructions in lesson 08 and its exercise", programs.VALGRIND)
    yield _program("gcc", "compiles in lesson 14, and its exercise", programs.C_COMPILER)
    yield _program("g++", "compiles in lessons 08, 12 and 14", programs.CPP_COMPILER)
    yield _program("nvidia-smi", "CUDA for lesson 03", "none needed: the lesson simulates a stream without")
    control = noise.aa_control()
    yield Finding("noise", not control.restless, str(control), "close what else runs; grading pairs its rounds anyway")


def _gil() -> Finding:
    here = Environment.capture(ask_cuda=False)
    return Finding(
        "GIL",
        not here.free_threaded,
        here.caution() or "on: the usual build of Python",
        "grade with the usual build of Python, on which the tiers were chosen",
    )


def _package(name: str, fix: str) -> Finding:
    try:
        return Finding(name, present=True, found=version(name), fix=fix, needed=True)
    except PackageNotFoundError:
        return Finding(name, present=False, found="missing", fix=fix, needed=True)


def _program(name: str, use: str, fix: str) -> Finding:
    path = shutil.which(name)
    return Finding(name, path is not None, path or f"missing ({use})", fix)


def _clock() -> Finding:
    try:
        process_cpu(os.getpid())
    except MachineError as error:
        return Finding("another process's CPU clock", present=False, found=str(error), fix="grade on Linux")
    return Finding("another process's CPU clock", present=True, found=f"{sys.platform}, read from outside")
