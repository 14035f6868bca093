"""The sum of instructions that valgrind reports, read from a log to which a submission may also have written."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from grader.errors import MachineError
from grader.trials import valgrind
from harness.machine import programs

LOG = """==2== Callgrind, a call-graph generating cache profiler
==2== Using Valgrind-3.19.0 and LibVEX; rerun with -h for copyright info
==2== Command: python
==2==
==2== Events    : Ir
==2== Collected : 33059707
==2==
==2== I   refs:      33,059,707
"""
FORGED = "==2== Collected : 1\n==2== \n==2== I   refs:      1\n"


def test_the_sum_is_read_from_the_end_of_a_log() -> None:
    assert valgrind.total(LOG) == 33_059_707


def test_a_sum_added_before_the_true_one_makes_the_log_worthless() -> None:
    with pytest.raises(valgrind.LogError, match="2 totals"):
        valgrind.total(FORGED + LOG)


def test_a_sum_added_behind_the_true_one_makes_the_log_worthless() -> None:
    with pytest.raises(valgrind.LogError, match="2 totals"):
        valgrind.total(LOG + FORGED)


def test_half_a_forgery_contradicts_the_other_half() -> None:
    with pytest.raises(valgrind.LogError, match="2 totals"):
        valgrind.total(LOG.replace("Events    : Ir", "Collected : 1"))
    with pytest.raises(valgrind.LogError, match="contradicts"):
        valgrind.total(LOG.replace("33,059,707", "33,059,708"))
    with pytest.raises(valgrind.LogError, match="contradicts"):
        valgrind.total(LOG.replace("==2== I ", "==3== I "))


def test_a_log_that_goes_on_or_never_ends_counts_nothing() -> None:
    with pytest.raises(valgrind.LogError, match="text after the total"):
        valgrind.total(f"{LOG}and more\n")
    with pytest.raises(valgrind.LogError, match="0 totals"):
        valgrind.total(LOG.partition("==2== Events")[0])
    with pytest.raises(valgrind.LogError, match="0 totals"):
        valgrind.total("")


EVERY_DESCRIPTOR = f"""
import os, sys
os.close(int(sys.argv[1]))
for descriptor in range(3, 200):
    for attempt in (
        lambda: os.write(descriptor, b'writ' + b'ten'),
        lambda: os.close(descriptor),
        lambda: os.dup2(0, descriptor),
        lambda: os.write(os.dup(descriptor), {FORGED.encode()!r}),
    ):
        try:
            attempt()
        except OSError:
            pass
"""


@pytest.mark.long
@pytest.mark.valgrind
def test_a_program_can_at_most_add_to_the_log_and_takes_nothing_from_it() -> None:
    """The driver forbids these system calls. Even a program that may use all of them cannot remove the true sum."""
    read, write = os.pipe()
    program = valgrind.command([sys.executable, "-S", "-c", EVERY_DESCRIPTOR, str(write)], write)
    few = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh"]
    subprocess.run([*few, *program], pass_fds=(write,), stdin=subprocess.DEVNULL, check=True)
    os.close(write)
    with os.fdopen(read) as pipe:
        log = pipe.read()
    assert "written" not in log
    (true,) = re.findall(r"Collected : (\d{5,})\n", log)
    if "Collected : 1\n" in log:  # some versions of valgrind let a program copy their descriptor
        with pytest.raises(valgrind.LogError, match="totals instead of one"):
            valgrind.total(log)
    else:
        assert valgrind.total(log) == int(true)


def test_without_valgrind_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(MachineError, match=f"valgrind is missing: install it with `{programs.VALGRIND}`"):
        valgrind.command([sys.executable], 3)


def test_elsewhere_than_on_linux_it_is_not_even_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert valgrind.trouble() == "the grader counts instructions with valgrind only on Linux"
