"""What holds for every test: nothing of the reader's own is touched, and what a machine lacks is named."""

import os
import shutil
import signal
from itertools import count

import pytest
from once import shared

from grader.isolation import sandbox
from grader.trials import valgrind
from harness.lanes import DIRECTORY_VARIABLE
from harness.state import FOLDER_VARIABLE

NO_SKIPS_VARIABLE = "FAIRCLOCK_NO_SKIPS"
"""Set where the machine has been given everything: what is missing there is a failure, not a reason to skip."""

PACKAGES = {"c++": "g++", "cc": "gcc", "chroot": "coreutils"} | dict.fromkeys(
    ("pivot_root", "setarch", "setpriv", "taskset", "unshare"), "util-linux"
)
"""Debian's packages of programs whose package has another name."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell's background jobs are started, and all they start
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what hundreds of commands import is compiled by the first

_numbers = count()


@pytest.fixture(autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep progress and lane locks of the tests apart from those of whoever runs them.

    Progress is each test's own. Lanes are the session's: what two workers time at once, they time on two cores.
    """
    folder = tmp_path_factory.getbasetemp() / "own" / str(next(_numbers))  # `mktemp` looks through all there are
    folder.mkdir(parents=True)
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder / "state"))
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(shared(tmp_path_factory) / "lanes"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("sandbox") and (reason := sandbox.trouble()):
        _missing(reason)
    if item.get_closest_marker("valgrind") and (reason := valgrind.trouble()):
        _missing(reason)
    if item.get_closest_marker("browser") and not shutil.which("chromium"):
        _missing("chromium is missing: install it with `apt-get install chromium`")
    for marker in item.iter_markers("program"):
        if not shutil.which(program := marker.args[0]):
            _missing(f"{program} is missing: install it with `apt-get install {PACKAGES.get(program, program)}`")


def _missing(reason: str) -> None:
    (pytest.fail if os.environ.get(NO_SKIPS_VARIABLE) else pytest.skip)(reason)
