"""Settings for all tests: they change no file of the user, and a skipped test prints what the machine lacks."""

import gc
import os
import shutil
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from once import shared

from grader.isolation import sandbox
from harness.machine import programs
from harness.machine.lanes import DIRECTORY_VARIABLE
from harness.storage.user_files import FOLDER_VARIABLE

if TYPE_CHECKING:
    from playwright.sync_api import Page

NO_SKIPS_VARIABLE = "FAIRCLOCK_NO_SKIPS"
"""With this variable, a missing program fails a test instead of skipping it."""

PACKAGES = {"c++": "g++", "cc": "gcc", "chroot": "coreutils"} | dict.fromkeys(
    ("pivot_root", "setarch", "setpriv", "taskset", "unshare"), "util-linux"
)
"""Debian's packages for programs with another name."""

LONGEST = (
    "test_check_as_run.py",
    "test_without_namespaces.py",
    "test_lint.py",
    "test_exploits.py",
    "test_suite_command.py",
    "test_handed_in.py",
    "test_every_lesson.py",
    "test_naive.py",
    "test_golden_class.py",
)
"""The files whose tests take longest. They run first: a long test that begins last leaves other workers idle."""

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")  # by default, a generated test fails if it takes long, as on a busy machine

# A shell starts background jobs without Ctrl-C, and their child processes inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the first of hundreds of commands compiles the modules for the others

_numbers = count()


@pytest.fixture(autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test its own progress, and the session its own lanes, because workers that time at once need cores."""
    # `mktemp` is slow, because it lists all existing folders.
    folder = tmp_path_factory.getbasetemp() / "own" / str(next(_numbers))
    folder.mkdir(parents=True)
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder / "state"))
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(shared(tmp_path_factory) / "lanes"))


@pytest.fixture(scope="module", autouse=True)
def _short_collections() -> None:
    """Hide the objects of earlier tests from the garbage collector, because measurements often collect all garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def page() -> "Iterator[Page]":
    """Yield a page of Chromium, 1200 pixels wide."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        yield browser.new_page(viewport={"width": 1200, "height": 800})
        browser.close()


@pytest.fixture(scope="module")
def said(page: "Page") -> list[str]:
    """Return the list of all messages in the page's console, with errors and refused requests."""
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    return messages


LONG_TEST_S = 3600
"""The limit of a long test. The limit of others is in pyproject.toml. Only a test that hangs reaches its limit."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.timeout(LONG_TEST_S))
    absent = [item for item in items if (marker := item.get_closest_marker("equipment")) and not marker.args[1]]
    config.hook.pytest_deselected(items=absent)
    items[:] = [item for item in items if item not in absent]
    items.sort(key=lambda item: item.path.name not in LONGEST)  # the sort is stable, so tests of a file stay together


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("sandbox") and (problem := sandbox.problem()):
        _missing(str(problem))
    if item.get_closest_marker("valgrind") and (reason := programs.lacking("valgrind", programs.VALGRIND, "valgrind")):
        _missing(reason)
    for marker in item.iter_markers("browser"):
        if not shutil.which("chromium") or not all(map(find_spec, ("playwright", *marker.args))):
            _missing("a browser is missing: apt-get install chromium; python -m pip install 'fairclock[browser]'")
    for marker in item.iter_markers("program"):
        if not shutil.which(program := marker.args[0]):
            _missing(f"{program} is missing: install it with `apt-get install {PACKAGES.get(program, program)}`")


def _missing(reason: str) -> None:
    (pytest.fail if os.environ.get(NO_SKIPS_VARIABLE) else pytest.skip)(reason)
