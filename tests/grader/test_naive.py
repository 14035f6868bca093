"""The first variant of each published exploit that declares a flaw gains points with it from the naive grader."""

import os
import platform
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from promises import EXPLOITS, NAIVE, Promised, all_promised
from scoreboard import README, filled

WRITTEN_FOR_X86_64 = {"69_sigsys_trap"}


def needs(one: Promised) -> list[pytest.MarkDecorator]:
    other = one.path.stem in WRITTEN_FOR_X86_64 and platform.machine() != "x86_64"
    return [pytest.mark.skipif(other, reason="this exploit is written for x86-64")]


ALL = [pytest.param(one, id=one.path.stem, marks=needs(one)) for one in all_promised(EXPLOITS) if one.flaw]


def naive_points(one: Promised, folder: Path, options: tuple[str, ...]) -> float:
    """Return the points that the naive grader gives to the exploit. End the processes that it left behind."""
    script = [sys.executable, str(NAIVE), str(one.path), *options]
    with subprocess.Popen(script, cwd=folder, stdout=subprocess.PIPE, text=True, start_new_session=True) as started:
        assert started.stdout
        told = started.stdout.readline()
        started.wait()
        with suppress(ProcessLookupError):  # the exploit left no process behind
            os.killpg(started.pid, signal.SIGKILL)
    return float(told)


@pytest.mark.long
@pytest.mark.parametrize("exploit", ALL)
def test_an_exploit_fools_the_naive_grader(exploit: Promised, tmp_path: Path) -> None:
    assert naive_points(exploit, tmp_path, exploit.options) > exploit.points


def test_the_scoreboard_says_what_the_files_declare() -> None:
    page = README.read_text(encoding="utf-8")
    assert page == filled(page), "run `python tests/grader/scoreboard.py`"
